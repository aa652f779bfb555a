/* tick_aliasing.c - does a process run in step with the kernel's tick? */
#include "sampler/collector/control/tick_aliasing.h"

#include "base/units.h"

#include <math.h>

enum {
	WINDOW_MS = 500,
	MIN_OVERRUNS = 5,
	MIN_SHORT = 10,
	MIN_PERIODS = 10, /* of CPU, in a window that says anything */
	SIGNS = 3,        /* windows; the wait of the first one does not count */
	VOLUNTARY = 4,    /* switches for one that the scheduler made */
};

#define MARGIN        0.05 /* of overruns over what chance gives */
#define CHANCE_FACTOR 1.5
#define SHORT_FACTOR  1.5  /* runs in a period, over ticks in a period */
#define EVEN_TICKS    0.25 /* "the same lateness", in ticks; chance: 22 % of samples */
#define EVEN_SHARE    0.6
#define SHORT_SHARE   0.3
#define UNSEEN_SHARE  0.5 /* of the periods in a window have a sample that comes in it */
#define WAITED_SHARE  0.1 /* of the CPU that was used: more, and others had the processors */

void tick_aliasing_restart(struct tick_aliasing *aliasing, const struct tick_aliasing_sums *sums,
			   uint64_t period_ns, uint64_t tick_ns)
{
	*aliasing =
		(struct tick_aliasing){.period_ns = period_ns, .tick_ns = tick_ns, .window = *sums};
}

void tick_aliasing_add(struct tick_aliasing *aliasing, const struct tick_aliasing_sample *sample)
{
	double ticks = (double)aliasing->period_ns / (double)aliasing->tick_ns;
	double late_ns;

	aliasing->n_samples++;
	aliasing->weight += sample->weight;
	if (sample->cpu_ns <= 0 || sample->involuntary * VOLUNTARY > sample->voluntary ||
	    (double)sample->voluntary < SHORT_FACTOR * ticks * (double)sample->weight)
		return;
	late_ns = (double)sample->cpu_ns - (double)sample->weight * (double)aliasing->period_ns;
	aliasing->n_short++;
	aliasing->n_even += fabs(late_ns) < EVEN_TICKS * (double)aliasing->tick_ns;
}

bool tick_aliasing_due(const struct tick_aliasing *aliasing, uint64_t now_ns)
{
	return aliasing->period_ns && now_ns - aliasing->window.now_ns >= WINDOW_MS * NS_PER_MS;
}

static bool is_even(const struct tick_aliasing *aliasing)
{
	return aliasing->n_short >= MIN_SHORT &&
	       (double)aliasing->n_short > SHORT_SHARE * (double)aliasing->n_samples &&
	       (double)aliasing->n_even > EVEN_SHARE * (double)aliasing->n_short;
}

static bool is_overrun(const struct tick_aliasing *aliasing)
{
	double by_chance = exp(-(double)aliasing->period_ns / (double)aliasing->tick_ns);
	uint64_t overruns = aliasing->weight - aliasing->n_samples;

	return overruns >= MIN_OVERRUNS &&
	       (double)overruns > (MARGIN + CHANCE_FACTOR * by_chance) * (double)aliasing->weight;
}

bool tick_aliasing_found(struct tick_aliasing *aliasing, const struct tick_aliasing_sums *sums)
{
	const struct tick_aliasing_sums *since = &aliasing->window;
	uint64_t charged_ns = sums->charged_ns - since->charged_ns;
	uint64_t n_taken = sums->n_taken - since->n_taken;
	uint64_t waited_ns = sums->run_delay_ns > since->run_delay_ns
				     ? sums->run_delay_ns - since->run_delay_ns
				     : 0;
	bool unseen = (double)(n_taken * aliasing->period_ns) < UNSEEN_SHARE * (double)charged_ns;
	uint32_t n_signs = aliasing->n_signs;

	/* A program that uses little has a longer window. */
	if (charged_ns < MIN_PERIODS * aliasing->period_ns)
		return false;
	if (!(unseen || is_even(aliasing) || is_overrun(aliasing)))
		n_signs = 0;
	else if ((double)waited_ns <= WAITED_SHARE * (double)charged_ns &&
		 sums->lost == since->lost)
		n_signs++;
	tick_aliasing_restart(aliasing, sums, aliasing->period_ns, aliasing->tick_ns);
	aliasing->n_signs = n_signs;
	return n_signs >= SIGNS;
}
