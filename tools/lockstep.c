/* lockstep.c - the signs of a program that runs in step with the kernel's tick */
#include "tools/lockstep.h"

#include <math.h>

enum { MIN_OVERRUNS = 5, MIN_SHORT = 10, MIN_PERIODS = 20 };

#define NS_PER_S      1000000000.0
#define MARGIN        0.05 /* of overruns over what chance gives */
#define CHANCE_FACTOR 1.5
#define SHORT_FACTOR  1.5  /* runs in a period, over ticks in a period */
#define EVEN_TICKS    0.25 /* "the same lateness", in ticks; chance: 22 % of samples */
#define EVEN_SHARE    0.6
#define SHORT_SHARE   0.3
#define UNSEEN_SHARE  0.5

void lockstep_add(struct lockstep *lockstep, const struct sample *sample)
{
	const struct metric_value *cpu = &sample->metrics[lockstep->cpu_metric];
	const struct metric_value *vcsw = &sample->metrics[lockstep->vcsw_metric];
	double ticks = (double)lockstep->kernel_hz / lockstep->hz;
	double late;

	/* In wall mode weights are the scheduler's, not the timers'. */
	if (sample->event != EVENT_CPU || cpu->delta <= 0 ||
	    (double)vcsw->delta < SHORT_FACTOR * ticks * (double)sample->weight)
		return;
	late = (double)cpu->delta - (double)sample->weight * NS_PER_S / lockstep->hz;
	lockstep->n_short++;
	lockstep->n_even += fabs(late) < EVEN_TICKS * NS_PER_S / lockstep->kernel_hz;
}

static bool is_even(const struct lockstep *lockstep, const struct collector_stats *stats)
{
	return lockstep->n_short >= MIN_SHORT &&
	       (double)lockstep->n_short > SHORT_SHARE * (double)stats->samples &&
	       (double)lockstep->n_even > EVEN_SHARE * (double)lockstep->n_short;
}

static bool is_overrun(const struct lockstep *lockstep, const struct collector_stats *stats)
{
	double by_chance = exp(-(double)lockstep->kernel_hz / lockstep->hz);

	return stats->overruns >= MIN_OVERRUNS &&
	       (double)stats->overruns >
		       (MARGIN + CHANCE_FACTOR * by_chance) * (double)stats->weight;
}

/* CPU that gave no samples though nothing is known to have been lost. */
static bool is_unseen(const struct lockstep *lockstep, const struct collector_stats *stats)
{
	double charged = (double)stats->charged_ns * lockstep->hz / NS_PER_S;

	if (stats->lost_full || stats->lost_nested || stats->lost_noslot || stats->lost_queue ||
	    stats->lost_corrupt || stats->agentless || stats->seccomp)
		return false;
	return charged > MIN_PERIODS &&
	       (double)stats->states[STATE_RUNNING] < UNSEEN_SHARE * charged;
}

bool lockstep_found(const struct lockstep *lockstep, const struct collector_stats *stats)
{
	if (lockstep->hz == 0 || lockstep->hz >= lockstep->kernel_hz)
		return false;
	/* Looks from outside are no timer's, and weigh more when they find nobody running. */
	if (stats->outside && stats->outside >= stats->processes)
		return false;
	return is_even(lockstep, stats) || is_overrun(lockstep, stats) ||
	       is_unseen(lockstep, stats);
}
