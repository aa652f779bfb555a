/* due.c - when the drain thread next has something to do, and its turns of wall mode */
#include "sampler/collector/drain/due.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/attach/seized.h"
#include "sampler/collector/control/poll_interval.h"
#include "sampler/collector/drain/state.h"
#include "sampler/collector/process/wall.h"

enum {
	SEIZED_MS = 10, /* between two checks of threads that are still seized */
};

/* Of the time that a sample may take, a third goes by in its ring, one in the queue. */
static uint32_t lag_ms(const struct collector_options *options)
{
	uint64_t ms = options->lag_ns / NS_PER_MS / 3;

	if (options->lag_ns == 0 || ms > PASS_MOST_MS)
		return PASS_MOST_MS;
	return ms > PASS_MS ? (uint32_t)ms : PASS_MS;
}

/* Values that are read at a pass are to be of the time of the samples. */
static uint32_t most_ms(const struct collector_options *options)
{
	bool reads = options->metrics >> METRIC_RECORD || options->n_gauges;
	uint32_t ms = lag_ms(options);

	return reads && ms > PASS_READING_MS ? PASS_READING_MS : ms;
}

static struct poll_interval pace_of(const struct collector_options *options)
{
	bool perf = options->engine == RING_ENGINE_PERF;

	return (struct poll_interval){.hooks = (options->events & (COLLECT_ALLOC | COLLECT_LOCK)) !=
					       0,
				      .takes_over = perf,
				      .most_ms = most_ms(options),
				      .tick_ns = perf ? 0 : NS_PER_S / collector_kernel_hz()};
}

void due_init(struct collector *collector)
{
	uint32_t ms = lag_ms(&collector->options);

	collector->drain.poll_interval = pace_of(&collector->options);
	if (ms > PASS_MS)
		collector->queue.gather_ns = ms * NS_PER_MS;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Nothing announces its end, or another image of an attached process. */
static bool must_be_polled(const struct collector *collector)
{
	const struct drain *drain = &collector->drain;

	if (drain->child_pidfd < 0 && collector->child > 0 && !drain->child_ended)
		return true;
	for (const struct process *process = drain->processes; process; process = process->next)
		if (process->pidfd < 0)
			return true;
	return false;
}

/* Timers of ended threads remain until they are found. */
static uint64_t sweep_ns(const struct drain *drain, uint64_t start_ns)
{
	uint64_t ns = UINT64_MAX;

	for (const struct process *process = drain->processes; process; process = process->next)
		/* One that waits for CPU to be used comes with a pass of another cause. */
		if (process->sweep.soon && process->sweep.next_ns > start_ns)
			ns = earlier(ns, process->sweep.next_ns);
	return ns;
}

static uint64_t pass_ns(const struct collector *collector, uint64_t start_ns)
{
	const struct drain *drain = &collector->drain;
	uint64_t ms = must_be_polled(collector) ? PASS_MS : PASS_MOST_MS;
	uint64_t ns = start_ns + ms * NS_PER_MS;

	/* A caller waits for a barrier. */
	if (drain->barrier_ns)
		ns = earlier(ns, drain->barrier_ns + HOLD_BACK_MS * NS_PER_MS);
	if (drain->wall_next_ns && !drain->rate.pauses)
		ns = earlier(ns, drain->wall_next_ns);
	if (drain->n_attached)
		ns = earlier(ns, drain->replaced_ns);
	if (seized_sweep())
		ns = earlier(ns, start_ns + SEIZED_MS * NS_PER_MS);
	if (drain->processes)
		ns = earlier(ns, top_due_ns(&drain->filter.top));
	return earlier(earlier(ns, sweep_ns(drain, start_ns)), usage_due_ns(&drain->usage));
}

void due_plan(struct collector *collector, const struct poll_interval_pass *pass,
	      uint64_t external_ns)
{
	struct due *due = &collector->drain.due;

	due->every_ns = poll_interval_wait(&collector->drain.poll_interval, pass) * NS_PER_MS;
	due->changes_ns = pass->now_ns + due->every_ns;
	due->pass_ns = earlier(pass_ns(collector, pass->now_ns), external_ns);
}

uint64_t due_wake_ns(const struct due *due)
{
	return earlier(due->pass_ns, due->changes_ns);
}

static bool has_changes(const struct drain *drain)
{
	for (const struct process *process = drain->processes; process; process = process->next)
		if (ring_view_has_changes(&process->ring))
			return true;
	return false;
}

bool due_is(struct drain *drain, uint64_t now_ns)
{
	struct due *due = &drain->due;

	if (now_ns >= due->pass_ns)
		return true;
	if (now_ns < due->changes_ns)
		return false;
	if (has_changes(drain))
		return true;
	due->changes_ns = now_ns + due->every_ns;
	return false;
}

enum {
	WALL_LEAST_US = 1000,  /* between two turns of wall mode */
	WALL_MOST_TICKS = 200, /* between two readings of an idle thread */
	WALL_MOST_MS = 2000,   /* the same, as a time */
	WALL_TURN_MS = 20,     /* a turn takes at most this, and half of the time between turns */
};

static uint64_t turn_ns(const struct collector *collector)
{
	uint64_t ns = collector->drain.rate.period_ns;

	return ns < WALL_LEAST_US * 1000 ? WALL_LEAST_US * 1000 : ns;
}

static uint64_t tick_at(const struct turns *turns, uint64_t now_ns)
{
	return turns->first + (turns->ns ? (now_ns - turns->since_ns) / turns->ns : 0);
}

/* Turns are numbered on when another rate makes them longer or shorter. */
static void follow_rate(struct turns *turns, uint64_t ns, uint64_t now_ns)
{
	if (ns == turns->ns)
		return;
	*turns = (struct turns){.first = tick_at(turns, now_ns), .since_ns = now_ns, .ns = ns};
}

static struct wall_turn make_turn(struct collector *collector, uint64_t now_ns)
{
	struct drain *drain = &collector->drain;
	uint64_t ns = turn_ns(collector);
	uint64_t most = WALL_MOST_MS * NS_PER_MS / ns;
	uint64_t limit_ns = ns / 2 < WALL_TURN_MS * NS_PER_MS ? ns / 2 : WALL_TURN_MS * NS_PER_MS;

	follow_rate(&drain->turns, ns, now_ns);
	return (struct wall_turn){.sink = &drain->stream.order,
				  .tick = tick_at(&drain->turns, now_ns),
				  .deadline_ns = now_ns + limit_ns,
				  .most_ticks = most < WALL_MOST_TICKS ? (uint32_t)most
								       : WALL_MOST_TICKS};
}

void wall_turn_all(struct collector *collector)
{
	struct drain *drain = &collector->drain;
	uint64_t now_ns = io_now_ns();
	struct wall_turn turn = make_turn(collector, now_ns);

	if (!(collector->options.events & COLLECT_WALL) || now_ns < drain->wall_next_ns ||
	    drain->rate.pauses)
		return;
	drain->wall_next_ns =
		drain->turns.since_ns + (turn.tick - drain->turns.first + 1) * drain->turns.ns;
	for (struct process *process = drain->processes; process; process = process->next)
		if (process->wall)
			wall_pass(process->wall, process, &turn);
}

void wall_turn_begin(struct collector *collector, struct process *process)
{
	struct wall_turn turn = make_turn(collector, io_now_ns());

	/* Without it, its CPU samples are given as they are. */
	if (collector->options.events & COLLECT_WALL)
		(void)wall_new(&process->wall, process, &turn);
}
