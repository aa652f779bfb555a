/* memory_limit.c - claimed bytes by use; a sum may for a moment hold a claim that is refused */
#include "symbolize/bounds/memory_limit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

static _Atomic uint64_t limit = MEMORY_DEFAULT_BYTES;
static _Atomic uint64_t held[N_MEMORY_USES];

void memory_set_limit(uint64_t bytes)
{
	atomic_store_explicit(&limit, bytes ? bytes : MEMORY_DEFAULT_BYTES, memory_order_relaxed);
}

/* All counts are relaxed: they order nothing. */
static uint64_t held_by(enum memory_use use)
{
	return atomic_load_explicit(&held[use], memory_order_relaxed);
}

static bool is_too_much(const struct memory_claim *claim, size_t bytes)
{
	uint64_t most = atomic_load_explicit(&limit, memory_order_relaxed);
	uint64_t most_of[N_MEMORY_USES] = {
		[MEMORY_FILES] = most, [MEMORY_JIT] = most / 4 * 3, [MEMORY_MODULES] = most / 8};
	uint64_t most_each = claim->use == MEMORY_FILES ? most / 2 : most / 4;
	uint64_t all = 0;

	for (int use = 0; use < N_MEMORY_USES; use++)
		all += held_by(use);
	return bytes > most_each || held_by(claim->use) > most_of[claim->use] || all > most;
}

int memory_claim(struct memory_claim *claim, size_t bytes)
{
	uint64_t more = (uint64_t)bytes - claim->bytes; /* wraps when it shrinks, as the sum does */

	if (bytes == claim->bytes)
		return 0;
	atomic_fetch_add_explicit(&held[claim->use], more, memory_order_relaxed);
	if (bytes > claim->bytes && is_too_much(claim, bytes)) {
		atomic_fetch_sub_explicit(&held[claim->use], more, memory_order_relaxed);
		return -EFBIG;
	}
	claim->bytes = bytes;
	return 0;
}
