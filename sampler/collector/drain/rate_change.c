/* rate_change.c - applies the rate, pauses and budget to all processes */
#include "sampler/collector/drain/rate_change.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/drain/drain.h"
#include "sampler/collector/process/perf_threads.h"
#include "sampler/collector/process/process_event.h"
#include "sampler/collector/process/wall.h"

/* Wall time up to now is given as it was counted; what follows begins with the next turn. */
static void restart_wall(struct drain *drain, uint32_t hz)
{
	for (struct process *process = drain->processes; process; process = process->next) {
		wall_restart(process->wall, process, &drain->stream.order);
		process->period_ns = NS_PER_S / hz;
	}
}

static uint64_t charge_all(struct drain *drain)
{
	for (struct process *process = drain->processes; process; process = process->next)
		process_charge(process);
	return drain_charged_ns(drain);
}

/* Nothing is lost by a lack of memory but the line that tells of it. */
static void put_barrier(struct drain *drain)
{
	uint64_t charged_ns = charge_all(drain);
	uint64_t paused_ns = rate_paused_ns(&drain->rate, charged_ns);
	const struct budget_limit *program = &drain->overhead.budget.limits[BUDGET_PROGRAM];
	uint64_t now_ns = io_now_ns();
	/* Timers signal at most once a tick. */
	uint32_t most_hz = drain->engine == RING_ENGINE_CTIMER ? collector_kernel_hz() : 0;
	struct event *node = event_new(EVENT_KIND_RATE, NULL, now_ns, 0);

	if (!node)
		return;
	node->rate =
		(struct collector_rate){.time_ns = now_ns,
					.hz = drain->rate.hz,
					.effective_hz = rate_delivered_hz(&drain->rate, most_hz),
					.pauses = drain->rate.pauses,
					.barrier = drain->rate.barrier,
					.charged_ns = charged_ns - paused_ns,
					.paused_ns = paused_ns,
					.cost_ppm = (uint32_t)(program->share * 1e6),
					.full = drain->lag.breaker.cause == BREAKER_FULL};
	event_order_push(&drain->stream.order, node);
	drain->barrier_ns = now_ns;
}

/* From now on; what was charged up to now belongs to the rate before. */
static void change(struct drain *drain, uint32_t hz, uint64_t period_ns, uint32_t pauses)
{
	const struct rate to = {.hz = hz, .period_ns = period_ns, .pauses = pauses};
	uint64_t charged_ns = charge_all(drain);

	if (hz != drain->rate.hz || pauses != drain->rate.pauses)
		restart_wall(drain, hz);
	rate_change(&drain->rate, &to, charged_ns);
	for (struct process *process = drain->processes; process; process = process->next)
		process_follow_rate(process, &drain->rate);
}

bool rate_follow_request(struct collector *collector)
{
	struct rate *rate = &collector->drain.rate;
	struct rate_request *request = &collector->rate_request;
	uint32_t pauses = rate->pauses & ~(uint32_t)PAUSE_ASKED;
	uint32_t hz;
	uint64_t last;

	(void)pthread_mutex_lock(&request->lock);
	last = request->barrier;
	hz = request->hz;
	pauses |= request->paused ? PAUSE_ASKED : 0;
	(void)pthread_mutex_unlock(&request->lock);
	if (last == rate->barrier)
		return false;
	rate->barrier = last;
	if (hz != rate->hz || pauses != rate->pauses)
		change(&collector->drain, hz, hz == rate->hz ? rate->period_ns : NS_PER_S / hz,
		       pauses);
	put_barrier(&collector->drain);
	return true;
}

/* Signals come EFFECTIVE_HZ times a second of CPU, at most hz; weights are as before. */
static void lower(struct collector *collector, double effective_hz)
{
	struct rate *rate = &collector->drain.rate;
	uint64_t period_ns = effective_hz < rate->hz ? (uint64_t)((double)NS_PER_S / effective_hz)
						     : NS_PER_S / rate->hz;

	if (rate->period_ns == period_ns)
		return;
	change(&collector->drain, rate->hz, period_ns, rate->pauses);
	put_barrier(&collector->drain);
}

static struct overhead_inputs inputs_of(struct collector *collector)
{
	struct drain *drain = &collector->drain;

	return (struct overhead_inputs){.options = &collector->options,
					.stats = &drain->stats,
					.engine = drain->engine,
					.rate = &drain->rate,
					.charged_ns = drain_charged_ns(drain),
					.kernel_hz = collector_kernel_hz()};
}

static void follow_budget(struct collector *collector, bool use_timers)
{
	struct drain *drain = &collector->drain;

	if (use_timers) {
		drain->engine = RING_ENGINE_CTIMER;
		poll_interval_set_events(&drain->poll_interval, false,
					 NS_PER_S / collector_kernel_hz());
		for (struct process *process = drain->processes; process; process = process->next)
			perf_process_switch(process, false);
		put_barrier(drain);
	}
	lower(collector, drain->overhead.budget.rate_hz);
}

void rate_change_init(struct collector *collector)
{
	const struct overhead_inputs inputs = inputs_of(collector);

	follow_budget(collector, overhead_init(&collector->drain.overhead, &inputs));
}

void rate_change_by_budget(struct collector *collector)
{
	const struct overhead_inputs inputs = inputs_of(collector);
	bool use_timers;

	if (overhead_step(&collector->drain.overhead, &inputs, &use_timers))
		follow_budget(collector, use_timers);
}

uint64_t rate_change_program_ns(struct collector *collector)
{
	const struct overhead_inputs inputs = inputs_of(collector);

	return overhead_program_ns(&collector->drain.overhead, &inputs);
}

void rate_change_by_lag(struct collector *collector, uint64_t start_ns, double fill)
{
	struct drain *drain = &collector->drain;
	const struct rate *rate = &drain->rate;
	uint32_t pauses = rate->pauses & ~(uint32_t)PAUSE_BREAKER;
	const struct lag_inputs inputs = {.start_ns = start_ns,
					  .due_ns = due_wake_ns(&drain->due),
					  .oldest_ns = queue_oldest_ns(drain->stream.order.queue),
					  .fill = fill,
					  .charged_ns = drain_charged_ns(drain),
					  .hz = rate->hz,
					  .pauses = rate->pauses};

	if (!lag_check(&drain->lag, &inputs, &drain->stats))
		return;
	pauses |= drain->lag.breaker.until_ns ? PAUSE_BREAKER : 0;
	if (pauses == rate->pauses)
		return;
	change(drain, rate->hz, rate->period_ns, pauses);
	put_barrier(drain);
}

uint64_t rate_request(struct collector *collector, const uint32_t *hz, const bool *paused)
{
	struct rate_request *request = &collector->rate_request;
	uint64_t barrier;

	(void)pthread_mutex_lock(&request->lock);
	if (hz)
		request->hz = *hz;
	if (paused)
		request->paused = *paused;
	barrier = ++request->barrier;
	(void)pthread_mutex_unlock(&request->lock);
	drain_wake(collector);
	return barrier;
}
