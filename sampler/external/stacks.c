/* stacks.c - the stack of every thread of a process, once, from outside */
#include "sampler/external/stacks.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/external/check.h"
#include "sampler/external/held.h"
#include "sampler/procfs/task.h"
#include "sampler/remote/blocked.h"
#include "sampler/remote/remote.h"
#include "sampler/remote/waits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	STACKS_MOST_THREADS = 65536,
	STACKS_MOST_FRAMES = 1024, /* of one stack */
	STACKS_TRIES = 8,          /* at a thread that moves while its stack is read */
};

/* A process while its threads are read. */
struct taking {
	pid_t pid;
	pid_t tracer;
	bool may_stop;
	int tasks_fd;
	struct remote *remote;
	struct stacks stacks;
	bool denied; /* a thread that may not be read */
};

/* One thread of it. */
struct look {
	struct taking *taking;
	uint32_t tid;
	int schedstat_fd;
	int syscall_fd;
	struct task_stat stat;
	struct blocked_at at;
	struct unwind_result result;
	uint64_t pcs[STACKS_MOST_FRAMES];
};

static struct stack *add_stack(struct stacks *stacks, size_t n_frames)
{
	struct frame *frames;

	if (array_reserve(&stacks->at, stacks->n, &stacks->size, 64) < 0)
		return NULL;
	frames = calloc(n_frames + 1, sizeof(*frames));
	if (!frames)
		return NULL;
	stacks->at[stacks->n] = (struct stack){.why = "", .frames = frames, .n_frames = n_frames};
	return &stacks->at[stacks->n++];
}

void stacks_release(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->n; i++)
		free(stacks->at[i].frames);
	free(stacks->at);
	*stacks = (struct stacks){0};
}

/* What was walked, as the stacks keep it. */
static struct stack *keep(struct look *look, enum stack_how how)
{
	size_t n = look->result.n_pcs;
	struct stack *stack = add_stack(&look->taking->stacks, n);

	if (!stack)
		return NULL;
	for (size_t i = 0; i < n; i++)
		stack->frames[i] = (struct frame){.addr = look->pcs[i] & ~UNWIND_EXACT,
						  .exact = (look->pcs[i] & UNWIND_EXACT) != 0};
	stack->tid = look->tid;
	stack->how = how;
	stack->why = remote_stop_text(look->result.stop);
	(void)task_read_comm(look->taking->tasks_fd, look->tid, stack->comm);
	return stack;
}

static int keep_blocked(struct look *look)
{
	struct stack *stack = keep(look, STACK_READ);

	if (!stack)
		return -ENOMEM;
	stack->state = waits_state(look->stat.letter, &look->at);
	if (stack->state == STATE_STOPPED)
		return 0;
	stack->wait = waits_word(&look->at);
	waits_object(look->taking->remote, &look->at, stack->object);
	return 0;
}

static int walk_held(struct look *look)
{
	struct stacks *stacks = &look->taking->stacks;
	struct held held;
	int r = held_walk(look->taking->remote, (pid_t)look->tid, look->pcs, STACKS_MOST_FRAMES, -1,
			  &held);

	if (r < 0)
		return r;
	look->result = held.result;
	stacks->n_stopped++;
	if (held.stopped_ns > stacks->longest_stop_ns)
		stacks->longest_stop_ns = held.stopped_ns;
	return 0;
}

static const char *why_not(const struct taking *taking, int error)
{
	switch (error) {
	case -EINPROGRESS:
		return "it runs, and did not stop in time";
	case -EPERM:
		return taking->tracer ? "it runs, and is being traced"
				      : "it runs, and may not be held";
	default:
		return "it runs, and was not held";
	}
}

static int keep_running(struct look *look)
{
	int r = look->taking->may_stop ? walk_held(look) : -ECANCELED;
	struct stack *stack;

	if (r == -ESRCH || r == -ENOMEM)
		return r;
	if (r < 0)
		look->result = (struct unwind_result){0};
	stack = keep(look, r < 0 ? STACK_NONE : STACK_STOPPED);
	if (!stack)
		return -ENOMEM;
	if (r < 0)
		stack->why = why_not(look->taking, r);
	stack->state = waits_state(look->stat.letter, NULL);
	if (stack->state == STATE_SLEEPING || stack->state == STATE_DISK)
		stack->state = STATE_RUNNING; /* it was blocked again by the time it was stopped */
	return 0;
}

static bool same_schedstat(const struct schedstat *a, const struct schedstat *b)
{
	return a->run_ns == b->run_ns && a->delay_ns == b->delay_ns && a->slices == b->slices;
}

/*
 * One that was stopped by a signal may be anywhere in its code, where more registers are needed
 * than are known from outside.  It does not run: it is not disturbed by being held.
 */
