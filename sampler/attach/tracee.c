/* tracee.c - stops one thread of another process by ptrace, and runs system calls and code on it */
#include "sampler/attach/tracee.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The kernel's internal code: restart the call, unless a handler runs. */
enum { KERNEL_ERESTARTNOHAND = 514 };

/* Socket calls with SO_RCVTIMEO or SO_SNDTIMEO; read() and write() for some files. */
static const long calls[] = {
	SYS_epoll_wait,     SYS_epoll_pwait,     SYS_epoll_pwait2, SYS_read,
	SYS_readv,          SYS_write,           SYS_writev,       SYS_recvfrom,
	SYS_recvmsg,        SYS_recvmmsg,        SYS_sendto,       SYS_sendmsg,
	SYS_sendmmsg,       SYS_accept,          SYS_accept4,      SYS_semop,
	SYS_semtimedop,     SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_pgetevents,
	SYS_io_uring_enter,
};

bool restart_call(struct user_regs_struct *regs)
{
	if ((long)regs->rax != -EINTR)
		return false;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if ((long)regs->orig_rax != calls[i])
			continue;
		regs->rax = (unsigned long long)-KERNEL_ERESTARTNOHAND;
		return true;
	}
	return false;
}

int restart_stopped(pid_t tid, struct user_regs_struct *ret_regs)
{
	if (ptrace(PTRACE_GETREGS, tid, NULL, ret_regs) < 0)
		return -errno;
	if (restart_call(ret_regs))
		(void)ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rax), ret_regs->rax);
	return 0;
}

enum {
	MAX_NS = 500000,
	CPU_CHECK_NS = 40000, /* waking its processor takes about as long */
	STAT_BYTES = 1024,
	CPU_FIELD = 37, /* fields of its stat file after the name */
};

void stop_wait_open(struct stop_wait *ret_wait, pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	*ret_wait = (struct stop_wait){.stat_fd = open(path, O_RDONLY | O_CLOEXEC)};
}

void stop_wait_close(struct stop_wait *wait)
{
	cleanup_fd(&wait->stat_fd);
	wait->stat_fd = -1;
}

void stop_wait_begin(struct stop_wait *wait)
{
	wait->begun_ns = io_now_ns();
	wait->checked_ns = wait->begun_ns;
}

/* Return:  the processor that it runs on or waits for; -1: unknown. */
static int find_cpu(int stat_fd)
{
	char text[STAT_BYTES];
	ssize_t n = io_pread(stat_fd, text, sizeof(text) - 1, 0);
	const char *at;

	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (int i = 0; at && i < CPU_FIELD; i++)
		at = strchr(at + 1, ' ');
	return at ? (int)strtol(at, NULL, 10) : -1;
}

bool stop_wait_continues(struct stop_wait *wait)
{
	uint64_t now_ns = io_now_ns();

	if (wait->stat_fd < 0)
		return false;
	if (now_ns - wait->checked_ns >= CPU_CHECK_NS) {
		wait->checked_ns = now_ns;
		if (find_cpu(wait->stat_fd) == sched_getcpu())
			stop_wait_close(wait);
	}
	return wait->stat_fd >= 0 && now_ns - wait->begun_ns <= MAX_NS;
}

#define NS_PER_MS UINT64_C(1000000)
#define SIGBIT(n) (UINT64_C(1) << ((n)-1))
#define DIRECTION UINT64_C(0x400) /* of string instructions; clear in a call */

enum {
	STOP_MS = 500,    /* longest time for a thread to stop, and for a call */
	CALL_MS = 2000,   /* longest time of a call on it, */
	LEAVE_MS = 20000, /* and of its end */
	PATIENCE = 10,    /* times CALL_MS, for a call that waits for no lock */
	ENTER_BYTES = 2,
	FIRST_STOPS = 8, /* signals before the requested stop */
};

/* A fault in injected code must reach wick; if it were blocked, the kernel would reset its action.
 */
static const uint64_t FAULTS =
	SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL) | SIGBIT(SIGFPE) | SIGBIT(SIGTRAP);

