/* io_test.c - whole reads and whole writes */
#include "base/io.h"

#include "base/cleanup.h"
#include "folder_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <cmocka.h>

static int count_open_fds(void)
{
	DIR *fds = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(fds);
	while (readdir(fds))
		n++;
	closedir(fds);
	return n;
}

static int fds_before;

static int count_fds(void **state)
{
	(void)state;
	fds_before = count_open_fds();
	return 0;
}

static int leaves_no_fd(void **state)
{
	(void)state;
	return count_open_fds() == fds_before ? 0 : -1;
}

static void reads_a_file_that_does_not_know_its_size(void **state)
{
	struct buf buf;
	struct err err = {0};

	(void)state;
	buf_init(&buf, 1 << 20);
	assert_int_equal(io_read_file("/proc/self/maps", &buf, &err), 0);
	assert_true(buf.len > 4096 || strstr(buf_text(&buf), "[stack]"));
	assert_non_null(strstr(buf_text(&buf), "io_test"));
	assert_int_equal(buf.data[buf.len - 1], '\n');
	buf_release(&buf);
}

static void refuses_a_file_over_the_limit(void **state)
{
	struct buf buf;
	struct err err = {0};

	(void)state;
	buf_init(&buf, 100);
	assert_int_equal(io_read_file("/proc/self/maps", &buf, &err), -EFBIG);
	assert_non_null(strstr(err.text, "/proc/self/maps"));
	buf_release(&buf);
}

static void says_which_file_is_missing(void **state)
{
	struct buf buf;
	struct err err = {0};

	(void)state;
	buf_init(&buf, 100);
	assert_int_equal(io_read_file("/nowhere/at all", &buf, &err), -ENOENT);
	assert_string_equal(err.text, "open '/nowhere/at all': No such file or directory");
	buf_release(&buf);
}

static void a_directory_is_an_error(void **state)
{
	struct buf buf;
	struct err err = {0};

	(void)state;
	buf_init(&buf, 100);
	assert_int_equal(io_read_file("/", &buf, &err), -EISDIR);
	buf_release(&buf);
}

static void reads_from_the_start_whatever_was_read_before(void **state)
{
	_cleanup_fd_ int fd = file_in_memory("twelve bytes", 12);
	struct buf buf;
	char four[4];

	(void)state;
	assert_int_equal(lseek(fd, 0, SEEK_END), 12);
	buf_init(&buf, 100);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(io_read_fd(fd, &buf), 0);
		assert_string_equal(buf_text(&buf), "twelve bytes");
	}
	assert_int_equal(io_pread(fd, four, sizeof(four), 7), 4);
	assert_memory_equal(four, "byte", 4);
	assert_int_equal(io_pread(fd, four, sizeof(four), 10), 2);
	assert_int_equal(io_pread(fd, four, sizeof(four), 12), 0);
	assert_int_equal(io_pread(-1, four, sizeof(four), 0), -EBADF);
	buf_release(&buf);
}

static void a_full_disk_is_an_error_and_says_how_much_went_out(void **state)
{
	_cleanup_fd_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	size_t written = 7;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "x", 1, &written), -ENOSPC);
	assert_int_equal(written, 0);
	assert_int_equal(io_write_all(fd, "x", 1, NULL), -ENOSPC);
}

enum { LONG_WRITE = 4 << 20 };

static void *read_to_the_end(void *context)
{
	const int *fd = context;
	static char step[1000];
	static size_t total;
	ssize_t n;

	total = 0;
	while ((n = read(*fd, step, sizeof(step))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (step[i] != (char)((total + (size_t)i) % 251))
				return NULL;
		total += (size_t)n;
	}
	return &total;
}

static void on_alarm(int number)
{
	(void)number;
}

/* A pipe of one page and an alarm every 100 us: short writes and EINTR by the thousand. */
static void writes_everything_through_interruptions(void **state)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval fast = {{0, 100}, {0, 100}};
	struct itimerval off = {{0, 0}, {0, 0}};
	_cleanup_free_ char *bytes = malloc(LONG_WRITE);
	sigset_t alarm_only;
	size_t written = 0;
	pthread_t reader;
	void *total;
	int ends[2];

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < LONG_WRITE; i++)
		bytes[i] = (char)(i % 251);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	(void)sigemptyset(&alarm_only);
	(void)sigaddset(&alarm_only, SIGALRM);
	(void)pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
	assert_int_equal(pthread_create(&reader, NULL, read_to_the_end, &ends[0]), 0);
	(void)pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &fast, NULL), 0);

	assert_int_equal(io_write_all(ends[1], bytes, LONG_WRITE, &written), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &off, NULL), 0);
	assert_int_equal(written, LONG_WRITE);
	(void)close(ends[1]);
	assert_int_equal(pthread_join(reader, &total), 0);
	assert_non_null(total);
	assert_int_equal(*(size_t *)total, LONG_WRITE);
	(void)close(ends[0]);
}

static void clocks_move_forward_in_ns(void **state)
{
	uint64_t before = io_now_ns();
	uint64_t after = io_now_ns();

	(void)state;
	assert_true(after >= before);
	assert_true(after - before < UINT64_C(10000000000));
	assert_true(io_realtime_ns() > UINT64_C(1700000000) * 1000000000U);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_a_file_that_does_not_know_its_size, count_fds,
						leaves_no_fd),
		cmocka_unit_test_setup_teardown(refuses_a_file_over_the_limit, count_fds,
						leaves_no_fd),
		cmocka_unit_test_setup_teardown(says_which_file_is_missing, count_fds,
						leaves_no_fd),
		cmocka_unit_test_setup_teardown(a_directory_is_an_error, count_fds, leaves_no_fd),
		cmocka_unit_test(reads_from_the_start_whatever_was_read_before),
		cmocka_unit_test(a_full_disk_is_an_error_and_says_how_much_went_out),
		cmocka_unit_test_setup_teardown(writes_everything_through_interruptions, count_fds,
						leaves_no_fd),
		cmocka_unit_test(clocks_move_forward_in_ns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
