/* unmask.c - opens SIGPROF in a thread that has blocked it behind the agent's back */
#include "sampler/collector/unmask.h"

#include "base/io.h"
#include "sampler/collector/limits.h"
#include "sampler/collector/proc.h"
#include "sampler/collector/proc_status.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Wait for the stop without ever waiting long. */
static int wait_stop(pid_t tid, int *ret_status)
{
	const struct timespec step = {.tv_nsec = 50000};
	uint64_t deadline = io_now_ns() + UNMASK_MS * NS_PER_MS;
	pid_t r;

	while ((r = waitpid(tid, ret_status, __WALL | WNOHANG)) == 0 && io_now_ns() < deadline)
		(void)nanosleep(&step, NULL);
	if (r == tid && WIFSTOPPED(*ret_status))
		return 0;
	return r < 0 ? -errno : -EINPROGRESS;
}

/* The signal that a stop was about to deliver, 0 for the stop that we asked for. */
static int pending_signal(int status)
{
	return status >> 16 ? 0 : WSTOPSIG(status);
}

static int clear_bit(pid_t pid, pid_t tid, int signal)
{
	uint64_t mask = 0;
	int status = 0;
	int r;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return -errno;
	r = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 ? -errno : wait_stop(tid, &status);
	if (r == 0 && ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0)
		r = -errno;
	if (r == -EINPROGRESS)
		return r;
	/* The number cannot become another thread's any more, but may have before. */
	if (r == 0 && proc_thread_gone(pid, (uint32_t)tid))
		r = -ESRCH;
	mask &= ~BIT(signal);
	if (r == 0 && ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) < 0)
		r = -errno;
	(void)ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)pending_signal(status));
	return r;
}

bool unmask_let_go(pid_t tid)
{
	int status = 0;
	pid_t r = waitpid(tid, &status, __WALL | WNOHANG);

	if (r == tid && WIFSTOPPED(status))
		(void)ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)pending_signal(status));
	return r != 0;
}

int unmask_thread(pid_t pid, uint32_t tid, int signal)
{
	struct proc_status status;
	int r = proc_status_read(&status, pid, tid);
	uint64_t blocked = r < 0 ? 0 : proc_status_number(&status, "SigBlk", 16);
	bool runs = r == 0 && *proc_status_word(&status, "State") == 'R';

	proc_status_release(&status);
	if (r < 0)
		return r;
	if (!(blocked & BIT(signal)))
		return -EALREADY;
	if (!runs)
		return -EAGAIN;
	return clear_bit(pid, (pid_t)tid, signal);
}