static bool wants_registers(const struct look *look)
{
	return look->taking->may_stop && look->stat.letter == 'T' &&
	       look->result.stop != UNWIND_END;
}

/* -EBUSY: it runs; -EAGAIN: it has moved meanwhile. */
static int try_blocked(struct look *look)
{
	struct taking *taking = look->taking;
	struct schedstat before;
	struct schedstat after;
	int r = task_read_schedstat(look->schedstat_fd, &before);

	if (r == 0)
		r = task_read_stat(taking->tasks_fd, look->tid, &look->stat);
	if (r == 0)
		r = blocked_read(look->syscall_fd, &look->at);
	if (r < 0)
		return r;
	if (look->stat.letter == 'Z' || look->stat.letter == 'X')
		return -ESRCH;
	waits_restarted(taking->remote, &look->at);
	r = blocked_walk(taking->remote, &look->at, look->pcs, STACKS_MOST_FRAMES, &look->result);
	if (r < 0) {
		look->pcs[0] = look->at.pc | UNWIND_EXACT;
		look->result = (struct unwind_result){.n_pcs = 1, .stop = UNWIND_BOUNDS};
	}
	r = task_read_schedstat(look->schedstat_fd, &after);
	if (r < 0)
		return r;
	if (!same_schedstat(&before, &after) || look->stat.letter == 'R')
		return -EAGAIN;
	return wants_registers(look) ? -EBUSY : 0;
}

/* Return: 0; -ESRCH: it has gone; -EPERM; -ENOMEM. */
static int look_at(struct look *look)
{
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < STACKS_TRIES; i++)
		r = try_blocked(look);
	if (r == 0)
		return keep_blocked(look);
	return r == -EBUSY || r == -EAGAIN ? keep_running(look) : r;
}

static int open_look(struct look *look)
{
	int tasks_fd = look->taking->tasks_fd;

	look->schedstat_fd = task_open(tasks_fd, look->tid, "schedstat");
	if (look->schedstat_fd < 0)
		return look->schedstat_fd;
	look->syscall_fd = task_open(tasks_fd, look->tid, "syscall");
	return look->syscall_fd < 0 ? look->syscall_fd : 0;
}

static int take_thread(struct taking *taking, uint32_t tid)
{
	struct look look = {.taking = taking, .tid = tid, .schedstat_fd = -1, .syscall_fd = -1};
	int r = open_look(&look);

	if (r == 0)
		r = look_at(&look);
	cleanup_fd(&look.schedstat_fd);
	cleanup_fd(&look.syscall_fd);
	if (r == -EPERM || r == -EACCES) {
		taking->denied = true;
		return 0;
	}
	return r == -ENOMEM ? r : 0;
}

static int by_tid(const void *a, const void *b)
{
	const struct stack *x = a;
	const struct stack *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int take_threads(struct taking *taking, DIR *tasks)
{
	uint32_t tid;
	int r = 0;

	for (size_t n = 0; r == 0 && n < STACKS_MOST_THREADS && (tid = tasks_next(tasks)); n++)
		r = take_thread(taking, tid);
	return r;
}

static int take_all(struct taking *taking, struct err *err)
{
	_cleanup_dir_ DIR *tasks = tasks_open(taking->pid);
	int r;

	if (!tasks)
		return err_set(err, errno == ENOENT ? ESRCH : errno, "look at process %d",
			       (int)taking->pid);
	taking->tasks_fd = dirfd(tasks);
	r = take_threads(taking, tasks);
	if (r < 0)
		return err_set(err, -r, "look at process %d", (int)taking->pid);
	if (taking->stacks.n == 0 && taking->denied)
		return check_denied(taking->pid, err);
	if (taking->stacks.n == 0)
		return err_set(err, ESRCH, "look at process %d", (int)taking->pid);
	return 0;
}

int stacks_take(pid_t pid, bool may_stop, struct stacks *ret_stacks, struct err *err)
{
	struct taking taking = {.pid = pid, .may_stop = may_stop, .tasks_fd = -1};
	struct checked_process process;
	int r = check_process(pid, &process, err);

	if (r < 0)
		return r;
	taking.tracer = process.tracer;
	memcpy(taking.stacks.comm, process.comm, sizeof(process.comm));
	r = remote_new(&taking.remote, pid);
	r = r < 0 ? err_set(err, -r, "look at process %d", (int)pid) : take_all(&taking, err);
	remote_free(taking.remote);
	if (r < 0) {
		stacks_release(&taking.stacks);
		return r;
	}
	qsort(taking.stacks.at, taking.stacks.n, sizeof(taking.stacks.at[0]), by_tid);
	*ret_stacks = taking.stacks;
	return 0;
}
