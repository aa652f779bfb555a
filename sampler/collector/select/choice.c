/* choice.c - which of the machine's processes are recorded: the heaviest, chosen anew */
#include "sampler/collector/select/choice.h"

#include "base/units.h"
#include "sampler/collector/select/top.h"

#include <errno.h>
#include <stdlib.h>

enum {
	CHOICE_MAX_PROCESSES = 65536,
};

enum {
	CHOICE_MORE_TRIES = 8,     /* besides two for every slot, in one round */
	CHOICE_KEEPS_PERCENT = 25, /* by so much a newcomer has to be heavier */
	CHOICE_KEEPS_FLOOR = 4,    /* part of the least use, for a recorded process */
};

static const uint64_t SOON_NS = 2 * NS_PER_S;
static const uint64_t REFUSED_NS = 60 * NS_PER_S;
static const uint64_t REFUSED_MOST_NS = 3600 * NS_PER_S;

struct choice_process {
	struct ranked ranked; /* by pid; the first member */
	pid_t pid;
	uint64_t start;
	uint64_t used; /* in the last round */
	uint64_t retry_ns;
	uint64_t pause_ns; /* between tries; 0: it has not refused */
	bool recorded;     /* before the round */
	bool chosen;
};

void choice_init(struct choice *choice, const struct collector_top *options)
{
	*choice = (struct choice){.options = *options};
}

void choice_release(struct choice *choice)
{
	map_free_values(&choice->processes);
}

uint64_t choice_due(const struct choice *choice)
{
	return choice->scan == 0 || choice->rounds.late ? choice->rounds.round_ns
							: choice->rounds.late_ns;
}

/* ---- looking */

void choice_begin(struct choice *choice)
{
	choice->scan++;
}

static struct choice_process *process_of(struct choice *choice, const struct choice_seen *seen)
{
	struct choice_process *process = map_get(&choice->processes, (uint64_t)seen->pid);

	if (process && process->start == seen->start)
		return process;
	if (!process) {
		if (map_count(&choice->processes) >= CHOICE_MAX_PROCESSES)
			return NULL;
		process = calloc(1, sizeof(*process));
		if (!process || map_put(&choice->processes, (uint64_t)seen->pid, process) < 0) {
			free(process);
			return NULL;
		}
	}
	*process = (struct choice_process){
		.ranked.key = (uint64_t)seen->pid, .pid = seen->pid, .start = seen->start};
	/* Of what was there before us nothing is known but the sum. */
	if (choice->scan == 1)
		process->ranked.at_round = process->ranked.at_late = seen->total;
	return process;
}

void choice_see(struct choice *choice, const struct choice_seen *seen)
{
	struct choice_process *process = process_of(choice, seen);

	if (!process)
		return;
	process->ranked.total = seen->total;
	process->ranked.scan = choice->scan;
}

bool choice_still(struct choice *choice, pid_t pid, uint64_t total)
{
	struct choice_process *process = map_get(&choice->processes, (uint64_t)pid);

	if (!process || process->ranked.total != total)
		return false;
	process->ranked.scan = choice->scan;
	return true;
}

static void forget_gone(void *context, uint64_t key, void *value)
{
	struct choice *choice = context;
	const struct choice_process *process = value;

	if (process->ranked.scan == choice->scan)
		return;
	(void)map_remove(&choice->processes, key);
	free(value);
}

/* ---- the heaviest */

/* The heaviest has most now; it need not have used most. */
static bool is_level(enum collector_by by)
{
	return by == BY_RSS || by == BY_GAUGE;
}

/* Less than that in a second is no use. */
static uint64_t least_use(enum collector_by by)
{
	switch (by) {
	case BY_FAULTS:
		return 20;
	case BY_IO:
		return UINT64_C(64) * 1024;
	default:
		return 5 * NS_PER_MS;
	}
}

/* All processes in an array. */
struct ranking {
	struct choice *choice;
	const struct choice_ops *ops;
	struct ranked **processes; /* each begins a struct choice_process */
	size_t n;
	uint64_t now_ns;
	uint64_t least; /* in this round */
};

static uint64_t with_bonus(uint64_t score)
{
	return score > UINT64_MAX / 2 ? score : score + score * CHOICE_KEEPS_PERCENT / 100;
}

