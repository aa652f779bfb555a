/* tracer.c - the thread is held by a process of its own, that nothing sent to wick ends */
#include "sampler/attach/tracer.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 65536, PAGE_BYTES = 4096 };

/* What the child tells, in memory of both. */
struct told {
	atomic_bool done;
	int r;
	uint64_t stopped_ns;
	struct err err;
};

/* Its pages are copied at the first write: not while a thread stands. */
static void touch_stack(void)
{
	volatile char bytes[STACK_BYTES];

	for (size_t i = 0; i < sizeof(bytes); i += PAGE_BYTES)
		bytes[i] = 0;
}

/* All but faults, and the real-time signals: one of them is the watchdog's. */
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

static _Noreturn void hold(const struct inject *inject, struct told *told)
{
	block_signals();
	(void)setsid();
	touch_stack();
	told->r = inject_run(inject, &told->stopped_ns, &told->err);
	atomic_store(&told->done, true);
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static int take(const struct told *told, uint64_t *ret_stopped_ns, struct err *err)
{
	if (!atomic_load(&told->done))
		return err_set(err, ECHILD, "join: the process that held the thread was killed");
	*ret_stopped_ns = told->stopped_ns;
	if (err)
		*err = told->err;
	return told->r;
}

int holder_run(const struct inject *inject, uint64_t *ret_stopped_ns, struct err *err)
{
	struct told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigset_t all;
	sigset_t mask;
	pid_t pid;
	int r;

	if (told == MAP_FAILED)
		return inject_run(inject, ret_stopped_ns, err);
	*ret_stopped_ns = 0;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid = fork();
	if (pid == 0)
		hold(inject, told);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0) {
		wait_for(pid);
		r = take(told, ret_stopped_ns, err);
	} else {
		r = inject_run(inject, ret_stopped_ns, err);
	}
	(void)munmap(told, sizeof(*told));
	return r;
}
