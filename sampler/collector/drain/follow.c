/* follow.c - attach to children of attached processes, which have no agent */
#include "sampler/collector/drain/follow.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/request.h"
#include "sampler/collector/drain/state.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_stat.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	FOLLOW_PART = 500,       /* one part in so many of the time may go to scans */
	FOLLOW_ATTACH_PART = 10, /* the part of the time that attaching takes */
	FOLLOW_ATTACHES = 8,     /* children attached after one scan */
	FOLLOW_MOST = 4096,      /* children known at once, recorded or not */
};

static const uint64_t AGAIN_NS = 2 * NS_PER_S;
static const uint64_t NEVER = UINT64_MAX;

struct follow_child {
	uint64_t start; /* ticks since boot: tells it from another of the same number, */
	uint64_t stack; /* and this its image from another */
	uint64_t scan;  /* that saw it last */
	uint64_t retry_ns;
	uint64_t pause_ns; /* between tries; 0: not tried yet */
};

/* A process whose children are searched. */
struct parent {
	pid_t pid;
	uint64_t stack;
};

/* One scan: the recorded processes, then their children that are not recorded, and so on. */
struct scan {
	struct follow *follow;
	struct collector *collector;
	const struct follow_ops *ops;
	struct parent parents[FOLLOW_MOST];
	size_t n;
	size_t at;
	size_t n_attached;
	uint64_t now_ns;
	uint64_t attaching_ns; /* CPU time that attaching took */
};

static int list_recorded(struct collector *collector, void *argument)
{
	struct scan *scan = argument;

	for (const struct process *process = collector->drain.processes;
	     process && scan->n < FOLLOW_MOST; process = process->next)
		if (process->alive && process->unhooked && !process->external)
			scan->parents[scan->n++].pid = process->pid;
	return 0;
}

/* Return: NULL: it is seen for the first time, or memory ran out. */
static struct follow_child *seen_before(struct scan *scan, pid_t pid, const struct proc_stat *stat)
{
	struct map *children = &scan->follow->children;
	struct follow_child *child = map_get(children, (uint64_t)pid);
	bool same = child && child->start == stat->at[STAT_START] &&
		    child->stack == stat->at[STAT_STACK];

	if (!child) {
		child = calloc(1, sizeof(*child));
		if (!child || map_put(children, (uint64_t)pid, child) < 0) {
			free(child);
			return NULL;
		}
	}
	if (!same)
		*child = (struct follow_child){.start = stat->at[STAT_START],
					       .stack = stat->at[STAT_STACK]};
	child->scan = scan->follow->scan;
	return same ? child : NULL;
}

static void attach_child(struct scan *scan, struct follow_child *child, pid_t pid)
{
	uint64_t before_ns = io_thread_ns();
	int r = scan->ops->attach(scan->ops->context, pid);

	scan->attaching_ns += io_thread_ns() - before_ns;
	scan->n_attached++;
	child->pause_ns = child->pause_ns ? 2 * child->pause_ns : AGAIN_NS;
	child->retry_ns = r == -EAGAIN || r == -EBUSY ? scan->now_ns + child->pause_ns : NEVER;
}

static void see(void *context, pid_t pid)
{
	struct scan *scan = context;
	struct follow_child *child;
	struct proc_stat stat;

	/* One that is recorded stands in the list already. */
	if (pid == getpid() || scan->n == FOLLOW_MOST || drain_records(scan->collector, pid) ||
	    proc_stat_of(pid, STAT_STACK, &stat) < 0 || stat.state == 'Z' || stat.state == 'X')
		return;
	scan->parents[scan->n++] = (struct parent){.pid = pid, .stack = stat.at[STAT_STACK]};
	child = seen_before(scan, pid, &stat);
	if (child && stat.at[STAT_STACK] && stat.at[STAT_STACK] != scan->parents[scan->at].stack &&
	    child->retry_ns <= scan->now_ns && scan->n_attached < FOLLOW_ATTACHES)
		attach_child(scan, child, pid);
}

static void scan_all(struct scan *scan)
{
	for (; scan->at < scan->n; scan->at++) {
		struct parent *parent = &scan->parents[scan->at];
		struct proc_stat stat;

		if (!parent->stack && proc_stat_of(parent->pid, STAT_STACK, &stat) == 0)
			parent->stack = stat.at[STAT_STACK];
		if (parent->stack)
			children_each(parent->pid, see, scan);
	}
}

static void forget_unseen(void *context, uint64_t key, void *value)
{
	struct follow *follow = context;
	const struct follow_child *child = value;

	if (child->scan == follow->scan)
		return;
	(void)map_remove(&follow->children, key);
	free(value);
}

/* When the next one is due: scans and attaching each have a part of the CPU time. */
static uint64_t next_look_ns(const struct scan *scan, uint64_t spent_ns)
{
	uint64_t rest_ns = (spent_ns - scan->attaching_ns) * FOLLOW_PART +
			   scan->attaching_ns * FOLLOW_ATTACH_PART;

	return scan->now_ns + (rest_ns > FOLLOW_MS * NS_PER_MS ? rest_ns : FOLLOW_MS * NS_PER_MS);
}

