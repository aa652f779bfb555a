/* budget.c - how far the rate is lowered so that sampling costs no more than it may */
#include "sampler/collector/control/budget.h"

#include "base/units.h"

enum {
	WARM_MS = 1000,
	STEP_MS = 250,
	LEAST_SIGNALS = 8, /* in a window; of fewer less is believed */
	LONGEST_MS = 2000, /* but a window of few is ended then, too */
};

#define LEARNS       0.25 /* of what a window says of the price is believed */
#define FALLS        0.5  /* at most in one step, */
#define RISES        1.4  /* and the other way */
#define TREMBLES     0.07 /* smaller changes are not worth one */
#define SAVING       0.5  /* of the limit at least, while more was spent than allowed */
#define SAMPLES      0.25 /* of the limit is left to samples, whatever else costs */
#define SAVES_NS     1e10 /* of CPU: what was overspent is saved again in so much */
#define MOST_DEBT_NS 3e10 /* of CPU whose whole limit may be owed */

static double limit_of(const struct budget_limit *limit)
{
	return (double)limit->ppm / 1e6;
}

bool budget_is_limited(const struct budget *budget)
{
	return budget->limits[BUDGET_PROGRAM].ppm || budget->limits[BUDGET_COLLECTOR].ppm;
}

/* What may be spent on samples: less than the limit while something is owed. */
static double aim_of(const struct budget_limit *limit)
{
	double most = limit_of(limit);
	double saved = most - limit->debt_ns / SAVES_NS;
	double aim = (saved > most * SAVING ? saved : most * SAVING) - limit->fixed;

	return aim > most * SAMPLES ? aim : most * SAMPLES;
}

static double between(double value, double least, double most)
{
	return value < least ? least : value > most ? most : value;
}

double budget_fitting_hz(const struct budget *budget)
{
	double fitting = budget->hz;

	for (int i = 0; i < BUDGET_KINDS; i++) {
		const struct budget_limit *limit = &budget->limits[i];
		double hz;

		if (!limit->ppm || limit->price_ns <= 0)
			continue;
		hz = aim_of(limit) * 1e9 / limit->price_ns;
		/* Signals that come no more often cost no more. */
		if (i == BUDGET_PROGRAM && budget->cap_hz && hz >= budget->cap_hz)
			continue;
		fitting = between(hz, 1, fitting);
	}
	return fitting;
}

void budget_init(struct budget *budget, uint32_t program_ppm, uint32_t collector_ppm,
		 uint64_t now_ns)
{
	*budget = (struct budget){.limits = {[BUDGET_PROGRAM].ppm = program_ppm,
					     [BUDGET_COLLECTOR].ppm = collector_ppm},
				  .start_ns = now_ns,
				  .window.now_ns = now_ns};
}

void budget_restart(struct budget *budget, uint32_t hz, const struct budget_source *source)
{
	budget->hz = hz;
	if (source) {
		budget->cap_hz = source->cap_hz;
		budget->limits[BUDGET_PROGRAM].price_ns = (double)source->signal_ns;
		budget->limits[BUDGET_COLLECTOR].price_ns = 0;
	}
	budget->rate_hz = budget_fitting_hz(budget);
}

static double more(uint64_t now, uint64_t then)
{
	return now > then ? (double)(now - then) : 0;
}

/* A low rate has few signals in any window, but must not stand because of that. */
static double believed(double signals)
{
	return LEARNS * between(signals / LEAST_SIGNALS, 0, 1);
}

/* COST of OF, in a window of so many SIGNALS: their price, where there were enough. */
static void learn(struct budget_limit *limit, double cost_ns, double fixed_ns, double of_ns,
		  double signals)
{
	double price_ns = (cost_ns - fixed_ns) / (signals > 0 ? signals : 1);

	limit->debt_ns = between(limit->debt_ns + cost_ns - limit_of(limit) * of_ns, 0,
				 limit_of(limit) * MOST_DEBT_NS);
	if (of_ns > 0) {
		limit->share = cost_ns / of_ns;
		limit->fixed = fixed_ns / of_ns;
	}
	if (limit->price_ns > 0)
		limit->price_ns += believed(signals) * (price_ns - limit->price_ns);
	else if (signals >= LEAST_SIGNALS)
		limit->price_ns = price_ns;
}

/*
 * The program's limit is a part of its CPU, in a second of which RATE_HZ signals come.  The
 * collector's is a part of the time on the clock, in which any number comes: its price is that of
 * one Hz, so that the same division gives the rate.
 */
static void judge(struct budget *budget, const struct budget_sums *sums)
{
	const struct budget_sums *since = &budget->window;
	double wall_ns = more(sums->now_ns, since->now_ns);
	double program_ns = more(sums->cost_ns[BUDGET_PROGRAM], since->cost_ns[BUDGET_PROGRAM]);
	double own_ns = more(sums->cost_ns[BUDGET_COLLECTOR], since->cost_ns[BUDGET_COLLECTOR]);

	learn(&budget->limits[BUDGET_PROGRAM], program_ns, more(sums->fixed_ns, since->fixed_ns),
	      more(sums->cpu_ns, since->cpu_ns), more(sums->signals, since->signals));
	learn(&budget->limits[BUDGET_COLLECTOR], own_ns, 0, wall_ns,
	      budget->rate_hz * wall_ns / 1e9);
	budget->window = *sums;
}

/* Towards the rate that fits.  Return: whether it is another one now. */
static bool move(struct budget *budget)
{
	double fitting = budget_fitting_hz(budget);
	double now = budget->rate_hz;
	double next = between(fitting, now * FALLS, now * RISES);

	if (fitting == budget->hz ? now == budget->hz
				  : next > now * (1 - TREMBLES) && next < now * (1 + TREMBLES))
		return false;
	budget->rate_hz = between(next, 1, budget->hz);
	return true;
}

bool budget_step(struct budget *budget, const struct budget_sums *sums)
{
	uint64_t open_ns = sums->now_ns - budget->window.now_ns;

	if (!budget_is_limited(budget))
		return false;
	if (sums->now_ns - budget->start_ns < WARM_MS * NS_PER_MS) {
		budget_skip(budget, sums);
		return false;
	}
	if (open_ns < STEP_MS * NS_PER_MS ||
	    (open_ns < LONGEST_MS * NS_PER_MS &&
	     sums->signals - budget->window.signals < LEAST_SIGNALS))
		return false;
	judge(budget, sums);
	return move(budget);
}

void budget_skip(struct budget *budget, const struct budget_sums *sums)
{
	budget->window = *sums;
}
