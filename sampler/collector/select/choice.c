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
	CHOICE_LATE_PART = 8,      /* of an interval: as for threads */
	CHOICE_MORE_TRIES = 8,     /* besides two for every slot, in one round */
	CHOICE_KEEPS_PERCENT = 25, /* by so much a newcomer has to be heavier */
	CHOICE_KEEPS_FLOOR = 4,    /* part of the least use, for a recorded process */
};

static const uint64_t SOON_NS = 2 * NS_PER_S;
static const uint64_t REFUSED_NS = 60 * NS_PER_S;
static const uint64_t REFUSED_MOST_NS = 3600 * NS_PER_S;

struct choice_process {
	pid_t pid;
	uint64_t start;
	uint64_t total;
	uint64_t at_round;
	uint64_t at_late;
	uint64_t used;  /* in the last round */
	uint64_t score; /* of the last round */
	uint64_t scan;  /* that saw it last */
	uint64_t retry_ns;
	uint64_t pause_ns; /* between tries; 0: it has not refused */
	bool recorded;     /* before the round */
	bool seated;
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
	return choice->scan == 0 || choice->late ? choice->round_ns : choice->late_ns;
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
	*process = (struct choice_process){.pid = seen->pid, .start = seen->start};
	/* Of what was there before us nothing is known but the sum. */
	if (choice->scan == 1)
		process->at_round = process->at_late = seen->total;
	return process;
}

void choice_see(struct choice *choice, const struct choice_seen *seen)
{
	struct choice_process *process = process_of(choice, seen);

	if (!process)
		return;
	process->total = seen->total;
	process->scan = choice->scan;
}

bool choice_still(struct choice *choice, pid_t pid, uint64_t total)
{
	struct choice_process *process = map_get(&choice->processes, (uint64_t)pid);

	if (!process || process->total != total)
		return false;
	process->scan = choice->scan;
	return true;
}

static void forget_gone(void *context, uint64_t key, void *value)
{
	struct choice *choice = context;
	const struct choice_process *process = value;

	if (process->scan == choice->scan)
		return;
	(void)map_remove(&choice->processes, key);
	free(value);
}

static void begin_late(void *context, uint64_t key, void *value)
{
	struct choice_process *process = value;

	(void)context;
	(void)key;
	process->at_late = process->total;
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
	struct choice_process **processes;
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
	uint64_t before = process->total >= process->at_round ? process->at_round : 0;

	(void)key;
	process->used = level ? process->total : process->total - before;
	process->score = level ? process->total
			       : top_score(process->total, process->at_round, process->at_late);
	process->recorded = ranking->ops->records(ranking->ops->context, process->pid);
	process->seated = false;
	if (process->recorded)
		process->score = with_bonus(process->score);
	process->at_round = process->at_late = process->total;
	ranking->processes[ranking->n++] = process;
}

static int heavier(const void *left, const void *right)
{
	const struct choice_process *a = *(struct choice_process *const *)left;
	const struct choice_process *b = *(struct choice_process *const *)right;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
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

static void fill_seats(const struct ranking *ranking)
{
	size_t n_slots = ranking->choice->options.n;
	size_t tries = 2 * n_slots + CHOICE_MORE_TRIES;

	for (size_t i = 0; i < ranking->n && n_slots > 0 && tries > 0; i++) {
		struct choice_process *process = ranking->processes[i];

		if (is_idle(ranking, process))
			continue;
		if (!process->recorded) {
			if (ranking->now_ns < process->retry_ns)
				continue;
			tries--;
			if (!attach(ranking, process))
				continue;
		}
		process->seated = true;
		n_slots--;
	}
}

/* Those too that came by fork. */
static void empty_seats(const struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->n; i++) {
		const struct choice_process *process = ranking->processes[i];

		if (!process->recorded || process->seated)
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
	ranking.processes = calloc(n ? n : 1, sizeof(struct choice_process *));
	if (!ranking.processes)
		return; /* those that are recorded stay so */
	map_each(&choice->processes, add_to_ranking, &ranking);
	if (ranking.n > 0)
		qsort(ranking.processes, ranking.n, sizeof(struct choice_process *), heavier);
	fill_seats(&ranking);
	empty_seats(&ranking);
	free(ranking.processes);
}

/* The first rounds come soon. */
static void plan_round(struct choice *choice, uint64_t now_ns)
{
	choice->pause_ns = choice->pause_ns ? choice->pause_ns * 2 : TOP_FIRST_MS * NS_PER_MS;
	if (choice->pause_ns > choice->options.interval_ns)
		choice->pause_ns = choice->options.interval_ns;
	choice->last_round_ns = now_ns;
	choice->round_ns = now_ns + choice->pause_ns;
	choice->late_ns = choice->round_ns - choice->pause_ns / CHOICE_LATE_PART;
	choice->late = false;
}

void choice_end(struct choice *choice, const struct choice_ops *ops, uint64_t now_ns)
{
	map_each(&choice->processes, forget_gone, choice);
	if (choice->scan == 1) { /* what to compare with, from now on */
		plan_round(choice, now_ns);
	} else if (now_ns >= choice->round_ns) {
		choose(choice, ops, now_ns);
		plan_round(choice, now_ns);
	} else {
		map_each(&choice->processes, begin_late, NULL);
		choice->late = true;
	}
}
