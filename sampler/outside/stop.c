/* stop.c - one thread of another process, held for as long as it takes to read its registers */
#include "sampler/outside/stop.h"

#include "base/io.h"
#include "sampler/attach/restart.h"
#include "sampler/outside/limits.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NARROW_CODE = 0x23 }; /* the code segment of 32-bit programs */

static bool is_thread_of(pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

/* Return: 0: not yet; 1: it has stopped, or ended (*RET_STATUS says which). */
static int look(pid_t tid, int *ret_status)
{
	pid_t r = waitpid(tid, ret_status, __WALL | WNOHANG);

	if (r < 0)
		return errno == ECHILD ? -ESRCH : -errno;
	return r != 0;
}

/*
 * One that has to wait for a processor itself.  Its stop sends SIGCHLD, which wakes us; should
 * another thread of ours take that, we look again after a while.
 */
static int sleep_until_stop(pid_t tid, uint64_t asked_ns, int *ret_status)
{
	const struct timespec step = {.tv_nsec = STOP_STEP_US * 1000};
	sigset_t set;
	sigset_t before;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &set, &before);
	while ((r = look(tid, ret_status)) == 0 &&
	       io_now_ns() - asked_ns < STOP_MOST_MS * UINT64_C(1000000))
		(void)sigtimedwait(&set, NULL, &step);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* One that runs on another processor stops at once. */
static int wait_stop(pid_t tid, uint64_t asked_ns, int *ret_status)
{
	int r;

	while ((r = look(tid, ret_status)) == 0 &&
	       io_now_ns() - asked_ns < STOP_SPIN_US * UINT64_C(1000))
		;
	if (r == 0)
		r = sleep_until_stop(tid, asked_ns, ret_status);
	if (r <= 0)
		return r < 0 ? r : -EINPROGRESS;
	return WIFSTOPPED(*ret_status) ? 0 : -ESRCH;
}

/* The signal that a stop was about to deliver, 0 for the stop that we asked for. */
static int pending_signal(int status)
{
	return status >> 16 ? 0 : WSTOPSIG(status);
}

static void detach(pid_t tid, int signal)
{
	(void)ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
}

static int read_registers(struct stop *stop)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, stop->tid, NULL, &regs) < 0)
		return -errno;
	if (restart_call(&regs))
		(void)ptrace(PTRACE_POKEUSER, stop->tid, offsetof(struct user, regs.rax), regs.rax);
	stop->regs = (struct unwind_regs){
		.pc = regs.rip, .sp = regs.rsp, .bp = regs.rbp, .bx = regs.rbx};
	stop->narrow = regs.cs == NARROW_CODE;
	stop->in_call = (int64_t)regs.orig_rax >= 0;
	return 0;
}

int stop_begin(pid_t pid, pid_t tid, struct stop *ret_stop)
{
	struct stop stop = {.tid = tid};
	bool other;
	int status = 0;
	int r;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return -errno;
	/* From here on the number cannot become another thread's. */
	other = !is_thread_of(pid, tid);
	stop.asked_ns = io_now_ns();
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		return -ESRCH;
	r = wait_stop(tid, stop.asked_ns, &status);
	if (r < 0)
		return r;
	stop.signal = pending_signal(status);
	r = other ? -ESRCH : read_registers(&stop);
	if (r < 0) {
		detach(tid, stop.signal);
		return r;
	}
	*ret_stop = stop;
	return 0;
}

uint64_t stop_end(struct stop *stop)
{
	detach(stop->tid, stop->signal);
	return io_now_ns() - stop->asked_ns;
}

bool stop_let_go(pid_t tid)
{
	int status = 0;
	pid_t r = waitpid(tid, &status, __WALL | WNOHANG);

	if (r == tid && WIFSTOPPED(status))
		detach(tid, pending_signal(status));
	return r != 0;
}

/* Of the one thread that samples from outside.  Whom there is no place for stands until we end. */
static struct {
	pid_t tids[STOP_MOST_LATER];
	size_t n;
} later;

void stop_let_go_later(pid_t tid)
{
	if (later.n < STOP_MOST_LATER)
		later.tids[later.n++] = tid;
}

bool stop_let_go_those(void)
{
	for (size_t i = later.n; i-- > 0;)
		if (stop_let_go(later.tids[i]))
			later.tids[i] = later.tids[--later.n];
	return later.n > 0;
}
