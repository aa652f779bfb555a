/* seized.c - stops and detaches threads of other processes by ptrace, without ever blocking */
#include "sampler/attach/seized.h"

#include "sampler/attach/tracee.h"
#include "sampler/procfs/proc_status.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SEIZED_MOST = 4096, /* threads that took longer to stop, and are released later */
};

enum { SIGNAL_BITS = 0xff }; /* of a stop's status; PTRACE_EVENT_STOP is above them */

/* Return:  1: it is; 0: it is not; -errno: unknown. */
static int is_child_of_ours(pid_t tid)
{
	struct proc_status status;
	int r = proc_status_read(&status, tid, 0);

	if (r == 0)
		r = proc_status_number(&status, "Tgid", 10) == (uint64_t)tid &&
		    proc_status_number(&status, "PPid", 10) == (uint64_t)getpid();
	proc_status_release(&status);
	return r;
}

static bool is_stop(const siginfo_t *info)
{
	return info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED;
}

/* If it may be one of wick's children (no descriptor left to check), it is left for now. */
static int take_end(pid_t tid)
{
	siginfo_t info;
	int r = is_child_of_ours(tid);

	if (r == 0)
		(void)waitid(P_PID, (id_t)tid, &info, WEXITED | __WALL | WNOHANG);
	return r >= 0 || r == -ENOENT || r == -ESRCH ? -ESRCH : 0;
}

int seized_check(pid_t tid, int *ret_signal)
{
	siginfo_t info = {0};

	/* WNOWAIT: a kill may turn the stop into an end at any time. */
	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | __WALL | WNOHANG | WNOWAIT) < 0)
		return -ECHILD;
	if (info.si_pid == 0)
		return 0;
	if (!is_stop(&info))
		return take_end(tid);
	*ret_signal = info.si_status & ~SIGNAL_BITS ? 0 : info.si_status;
	return 1;
}

/* Threads that this thread has interrupted and not detached. One that does not fit stays traced
 * until wick ends. */
static _Thread_local struct {
	struct seized {
		pid_t pid;
		pid_t tid;
	} at[SEIZED_MOST];
	size_t n;
} later;

static bool detach(pid_t tid, int signal)
{
	return ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal) == 0;
}

/* PTRACE_INTERRUPT succeeds for own tracees only, whatever they do. */
static bool is_ours(pid_t tid)
{
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0;
}

static bool is_free(struct seized *seized)
{
	struct user_regs_struct regs;
	int signal = 0;
	int r = seized_check(seized->tid, &signal);

	if (r > 0) {
		/* It may have been in a system call, which must not reveal the stop. */
		(void)restart_stopped(seized->tid, &regs);
		return detach(seized->tid, signal);
	}
	if (r == -ESRCH)
		return true;
	if (is_ours(seized->tid))
		return false;
	/* After exec a thread has the pid of its process, and stops under that. */
	if (seized->tid == seized->pid || !is_ours(seized->pid))
		return true;
	seized->tid = seized->pid;
	return false;
}

void seized_detach_later(pid_t pid, pid_t tid)
{
	struct seized seized = {.pid = pid, .tid = tid};

	if (!is_free(&seized) && later.n < SEIZED_MOST)
		later.at[later.n++] = seized;
}

void seized_detach(pid_t pid, pid_t tid, int signal)
{
	if (!detach(tid, signal))
		seized_detach_later(pid, tid);
}

bool seized_sweep(void)
{
	for (size_t i = later.n; i-- > 0;)
		if (is_free(&later.at[i]))
			later.at[i] = later.at[--later.n];
	return later.n > 0;
}

/* An exec takes over the pid of the first thread without waiting for its tracer. */
static bool holds_up(pid_t pid)
{
	for (size_t i = 0; i < later.n; i++)
		if (later.at[i].pid == pid && later.at[i].tid != pid)
			return true;
	return false;
}

int seized_interrupt(pid_t pid, pid_t tid)
{
	if (holds_up(pid) && seized_sweep() && holds_up(pid))
		return -EINPROGRESS;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return -errno;
	if (is_ours(tid))
		return 0;
	seized_detach_later(pid, tid);
	return -ESRCH;
}
