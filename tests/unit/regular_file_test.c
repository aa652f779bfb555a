/* regular_file_test.c - files are opened; what opening would wake, wait for or make up is not */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/regular_file.h"
#include "folder_fixture.h"

/* A folder with a file, a link to it, a folder, a pipe and a socket. */
struct place {
	char path[FOLDER_BYTES];
	int folder;
};

static void put_socket(const struct place *place)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int n = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket",
			 place->folder);

	assert_true(fd >= 0 && n > 0 && (size_t)n < sizeof(address.sun_path));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	folder_make(place->path);
	place->folder = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(place->folder >= 0);
	folder_put(place->path, "file", "what it holds");
	assert_int_equal(symlinkat("file", place->folder, "link"), 0);
	assert_int_equal(mkdirat(place->folder, "folder", 0700), 0);
	assert_int_equal(mkfifoat(place->folder, "pipe", 0600), 0);
	put_socket(place);
	*state = place;
	return 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;

	(void)close(place->folder);
	folder_remove(place->path);
	free(place);
	return 0;
}

static void assert_holds(int fd, const char *text)
{
	char bytes[64] = "";

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes) - 1), strlen(text));
	assert_string_equal(bytes, text);
}

static void opens_a_file_for_reading_and_nothing_else(void **state)
{
	const struct place *place = *state;
	_cleanup_fd_ int fd = regular_file_open(place->folder, "file", 0);

	assert_holds(fd, "what it holds");
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void follows_links_unless_told_not_to(void **state)
{
	const struct place *place = *state;
	_cleanup_fd_ int fd = regular_file_open(place->folder, "link", 0);

	assert_holds(fd, "what it holds");
	assert_int_equal(regular_file_open(place->folder, "link", O_NOFOLLOW), -ENODEV);
}

static void a_folder_is_no_file(void **state)
{
	const struct place *place = *state;

	assert_int_equal(regular_file_open(place->folder, "folder", 0), -EISDIR);
	assert_int_equal(regular_file_open(place->folder, ".", 0), -EISDIR);
}

/* Opening the pipe would wait for a writer; the alarm ends the test if it did. */
static void it_never_waits(void **state)
{
	const struct place *place = *state;

	(void)alarm(5);
	assert_int_equal(regular_file_open(place->folder, "pipe", 0), -ENODEV);
	assert_int_equal(regular_file_open(place->folder, "socket", 0), -ENODEV);
	(void)alarm(0);
}

static void devices_stay_closed(void **state)
{
	(void)state;
	assert_int_equal(regular_file_open(AT_FDCWD, "/dev/null", 0), -ENODEV);
	assert_int_equal(regular_file_open(AT_FDCWD, "/dev/zero", 0), -ENODEV);
}

/* They say that they are regular, and hold what is made while they are read. */
static void files_that_the_kernel_makes_up_are_none(void **state)
{
	(void)state;
	assert_int_equal(regular_file_open(AT_FDCWD, "/proc/self/maps", 0), -ENODEV);
	assert_int_equal(regular_file_open(AT_FDCWD, "/proc/cpuinfo", 0), -ENODEV);
	if (access("/sys/kernel/profiling", F_OK) == 0)
		assert_int_equal(regular_file_open(AT_FDCWD, "/sys/kernel/profiling", 0), -ENODEV);
}

static void what_is_not_there_says_so(void **state)
{
	const struct place *place = *state;

	assert_int_equal(regular_file_open(place->folder, "missing", 0), -ENOENT);
	assert_int_equal(regular_file_open(place->folder, "file/x", 0), -ENOTDIR);
	assert_int_equal(regular_file_open(place->folder, "", 0), -ENOENT);
	assert_int_equal(regular_file_reopen(-1), -EBADF);
}

/* The name means another file by then: what it meant when it was resolved is opened. */
static void the_name_may_change_hands_in_between(void **state)
{
	const struct place *place = *state;
	_cleanup_fd_ int resolved = openat(place->folder, "file", O_PATH | O_CLOEXEC);
	_cleanup_fd_ int fd = -1;

	assert_true(resolved >= 0);
	folder_put(place->path, "other", "another one");
	assert_int_equal(renameat(place->folder, "other", place->folder, "file"), 0);
	fd = regular_file_reopen(resolved);
	assert_holds(fd, "what it holds");
}

static void on_lease(int number)
{
	(void)number;
}

/* Who has a write lease is asked to give it back, and has 45 seconds for that (fcntl(2)). */
static void nor_for_the_holder_of_a_lease(void **state)
{
	const struct place *place = *state;
	struct sigaction asked = {.sa_handler = on_lease};
	struct sigaction before;
	_cleanup_fd_ int held = openat(place->folder, "file", O_RDWR | O_CLOEXEC);

	assert_int_equal(sigaction(SIGIO, &asked, &before), 0);
	if (fcntl(held, F_SETLEASE, F_WRLCK) < 0)
		skip();
	(void)alarm(5);
	assert_int_equal(regular_file_open(place->folder, "file", 0), -EAGAIN);
	(void)alarm(0);
	assert_int_equal(fcntl(held, F_SETLEASE, F_UNLCK), 0);
	(void)sigaction(SIGIO, &before, NULL);
}

static bool is_hollow(const struct place *place)
{
	struct stat st;

	assert_int_equal(fstatat(place->folder, "long", &st, 0), 0);
	return regular_file_is_hollow(&st);
}

static void a_file_that_is_mostly_holes_is_hollow(void **state)
{
	const struct place *place = *state;
	_cleanup_fd_ int fd =
		openat(place->folder, "long", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char *bytes = malloc(1 << 20);

	assert_true(fd >= 0 && bytes);
	memset(bytes, 'x', 1 << 20);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_false(is_hollow(place)); /* small: it costs nothing */
	assert_int_equal(ftruncate(fd, 4 << 20), 0);
	assert_true(is_hollow(place));
	assert_int_equal(pwrite(fd, bytes, 1 << 20, 0), 1 << 20);
	assert_false(is_hollow(place));
	assert_int_equal(ftruncate(fd, INT64_C(1) << 40), 0);
	assert_true(is_hollow(place));
	assert_int_equal(unlinkat(place->folder, "long", 0), 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_a_file_for_reading_and_nothing_else),
		cmocka_unit_test(follows_links_unless_told_not_to),
		cmocka_unit_test(a_folder_is_no_file),
		cmocka_unit_test(it_never_waits),
		cmocka_unit_test(nor_for_the_holder_of_a_lease),
		cmocka_unit_test(devices_stay_closed),
		cmocka_unit_test(files_that_the_kernel_makes_up_are_none),
		cmocka_unit_test(what_is_not_there_says_so),
		cmocka_unit_test(the_name_may_change_hands_in_between),
		cmocka_unit_test(a_file_that_is_mostly_holes_is_hollow),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