void follow_scan(struct follow *follow, struct collector *collector, const struct follow_ops *ops,
		 uint64_t now_ns)
{
	_cleanup_free_ struct scan *scan = NULL;
	uint64_t before_ns;

	if (now_ns < follow->next_ns)
		return;
	before_ns = io_thread_ns();
	scan = calloc(1, sizeof(*scan));
	follow->next_ns = now_ns + FOLLOW_MS * NS_PER_MS;
	if (!scan)
		return;
	scan->follow = follow;
	scan->collector = collector;
	scan->ops = ops;
	scan->now_ns = now_ns;
	if (request_make(collector, list_recorded, scan) < 0)
		return;
	follow->scan++;
	scan_all(scan);
	map_each(&follow->children, forget_unseen, follow);
	follow->next_ns = next_look_ns(scan, io_thread_ns() - before_ns);
}

void follow_release(struct follow *follow)
{
	map_free_values(&follow->children);
}

/* Those of the kernel's files: 1/100 s everywhere. */
static uint64_t ticks_ns(uint64_t ticks)
{
	return ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

uint64_t child_cpu_now_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t children_ns(const struct proc_stat *stat)
{
	return ticks_ns(stat->at[STAT_CHILDREN_USER] + stat->at[STAT_CHILDREN_SYSTEM]);
}

/* What a child of this number used when it was detached; that counts once. */
static uint64_t take_let_go(struct child_cpu_totals *all, pid_t pid)
{
	for (uint32_t i = 0; i < CHILD_CPU_DETACHED; i++) {
		struct child_cpu_detached *let_go = &all->let_go[i];

		if (let_go->pid != pid)
			continue;
		let_go->pid = 0;
		all->seen_ns -= let_go->used_ns;
		return let_go->used_ns;
	}
	return 0;
}

static void remember(struct child_cpu_totals *all, const struct process *process)
{
	struct child_cpu_detached *let_go = &all->let_go[all->n_let_go++ % CHILD_CPU_DETACHED];

	*let_go = (struct child_cpu_detached){.pid = process->pid, .used_ns = process->charged_ns};
}

static void add_up(struct drain *drain)
{
	const struct child_cpu_totals *all = &drain->child_cpu;
	uint64_t unseen_ns = all->ended_ns > all->seen_ns ? all->ended_ns - all->seen_ns : 0;

	drain->stats.children_missed_ns = all->left_out ? 0 : all->missed_ns + unseen_ns;
}

static void attached_as_child(struct drain *drain, struct process *process, uint64_t started_ns)
{
	uint64_t known_ns = take_let_go(&drain->child_cpu, process->pid);

	process->child_cpu.place = CHILD_CPU_CHILD;
	/* A start is told in whole ticks. */
	if (started_ns + ticks_ns(1) > drain->child_cpu.began_ns && process->base_cpu_ns > known_ns)
		process->child_cpu.missed_ns = process->base_cpu_ns - known_ns;
	drain->child_cpu.missed_ns += process->child_cpu.missed_ns;
	add_up(drain);
}

void child_cpu_attached(struct drain *drain, struct process *process, bool followed)
{
	struct child_cpu *child_cpu = &process->child_cpu;
	struct proc_stat stat;

	*child_cpu = (struct child_cpu){.place = CHILD_CPU_ROOT, .followed = followed};
	if (!followed)
		drain->n_attached++;
	else
		drain->stats.followed++;
	if (proc_stat_of(process->pid, STAT_START, &stat) < 0)
		return;
	child_cpu->base_ns = child_cpu->ended_ns = children_ns(&stat);
	if (followed || map_get(&drain->by_pid, stat.at[STAT_PARENT]))
		attached_as_child(drain, process, ticks_ns(stat.at[STAT_START]));
}

void child_cpu_forget(struct drain *drain, const struct process *process)
{
	if (process->child_cpu.followed)
		drain->stats.followed--;
	else
		drain->n_attached--;
	drain->child_cpu.missed_ns -= process->child_cpu.missed_ns;
	add_up(drain);
}

void child_cpu_read(struct process *process)
{
	struct child_cpu *child_cpu = &process->child_cpu;
	struct proc_stat stat;

	if (child_cpu->place == CHILD_CPU_ROOT &&
	    proc_stat_of(process->pid, STAT_CHILDREN_SYSTEM, &stat) == 0 &&
	    children_ns(&stat) > child_cpu->ended_ns)
		child_cpu->ended_ns = children_ns(&stat);
}

void child_cpu_end(struct drain *drain, struct process *process)
{
	const struct child_cpu *child_cpu = &process->child_cpu;
	struct child_cpu_totals *all = &drain->child_cpu;

	child_cpu_read(process);
	if (child_cpu->place == CHILD_CPU_ROOT)
		all->ended_ns += child_cpu->ended_ns - child_cpu->base_ns;
	if (child_cpu->place == CHILD_CPU_CHILD)
		all->seen_ns += process->charged_ns;
	if (child_cpu->place == CHILD_CPU_CHILD && process->alive)
		remember(all, process);
	add_up(drain);
}

/* What a child has used is no ended child's. */
void child_cpu_outlives(struct drain *drain, struct process *process)
{
	if (process->child_cpu.place == CHILD_CPU_ROOT)
		child_cpu_end(drain, process);
}
