/* pace.c - how long the rings are left alone between two passes */
#include "sampler/collector/pace.h"

#include "sampler/collector/limits.h"
#include "sampler/wire/ring.h"

#define CALM 0.25 /* of a ring, filled in one pass */

/* Until a ring is full, of a thread that has begun to run and has deep stacks. */
static uint64_t until_full_ms(const struct pace *pace, const struct pace_pass *pass)
{
	uint64_t period_ns = pass->period_ns > pace->tick_ns ? pass->period_ns : pace->tick_ns;
	bool small = pass->n_slots > (uint32_t)RING_BIG_CHUNKS * RING_CHUNK_SLOTS;
	uint64_t bytes = small ? RING_SMALL_SLOT_BYTES : RING_BIG_SLOT_BYTES;

	return bytes / PASS_SAMPLE_BYTES * period_ns / NS_PER_MS;
}

static uint32_t between(uint64_t ms, uint32_t least, uint32_t most)
{
	return ms < least ? least : ms > most ? most : (uint32_t)ms;
}

static bool is_quick(struct pace *pace, const struct pace_pass *pass)
{
	if (!pace->takes_over)
		return false;
	if (pass->n_taken != pace->n_taken)
		pace->quick_ns = pass->now_ns + PERF_QUICK_MS * NS_PER_MS;
	pace->n_taken = pass->n_taken;
	return pass->now_ns < pace->quick_ns;
}

void pace_takes_over(struct pace *pace)
{
	pace->takes_over = true;
	pace->tick_ns = 0;
}

struct pace_wait pace_wait(struct pace *pace, const struct pace_pass *pass)
{
	uint64_t full_ms = until_full_ms(pace, pass);
	struct pace_wait wait = {.ms = PASS_MS};

	if (pace->hooks)
		wait.ms = PASS_HOOKS_MS;
	else if (is_quick(pace, pass))
		wait.ms = PERF_PASS_MS;
	else if (pace->takes_over)
		wait.ms = between(full_ms, PERF_PASS_MS, PASS_MS);
	wait.most_ms = between(full_ms, wait.ms, pace->hooks ? wait.ms : pace->most_ms);
	if (pass->fill > CALM) {
		double ms = wait.ms * CALM * CALM / (pass->fill * pass->fill);

		wait.ms = between((uint64_t)ms, PASS_LEAST_MS, wait.ms);
		wait.most_ms = wait.ms;
	}
	return wait;
}
