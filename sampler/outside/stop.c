/* stop.c - one thread of another process, held for as long as it takes to read its registers */
#include "sampler/outside/stop.h"

#include "base/io.h"
#include "sampler/attach/restart.h"
#include "sampler/collector/seized.h"
#include "sampler/outside/limits.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <time.h>
#include <unistd.h>

enum { NARROW_CODE = 0x23 }; /* the code segment of 32-bit programs */

static bool is_thread_of(pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

/*
 * One that has to wait for a processor itself.  Its stop sends SIGCHLD, which wakes us; should
 * another thread of ours take that, we look again after a while.
 */
static int sleep_until_stop(pid_t tid, uint64_t asked_ns, int *ret_signal)
{
	const struct timespec step = {.tv_nsec = STOP_STEP_US * 1000};
	sigset_t set;
	sigset_t before;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &set, &before);
	while ((r = seized_look(tid, ret_signal)) == 0 &&
	       io_now_ns() - asked_ns < STOP_MOST_MS * UINT64_C(1000000))
		(void)sigtimedwait(&set, NULL, &step);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* One that runs on another processor stops at once. */
static int wait_stop(pid_t tid, uint64_t asked_ns, int *ret_signal)
{
	int r;

	while ((r = seized_look(tid, ret_signal)) == 0 &&
	       io_now_ns() - asked_ns < STOP_SPIN_US * UINT64_C(1000))
		;
	if (r == 0)
		r = sleep_until_stop(tid, asked_ns, ret_signal);
	if (r == 0)
		return -EINPROGRESS;
	return r < 0 ? -ESRCH : 0;
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
	struct stop stop = {.pid = pid, .tid = tid, .asked_ns = io_now_ns()};
	bool other;
	int r = seized_ask(pid, tid);

	if (r < 0)
		return r;
	/* Now the number cannot become another thread's, but may have before. */
	other = !is_thread_of(pid, tid);
	r = wait_stop(tid, stop.asked_ns, &stop.signal);
	if (r < 0) {
		seized_later(pid, tid);
		return r;
	}
	r = other ? -ESRCH : read_registers(&stop);
	if (r < 0) {
		seized_let_go(pid, tid, stop.signal);
		return r;
	}
	*ret_stop = stop;
	return 0;
}

uint64_t stop_end(struct stop *stop)
{
	seized_let_go(stop->pid, stop->tid, stop->signal);
	return io_now_ns() - stop->asked_ns;
}
