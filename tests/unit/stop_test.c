/* stop_test.c - one thread held for a moment: what it was doing, and that it goes on */
#include "child_fixture.h"
#include "sampler/attach/seized.h"
#include "sampler/external/check.h"
#include "sampler/external/held.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { ENDS = 200 };

/* What the children and we share. */
static struct {
	_Atomic uint64_t turns;
	_Atomic unsigned interrupted;
	_Atomic unsigned signals;
	_Atomic bool waits;
	_Atomic pid_t child;
} * shared;

static void on_signal(int signo)
{
	(void)signo;
	shared->signals++;
}

static void run_for_ever(void)
{
	for (;;)
		shared->turns++;
}

/* Fails with EINTR whatever interrupts it. */
static void wait_for_ever(void)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	shared->waits = true;
	for (;;)
		if (epoll_wait(fd, &event, 1, -1) < 0 && errno == EINTR)
			shared->interrupted++;
}

/* So does a read of a socket that has a time-out. */
static void read_for_ever(void)
{
	const struct timeval limit = {.tv_sec = 3600};
	char byte;
	int fds[2];

	(void)socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds);
	(void)setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	shared->waits = true;
	for (;;)
		if (read(fds[0], &byte, 1) < 0 && errno == EINTR)
			shared->interrupted++;
}

/* Nobody stops in vfork() before the child has ended; this one has memory of its own. */
static void run_after_vfork(void)
{
	const struct timespec a_while = {.tv_nsec = 200000000};

	shared->waits = true;
	if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		(void)nanosleep(&a_while, NULL);
		_exit(0);
	}
	run_for_ever();
}

static pid_t start(void (*run)(void))
{
	struct sigaction action = {.sa_handler = on_signal};
	pid_t pid;

	memset((void *)shared, 0, sizeof(*shared));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* some of these run for ever */
		(void)sigaction(SIGUSR1, &action, NULL);
		run();
	}
	return pid;
}

static bool is_asleep(pid_t pid)
{
	return thread_letter(pid, pid) == 'S';
}

/* However late a busy machine lets it stop. */
static void hold(pid_t pid, struct stop *ret_stop)
{
	int r;

	while ((r = stop_begin(pid, pid, ret_stop)) == -EINPROGRESS)
		while (seized_sweep())
			child_rest();
	assert_int_equal(r, 0);
}

static void holds_a_thread_that_runs_and_lets_it_run_on(void **state)
{
	pid_t pid = start(run_for_ever);
	struct stop stop;
	uint64_t turns;

	(void)state;
	while (shared->turns == 0)
		child_rest();
	hold(pid, &stop);
	assert_false(stop.narrow);
	assert_int_equal(stop.signal, 0);
	assert_true(stop.regs.sp != 0 && stop.regs.pc != 0);
	turns = shared->turns;
	child_rest();
	assert_int_equal(shared->turns, turns);
	assert_true(stop_end(&stop) > 0);
	while (shared->turns == turns)
		child_rest();
	child_end(pid);
}

static void goes_on(void (*wait)(void))
{
	pid_t pid = start(wait);
	struct stop stop;

	while (!shared->waits || !is_asleep(pid))
		child_rest();
	for (int i = 0; i < 20; i++) {
		hold(pid, &stop);
		(void)stop_end(&stop);
		while (!is_asleep(pid))
			child_rest();
	}
	assert_int_equal(shared->interrupted, 0);
	/* A signal still ends it. */
	assert_int_equal(kill(pid, SIGUSR1), 0);
	while (shared->interrupted == 0)
		child_rest();
	assert_int_equal(shared->signals, 1);
	child_end(pid);
}

static void a_call_goes_on_that_fails_with_eintr_otherwise(void **state)
{
	(void)state;
	goes_on(wait_for_ever);
	goes_on(read_for_ever);
}

static void a_signal_in_a_stop_is_given_after_it(void **state)
{
	pid_t pid = start(run_for_ever);
	struct stop stop;

	(void)state;
	while (shared->turns == 0)
		child_rest();
	for (unsigned i = 1; i <= 20; i++) {
		hold(pid, &stop);
		assert_int_equal(kill(pid, SIGUSR1), 0);
		(void)stop_end(&stop);
		while (shared->signals < i)
			child_rest();
		assert_int_equal(shared->signals, i);
	}
	child_end(pid);
}

static void a_stopped_process_stays_stopped(void **state)
{
	pid_t pid = start(run_for_ever);
	struct stop stop;
	uint64_t turns;
	int status;

	(void)state;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	turns = shared->turns;
	for (int i = 0; i < 10; i++) {
		hold(pid, &stop);
		(void)stop_end(&stop);
		/* It goes from the one stop to the other, and is runnable in between. */
		while (thread_letter(pid, pid) != 'T')
			child_rest();
	}
	assert_int_equal(shared->turns, turns);
	child_end(pid);
}

