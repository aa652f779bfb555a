/* injection_thread.c - chooses the thread of a process on which the agent is injected */
#include "sampler/attach/injection_thread.h"

#include "base/cleanup.h"
#include "sampler/procfs/task.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum {
	MAX_FRAMES = 256,
	MAX_THREADS = 256,      /* threads of a process */
	CODE_SEGMENT_64 = 0x33, /* value of cs in 64-bit code */
};

/* Suitability of a thread; 0 is best. */
enum rank {
	RANK_BLOCKED,  /* in a system call that the kernel restarts itself */
	RANK_AGAIN,    /* in one that wick has restarted: it has no timeout */
	RANK_RUNNING,  /* running: checked when it is stopped */
	RANK_WAITS_ON, /* in one whose timeout would start again */
	RANK_UNFIT,
};

static void close_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* Return:  whether no function on its stack is critical. */
static bool callers_fit(struct injection_thread *thread, const uint64_t *pcs,
			const struct unwind_result *result)
{
	for (size_t i = 0; i < result->n_pcs; i++) {
		uint64_t pc = pcs[i] & ~UNWIND_EXACT;

		if (attach_is_critical(thread->modules, pcs[i] & UNWIND_EXACT ? pc : pc - 1))
			return false;
	}
	return true;
}

/* Whether it waits without a timeout; futexes and sleeps keep their remaining time. */
static bool waits_for_ever(const struct blocked_at *at)
{
	switch (at->nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int)at->args[3] < 0;
	case SYS_epoll_pwait2:
		return at->args[3] == 0;
	case SYS_rt_sigtimedwait:
		return at->args[2] == 0;
	default:
		return false;
	}
}

static enum rank rank_of_call(const struct blocked_at *at)
{
	switch (at->nr) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_rt_sigtimedwait:
		return waits_for_ever(at) ? RANK_AGAIN : RANK_WAITS_ON;
	case SYS_recvfrom: /* with SO_RCVTIMEO */
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
		return RANK_AGAIN;
	case SYS_recvmmsg:
	case SYS_semtimedop:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_io_uring_enter:
		return RANK_WAITS_ON;
	case SYS_connect:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_rt_sigsuspend: /* it has another signal mask while it waits */
	case SYS_vfork:
	case SYS_clone:
	case SYS_clone3:
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit:
	case SYS_exit_group:
		return RANK_UNFIT;
	default:
		return RANK_BLOCKED;
	}
}

static enum rank rank_blocked(struct injection_thread *thread, const struct blocked_at *at)
{
	enum rank rank = at->in_syscall ? rank_of_call(at) : RANK_UNFIT;
	uint64_t pcs[MAX_FRAMES];
	struct unwind_result result;

	if (rank == RANK_UNFIT || blocked_walk(thread->remote, at, pcs, MAX_FRAMES, &result) < 0 ||
	    !callers_fit(thread, pcs, &result))
		return RANK_UNFIT;
	return rank;
}

static enum rank rank_of(struct injection_thread *thread, int tasks_fd, uint32_t tid,
			 struct blocked_at *ret_at, int *ret_cpu)
{
	struct task_stat stat;
	_cleanup_fd_ int fd = -1;

	if (task_read_stat(tasks_fd, tid, &stat) < 0)
		return RANK_UNFIT;
	*ret_cpu = (int)stat.cpu;
	if (stat.letter == 'R')
		return RANK_RUNNING;
	if (stat.letter != 'S')
		return RANK_UNFIT;
	fd = task_open(tasks_fd, tid, "syscall");
	switch (fd < 0 ? fd : blocked_read(fd, ret_at)) {
	case 0:
		return rank_blocked(thread, ret_at);
	case -EBUSY:
		return RANK_RUNNING;
	default:
		return RANK_UNFIT;
	}
}

int injection_thread_choose(struct injection_thread *thread, bool hard, struct err *err)
{
	enum rank most = hard ? RANK_WAITS_ON : RANK_RUNNING;
	enum rank best = RANK_UNFIT;
	__attribute__((cleanup(close_dir))) DIR *tasks = NULL;
	const struct dirent *entry;
	char path[32];
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)thread->pid);
	tasks = opendir(path);
	if (!tasks)
		return err_set(err, errno == ENOENT ? ESRCH : errno, "process %d",
			       (int)thread->pid);
	/* This thread alone reads this stream of entries. */
	while (best != RANK_BLOCKED && n < MAX_THREADS &&
	       (entry = readdir(tasks))) { /* NOLINT(concurrency-mt-unsafe) */
		unsigned long tid = strtoul(entry->d_name, NULL, 10);
		struct blocked_at at = {0};
		int cpu = -1;
		enum rank rank = tid > 0 && tid <= INT32_MAX
					 ? rank_of(thread, dirfd(tasks), (uint32_t)tid, &at, &cpu)
					 : RANK_UNFIT;

		n += tid > 0;
		if (rank >= best || rank > most)
			continue;
		best = rank;
		thread->tid = (pid_t)tid;
		thread->cpu = cpu;
		thread->blocked = rank != RANK_RUNNING;
		thread->at = at;
	}
	if (best != RANK_UNFIT)
		return 0;
	(void)err_set(
		err, 0,
		"process %d has no suitable thread: each is in its allocator, its loader, or a "
		"call that must not be interrupted",
		(int)thread->pid);
	return n ? -EAGAIN : err_set(err, ESRCH, "process %d", (int)thread->pid);
}

static bool is_where_it_was(const struct injection_thread *thread,
			    const struct user_regs_struct *regs)
{
	return thread->blocked && regs->rip == thread->at.pc && regs->rsp == thread->at.sp &&
	       (long)regs->orig_rax >= 0;
}

static bool stack_fits(struct injection_thread *thread, const struct user_regs_struct *regs)
{
	const struct unwind_regs from = {
		.pc = regs->rip, .sp = regs->rsp, .bp = regs->rbp, .bx = regs->rbx};
	struct unwind_result result;
	uint64_t pcs[MAX_FRAMES];

	if (remote_begin(thread->remote, regs->rsp) < 0)
		return false;
	result = unwind_walk(remote_reader(thread->remote), remote_rules(thread->remote), &from,
			     pcs, MAX_FRAMES);
	return callers_fit(thread, pcs, &result);
}

bool injection_thread_fits(void *context, const struct tracee *tracee, struct err *err)
{
	struct injection_thread *thread = context;

	if (tracee->regs.cs == CODE_SEGMENT_64 &&
	    (is_where_it_was(thread, &tracee->regs) || stack_fits(thread, &tracee->regs)))
		return true;
	(void)err_set(err, 0,
		      "process %d has no suitable thread: whenever one is stopped, it is in its "
		      "allocator or its loader",
		      (int)thread->pid);
	return false;
}
