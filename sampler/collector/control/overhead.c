/* overhead.c - what sampling costs, measured while it goes on, and what follows from it */
#include "sampler/collector/control/overhead.h"

#include "base/io.h"
#include "base/units.h"

#include <time.h>

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
#define MOST_DEBT_NS 3e10 /* of CPU; the debt is at most the limit for so much of it */

static double limit_of(const struct budget_limit *limit)
{
	return (double)limit->ppm / 1e6;
}

bool budget_is_limited(const struct budget *budget)
{
	return budget->limits[BUDGET_PROGRAM].ppm || budget->limits[BUDGET_COLLECTOR].ppm;
}

/* What samples may cost: less than the limit while there is a debt. */
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

enum {
	JUDGED_MS = 500, /* of CPU */
	PPM = 1000000,
	ASKED_DEAR_PPM = 50000, /* above the tick, where a price was told, */
	DEAR_PPM = 5000,        /* and where events came unasked */
};

static uint64_t process_cpu_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static struct budget_source source_of(const struct overhead_inputs *inputs, enum ring_engine engine)
{
	const struct collector_prices *prices = &inputs->options->prices;

	if (engine == RING_ENGINE_PERF)
		return (struct budget_source){.signal_ns = prices->event_ns};
	return (struct budget_source){.cap_hz = inputs->kernel_hz, .signal_ns = prices->timer_ns};
}

