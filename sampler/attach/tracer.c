/* tracer.c - traces the injection thread in a child process, which survives signals to wick */
#include "sampler/attach/tracer.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 65536, PAGE_BYTES = 4096 };

/* The child's result, in shared memory. */
struct result {
	atomic_bool done;
	int r;
	uint64_t stopped_ns;
	struct err err;
};

/* fork copies pages at the first write: do it before a thread is stopped. */
static void touch_stack(void)
{
	volatile char bytes[STACK_BYTES];

	for (size_t i = 0; i < sizeof(bytes); i += PAGE_BYTES)
		bytes[i] = 0;
}

/* Blocks all signals but faults and real-time signals, one of which is the watchdog's. */
static void block_signals(void)
{
	static const int open[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
	sigset_t set;

	(void)sigfillset(&set);
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		(void)sigdelset(&set, open[i]);
	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		(void)sigdelset(&set, sig);
	(void)pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static _Noreturn void run_child(const struct inject *inject, struct result *result)
{
	block_signals();
	(void)setsid();
	touch_stack();
	result->r = inject_run(inject, &result->stopped_ns, &result->err);
	atomic_store(&result->done, true);
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static int take_result(const struct result *result, uint64_t *ret_stopped_ns, struct err *err)
{
	if (!atomic_load(&result->done))
		return err_set(err, ECHILD,
			       "attach: the process that traced the thread was killed");
	*ret_stopped_ns = result->stopped_ns;
	if (err)
		*err = result->err;
	return result->r;
}

int tracer_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err)
{
	struct result *result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigset_t all;
	sigset_t mask;
	pid_t pid;
	int r;

	if (result == MAP_FAILED)
		return inject_run(inject, ret_stopped_ns, err);
	*ret_stopped_ns = 0;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid = fork();
	if (pid == 0)
		run_child(inject, result);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0) {
		wait_for(pid);
		r = take_result(result, ret_stopped_ns, err);
	} else {
		r = inject_run(inject, ret_stopped_ns, err);
	}
	(void)munmap(result, sizeof(*result));
	return r;
}
