/* follow.c - children of processes that have joined, which have no agent: they join, too */
#include "sampler/collector/drain/follow.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/request.h"
#include "sampler/procfs/children.h"
#include "sampler/procfs/proc_stat.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	FOLLOW_PART = 500,     /* the part of the time that looks take */
	FOLLOW_JOIN_PART = 10, /* the part of the time that attaching takes */
	FOLLOW_JOINS = 8,      /* children attached after one look */
	FOLLOW_MOST = 4096,    /* children known at once, recorded or not */
};

static const uint64_t AGAIN_NS = 2 * NS_PER_S;
static const uint64_t NEVER = UINT64_MAX;

struct follow_child {
	uint64_t start; /* ticks since boot: tells it from another of the same number, */
	uint64_t stack; /* and this its image from another */
	uint64_t look;  /* that saw it last */
	uint64_t retry_ns;
	uint64_t pause_ns; /* between tries; 0: it was not asked yet */
};

/* A process whose children are looked for. */
struct parent {
	pid_t pid;
	uint64_t stack;
};

/* One look: the recorded ones, then their children that are not, and so on. */
struct looking {
	struct follow *follow;
	struct collector *collector;
	const struct follow_hands *hands;
	struct parent parents[FOLLOW_MOST];
	size_t n;
	size_t at;
	size_t n_joined;
	uint64_t now_ns;
	uint64_t joining_ns; /* what joins took */
};

static int list_recorded(struct collector *collector, void *argument)
{
	struct looking *looking = argument;

	for (const struct process *process = collector->drain.processes;
	     process && looking->n < FOLLOW_MOST; process = process->next)
		if (process->alive && process->unhooked && !process->external)
			looking->parents[looking->n++].pid = process->pid;
	return 0;
}

/* Return: NULL: it is seen for the first time, or memory ran out. */
static struct follow_child *seen_before(struct looking *looking, pid_t pid,
					const struct proc_stat *stat)
{
	struct map *children = &looking->follow->children;
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
	child->look = looking->follow->look;
	return same ? child : NULL;
}

static void join(struct looking *looking, struct follow_child *child, pid_t pid)
{
	uint64_t before_ns = io_thread_ns();
	int r = looking->hands->join(looking->hands->context, pid);

	looking->joining_ns += io_thread_ns() - before_ns;
	looking->n_joined++;
	child->pause_ns = child->pause_ns ? 2 * child->pause_ns : AGAIN_NS;
	child->retry_ns = r == -EAGAIN || r == -EBUSY ? looking->now_ns + child->pause_ns : NEVER;
}

static void see(void *context, pid_t pid)
{
	struct looking *looking = context;
	struct follow_child *child;
	struct proc_stat stat;

	/* One that is recorded stands in the list already. */
	if (pid == getpid() || looking->n == FOLLOW_MOST ||
	    drain_records(looking->collector, pid) || proc_stat_of(pid, STAT_STACK, &stat) < 0 ||
	    stat.state == 'Z' || stat.state == 'X')
		return;
	looking->parents[looking->n++] = (struct parent){.pid = pid, .stack = stat.at[STAT_STACK]};
	child = seen_before(looking, pid, &stat);
	if (child && stat.at[STAT_STACK] &&
	    stat.at[STAT_STACK] != looking->parents[looking->at].stack &&
	    child->retry_ns <= looking->now_ns && looking->n_joined < FOLLOW_JOINS)
		join(looking, child, pid);
}

static void look_at_all(struct looking *looking)
{
	for (; looking->at < looking->n; looking->at++) {
		struct parent *parent = &looking->parents[looking->at];
		struct proc_stat stat;

		if (!parent->stack && proc_stat_of(parent->pid, STAT_STACK, &stat) == 0)
			parent->stack = stat.at[STAT_STACK];
		if (parent->stack)
			children_each(parent->pid, see, looking);
	}
}

static void forget_unseen(void *context, uint64_t key, void *value)
{
	struct follow *follow = context;
	const struct follow_child *child = value;

	if (child->look == follow->look)
		return;
	(void)map_remove(&follow->children, key);
	free(value);
}

/* When the next one is due: looks and joins have their parts of the time, in CPU. */
static uint64_t next_look_ns(const struct looking *looking, uint64_t spent_ns)
{
	uint64_t rest_ns = (spent_ns - looking->joining_ns) * FOLLOW_PART +
			   looking->joining_ns * FOLLOW_JOIN_PART;

	return looking->now_ns +
	       (rest_ns > FOLLOW_MS * NS_PER_MS ? rest_ns : FOLLOW_MS * NS_PER_MS);
}

void follow_look(struct follow *follow, struct collector *collector,
		 const struct follow_hands *hands, uint64_t now_ns)
{
	_cleanup_free_ struct looking *looking = NULL;
	uint64_t before_ns;

	if (now_ns < follow->next_ns)
		return;
	before_ns = io_thread_ns();
	looking = calloc(1, sizeof(*looking));
	follow->next_ns = now_ns + FOLLOW_MS * NS_PER_MS;
	if (!looking)
		return;
	looking->follow = follow;
	looking->collector = collector;
	looking->hands = hands;
	looking->now_ns = now_ns;
	if (request_make(collector, list_recorded, looking) < 0)
		return;
	follow->look++;
	look_at_all(looking);
	map_each(&follow->children, forget_unseen, follow);
	follow->next_ns = next_look_ns(looking, io_thread_ns() - before_ns);
}

void follow_release(struct follow *follow)
{
	map_free_values(&follow->children);
}
