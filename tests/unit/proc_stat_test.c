/* proc_stat_test.c - stat files: whole, cut off, and of processes with any name */
#include "base/cleanup.h"
#include "child_fixture.h"
#include "sampler/procfs/proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char line[] =
	"4711 (a) R 1 ) (b) D 1 4711 4711 34816 -1 4194304 96 7 5 8 3 4 0 0 20 0 1 0 123456 "
	"2297856 "
	"170 18446744073709551615 1 2 140721 0 0 0 0 0 0 1 0 0 17 3 0 0 0 0 0 1 2 3 4 5 6 7 2304\n";

static void reads_each_field_behind_any_name(void **state)
{
	struct proc_stat stat;

	(void)state;
	assert_int_equal(proc_stat_parse(line, STAT_EXIT_CODE, &stat), 0);
	assert_int_equal(stat.state, 'D');
	assert_int_equal(stat.at[STAT_PARENT], 1);
	assert_int_equal(stat.at[STAT_FLAGS], 4194304);
	assert_int_equal(stat.at[STAT_MINFLT], 96);
	assert_int_equal(stat.at[STAT_MAJFLT], 5);
	assert_int_equal(stat.at[STAT_START], 123456);
	assert_int_equal(stat.at[STAT_RSS], 170);
	assert_int_equal(stat.at[STAT_STACK], 140721);
	assert_int_equal(stat.at[STAT_CPU], 3);
	assert_int_equal(stat.at[STAT_EXIT_CODE], 2304);
}

/* What comes before is there, what is asked for is not. */
static void one_that_is_cut_off_is_none(void **state)
{
	static const char whole[] = "7 (cat) S 1 7 7 0 -1 4194304 100 200 3";
	struct proc_stat stat;
	char text[sizeof(whole)];

	(void)state;
	assert_int_equal(proc_stat_parse(whole, STAT_MAJFLT, &stat), 0);
	assert_int_equal(proc_stat_parse(whole, STAT_START, &stat), -EBADMSG);
	for (size_t len = 0; len < sizeof(whole) - 2; len++) {
		memcpy(text, whole, sizeof(text));
		text[len] = '\0';
		assert_int_equal(proc_stat_parse(text, STAT_MAJFLT, &stat), -EBADMSG);
	}
}

static void refuses_what_is_no_stat(void **state)
{
	static const char *const texts[] = {"",         "1",         "1 (a",           "1 (a)",
					    "1 (a) ",   "1 (a) S",   "1 (a) S x",      "1 (a) SS 1",
					    "1 (a)S 1", ") S 1 x 3", "1 (a) S 1 2 3 x"};
	struct proc_stat stat;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(proc_stat_parse(texts[i], STAT_MINFLT, &stat), -EBADMSG);
}

static void knows_this_process_and_one_that_has_ended(void **state)
{
	_cleanup_fd_ int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	struct proc_stat stat;
	pid_t child;

	(void)state;
	assert_int_equal(proc_stat_read(fd, STAT_EXIT_CODE, &stat), 0);
	assert_int_equal(stat.at[STAT_PARENT], getppid());
	child = fork();
	if (child == 0)
		_exit(9);
	child_await_zombie(child);
	assert_int_equal(proc_stat_of(child, STAT_EXIT_CODE, &stat), 0);
	assert_int_equal(stat.state, 'Z');
	assert_int_equal(stat.at[STAT_PARENT], getpid());
	assert_int_equal(stat.at[STAT_EXIT_CODE], 9 << 8);
	(void)child_status(child);
	assert_int_equal(proc_stat_of(child, STAT_PARENT, &stat), -ESRCH);
	assert_int_equal(proc_stat_read(-1, STAT_PARENT, &stat), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_field_behind_any_name),
		cmocka_unit_test(one_that_is_cut_off_is_none),
		cmocka_unit_test(refuses_what_is_no_stat),
		cmocka_unit_test(knows_this_process_and_one_that_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
