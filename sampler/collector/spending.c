/* spending.c - what sampling costs, measured while it goes on, and what follows from it */
#include "sampler/collector/spending.h"

#include "base/io.h"
#include "sampler/collector/drain.h"
#include "sampler/collector/limits.h"
#include "sampler/collector/rate.h"
#include "sampler/collector/state.h"

#include <pthread.h>

enum {
	STEP_MS = 250,
	MOVING_MS = 2000, /* mappings that changed so lately may change again */
	PASSES = 16,      /* that what a pass costs is the mean of, or so */
	IDLE_PART = 4,    /* of a processor: no program is taken to use less */
	FALL_TIMES = 2,   /* what a sample costs in the program: with us no more again */
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

void spending_init(struct collector *collector)
{
	struct spending *spending = &collector->drain.spending;
	uint64_t now_ns = io_now_ns();

	if (pthread_getcpuclockid(pthread_self(), &spending->main_clock) != 0)
		spending->main_clock = CLOCK_PROCESS_CPUTIME_ID;
	spending->main_base_ns = clock_ns(spending->main_clock);
	budget_init(&spending->budget, collector->options.max_overhead_ppm, collector->options.hz,
		    now_ns);
	spending->last.now_ns = now_ns;
}

static uint64_t less(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/* With engine perf, too, timers hit threads that run little. */
uint64_t spending_signals_ns(const struct collector *collector)
{
	const struct collector_options *options = &collector->options;
	const struct collector_stats *stats = &collector->drain.stats;
	uint64_t timer_ns =
		options->timer_signal_ns ? options->timer_signal_ns : options->signal_ns;

	return less(stats->signals, stats->timer_samples) * options->signal_ns +
	       stats->timer_samples * timer_ns;
}

static uint64_t agent_ns(const struct collector *collector)
{
	return collector->drain.stats.handler_ns + spending_signals_ns(collector);
}

/* Of the drain thread. */
static uint64_t drain_ns(const struct spending *spending)
{
	return less(spending_thread_ns(), spending->once_ns);
}

static uint64_t own_ns(const struct spending *spending)
{
	uint64_t once_ns = atomic_load_explicit(&spending->main_once_ns, memory_order_relaxed);

	return drain_ns(spending) +
	       less(clock_ns(spending->main_clock), spending->main_base_ns + once_ns);
}

static void note_pass(struct spending *spending)
{
	uint64_t now_ns = drain_ns(spending);
	uint64_t ns = less(now_ns, spending->passed_ns);

	spending->passed_ns = now_ns;
	if (spending->pass_ns)
		ns = (spending->pass_ns * (PASSES - 1) + ns) / PASSES;
	spending->pass_ns = ns;
}

/* Return: what the step's cost is a part of: the CPU that was sampled, or of one processor. */
static uint64_t note_share(struct collector *collector, uint64_t now_ns, uint64_t charged_ns)
{
	bool wall = (collector->options.events & COLLECT_WALL) != 0;
	struct spending *spending = &collector->drain.spending;
	uint64_t ns = less(now_ns, spending->last.now_ns);
	uint64_t cpu_ns = less(charged_ns, spending->charged_ns);
	uint64_t least_ns = wall ? ns : ns / IDLE_PART;
	double share = (double)cpu_ns / (double)(ns ? ns : 1);

	spending->cpu_share += (share - spending->cpu_share) / 4;
	spending->charged_ns = charged_ns;
	return cpu_ns > least_ns ? cpu_ns : least_ns;
}

static void note_thinned(struct collector *collector, uint64_t now_ns)
{
	struct collector_stats *stats = &collector->drain.stats;
	struct spending *spending = &collector->drain.spending;
	uint32_t now = UINT32_C(1) << spending->budget.level;
	uint32_t before = collector->drain.rate.thinned;

	if (before > 1 && spending->thinned_ns)
		stats->thinned_ns += now_ns - spending->thinned_ns;
	spending->thinned_ns = now_ns;
	stats->thinnings += now != before;
	if (now > stats->thinned_most)
		stats->thinned_most = now;
}

static void step(struct collector *collector, uint64_t now_ns)
{
	struct spending *spending = &collector->drain.spending;
	struct budget *budget = &spending->budget;
	struct rate *rate = &collector->drain.rate;
	struct budget_sums sums = {.now_ns = now_ns,
				   .cost_ns = agent_ns(collector) + own_ns(spending),
				   .falls_ns = FALL_TIMES * agent_ns(collector)};

	if (now_ns - spending->last.now_ns < STEP_MS * NS_PER_MS)
		return;
	sums.cpu_ns = spending->last.cpu_ns +
		      note_share(collector, now_ns, drain_charged_ns(&collector->drain));
	spending->last = sums;
	if (rate->hz != budget->hz)
		budget_restart(budget, rate->hz, now_ns);
	/* In a pause nothing is spent, which says nothing about the rate. */
	if (rate->pauses)
		budget_skip(budget, &sums);
	else
		(void)budget_step(budget, &sums);
	note_thinned(collector, now_ns);
	rate_thin(collector, UINT32_C(1) << budget->level);
}

uint32_t spending_end_pass(struct collector *collector, uint32_t ms, uint32_t most_ms)
{
	struct drain *drain = &collector->drain;
	struct spending *spending = &drain->spending;
	uint64_t now_ns = io_now_ns();

	if (!spending->budget.limit_ppm)
		return ms;
	note_pass(spending);
	step(collector, now_ns);
	if (drain->stream.moved) {
		drain->stream.moved = false;
		spending->moved_ns = now_ns;
	}
	if (budget_is_warming(&spending->budget, now_ns) ||
	    now_ns - spending->moved_ns < MOVING_MS * NS_PER_MS)
		return ms;
	return budget_pass_ms(&spending->budget, spending->pass_ns, spending->cpu_share, ms,
			      most_ms);
}
