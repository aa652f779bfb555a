/* unmask.c - opens SIGPROF in a thread that has blocked it behind the agent's back */
#include "sampler/collector/ring/unmask.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/attach/seized.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_status.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <time.h>

enum {
	UNMASK_MS = 20, /* how long one thread may take to stop */
};

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Wait for the stop without ever waiting long. */
static int wait_stop(pid_t tid, int *ret_pending)
{
	const struct timespec step = {.tv_nsec = 50000};
	uint64_t deadline = io_now_ns() + UNMASK_MS * NS_PER_MS;
	int r;

	while ((r = seized_check(tid, ret_pending)) == 0 && io_now_ns() < deadline)
		(void)nanosleep(&step, NULL);
	if (r == 0)
		return -EINPROGRESS;
	return r < 0 ? -ESRCH : 0;
}

static int clear_bit(pid_t pid, pid_t tid, int signal)
{
	uint64_t mask = 0;
	int pending = 0;
	int r = seized_interrupt(pid, tid);

	if (r < 0)
		return r;
	r = wait_stop(tid, &pending);
	if (r < 0) {
		seized_detach_later(pid, tid);
		return r;
	}
	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask) < 0)
		r = -errno;
	/* The number cannot become another thread's any more, but may have before. */
	if (r == 0 && proc_thread_gone(pid, (uint32_t)tid))
		r = -ESRCH;
	mask &= ~BIT(signal);
	if (r == 0 && ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) < 0)
		r = -errno;
	seized_detach(pid, tid, pending);
	return r;
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
