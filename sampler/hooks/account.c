/* account.c - samples few of the program's allocations, and reports their release */
#include "sampler/hooks/account.h"

#include "sampler/hooks/arenas.h"
#include "sampler/hooks/hooks.h"
#include "sampler/wire/ring.h"

/* Bytes until a thread checks again whether the agent has started. */
enum {
	RETRY_BYTES = 4096,
	MAX_SHIFT = 16,
	HALF_FULL_SAMPLES =
		12,        /* samples of a half-full ring after which the distance is doubled */
	CALM_SAMPLES = 64, /* other samples after which it is halved again */
};

static bool watching(const struct hook_table *table)
{
	return table &&
	       (atomic_load_explicit(&table->watch, memory_order_acquire) & RING_HOOK_ALLOC);
}

static void wait_for_agent(const struct hook_table *table)
{
	/* Without an agent, or if it wants no allocations: never again. */
	countdown.left = table && !table->settled ? RETRY_BYTES : UINT64_MAX;
}

static uint64_t mean_of(const struct hook_table *table)
{
	return table->alloc_bytes << countdown.drawn;
}

/* Draws the distance to the next sample; it is longer when the table of live memory fills. */
static void draw(const struct hook_table *table)
{
	uint16_t least = live_shift();

	countdown.drawn = countdown.shift > least ? countdown.shift : least;
	countdown.left = countdown_draw(&countdown.random, mean_of(table));
}

/* A ring that fills faster than it is drained gets fewer samples with larger weights: sums stay
 * right, while samples lost for want of space would be missing. */
static void adapt(int written)
{
	if (written != 1) {
		countdown.calm = 0;
		countdown.half_full += written == 2 ? 1 : HALF_FULL_SAMPLES / 4;
		if (countdown.half_full >= HALF_FULL_SAMPLES) {
			countdown.half_full = 0;
			countdown.shift += countdown.shift < MAX_SHIFT;
		}
	} else if (countdown.shift && ++countdown.calm == CALM_SAMPLES) {
		countdown.calm = 0;
		countdown.shift--;
	}
}

/* Return:  whether SIZE is within the thread's first distance. */
static bool begin(const struct hook_table *table, uint64_t size)
{
	if (!countdown.random) {
		countdown.random = countdown_seed();
		draw(table);
	}
	return countdown_passes(size);
}

void *account_hit(void *memory, uint64_t size, const void *caller)
{
	const struct hook_table *table = hooks_table();
	struct live live = {.bytes = size};
	bool followed;
	int written;

	if (!memory)
		return NULL;
	if (!watching(table)) {
		wait_for_agent(table);
		return memory;
	}
	if (begin(table, size))
		return memory;
	live.amount = mean_of(table) + (size - countdown.left);
	followed = live_add(memory, &live);
	written = table->event(HOOK_ALLOC, live.amount, followed ? (uint64_t)memory : 0, size,
			       caller);
	if (written & HOOK_PLAIN)
		arenas_read(table);
	written &= ~HOOK_PLAIN;
	if (!followed)
		table->live_full();
	else if (!written)
		(void)live_remove(memory, &live);
	adapt(written);
	draw(table);
	return memory;
}

void account_released(const void *memory, const struct live *live, const void *caller)
{
	const struct hook_table *table = hooks_table();

	if (watching(table))
		(void)table->event(HOOK_FREE, live->amount, (uint64_t)memory, live->bytes, caller);
}

void account_moved(const void *memory, void *to, const struct live *live, const void *caller)
{
	const struct hook_table *table = hooks_table();
	bool followed = live_add(to, live);

	if (to == memory || !watching(table))
		return;
	(void)table->event(HOOK_FREE, live->amount, (uint64_t)memory, live->bytes, caller);
	(void)table->event(HOOK_ALLOC, live->amount, followed ? (uint64_t)to : 0, live->bytes,
			   caller);
}

void account_release(const void *memory, const void *caller)
{
	struct live live;

	if (live_remove(memory, &live))
		account_released(memory, &live, caller);
}
