/* stop.c - one thread of another process, held for as long as it takes to read its registers */
#include "sampler/outside/stop.h"

#include "base/io.h"
#include "sampler/outside/limits.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The kernel's own, between it and a tracer: go into the call again, unless a handler runs. */
enum { KERNEL_ERESTARTNOHAND = 514 };

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

/*
 * Calls that fail with EINTR whatever interrupts them, and have done nothing by then (signal(7));
 * the rest is restarted by the kernel itself.
 */
static bool is_given_up(uint64_t nr)
{
	static const uint64_t calls[] = {
		__NR_epoll_wait, __NR_epoll_pwait,     __NR_epoll_pwait2, __NR_semop,
		__NR_semtimedop, __NR_rt_sigtimedwait, __NR_io_getevents, __NR_io_pgetevents,
		__NR_accept,     __NR_accept4,         __NR_recvfrom,     __NR_recvmsg,
		__NR_sendto,     __NR_sendmsg,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (nr == calls[i])
			return true;
	return false;
}

/*
 * A signal with a handler still makes it EINTR: that is decided when the thread leaves the stop.
 */
static void restart(pid_t tid, const struct user_regs_struct *regs)
{
	const long again = -KERNEL_ERESTARTNOHAND;

	if ((int64_t)regs->orig_rax < 0 || (int64_t)regs->rax != -EINTR ||
	    !is_given_up(regs->orig_rax))
		return;
	(void)ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rax), again);
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
	restart(stop->tid, &regs);
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
