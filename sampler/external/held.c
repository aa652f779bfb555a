/* held.c - the stack of a thread that runs: it is held while its stack is copied, walked after */
#include "sampler/external/held.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/attach/seized.h"
#include "sampler/attach/tracee.h"
#include "sampler/procfs/task.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <time.h>
#include <unistd.h>

enum {
	NARROW_CODE = 0x23,           /* the code segment of 32-bit programs */
	STOP_SPIN_US = 30,            /* how long a thread is waited for without sleeping */
	STOP_STEP_US = 1000,          /* between two checks of one that is slower */
	STOP_MOST_MS = 20,            /* and at all */
	STOP_STACK_BYTES = 256 << 10, /* of a stack, copied while its thread is held */
};

/* struct sched_attr of linux/sched/types.h, which libc's headers do not bear beside them. */
struct sched_class {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns;
	uint64_t deadline_ns;
	uint64_t period_ns;
};

static bool is_thread_of(pid_t pid, pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

/*
 * While a thread is held we keep our processor, if permitted: if we were preempted, the thread
 * would be held as long.  Slices of the usual class (Linux 6.12) are restored.
 */
static void hurry(bool on)
{
	static _Thread_local struct sched_class usual;
	struct sched_class now = {.size = sizeof(now), .policy = SCHED_FIFO, .priority = 1};

	if (on) {
		usual.size = sizeof(usual);
		if (syscall(SYS_sched_getattr, 0, &usual, sizeof(usual), 0) < 0 ||
		    usual.policy != SCHED_OTHER || syscall(SYS_sched_setattr, 0, &now, 0) < 0)
			usual.size = 0;
	} else if (usual.size) {
		(void)syscall(SYS_sched_setattr, 0, &usual, 0);
		usual.size = 0;
	}
}

/* How long we have waited for a processor, ever. */
static uint64_t waited_ns(int schedstat_fd)
{
	struct schedstat now;

	return task_read_schedstat(schedstat_fd, &now) < 0 ? 0 : now.delay_ns;
}

/*
 * One that has to wait for a processor itself.  Its stop sends SIGCHLD, which wakes us; should
 * another thread of ours take that, we look again after a while.  It stopped when we were woken,
 * which is before we ran.
 */
static int sleep_until_stop(struct stop *stop, uint64_t asked_ns)
{
	const struct timespec step = {.tv_nsec = STOP_STEP_US * 1000};
	_cleanup_fd_ int schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	uint64_t asleep_ns = io_now_ns();
	uint64_t before_ns = 0;
	sigset_t set;
	sigset_t before;
	int r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &set, &before);
	while ((r = seized_check(stop->tid, &stop->signal)) == 0 &&
	       io_now_ns() - asked_ns < STOP_MOST_MS * UINT64_C(1000000)) {
		before_ns = waited_ns(schedstat_fd);
		asleep_ns = io_now_ns();
		(void)sigtimedwait(&set, NULL, &step);
	}
	if (r > 0) {
		uint64_t late_ns = waited_ns(schedstat_fd) - before_ns;
		uint64_t now_ns = io_now_ns();

		stop->since_ns = now_ns - asleep_ns < late_ns ? asleep_ns : now_ns - late_ns;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* One that runs on another processor stops at once. */
static int wait_stop(struct stop *stop, uint64_t asked_ns)
{
	int r;

	stop->since_ns = asked_ns;
	while ((r = seized_check(stop->tid, &stop->signal)) == 0 &&
	       io_now_ns() - asked_ns < STOP_SPIN_US * UINT64_C(1000))
		;
	if (r == 0)
		r = sleep_until_stop(stop, asked_ns);
	if (r == 0)
		return -EINPROGRESS;
	return r < 0 ? -ESRCH : 0;
}

static int read_registers(struct stop *stop)
{
	struct user_regs_struct regs;
	int r = restart_stopped(stop->tid, &regs);

	if (r < 0)
		return r;
	stop->regs = (struct unwind_regs){
		.pc = regs.rip, .sp = regs.rsp, .bp = regs.rbp, .bx = regs.rbx};
	stop->narrow = regs.cs == NARROW_CODE;
	stop->in_call = (int64_t)regs.orig_rax >= 0;
	return 0;
}

int stop_begin(pid_t pid, pid_t tid, struct stop *ret_stop)
{
	struct stop stop = {.pid = pid, .tid = tid};
	uint64_t asked_ns;
	bool other;
	int r;

	hurry(true);
	asked_ns = io_now_ns();
	r = seized_interrupt(pid, tid);
	if (r < 0) {
		hurry(false);
		return r;
	}
	/* Now the number cannot become another thread's, but may have before. */
	other = !is_thread_of(pid, tid);
	r = wait_stop(&stop, asked_ns);
	if (r < 0) {
		seized_detach_later(pid, tid);
	} else {
		r = other ? -ESRCH : read_registers(&stop);
		if (r < 0)
			seized_detach(pid, tid, stop.signal);
	}
	if (r < 0)
		hurry(false);
	else
		*ret_stop = stop;
	return r;
}

uint64_t stop_end(struct stop *stop)
{
	uint64_t ns;

	seized_detach(stop->pid, stop->tid, stop->signal);
	ns = io_now_ns() - stop->since_ns;
	hurry(false);
	return ns;
}

int held_walk(struct remote *remote, pid_t tid, uint64_t *pcs, size_t max, int schedstat_fd,
	      struct held *ret_held)
{
	struct held held = {.result = {.n_pcs = 1, .stop = UNWIND_BOUNDS}};
	struct stop stop;
	int r;

	/* What was mapped since is looked up now, not while the thread is held. */
	(void)remote_begin(remote, 0);
	r = stop_begin(remote_pid(remote), tid, &stop);
	if (r < 0)
		return r;
	r = stop.narrow ? -ENOTSUP : remote_begin(remote, stop.regs.sp);
	if (r == 0)
		remote_hold(remote, STOP_STACK_BYTES);
	held.at_ns = io_now_ns();
	if (schedstat_fd >= 0 && task_read_schedstat(schedstat_fd, &held.at) < 0)
		held.at = (struct schedstat){0};
	held.stopped_ns = stop_end(&stop);
	held.sp = stop.regs.sp;
	held.in_call = stop.in_call;
	pcs[0] = stop.regs.pc | UNWIND_EXACT;
	if (r == 0)
		held.result = unwind_walk(remote_reader(remote), remote_rules(remote), &stop.regs,
					  pcs, max);
	*ret_held = held;
	return 0;
}