static void add_to_ranking(void *context, uint64_t key, void *value)
{
	struct ranking *ranking = context;
	struct choice_process *process = value;
	bool level = is_level(ranking->choice->options.by);
	uint64_t before =
		process->ranked.total >= process->ranked.at_round ? process->ranked.at_round : 0;

	(void)key;
	process->used = level ? process->ranked.total : process->ranked.total - before;
	process->ranked.score = level ? process->ranked.total
				      : top_score(process->ranked.total, process->ranked.at_round,
						  process->ranked.at_late);
	process->recorded = ranking->ops->records(ranking->ops->context, process->pid);
	process->chosen = false;
	if (process->recorded)
		process->ranked.score = with_bonus(process->ranked.score);
	process->ranked.at_round = process->ranked.at_late = process->ranked.total;
	ranking->processes[ranking->n++] = &process->ranked;
}

/* ---- a round */

/* What passes by itself is tried again soon. */
static void put_off(struct choice_process *process, int r, uint64_t now_ns)
{
	bool passes = r == -EAGAIN || r == -EBUSY || r == -ESRCH;
	uint64_t least_ns = passes ? SOON_NS : REFUSED_NS;

	process->pause_ns = process->pause_ns < least_ns ? least_ns : process->pause_ns * 2;
	if (process->pause_ns > REFUSED_MOST_NS)
		process->pause_ns = REFUSED_MOST_NS;
	process->retry_ns = now_ns + process->pause_ns;
}

static bool attach(const struct ranking *ranking, struct choice_process *process)
{
	int r = ranking->ops->attach(ranking->ops->context, process->pid);

	if (r == 0)
		ranking->choice->n_attached++;
	if (r == 0 || r == -EALREADY) {
		process->pause_ns = 0;
		return true;
	}
	ranking->choice->n_refused++;
	put_off(process, r, ranking->now_ns);
	return false;
}

static bool is_idle(const struct ranking *ranking, const struct choice_process *process)
{
	return process->used <
	       (process->recorded ? ranking->least / CHOICE_KEEPS_FLOOR : ranking->least);
}

static void fill_slots(const struct ranking *ranking)
{
	size_t n_slots = ranking->choice->options.n;
	size_t tries = 2 * n_slots + CHOICE_MORE_TRIES;

	for (size_t i = 0; i < ranking->n && n_slots > 0 && tries > 0; i++) {
		struct choice_process *process = (struct choice_process *)ranking->processes[i];

		if (is_idle(ranking, process))
			continue;
		if (!process->recorded) {
			if (ranking->now_ns < process->retry_ns)
				continue;
			tries--;
			if (!attach(ranking, process))
				continue;
		}
		process->chosen = true;
		n_slots--;
	}
}

/* Those too that came by fork. */
static void free_slots(const struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->n; i++) {
		const struct choice_process *process =
			(const struct choice_process *)ranking->processes[i];

		if (!process->recorded || process->chosen)
			continue;
		ranking->ops->detach(ranking->ops->context, process->pid);
		ranking->choice->n_detached++;
	}
}

static void choose(struct choice *choice, const struct choice_ops *ops, uint64_t now_ns)
{
	struct ranking ranking = {.choice = choice, .ops = ops, .now_ns = now_ns};
	size_t n = map_count(&choice->processes);
	uint64_t ms = (now_ns - choice->last_round_ns) / NS_PER_MS;

	ranking.least =
		is_level(choice->options.by) ? 1 : least_use(choice->options.by) * ms / 1000;
	ranking.processes = calloc(n ? n : 1, sizeof(struct ranked *));
	if (!ranking.processes)
		return; /* those that are recorded stay so */
	map_each(&choice->processes, add_to_ranking, &ranking);
	top_rank(ranking.processes, ranking.n);
	fill_slots(&ranking);
	free_slots(&ranking);
	free(ranking.processes);
}

static void plan_round(struct choice *choice, uint64_t now_ns)
{
	choice->last_round_ns = now_ns;
	rounds_plan(&choice->rounds, choice->options.interval_ns, now_ns);
}

void choice_end(struct choice *choice, const struct choice_ops *ops, uint64_t now_ns)
{
	map_each(&choice->processes, forget_gone, choice);
	if (choice->scan == 1) { /* what to compare with, from now on */
		plan_round(choice, now_ns);
	} else if (now_ns >= choice->rounds.round_ns) {
		choose(choice, ops, now_ns);
		plan_round(choice, now_ns);
	} else {
		rounds_begin_late(&choice->rounds, &choice->processes);
	}
}
