/* poll_interval.c - how long the rings are left alone between two passes */
#include "sampler/collector/control/poll_interval.h"

#include "base/units.h"
#include "sampler/wire/ring.h"

enum {
	PASS_SAMPLE_BYTES = 1024, /* of a ring, for a sample with a deep stack */
	/* Of a sample with the deepest stack, and no context. */
	DEEPEST_BYTES = sizeof(struct record_sample) + RECORD_MAX_PCS * sizeof(uint64_t),
};

#define CALM 0.25 /* of a ring, filled in one pass */

/*
 * Until three quarters of a ring are full, of a thread that has begun to run and has the deepest
 * stacks: a pass may come late.  With the largest contexts as well, the ring is not yet full.  At
 * the rates of engine perf passes would be all that we do: there it is until the ring is full of
 * stacks that are deep.
 */
static uint64_t until_full_ms(const struct poll_interval *pace,
			      const struct poll_interval_pass *pass)
{
	uint64_t period_ns = pass->period_ns > pace->tick_ns ? pass->period_ns : pace->tick_ns;
	bool small = pass->n_slots > (uint32_t)RING_BIG_CHUNKS * RING_CHUNK_SLOTS;
	uint64_t bytes = ring_data_bytes(small ? RING_BIG_CHUNKS : 0);
	uint64_t n = bytes * 3 / 4 / DEEPEST_BYTES;

	if (pace->takes_over)
		return bytes / PASS_SAMPLE_BYTES * period_ns / NS_PER_MS;
	if (n > bytes / RECORD_MAX_BYTES - 1)
		n = bytes / RECORD_MAX_BYTES - 1;
	return n * period_ns / NS_PER_MS;
}

static uint32_t between(uint64_t ms, uint32_t least, uint32_t most)
{
	return ms < least ? least : ms > most ? most : (uint32_t)ms;
}

static bool is_quick(struct poll_interval *pace, const struct poll_interval_pass *pass)
{
	if (!pace->takes_over)
		return false;
	if (pass->n_taken != pace->n_taken)
		pace->quick_ns = pass->now_ns + PERF_QUICK_MS * NS_PER_MS;
	pace->n_taken = pass->n_taken;
	return pass->now_ns < pace->quick_ns;
}

void poll_interval_set_events(struct poll_interval *pace, bool events, uint64_t tick_ns)
{
	pace->takes_over = events;
	pace->tick_ns = events ? 0 : tick_ns;
}

static bool is_moving(struct poll_interval *pace, const struct poll_interval_pass *pass)
{
	if (pass->moved)
		pace->moved_ns = pass->now_ns + PASS_MOVING_MS * NS_PER_MS;
	return pass->now_ns < pace->moved_ns;
}

uint32_t poll_interval_wait(struct poll_interval *pace, const struct poll_interval_pass *pass)
{
	bool hurry = is_moving(pace, pass) || pace->takes_over;
	uint32_t least_ms = pace->takes_over ? PERF_PASS_MS : PASS_LEAST_MS;
	uint32_t ms = between(until_full_ms(pace, pass), least_ms, pace->most_ms);

	if (hurry && ms > PASS_MS)
		ms = PASS_MS;
	if (is_quick(pace, pass))
		ms = PERF_PASS_MS;
	if (pace->hooks)
		ms = PASS_HOOKS_MS;
	if (pass->fill > CALM)
		ms = between((uint64_t)(ms * CALM * CALM / (pass->fill * pass->fill)),
			     PASS_LEAST_MS, ms);
	return ms;
}
