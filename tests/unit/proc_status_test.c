/* proc_status_test.c - status files, ours and made up: a name cannot make a line */
#include "sampler/procfs/proc_status.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

static struct proc_status made_of(const char *text)
{
	return (struct proc_status){.text = text};
}

static void reads_what_lines_say(void **state)
{
	struct proc_status status =
		made_of("Name:\tcat\nState:\tS (sleeping)\nTgid:\t77\n"
			"SigBlk:\t00000000000000ff\nNSpid:\t77\t12\t3\nLast:\t");

	(void)state;
	assert_int_equal(*proc_status_word(&status, "State"), 'S');
	assert_int_equal(proc_status_number(&status, "Tgid", 10), 77);
	assert_int_equal(proc_status_number(&status, "SigBlk", 16), 0xff);
	assert_int_equal(proc_status_inner(&status), 3);
	assert_string_equal(proc_status_word(&status, "Last"), "");
	assert_string_equal(proc_status_word(&status, "Sig"), "");
	assert_string_equal(proc_status_word(&status, "Nothing"), "");
	assert_int_equal(proc_status_number(&status, "Nothing", 10), 0);
}

static void numbers_of_namespaces_end_with_their_line(void **state)
{
	static const struct {
		const char *text;
		pid_t inner;
	} cases[] = {
		{"NSpid:\t5\nNStgid:\t9\n", 5},
		{"NSpid:\t5\t6", 6},
		{"NSpid:\t\n7\n", 0},
		{"NSpid:\t5\t-1\t7\n", 5},
		{"", 0},
		{"NSpid:\t99999999999\n", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct proc_status status = made_of(cases[i].text);

		assert_int_equal(proc_status_inner(&status), cases[i].inner);
	}
}

/* One that is about to end has no memory any more: it is no thread of the kernel's. */
static void tells_whose_it_is(void **state)
{
	static const struct {
		const char *text;
		enum proc_status_of of;
	} cases[] = {
		{"State:\tR\nPPid:\t7\nKthread:\t0\nVmSize:\t 10 kB\n", STATUS_OF_PROGRAM},
		{"State:\tR\nPPid:\t2\nVmSize:\t 10 kB\n", STATUS_OF_PROGRAM},
		{"State:\tR\nPPid:\t7\nKthread:\t0\n", STATUS_OF_ENDED},
		{"State:\tR\nPPid:\t7\n", STATUS_OF_ENDED},
		{"State:\tZ\nPPid:\t2\n", STATUS_OF_ENDED},
		{"State:\tI\nPPid:\t2\n", STATUS_OF_KERNEL},
		{"State:\tS\nPPid:\t0\n", STATUS_OF_KERNEL},
		{"State:\tS\nPPid:\t9\nKthread:\t1\n", STATUS_OF_KERNEL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct proc_status status = made_of(cases[i].text);

		assert_int_equal(proc_status_of(&status), cases[i].of);
	}
}

static void a_name_says_nothing_but_itself(void **state)
{
	char before[SAMPLE_COMM_SIZE];
	char comm[SAMPLE_COMM_SIZE];
	struct proc_status status;

	(void)state;
	assert_int_equal(prctl(PR_GET_NAME, before), 0);
	assert_int_equal(prctl(PR_SET_NAME, "a\nState:\tZ\x1b[2J"), 0);
	assert_int_equal(proc_status_read(&status, getpid(), (uint32_t)gettid()), 0);
	assert_int_equal(prctl(PR_SET_NAME, before), 0);
	assert_int_equal(*proc_status_word(&status, "State"), 'R');
	proc_status_comm(&status, comm);
	for (const char *at = comm; *at; at++)
		assert_true(*at >= ' ' && *at != 0x7f);
	assert_int_equal(*comm, 'a');
	proc_status_release(&status);
}

static void reads_a_process_and_its_threads(void **state)
{
	struct proc_status status;

	(void)state;
	assert_int_equal(proc_status_read(&status, getpid(), 0), 0);
	assert_int_equal(proc_status_number(&status, "Pid", 10), getpid());
	assert_int_equal(proc_status_number(&status, "PPid", 10), getppid());
	proc_status_release(&status);
	assert_true(proc_status_read(&status, getpid(), INT32_MAX) < 0);
	assert_string_equal(proc_status_word(&status, "State"), "");
	proc_status_release(&status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_lines_say),
		cmocka_unit_test(numbers_of_namespaces_end_with_their_line),
		cmocka_unit_test(tells_whose_it_is),
		cmocka_unit_test(a_name_says_nothing_but_itself),
		cmocka_unit_test(reads_a_process_and_its_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