/*
 * Waiting for a stop. A thread on another processor stops within microseconds, and polling costs
 * less than sleeping. After that wick sleeps in waitpid(), and a watchdog timer interrupts it in
 * time. If no timer can be created (RLIMIT_SIGPENDING), it polls at intervals.
 */
enum {
	SIGNAL = 2, /* added to SIGRTMIN */
	NS_PER_S = 1000000000,
	AGAIN_NS = 5000000, /* a signal before the sleep is lost: the timer repeats */
	STEP_NS = 50000,
};

static void on_watchdog(int sig)
{
	(void)sig;
}

static int start_watchdog(uint64_t ns, timer_t *ret_timer)
{
	struct sigaction action = {.sa_handler = on_watchdog};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + SIGNAL};
	const struct itimerspec spec = {
		.it_value = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)},
		.it_interval = {.tv_nsec = AGAIN_NS}};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (sigaction(SIGRTMIN + SIGNAL, &action, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, ret_timer) < 0)
		return -errno;
	if (timer_settime(*ret_timer, 0, &spec, NULL) < 0) {
		(void)timer_delete(*ret_timer);
		return -errno;
	}
	return 0;
}

static int poll_wait(pid_t tid, int options, int *ret_status)
{
	pid_t r = waitpid(tid, ret_status, __WALL | options);

	if (r == tid)
		return 0;
	return r == 0 ? -EAGAIN : -errno;
}

static int poll_until(pid_t tid, uint64_t deadline_ns, int *ret_status)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	int r;

	while ((r = poll_wait(tid, WNOHANG, ret_status)) == -EAGAIN && io_now_ns() < deadline_ns)
		(void)nanosleep(&step, NULL);
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

/* Return: 0 and its wait status; -ETIMEDOUT; -ECHILD: it is no tracee any more. */
static int tracee_wait(pid_t tid, struct stop_wait *wait, uint64_t deadline_ns, int *ret_status)
{
	uint64_t start_ns = io_now_ns();
	timer_t watchdog = NULL;
	int r;

	stop_wait_begin(wait);
	do
		r = poll_wait(tid, WNOHANG, ret_status);
	while (r == -EAGAIN && stop_wait_continues(wait));
	if (r != -EAGAIN)
		return r;
	if (deadline_ns <= start_ns)
		return -ETIMEDOUT;
	if (start_watchdog(deadline_ns - start_ns, &watchdog) < 0)
		return poll_until(tid, deadline_ns, ret_status);
	do
		r = poll_wait(tid, 0, ret_status);
	while (r == -EINTR && io_now_ns() < deadline_ns);
	(void)timer_delete(watchdog);
	return r == -EINTR ? -ETIMEDOUT : r;
}

static int trace(long request, const struct tracee *tracee, void *address, void *data)
{
	return ptrace(request, tracee->tid, address, data) < 0 ? -errno : 0;
}

