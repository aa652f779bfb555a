/* view_output_test.c - a file that is written appears whole or not at all, however wick ends */
#include "child_fixture.h"
#include "folder_fixture.h"
#include "tools/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool no_nameless_files; /* as on NFS, FUSE and older overlays */

static int open_any(const char *path, int flags, mode_t mode)
{
	if (no_nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static mode_t take_mode(int flags, va_list *arguments)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(*arguments, mode_t) : 0;
}

/* In place of the C library's, by either of its names. */
int open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = take_mode(flags, &arguments);
	va_end(arguments);
	return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

struct place {
	char folder[FOLDER_BYTES];
	char path[96];
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	folder_make(place->folder);
	(void)snprintf(place->path, sizeof(place->path), "%s/out.svg", place->folder);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	no_nameless_files = false;
	(void)unlink(place->path);
	assert_int_equal(folder_count(place->folder), 0);
	folder_remove(place->folder);
	free(place);
	return 0;
}

static off_t size_of(const struct place *place)
{
	struct stat st;

	return stat(place->path, &st) == 0 ? st.st_size : -1;
}

static void begin(const struct place *place, struct view_file *file, const char *text)
{
	struct err err = {0};

	if (view_file_open(file, &(struct view_output){.path = place->path, .force = true}, &err) <
	    0)
		fail_msg("%s", err.text);
	assert_int_equal(write(file->fd, text, strlen(text)), strlen(text));
}

static void write_twice(const struct place *place)
{
	struct view_file file;
	struct err err = {0};

	begin(place, &file, "first");
	assert_int_equal(size_of(place), -1);
	assert_int_equal(view_file_close(&file, &err), 0);
	assert_int_equal(size_of(place), 5);
	begin(place, &file, "another");
	assert_int_equal(size_of(place), 5);
	assert_int_equal(view_file_close(&file, &err), 0);
	assert_int_equal(size_of(place), 7);
	begin(place, &file, "none");
	view_file_drop(&file);
	assert_int_equal(size_of(place), 7);
	assert_int_equal(folder_count(place->folder), 1);
}

static void appears_when_it_is_whole(void **state)
{
	write_twice(*state);
	assert_int_equal(unlink(((struct place *)*state)->path), 0);
	no_nameless_files = true;
	write_twice(*state);
}

static void end_by(const struct place *place, int number)
{
	struct view_file file;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		begin(place, &file, "half of it");
		(void)raise(number);
		_exit(0);
	}
	status = child_status(pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
	assert_int_equal(folder_count(place->folder), 0);
}

static void leaves_nothing_when_a_signal_ends_it(void **state)
{
	end_by(*state, SIGTERM);
	end_by(*state, SIGKILL);
	no_nameless_files = true;
	end_by(*state, SIGTERM);
	end_by(*state, SIGINT);
	end_by(*state, SIGXFSZ);
}

/* nohup: what was ignored does not end it, and the file is there in the end. */
static void an_ignored_signal_stays_ignored(void **state)
{
	const struct place *place = *state;
	struct view_file file;
	struct err err = {0};
	void (*old)(int) = signal(SIGHUP, SIG_IGN);

	no_nameless_files = true;
	begin(place, &file, "whole");
	assert_int_equal(raise(SIGHUP), 0);
	assert_int_equal(view_file_close(&file, &err), 0);
	(void)signal(SIGHUP, old);
	assert_int_equal(size_of(place), 5);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PLACE(appears_when_it_is_whole),
		WITH_PLACE(leaves_nothing_when_a_signal_ends_it),
		WITH_PLACE(an_ignored_signal_stays_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