static void what_is_no_thread_of_it_is_refused(void **state)
{
	pid_t pid = start(run_for_ever);
	pid_t other = start(run_for_ever);
	struct stop stop;

	(void)state;
	assert_int_equal(stop_begin(pid, other, &stop), -ESRCH);
	while (thread_letter(other, other) == 't')
		child_rest();
	assert_int_equal(thread_letter(other, other), 'R');
	child_end(other);
	assert_int_equal(stop_begin(other, other, &stop), -ESRCH);
	child_end(pid);
}

static void a_thread_that_stops_late_is_detached_then(void **state)
{
	pid_t pid = start(run_after_vfork);
	struct stop stop;

	(void)state;
	while (!shared->waits || thread_letter(pid, pid) != 'D')
		child_rest();
	assert_int_equal(stop_begin(pid, pid, &stop), -EINPROGRESS);
	assert_true(seized_sweep());
	assert_int_equal(shared->turns, 0);
	while (seized_sweep())
		child_rest();
	while (shared->turns == 0)
		child_rest();
	child_end(pid);
}

static void one_that_is_traced_is_left_alone(void **state)
{
	pid_t pid = start(run_for_ever);
	struct checked_process process;
	struct stop stop;

	(void)state;
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(stop_begin(pid, pid, &stop), -EPERM);
	assert_int_equal(check_process(pid, &process, NULL), 0);
	assert_int_equal(process.tracer, getpid());
	child_end(pid);
}

static void *sleep_on(void *context)
{
	(void)pause();
	return context;
}

static void end_the_main_thread(void)
{
	pthread_t thread;

	(void)pthread_create(&thread, NULL, sleep_on, NULL);
	pthread_exit(NULL);
}

static void one_without_its_main_thread_is_not_said_to_have_ended(void **state)
{
	pid_t pid = start(end_the_main_thread);
	struct checked_process process;
	struct err err = {0};

	(void)state;
	while (thread_letter(pid, pid) != 'Z')
		child_rest();
	assert_true(check_process(pid, &process, &err) < 0);
	assert_non_null(strstr(err.text, "runs without its main thread"));
	child_end(pid);
}

/* Held again and again until it ends, by a signal that comes at any time. */
static void hold_to_its_end(pid_t pid)
{
	struct stop stop;
	int r;

	do {
		r = stop_begin(pid, pid, &stop);
		if (r == 0)
			(void)stop_end(&stop);
		(void)seized_sweep();
	} while (r == 0 || r == -EINPROGRESS);
	while (seized_sweep())
		child_rest();
}

static void kill_after(pid_t pid, unsigned round)
{
	const struct timespec a_while = {.tv_nsec = 200000 + round % 50 * 10000};

	if (fork() != 0)
		return;
	(void)nanosleep(&a_while, NULL);
	(void)kill(pid, SIGKILL);
	_exit(0);
}

static void the_end_of_a_child_is_left_to_its_parent(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ENDS; round++) {
		pid_t pid = start(run_for_ever);
		int status = 0;

		kill_after(pid, round);
		hold_to_its_end(pid);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_true(wait(NULL) > 0);
	}
}

/* Its own child runs; says how that ended. */
static void wait_for_a_child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		run_for_ever();
	shared->child = pid;
	(void)waitpid(pid, &status, 0);
	_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void the_end_of_another_s_child_is_told_to_its_parent(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ENDS; round++) {
		pid_t pid = start(wait_for_a_child);
		int status = 0;

		while (shared->child == 0)
			child_rest();
		kill_after(shared->child, round);
		hold_to_its_end(shared->child);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), SIGKILL);
		assert_true(wait(NULL) > 0);
	}
}

static int share(void **state)
{
	(void)state;
	shared = child_shared(sizeof(*shared));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_a_thread_that_runs_and_lets_it_run_on),
		cmocka_unit_test(a_call_goes_on_that_fails_with_eintr_otherwise),
		cmocka_unit_test(a_signal_in_a_stop_is_given_after_it),
		cmocka_unit_test(a_stopped_process_stays_stopped),
		cmocka_unit_test(what_is_no_thread_of_it_is_refused),
		cmocka_unit_test(a_thread_that_stops_late_is_detached_then),
		cmocka_unit_test(one_that_is_traced_is_left_alone),
		cmocka_unit_test(one_without_its_main_thread_is_not_said_to_have_ended),
		cmocka_unit_test(the_end_of_a_child_is_left_to_its_parent),
		cmocka_unit_test(the_end_of_another_s_child_is_told_to_its_parent),
	};

	return cmocka_run_group_tests(tests, share, NULL);
}
