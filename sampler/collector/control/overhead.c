/* overhead.c - what sampling costs, measured while it goes on, and what follows from it */
#include "sampler/collector/control/overhead.h"

#include "base/io.h"
#include "base/units.h"

#include <time.h>

enum {
	STEP_MS = 250,
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
static double signals_ns(const struct spending *spending, const struct overhead_inputs *inputs)
{
	const struct collector_stats *stats = inputs->stats;
	double event_ns = (double)price(&spending->event_ns);

	return (double)stats->event_signals * event_ns +
	       (double)stats->kernel_periods * event_ns / 2 +
	       (double)less(stats->signals, stats->event_signals) *
		       (double)inputs->options->prices.timer_ns;
}

static uint64_t switches_ns(const struct spending *spending, const struct overhead_inputs *inputs)
{
	return inputs->stats->event_switches * price(&spending->switch_ns);
}

/* Of counts that programs can write to: no more than the CPU that they have used. */
uint64_t spending_program_ns(const struct spending *spending, const struct overhead_inputs *inputs)
{
	const struct collector_stats *stats = inputs->stats;
	double ns = (double)stats->handler_ns + signals_ns(spending, inputs) +
		    (double)switches_ns(spending, inputs) + (double)stats->hooks_ns +
		    (double)stats->outside_stopped_ns;
	uint64_t most_ns = inputs->charged_ns;

	return ns < (double)most_ns ? (uint64_t)ns : most_ns;
}

static struct budget_sums sums_of(const struct spending *spending,
				  const struct overhead_inputs *inputs, uint64_t now_ns)
{
	const struct collector_stats *stats = inputs->stats;
	uint64_t own_ns = process_cpu_ns();

	return (struct budget_sums){
		.now_ns = now_ns,
		.cpu_ns = inputs->charged_ns,
		.signals = stats->signals + stats->outside_stops,
		.cost_ns = {[BUDGET_PROGRAM] = spending_program_ns(spending, inputs),
			    [BUDGET_COLLECTOR] = less(own_ns, spending->own_base_ns)},
		.fixed_ns = stats->hooks_ns + switches_ns(spending, inputs),
	};
}

static void note_lowered(struct spending *spending, const struct overhead_inputs *inputs,
			 uint64_t now_ns)
{
	struct collector_stats *stats = inputs->stats;
	const struct rate *rate = inputs->rate;
	bool capped = stats->timers_took_over && inputs->engine == RING_ENGINE_CTIMER;
	uint32_t effective_hz = rate_delivered_hz(rate, capped ? inputs->kernel_hz : 0);

	if (effective_hz < rate->hz && spending->lowered_since_ns)
		stats->lowered_ns += now_ns - spending->lowered_since_ns;
	spending->lowered_since_ns = now_ns;
	if (effective_hz < rate->hz && (!stats->lowest_hz || effective_hz < stats->lowest_hz))
		stats->lowest_hz = effective_hz;
}

static bool wants_timers(const struct spending *spending, const struct overhead_inputs *inputs)
{
	const struct collector_options *options = inputs->options;
	const struct collector_stats *stats = inputs->stats;
	const struct budget *budget = &spending->budget;
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
 * third of its CPU.  That is accepted only where the engine was asked for by name.
 */
static bool switches_are_dear(struct spending *spending, const struct overhead_inputs *inputs)
{
	uint64_t cpu_ns = less(spending->last.cpu_ns, spending->judged_cpu_ns);
	uint64_t ns = less(switches_ns(spending, inputs), spending->judged_ns);
	uint64_t most_ppm = inputs->engine == RING_ENGINE_PERF ? ASKED_DEAR_PPM : DEAR_PPM;

	if (!inputs->options->engine_is_auto || cpu_ns < JUDGED_MS * NS_PER_MS)
		return false;
	spending->judged_cpu_ns += cpu_ns;
	spending->judged_ns += ns;
	if (ns < cpu_ns / PPM * most_ppm)
		return false;
	inputs->stats->dear_ppm = (uint32_t)(ns / (cpu_ns / PPM));
	return true;
}

/* Timers where they give more samples for the budget, or cost less; and the rate that it allows. */
static struct overhead_decision decide(struct spending *spending,
				       const struct overhead_inputs *inputs)
{
	struct budget *budget = &spending->budget;
	struct overhead_decision decision = {0};
	struct budget_source source;

	if (wants_timers(spending, inputs) || switches_are_dear(spending, inputs)) {
		decision.use_timers = true;
		inputs->stats->timers_took_over |= inputs->engine == RING_ENGINE_PERF;
		source = source_of(inputs, RING_ENGINE_CTIMER);
		budget_restart(budget, budget->hz, &source);
	}
	decision.rate_hz = budget->rate_hz;
	return decision;
}

struct overhead_decision spending_init(struct spending *spending,
				       const struct overhead_inputs *inputs)
{
	const struct collector_options *options = inputs->options;
	struct budget_source source = source_of(inputs, inputs->engine);
	uint64_t now_ns = io_now_ns();

	spending->own_base_ns = process_cpu_ns();
	spending->last.now_ns = now_ns;
	atomic_init(&spending->event_ns, options->prices.event_ns);
	atomic_init(&spending->switch_ns, options->prices.switch_ns);
	budget_init(&spending->budget, options->max_overhead_ppm, options->max_collector_ppm,
		    now_ns);
	budget_restart(&spending->budget, options->hz, &source);
	return decide(spending, inputs);
}

bool spending_due(const struct spending *spending)
{
	return io_now_ns() - spending->last.now_ns >= STEP_MS * NS_PER_MS;
}

struct overhead_decision spending_step(struct spending *spending,
				       const struct overhead_inputs *inputs)
{
	struct budget *budget = &spending->budget;
	uint64_t now_ns = io_now_ns();

	spending->last = sums_of(spending, inputs, now_ns);
	if (inputs->rate->hz != budget->hz)
		budget_restart(budget, inputs->rate->hz, NULL);
	/* In a pause nothing is spent, which says nothing about the rate. */
	if (inputs->rate->pauses)
		budget_skip(budget, &spending->last);
	else
		(void)budget_step(budget, &spending->last);
	note_lowered(spending, inputs, now_ns);
	return decide(spending, inputs);
}
