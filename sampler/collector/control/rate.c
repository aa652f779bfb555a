/* rate.c - how often samples are taken, and whether, while the recording goes on */
#include "sampler/collector/control/rate.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/drain/drain.h"

#include <unistd.h>

uint32_t rate_effective_hz(uint64_t period_ns)
{
	uint64_t hz = (NS_PER_S + period_ns / 2) / period_ns;

	return hz > 0 ? (uint32_t)hz : 1;
}

uint64_t rate_paused_ns(const struct rate *rate, uint64_t charged_ns)
{
	if (!rate->pauses || charged_ns < rate->paused_from_ns)
		return rate->paused_ns;
	return rate->paused_ns + charged_ns - rate->paused_from_ns;
}

/* What we go by ourselves is not read back: the header is the target's to write. */
static void tell(const struct rate *rate, struct process *process)
{
	struct ring_header *header = process->ring.header;

	process->live_ns = rate->period_ns;
	if (process->live_ns < process->claim.least_ns)
		process->claim.least_ns = process->live_ns;
	process->paused = rate->pauses != 0;
	atomic_store_explicit(&header->live_period_ns, process->live_ns, memory_order_relaxed);
	atomic_store_explicit(&header->paused, process->paused, memory_order_relaxed);
	/* Pairs with the handler's acquire: who sees it sees these two. */
	atomic_store_explicit(&header->epoch, rate->epoch, memory_order_release);
}

void rate_begin(const struct rate *rate, struct process *process)
{
	struct ring_header *header = process->ring.header;

	process->period_ns = NS_PER_S / rate->hz;
	process->began_ns = rate->period_ns;
	process->epoch = rate->epoch;
	header->hz = rate->hz;
	header->period_ns = process->began_ns;
	tell(rate, process);
}

bool rate_is_as_begun(const struct process *process)
{
	return atomic_load_explicit(&process->ring.header->epoch, memory_order_relaxed) ==
	       process->epoch;
}

/* Wall time up to now is given as it was counted; what follows begins with the next turn. */
static void restart_wall(struct drain *drain, uint32_t hz)
{
	for (struct process *process = drain->processes; process; process = process->next) {
		wall_restart(process->wall, process, &drain->stream);
		process->period_ns = NS_PER_S / hz;
	}
}

static uint64_t charge_all(struct drain *drain)
{
	for (struct process *process = drain->processes; process; process = process->next)
		process_charge(process);
	return drain_charged_ns(drain);
}

uint32_t rate_delivered_hz(const struct drain *drain)
{
	uint32_t hz = rate_effective_hz(drain->rate.period_ns);
	uint32_t most_hz = collector_kernel_hz();

	return drain->engine == RING_ENGINE_CTIMER && hz > most_hz ? most_hz : hz;
}

/* Nothing is lost by a lack of memory but the line that tells of it. */
static void mark(struct drain *drain)
{
	uint64_t charged_ns = charge_all(drain);
	uint64_t paused_ns = rate_paused_ns(&drain->rate, charged_ns);
	const struct budget_limit *program = &drain->spending.budget.limits[BUDGET_PROGRAM];
	uint64_t now_ns = io_now_ns();
	struct node *node = node_new(NODE_RATE, NULL, now_ns, 0);

	if (!node)
		return;
	node->rate = (struct collector_rate){.time_ns = now_ns,
					     .hz = drain->rate.hz,
					     .effective_hz = rate_delivered_hz(drain),
					     .pauses = drain->rate.pauses,
					     .mark = drain->rate.mark,
					     .charged_ns = charged_ns - paused_ns,
					     .paused_ns = paused_ns,
					     .cost_ppm = (uint32_t)(program->share * 1e6),
					     .full = drain->behind.breaker.cause == BREAKER_FULL};
	stream_push(&drain->stream, node);
	drain->marked_ns = now_ns;
}

/* From now on; what was charged up to now belongs to what was before. */
static void change(struct drain *drain, uint32_t hz, uint64_t period_ns, uint32_t pauses)
{
	struct rate *rate = &drain->rate;
	uint64_t charged_ns = charge_all(drain);

	if (hz != rate->hz || pauses != rate->pauses)
		restart_wall(drain, hz);
	rate->paused_ns = rate_paused_ns(rate, charged_ns);
	rate->paused_from_ns = charged_ns;
	rate->hz = hz;
	rate->period_ns = period_ns;
	rate->pauses = pauses;
	rate->epoch++;
	for (struct process *process = drain->processes; process; process = process->next)
		tell(&drain->rate, process);
}

bool rate_follow_wish(struct collector *collector)
{
	struct rate *rate = &collector->drain.rate;
	struct rate_wish *wish = &collector->wish;
	uint32_t pauses = rate->pauses & ~(uint32_t)PAUSE_ASKED;
	uint32_t hz;
	uint64_t last;

	(void)pthread_mutex_lock(&wish->lock);
	last = wish->mark;
	hz = wish->hz;
	pauses |= wish->paused ? PAUSE_ASKED : 0;
	(void)pthread_mutex_unlock(&wish->lock);
	if (last == rate->mark)
		return false;
	rate->mark = last;
	if (hz != rate->hz || pauses != rate->pauses)
		change(&collector->drain, hz, hz == rate->hz ? rate->period_ns : NS_PER_S / hz,
		       pauses);
	mark(&collector->drain);
	return true;
}

void rate_lower(struct collector *collector, double effective_hz)
{
	struct rate *rate = &collector->drain.rate;
	uint64_t period_ns = effective_hz < rate->hz ? (uint64_t)((double)NS_PER_S / effective_hz)
						     : NS_PER_S / rate->hz;

	if (rate->period_ns == period_ns)
		return;
	change(&collector->drain, rate->hz, period_ns, rate->pauses);
	mark(&collector->drain);
}

void rate_tell(struct collector *collector)
{
	mark(&collector->drain);
}

void rate_break(struct collector *collector, bool pause)
{
	struct rate *rate = &collector->drain.rate;
	uint32_t pauses = rate->pauses & ~(uint32_t)PAUSE_BREAKER;

	pauses |= pause ? PAUSE_BREAKER : 0;
	if (pauses == rate->pauses)
		return;
	change(&collector->drain, rate->hz, rate->period_ns, pauses);
	mark(&collector->drain);
}

static void wake(struct collector *collector)
{
	const uint64_t one = 1;

	(void)!write(collector->wake_fd, &one, sizeof(one));
}

static uint64_t ask(struct collector *collector, const uint32_t *hz, const bool *paused)
{
	struct rate_wish *wish = &collector->wish;
	uint64_t mark_asked;

	(void)pthread_mutex_lock(&wish->lock);
	if (hz)
		wish->hz = *hz;
	if (paused)
		wish->paused = *paused;
	mark_asked = ++wish->mark;
	(void)pthread_mutex_unlock(&wish->lock);
	wake(collector);
	return mark_asked;
}

uint64_t collector_mark(struct collector *collector)
{
	return ask(collector, NULL, NULL);
}

uint64_t collector_pause(struct collector *collector)
{
	const bool paused = true;

	return ask(collector, NULL, &paused);
}

uint64_t collector_resume(struct collector *collector)
{
	const bool paused = false;

	return ask(collector, NULL, &paused);
}

uint64_t collector_set_hz(struct collector *collector, uint32_t hz)
{
	return hz < 1 || hz > COLLECTOR_MAX_HZ ? 0 : ask(collector, &hz, NULL);
}
