/* wall_turn.c - when wall mode looks at the threads of all processes */
#include "sampler/collector/drain/wall_turn.h"

#include "base/io.h"
#include "base/units.h"
#include "sampler/collector/process/wall.h"

enum {
	WALL_LEAST_US = 1000,  /* between two turns of wall mode */
	WALL_MOST_TICKS = 200, /* between two looks at an idle thread */
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
