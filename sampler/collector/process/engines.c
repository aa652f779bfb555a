/* engines.c - what sends the signals of a process: its timers, or perf events as well */
#include "sampler/collector/process/engines.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/control/tick_aliasing.h"
#include "sampler/procfs/task.h"

static struct tick_aliasing_sums sums_of(const struct collector_stats *stats,
					 const struct process *process)
{
	return (struct tick_aliasing_sums){
		.now_ns = io_now_ns(),
		.charged_ns = process->charged_ns,
		.n_taken = process->n_taken,
		.lost = stats->lost_full + stats->lost_nested + stats->lost_noslot +
			stats->lost_queue + stats->lost_corrupt,
	};
}

/* Above the tick weights are large by design. */
static uint64_t judged_period_ns(const struct process *process, uint64_t period_ns,
				 uint64_t tick_ns)
{
	uint32_t state = atomic_load_explicit(&process->ring.header->state, memory_order_acquire);

	if (process->perf.on || process->aliased || process->external || process->paused ||
	    process->handler_replaced || process->no_signals || process->unsupported_ns ||
	    state != AGENT_SAMPLING || (process->ring.header->hooks & RING_NO_TIMERS))
		return 0;
	return period_ns >= tick_ns ? period_ns : 0;
}

void engines_sample(struct process *process, const struct event_sample *sample, uint64_t taken,
		    struct collector_stats *stats)
{
	const struct tick_aliasing_sample seen = {
		.weight = taken,
		.cpu_ns = sample->metrics[METRIC_CPU_NS].delta,
		.voluntary = sample->metrics[METRIC_VCSW].delta,
		.involuntary = sample->metrics[METRIC_IVCSW].delta,
	};

	if (process->perf.on && seen.voluntary + seen.involuntary > 0)
		stats->event_switches += (uint64_t)(seen.voluntary + seen.involuntary);
	if (process->aliasing.period_ns && sample->event == EVENT_CPU)
		tick_aliasing_add(&process->aliasing, &seen);
}

/* Return: whether it has perf events now. */
static bool found(struct process *process, bool events_permitted, struct collector_stats *stats)
{
	process->aliased = true;
	stats->aliased++;
	stats->aliased_pid = process->pid;
	if (!events_permitted)
		return false;
	perf_process_switch(process, true);
	stats->switched++;
	return true;
}

bool engines_check(struct process *process, const struct collector_options *options,
		   uint64_t period_ns, struct collector_stats *stats)
{
	uint64_t tick_ns = NS_PER_S / collector_kernel_hz();
	struct tick_aliasing *aliasing = &process->aliasing;
	struct tick_aliasing_sums sums = sums_of(stats, process);
	uint64_t judged_ns = judged_period_ns(process, period_ns, tick_ns);
	bool suspect = aliasing->n_signs > 0;

	if (aliasing->period_ns != judged_ns) {
		tick_aliasing_restart(aliasing, &sums, judged_ns, tick_ns);
		return false;
	}
	if (!tick_aliasing_due(aliasing, sums.now_ns))
		return false;
	/* Of many threads that costs: only where there have been signs. */
	if (suspect)
		sums.run_delay_ns = task_sum_run_delay(task_open_all(process->pid));
	if (tick_aliasing_found(aliasing, &sums))
		return found(process, options->events_permitted, stats);
	if (!suspect && aliasing->n_signs > 0)
		aliasing->window.run_delay_ns = task_sum_run_delay(task_open_all(process->pid));
	return false;
}
