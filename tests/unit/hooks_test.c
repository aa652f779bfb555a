/* hooks_test.c - programs that look hard print the same bytes with the agent as without it */
#include "child_fixture.h"
#include "fake_collector.h"
#include "folder_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { OUTPUT_BYTES = 1024 * 1024 };

static const struct fake_options usual = {
	.agent = AGENT, .hz = 999, .discovery = DISCOVERY_TIMER, .jitter_pct = 10};

struct outcome {
	int status;
	char output[OUTPUT_BYTES];
};

static const char *const *words(const char *program, const char *a, const char *b)
{
	static const char *argv[4];

	argv[0] = program;
	argv[1] = a;
	argv[2] = b;
	return argv;
}

/* Sends what is written to stdout and stderr into a file.  Return: the old ones. */
static void redirect(int file, int ret_saved[2])
{
	fflush(NULL);
	for (int fd = 1; fd <= 2; fd++) {
		ret_saved[fd - 1] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		assert_int_equal(dup2(file, fd), fd);
	}
}

static void restore(const int saved[2])
{
	for (int fd = 1; fd <= 2; fd++) {
		dup2(saved[fd - 1], fd);
		close(saved[fd - 1]);
	}
}

static int run_alone(const char *const argv[])
{
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	return child_status(pid);
}

static struct outcome *run(const struct fake_options *options, const char *const argv[],
			   struct fake_run *ret_run)
{
	struct outcome *outcome = calloc(1, sizeof(*outcome));
	int file = file_in_memory("", 0);
	int saved[2];

	assert_non_null(outcome);
	redirect(file, saved);
	if (options) {
		int r = fake_collector_run(options, argv, ret_run);

		outcome->status = r < 0 ? r : ret_run->status;
	} else {
		outcome->status = run_alone(argv);
	}
	restore(saved);
	assert_true(pread(file, outcome->output, OUTPUT_BYTES - 1, 0) > 0);
	close(file);
	return outcome;
}

/* The first line that differs, so that a failure can be read. */
static void assert_same(struct outcome *alone, struct outcome *sampled)
{
	char *mine = NULL, *theirs = NULL;
	char *a = strtok_r(alone->output, "\n", &mine);
	char *b = strtok_r(sampled->output, "\n", &theirs);

	while (a && b && strcmp(a, b) == 0) {
		a = strtok_r(NULL, "\n", &mine);
		b = strtok_r(NULL, "\n", &theirs);
	}
	if (a || b)
		fail_msg("alone:   %.2000s\nsampled: %.2000s", a ? a : "(end)", b ? b : "(end)");
	assert_int_equal(alone->status, sampled->status);
	free(alone);
	free(sampled);
}

static uint32_t n_of_kind(const struct fake_run *taken, enum handshake_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < taken->n_processes; i++)
		n += taken->processes[i]->kind == kind;
	return n;
}

static void same_with_and_without(const struct fake_options *options, const char *const argv[],
				  uint32_t images)
{
	struct fake_run taken;
	struct outcome *alone = run(NULL, argv, NULL);
	struct outcome *sampled = run(options, argv, &taken);

	assert_same(alone, sampled);
	assert_true(n_of_kind(&taken, HANDSHAKE_START) >= images);
	fake_run_release(&taken);
}

static void reports_sigprof_as_the_program_set_it(void **state)
{
	(void)state;
	same_with_and_without(&usual, words(TARGETS "/hooks_signals", NULL, NULL), 3);
}

static void survives_a_storm_of_the_programs_own_sigprof(void **state)
{
	(void)state;
	same_with_and_without(&usual, words(TARGETS "/hooks_signals", "storm", NULL), 1);
}

static void lets_a_stray_sigprof_end_the_program(void **state)
{
	struct fake_run taken;
	int status;

	(void)state;
	assert_int_equal(
		fake_collector_run(&usual, words(TARGETS "/hooks_signals", "die", NULL), &taken),
		0);
	status = taken.status;
	fake_run_release(&taken);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPROF);
}

