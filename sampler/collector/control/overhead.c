/* overhead.c - what sampling costs, measured while it goes on, and what follows from it */
#include "sampler/collector/control/overhead.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/control/engines.h"
#include "sampler/collector/control/rate.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/drain/state.h"

#include <time.h>

enum {
	STEP_MS = 250,
	JUDGED_MS = 500, /* of CPU */
	PPM = 1000000,
	ASKED_DEAR_PPM = 50000, /* above the tick, where a price was told, */
	DEAR_PPM = 5000,        /* and where events came unasked */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t spending_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static struct budget_source source_of(const struct collector *collector)
{
	const struct collector_options *options = &collector->options;

	if (collector->drain.engine == RING_ENGINE_PERF)
		return (struct budget_source){.signal_ns = options->prices.event_ns};
	return (struct budget_source){.cap_hz = collector_kernel_hz(),
				      .signal_ns = options->prices.timer_ns};
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
static double signals_ns(const struct collector *collector)
{
	const struct collector_stats *stats = &collector->drain.stats;
	double event_ns = (double)price(&collector->drain.spending.event_ns);

	return (double)stats->event_signals * event_ns +
	       (double)stats->kernel_periods * event_ns / 2 +
	       (double)less(stats->signals, stats->event_signals) *
		       (double)collector->options.prices.timer_ns;
}

static uint64_t switches_ns(const struct collector *collector)
{
	return collector->drain.stats.event_switches * price(&collector->drain.spending.switch_ns);
}

/* Of counts that programs can write to: no more than the CPU that they have used. */
uint64_t spending_program_ns(const struct collector *collector)
{
	const struct collector_stats *stats = &collector->drain.stats;

	double ns = (double)stats->handler_ns + signals_ns(collector) +
		    (double)switches_ns(collector) + (double)stats->hooks_ns +
		    (double)stats->outside_stopped_ns;
	uint64_t most_ns = drain_charged_ns(&collector->drain);

	return ns < (double)most_ns ? (uint64_t)ns : most_ns;
}

static struct budget_sums sums_of(const struct collector *collector, uint64_t now_ns)
{
	const struct collector_stats *stats = &collector->drain.stats;
	uint64_t own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	return (struct budget_sums){
		.now_ns = now_ns,
		.cpu_ns = drain_charged_ns(&collector->drain),
		.signals = stats->signals + stats->outside_stops,
		.cost_ns = {[BUDGET_PROGRAM] = spending_program_ns(collector),
			    [BUDGET_COLLECTOR] =
				    less(own_ns, collector->drain.spending.own_base_ns)},
		.fixed_ns = stats->hooks_ns + switches_ns(collector),
	};
}

static void note_lowered(struct collector *collector, uint64_t now_ns)
{
	struct collector_stats *stats = &collector->drain.stats;
	struct spending *spending = &collector->drain.spending;
	const struct rate *rate = &collector->drain.rate;
	uint32_t effective_hz = stats->timers_took_over ? rate_delivered_hz(&collector->drain)
							: rate_effective_hz(rate->period_ns);

	if (effective_hz < rate->hz && spending->lowered_since_ns)
		stats->lowered_ns += now_ns - spending->lowered_since_ns;
	spending->lowered_since_ns = now_ns;
	if (effective_hz < rate->hz && (!stats->lowest_hz || effective_hz < stats->lowest_hz))
		stats->lowest_hz = effective_hz;
}

static bool wants_timers(const struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	const struct collector_stats *stats = &collector->drain.stats;
	const struct budget *budget = &collector->drain.spending.budget;
	uint64_t handler_ns = stats->signals ? stats->handler_ns / stats->signals : 0;
	struct budget timers;
	struct budget_source source = {.cap_hz = collector_kernel_hz(),
				       .signal_ns = options->prices.timer_ns + handler_ns};
	double hz;

	if (collector->drain.engine != RING_ENGINE_PERF || !options->engine_is_auto ||
	    !budget_is_limited(budget))
		return false;
	budget_init(&timers, budget->limits[BUDGET_PROGRAM].ppm, 0, 0);
	budget_restart(&timers, budget->hz, &source);
	hz = timers.rate_hz < source.cap_hz ? timers.rate_hz : source.cap_hz;
	return budget_fitting_hz(budget) < hz;
}

/*
 * A program that does little but switch pays for its switches, not for samples: redis at 999 Hz a
 * third of its CPU.  Nobody has asked for that, unless the engine was asked for by name.
 */
static bool switches_are_dear(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	struct spending *spending = &drain->spending;
	uint64_t cpu_ns = less(spending->last.cpu_ns, spending->judged_cpu_ns);
	uint64_t ns = less(switches_ns(collector), spending->judged_ns);
	uint64_t most_ppm = drain->engine == RING_ENGINE_PERF ? ASKED_DEAR_PPM : DEAR_PPM;

	if (!collector->options.engine_is_auto || cpu_ns < JUDGED_MS * NS_PER_MS)
		return false;
	spending->judged_cpu_ns += cpu_ns;
	spending->judged_ns += ns;
	if (ns < cpu_ns / PPM * most_ppm)
		return false;
	drain->stats.dear_ppm = (uint32_t)(ns / (cpu_ns / PPM));
	return true;
}

/* To timers where they give more for the budget, or cost less; and the rate that it allows. */
static void follow_budget(struct collector *collector)
{
	struct budget *budget = &collector->drain.spending.budget;
	struct budget_source source;

	if (wants_timers(collector) || switches_are_dear(collector)) {
		collector->drain.stats.timers_took_over |=
			collector->drain.engine == RING_ENGINE_PERF;
		engines_use_timers(collector);
		source = source_of(collector);
		budget_restart(budget, budget->hz, &source);
		rate_tell(collector);
	}
	rate_lower(collector, budget->rate_hz);
}

void spending_init(struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	struct spending *spending = &collector->drain.spending;
	struct budget_source source;
	uint64_t now_ns = io_now_ns();

	spending->own_base_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	spending->last.now_ns = now_ns;
	atomic_init(&spending->event_ns, options->prices.event_ns);
	atomic_init(&spending->switch_ns, options->prices.switch_ns);
	budget_init(&spending->budget, options->max_overhead_ppm, options->max_collector_ppm,
		    now_ns);
	source = source_of(collector);
	budget_restart(&spending->budget, options->hz, &source);
	follow_budget(collector);
}

void spending_step(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	struct budget *budget = &drain->spending.budget;
	uint64_t now_ns = io_now_ns();

	if (now_ns - drain->spending.last.now_ns < STEP_MS * NS_PER_MS)
		return;
	drain->spending.last = sums_of(collector, now_ns);
	if (drain->rate.hz != budget->hz)
		budget_restart(budget, drain->rate.hz, NULL);
	/* In a pause nothing is spent, which says nothing about the rate. */
	if (drain->rate.pauses)
		budget_skip(budget, &drain->spending.last);
	else
		(void)budget_step(budget, &drain->spending.last);
	note_lowered(collector, now_ns);
	follow_budget(collector);
}
