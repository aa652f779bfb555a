/* seized_test.c - threads that are held while their process becomes another program */
#include "child_fixture.h"
#include "sampler/attach/seized.h"
#include "sampler/external/held.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	ROUNDS = 20,
	STATUS = 7,
	ARGUMENTS = 10,
	ARGUMENT_BYTES = 120000, /* together they take the kernel a while to copy */
};

/* What the children and we share. */
static struct {
	_Atomic pid_t busy;
	_Atomic pid_t executes;
	_Atomic bool go;
	_Atomic bool goes;
} * shared;

static void *run_for_ever(void *context)
{
	shared->busy = (pid_t)syscall(SYS_gettid);
	for (;;)
		;
	return context;
}

static void *execute(void *context)
{
	static char text[ARGUMENT_BYTES];
	char status[16];
	char *arguments[ARGUMENTS + 5] = {(char *)"sh", (char *)"-c", (char *)"exit $0", status};

	(void)snprintf(status, sizeof(status), "%d", STATUS);
	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[4 + i] = text;
	shared->executes = (pid_t)syscall(SYS_gettid);
	while (!shared->go)
		;
	shared->goes = true;
	(void)execv("/bin/sh", arguments);
	return context;
}

static _Noreturn void run_threads(void)
{
	pthread_t thread;

	(void)pthread_create(&thread, NULL, run_for_ever, NULL);
	(void)pthread_create(&thread, NULL, execute, NULL);
	for (;;)
		(void)pause();
}

static pid_t start(void)
{
	pid_t pid;

	memset((void *)shared, 0, sizeof(*shared));
	pid = child_start(run_threads);
	while (!shared->busy || !shared->executes)
		child_rest();
	return pid;
}

static void ends_as_what_it_has_become(pid_t pid)
{
	int status;

	while (seized_sweep())
		child_rest();
	status = child_status(pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STATUS);
}

/* A machine without a free processor may let it stop later than is waited for. */
static void hold(pid_t pid, pid_t tid, struct stop *stop)
{
	int r;

	while ((r = stop_begin(pid, tid, stop)) == -EINPROGRESS)
		while (seized_sweep())
			child_rest();
	assert_int_equal(r, 0);
}

/* It waits for the end of the one that is held; to seize it then is to wait for it. */
static void an_exec_is_not_waited_for_that_waits_for_us(void **state)
{
	struct stop stop;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = start();

		hold(pid, shared->busy, &stop);
		shared->go = true;
		while (thread_letter(pid, shared->busy) == 't')
			child_rest();
		(void)stop_end(&stop);
		/* What that says depends on how far the new program is. */
		if (stop_begin(pid, shared->executes, &stop) == 0)
			(void)stop_end(&stop);
		ends_as_what_it_has_become(pid);
	}
}

/* It has the number of its process when it stops. */
static void a_thread_that_executes_during_a_stop_request_is_detached(void **state)
{
	struct stop stop;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = start();

		shared->go = true;
		while (!shared->goes)
			;
		if (stop_begin(pid, shared->executes, &stop) == 0)
			(void)stop_end(&stop);
		ends_as_what_it_has_become(pid);
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
		cmocka_unit_test(an_exec_is_not_waited_for_that_waits_for_us),
		cmocka_unit_test(a_thread_that_executes_during_a_stop_request_is_detached),
	};

	return cmocka_run_group_tests(tests, share, NULL);
}