/* exec has replaced the program: nothing to restore, and it continues. */
static bool has_executed(const struct tracee *tracee, int status)
{
	if (status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		return false;
	(void)ptrace(PTRACE_DETACH, tracee->tid, NULL, NULL);
	return true;
}

/* After exec the thread has the pid of its process. */
static void follow_exec(struct tracee *tracee, uint64_t deadline_ns)
{
	int status;

	if (tracee->tid == tracee->pid)
		return;
	tracee->tid = tracee->pid;
	if (tracee_wait(tracee->tid, &tracee->stop_wait, deadline_ns, &status) == 0)
		(void)has_executed(tracee, status);
}

static int wait_stop(struct tracee *tracee, uint64_t deadline_ns, int *ret_status)
{
	int r = tracee_wait(tracee->tid, &tracee->stop_wait, deadline_ns, ret_status);

	if (r == 0 && WIFSTOPPED(*ret_status) && !has_executed(tracee, *ret_status))
		return 0;
	if (r == -ECHILD)
		follow_exec(tracee, deadline_ns);
	if (r != 0 && r != -ECHILD)
		return r;
	tracee->gone = true;
	return -ESRCH;
}

/* The kind of stop in a wait status; the upper bits are the event. */
static bool is_asked_for(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

static bool is_group_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
}

int tracee_seize(struct tracee *tracee, pid_t pid, pid_t tid, uint64_t enter)
{
	tracee->pid = pid;
	tracee->tid = tid;
	tracee->enter = enter;
	tracee->stopped = false;
	tracee->gone = false;
	tracee->stop_wait.stat_fd = -1;
	return trace(PTRACE_SEIZE, tracee, NULL, (void *)(uintptr_t)PTRACE_O_TRACEEXEC);
}

static int note_state(struct tracee *tracee)
{
	struct iovec xstate = {.iov_base = tracee->xstate, .iov_len = sizeof(tracee->xstate)};
	int r = trace(PTRACE_GETREGS, tracee, NULL, &tracee->regs);

	if (r == 0)
		r = trace(PTRACE_GETREGSET, tracee, (void *)(uintptr_t)NT_X86_XSTATE, &xstate);
	if (r == 0)
		r = trace(PTRACE_GETSIGMASK, tracee, (void *)(uintptr_t)sizeof(tracee->mask),
			  &tracee->mask);
	tracee->xstate_bytes = xstate.iov_len;
	tracee->stopped = r == 0;
	return r;
}

int tracee_stop(struct tracee *tracee)
{
	uint64_t deadline_ns;
	int status = 0;
	int r;

	tracee->stopped_ns = io_now_ns();
	deadline_ns = tracee->stopped_ns + STOP_MS * NS_PER_MS;
	r = trace(PTRACE_INTERRUPT, tracee, NULL, NULL);
	for (int i = 0; r == 0 && i < FIRST_STOPS; i++) {
		r = wait_stop(tracee, deadline_ns, &status);
		if (r < 0 || is_asked_for(status))
			break;
		if (is_group_stop(status))
			return -EAGAIN;
		/* Deliver a signal that came first; the requested stop follows. */
		r = trace(PTRACE_CONT, tracee, NULL,
			  (void *)(intptr_t)(status >> 16 ? 0 : WSTOPSIG(status)));
	}
	if (r == 0 && !is_asked_for(status))
		r = -EAGAIN;
	return r < 0 ? r : note_state(tracee);
}

int tracee_block_signals(struct tracee *tracee)
{
	uint64_t mask = ~FAULTS;

	return trace(PTRACE_SETSIGMASK, tracee, (void *)(uintptr_t)sizeof(mask), &mask);
}

/* Waits until it stops for a reason of ours; continues by HOW after group stops, which wait until
 * it is detached. */
static int await_stop(struct tracee *tracee, long how, int *ret_status)
{
	uint64_t deadline_ns = io_now_ns() + CALL_MS * NS_PER_MS;
	int r = wait_stop(tracee, deadline_ns, ret_status);

	while (r == 0 && *ret_status >> 16 == PTRACE_EVENT_STOP) {
		r = trace(how, tracee, NULL, NULL);
		if (r == 0)
			r = wait_stop(tracee, deadline_ns, ret_status);
	}
	return r;
}

static int set_regs(const struct tracee *tracee, struct user_regs_struct *regs)
{
	/* The kernel must not restart a system call of the thread in our code. */
	regs->orig_rax = (unsigned long long)-1;
	regs->eflags &= ~DIRECTION;
	return trace(PTRACE_SETREGS, tracee, NULL, regs);
}

/* A single step executes the whole call, and the kernel can still restart the thread's own call. */
int tracee_syscall(struct tracee *tracee, long nr, const uint64_t *args, long *ret_answer)
{
	struct user_regs_struct regs = tracee->regs;
	int status = 0;
	int r;

	regs.rip = tracee->enter;
	regs.rax = (unsigned long long)nr;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	r = set_regs(tracee, &regs);
	if (r == 0)
		r = trace(PTRACE_SINGLESTEP, tracee, NULL, NULL);
	if (r == 0)
		r = await_stop(tracee, PTRACE_SINGLESTEP, &status);
	if (r == 0)
		r = trace(PTRACE_GETREGS, tracee, NULL, &regs);
	if (r < 0)
		return r;
	if (WSTOPSIG(status) != SIGTRAP || regs.rip != tracee->enter + ENTER_BYTES)
		return -EFAULT;
	*ret_answer = (long)regs.rax;
	return 0;
}

int tracee_continue(struct tracee *tracee, struct user_regs_struct *begin)
{
	int r = begin ? set_regs(tracee, begin) : 0;

	return r == 0 ? trace(PTRACE_CONT, tracee, NULL, NULL) : r;
}

/*
 * The call did not end in time. If it waits for a lock it is given up: it does not have the lock.
 * Any other call gets more time.
 */
static int interrupt_call(struct tracee *tracee, int *ret_status)
{
	struct user_regs_struct regs;
	int r = -ETIMEDOUT;

	for (int i = 0; r == -ETIMEDOUT && i < PATIENCE; i++) {
		r = trace(PTRACE_INTERRUPT, tracee, NULL, NULL);
		if (r == 0)
			r = wait_stop(tracee, io_now_ns() + CALL_MS * NS_PER_MS, ret_status);
		if (r < 0 || *ret_status >> 16 != PTRACE_EVENT_STOP)
			return r;
		r = trace(PTRACE_GETREGS, tracee, NULL, &regs);
		if (r == 0 && (long)regs.orig_rax == SYS_futex)
			return -ETIMEDOUT;
		if (r == 0)
			r = tracee_continue(tracee, NULL);
		if (r == 0)
			r = await_stop(tracee, PTRACE_CONT, ret_status);
	}
	return r;
}

int tracee_wait_fault(struct tracee *tracee, struct user_regs_struct *ret_regs, int *ret_signal)
{
	int status = 0;
	int r = await_stop(tracee, PTRACE_CONT, &status);

	if (r == -ETIMEDOUT)
		r = interrupt_call(tracee, &status);
	if (r == 0)
		r = trace(PTRACE_GETREGS, tracee, NULL, ret_regs);
	if (r == 0)
		*ret_signal = WSTOPSIG(status);
	return r;
}

static void restore(struct tracee *tracee)
{
	struct iovec xstate = {.iov_base = tracee->xstate, .iov_len = tracee->xstate_bytes};

	(void)restart_call(&tracee->regs);
	(void)trace(PTRACE_SETREGSET, tracee, (void *)(uintptr_t)NT_X86_XSTATE, &xstate);
	(void)trace(PTRACE_SETREGS, tracee, NULL, &tracee->regs);
	(void)trace(PTRACE_SETSIGMASK, tracee, (void *)(uintptr_t)sizeof(tracee->mask),
		    &tracee->mask);
}

/* Return:  whether it was detached. */
static bool detach(struct tracee *tracee, int signal)
{
	if (tracee->stopped)
		restore(tracee);
	return trace(PTRACE_DETACH, tracee, NULL, (void *)(intptr_t)signal) == 0;
}

/*
 * Only a stopped thread can be restored and detached; otherwise it would continue in injected code.
 * If it was killed meanwhile, it is reaped, because its parent is notified only then.
 */
void tracee_detach(struct tracee *tracee)
{
	uint64_t ms = tracee->stopped ? LEAVE_MS : CALL_MS;
	int status = 0;
	int signal;

	if (tracee->gone || detach(tracee, 0))
		return;
	if ((!tracee->stopped && trace(PTRACE_INTERRUPT, tracee, NULL, NULL) < 0) ||
	    wait_stop(tracee, io_now_ns() + ms * NS_PER_MS, &status) < 0)
		return;
	/* A signal that came first is delivered, unless the thread was held: then it is a fault of
	 * ours. */
	signal = tracee->stopped || status >> 16 ? 0 : WSTOPSIG(status);
	(void)detach(tracee, signal);
}