static uint64_t less(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static uint64_t price(const _Atomic uint64_t *price_ns)
{
	return atomic_load_explicit(price_ns, memory_order_relaxed);
}

/*
 * With engine perf timers go on.  Of an event that finds its thread in the kernel only the
 * interrupt is paid for, which is half of what it takes where its signal follows (12.6 of 23 to 28
 * us).
 */
static double signals_ns(const struct overhead *overhead, const struct overhead_inputs *inputs)
{
	const struct collector_stats *stats = inputs->stats;
	double event_ns = (double)price(&overhead->event_ns);

	return (double)stats->event_signals * event_ns +
	       (double)stats->kernel_periods * event_ns / 2 +
	       (double)less(stats->signals, stats->event_signals) *
		       (double)inputs->options->prices.timer_ns;
}

static uint64_t switches_ns(const struct overhead *overhead, const struct overhead_inputs *inputs)
{
	return inputs->stats->event_switches * price(&overhead->switch_ns);
}

/* Of counts that programs can write to: no more than the CPU that they have used. */
uint64_t overhead_program_ns(const struct overhead *overhead, const struct overhead_inputs *inputs)
{
	const struct collector_stats *stats = inputs->stats;
	double ns = (double)stats->handler_ns + signals_ns(overhead, inputs) +
		    (double)switches_ns(overhead, inputs) + (double)stats->hooks_ns +
		    (double)stats->external_stopped_ns;
	uint64_t most_ns = inputs->charged_ns;

	return ns < (double)most_ns ? (uint64_t)ns : most_ns;
}

static struct budget_sums sums_of(const struct overhead *overhead,
				  const struct overhead_inputs *inputs, uint64_t now_ns)
{
	const struct collector_stats *stats = inputs->stats;
	uint64_t own_ns = process_cpu_ns();

	return (struct budget_sums){
		.now_ns = now_ns,
		.cpu_ns = inputs->charged_ns,
		.signals = stats->signals + stats->external_stops,
		.cost_ns = {[BUDGET_PROGRAM] = overhead_program_ns(overhead, inputs),
			    [BUDGET_COLLECTOR] = less(own_ns, overhead->own_base_ns)},
		.fixed_ns = stats->hooks_ns + switches_ns(overhead, inputs),
	};
}

static void note_lowered(struct overhead *overhead, const struct overhead_inputs *inputs,
			 uint64_t now_ns)
{
	struct collector_stats *stats = inputs->stats;
	const struct rate *rate = inputs->rate;
	bool capped = stats->timers_took_over && inputs->engine == RING_ENGINE_CTIMER;
	uint32_t effective_hz = rate_delivered_hz(rate, capped ? inputs->kernel_hz : 0);

	if (effective_hz < rate->hz && overhead->lowered_since_ns)
		stats->lowered_ns += now_ns - overhead->lowered_since_ns;
	overhead->lowered_since_ns = now_ns;
	if (effective_hz < rate->hz && (!stats->lowest_hz || effective_hz < stats->lowest_hz))
		stats->lowest_hz = effective_hz;
}

static bool wants_timers(const struct overhead *overhead, const struct overhead_inputs *inputs)
{
	const struct collector_options *options = inputs->options;
	const struct collector_stats *stats = inputs->stats;
	const struct budget *budget = &overhead->budget;
	uint64_t handler_ns = stats->signals ? stats->handler_ns / stats->signals : 0;
	struct budget timers;
	struct budget_source source = {.cap_hz = inputs->kernel_hz,
				       .signal_ns = options->prices.timer_ns + handler_ns};
	double hz;

	if (inputs->engine != RING_ENGINE_PERF || !options->engine_is_auto ||
	    !budget_is_limited(budget))
		return false;
	budget_init(&timers, budget->limits[BUDGET_PROGRAM].ppm, 0, 0);
	budget_restart(&timers, budget->hz, &source);
	hz = timers.rate_hz < source.cap_hz ? timers.rate_hz : source.cap_hz;
	return budget_fitting_hz(budget) < hz;
}

/*
 * A program that does little but switch pays for its switches, not for samples: redis at 999 Hz a
 * third of its CPU.  That is accepted only where the engine was requested by name.
 */
static bool switches_are_dear(struct overhead *overhead, const struct overhead_inputs *inputs)
{
	uint64_t cpu_ns = less(overhead->last.cpu_ns, overhead->judged_cpu_ns);
	uint64_t ns = less(switches_ns(overhead, inputs), overhead->judged_ns);
	uint64_t most_ppm = inputs->engine == RING_ENGINE_PERF ? ASKED_DEAR_PPM : DEAR_PPM;

	if (!inputs->options->engine_is_auto || cpu_ns < JUDGED_MS * NS_PER_MS)
		return false;
	overhead->judged_cpu_ns += cpu_ns;
	overhead->judged_ns += ns;
	if (ns < cpu_ns / PPM * most_ppm)
		return false;
	inputs->stats->dear_ppm = (uint32_t)(ns / (cpu_ns / PPM));
	return true;
}

/* Return: whether timers give more samples for the budget than perf events, or cost less. */
static bool decide(struct overhead *overhead, const struct overhead_inputs *inputs)
{
	struct budget *budget = &overhead->budget;
	struct budget_source source;

	if (!wants_timers(overhead, inputs) && !switches_are_dear(overhead, inputs))
		return false;
	inputs->stats->timers_took_over |= inputs->engine == RING_ENGINE_PERF;
	source = source_of(inputs, RING_ENGINE_CTIMER);
	budget_restart(budget, budget->hz, &source);
	return true;
}

bool overhead_init(struct overhead *overhead, const struct overhead_inputs *inputs)
{
	const struct collector_options *options = inputs->options;
	struct budget_source source = source_of(inputs, inputs->engine);
	uint64_t now_ns = io_now_ns();

	overhead->own_base_ns = process_cpu_ns();
	overhead->last.now_ns = now_ns;
	atomic_init(&overhead->event_ns, options->prices.event_ns);
	atomic_init(&overhead->switch_ns, options->prices.switch_ns);
	budget_init(&overhead->budget, options->max_overhead_ppm, options->max_collector_ppm,
		    now_ns);
	budget_restart(&overhead->budget, options->hz, &source);
	return decide(overhead, inputs);
}

bool overhead_step(struct overhead *overhead, const struct overhead_inputs *inputs,
		   bool *ret_use_timers)
{
	struct budget *budget = &overhead->budget;
	uint64_t now_ns = io_now_ns();

	if (now_ns - overhead->last.now_ns < STEP_MS * NS_PER_MS)
		return false;
	overhead->last = sums_of(overhead, inputs, now_ns);
	if (inputs->rate->hz != budget->hz)
		budget_restart(budget, inputs->rate->hz, NULL);
	/* In a pause nothing is spent, which says nothing about the rate. */
	if (inputs->rate->pauses)
		budget_skip(budget, &overhead->last);
	else
		(void)budget_step(budget, &overhead->last);
	note_lowered(overhead, inputs, now_ns);
	*ret_use_timers = decide(overhead, inputs);
	return true;
}