static void follows_every_exec_and_shows_none_of_it(void **state)
{
	char dir[FOLDER_BYTES];

	(void)state;
	folder_make(dir);
	/* 17 execs that succeed, one of them through a shell, 2 by vfork, 3 spawns, shells. */
	same_with_and_without(&usual, words(TARGETS "/hooks_exec", "in", dir), 26);
	assert_int_equal(rmdir(dir), 0);
}

static void shows_none_of_it_when_refused(void **state)
{
	struct fake_options refused = usual;
	char dir[FOLDER_BYTES];

	(void)state;
	refused.refuse = true;
	folder_make(dir);
	same_with_and_without(&refused, words(TARGETS "/hooks_exec", "in", dir), 26);
	assert_int_equal(rmdir(dir), 0);
	same_with_and_without(&refused, words(TARGETS "/hooks_signals", NULL, NULL), 1);
}

static void names_what_takes_no_agent(void **state)
{
	static const char script[] = STATIC "; exec " STATIC;
	struct fake_run taken;
	int saved[2], file = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	redirect(file, saved);
	assert_int_equal(fake_collector_run(&usual, words("sh", "-c", script), &taken), 0);
	restore(saved);
	close(file);
	assert_int_equal(taken.status, 0);
	assert_int_equal(n_of_kind(&taken, HANDSHAKE_START), 1);
	/* One by vfork or fork, one by exec in place: another pid and the shell's own. */
	assert_int_equal(n_of_kind(&taken, HANDSHAKE_UNSUPPORTED), 2);
	fake_run_release(&taken);
}

static void survives_many_execs_at_full_rate(void **state)
{
	struct fake_run taken;

	(void)state;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(fake_collector_run(&usual,
						    words(TARGETS "/hooks_exec", "again", "50"),
						    &taken),
				 0);
		assert_int_equal(taken.status, 0);
		assert_int_equal(n_of_kind(&taken, HANDSHAKE_START), 51);
		fake_run_release(&taken);
	}
}

static uint32_t state_after(const char *how)
{
	const char *const *argv = words(TARGETS "/hooks_seccomp", how, "200000000");
	struct fake_run taken;
	uint32_t state;

	assert_int_equal(fake_collector_run(&usual, argv, &taken), 0);
	assert_int_equal(taken.status, 0);
	assert_true(taken.processes[0]->samples > 10);
	state = atomic_load(&taken.processes[0]->header->state);
	if (state == AGENT_NO_SYSCALLS)
		assert_true(taken.processes[0]->quiet > 10);
	fake_run_release(&taken);
	return state;
}

static void goes_quiet_under_a_filter_that_lets_handlers_return(void **state)
{
	(void)state;
	assert_int_equal(state_after("quiet"), AGENT_NO_SYSCALLS);
}

static void stops_before_a_filter_that_does_not(void **state)
{
	(void)state;
	assert_int_equal(state_after("no-return"), AGENT_SECCOMP);
	assert_int_equal(state_after("strict"), AGENT_SECCOMP);
}

static void takes_a_question_about_filters_for_no_more(void **state)
{
	uint32_t agent = state_after("probe");

	(void)state;
	assert_true(agent == AGENT_SAMPLING || agent == AGENT_EXITED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_sigprof_as_the_program_set_it),
		cmocka_unit_test(survives_a_storm_of_the_programs_own_sigprof),
		cmocka_unit_test(lets_a_stray_sigprof_end_the_program),
		cmocka_unit_test(follows_every_exec_and_shows_none_of_it),
		cmocka_unit_test(shows_none_of_it_when_refused),
		cmocka_unit_test(names_what_takes_no_agent),
		cmocka_unit_test(survives_many_execs_at_full_rate),
		cmocka_unit_test(goes_quiet_under_a_filter_that_lets_handlers_return),
		cmocka_unit_test(stops_before_a_filter_that_does_not),
		cmocka_unit_test(takes_a_question_about_filters_for_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
