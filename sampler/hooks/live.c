/*
 * live.c - the table of sampled memory that has not been freed
 *
 * A pointer is in one of LIVE_PROBES entries that its hash selects. It is added before the program
 * gets it and removed before the allocator gets it back, so no two threads ever work on the same
 * pointer; they compete for entries only.
 */
#include "sampler/hooks/live.h"

#include "sampler/handler/sys/sys.h"

enum {
	PAGE = 4096,
	FREE = 0,
	BEING_WRITTEN = 1,
	WIPE_ON_FORK = 18, /* MADV_WIPEONFORK, Linux 4.14 */
	IN_BUCKET = 8,
	PARTS = 32,
	STUCK = UINT8_MAX, /* an overflowed counter stays: live_maybe() is then always true */
};

_Atomic uint8_t live_filter[1 << LIVE_FILTER_BITS];

/* Empty in a child after fork. */
static struct {
	_Alignas(PAGE) _Atomic uint64_t keys[LIVE_MAX];
	_Atomic uint32_t n_live;
} table;

static _Alignas(PAGE) struct live values[LIVE_MAX];

void live_start(void)
{
	(void)sys3(__NR_madvise, &table, sizeof(table), WIPE_ON_FORK);
}

uint16_t live_shift(void)
{
	uint32_t parts =
		atomic_load_explicit(&table.n_live, memory_order_relaxed) / (LIVE_MAX / PARTS);

	return (uint16_t)(parts < PARTS / 2 ? 0 : parts - PARTS / 2 + 1);
}

static void raise_counter(const void *memory)
{
	_Atomic uint8_t *counter = &live_filter[live_hash(memory)];
	uint8_t old = atomic_load_explicit(counter, memory_order_relaxed);

	while (old != STUCK && !atomic_compare_exchange_weak(counter, &old, (uint8_t)(old + 1)))
		;
}

static void lower_counter(const void *memory)
{
	_Atomic uint8_t *counter = &live_filter[live_hash(memory)];
	uint8_t old = atomic_load_explicit(counter, memory_order_relaxed);

	while (old != STUCK && old &&
	       !atomic_compare_exchange_weak(counter, &old, (uint8_t)(old - 1)))
		;
}

void live_mark(const void *memory)
{
	atomic_store_explicit(&live_filter[live_hash(memory)], STUCK, memory_order_relaxed);
}

/* In one of several cache lines, at any entry. */
static uint32_t place(const void *memory, uint32_t probe)
{
	uint64_t n = ((uint64_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t bucket = (uint32_t)(n >> (16 + 12 * (probe / IN_BUCKET)));

	return bucket % (LIVE_MAX / IN_BUCKET) * IN_BUCKET + probe % IN_BUCKET;
}

bool live_add(const void *memory, const struct live *live)
{
	for (uint32_t i = 0; i < LIVE_PROBES; i++) {
		uint32_t at = place(memory, i);
		uint64_t old = FREE;

		if (atomic_load_explicit(&table.keys[at], memory_order_relaxed) != FREE ||
		    !atomic_compare_exchange_strong(&table.keys[at], &old, BEING_WRITTEN))
			continue;
		values[at] = *live;
		/* Pairs with find(): a thread that finds the key sees the values. */
		atomic_store_explicit(&table.keys[at], (uint64_t)memory, memory_order_release);
		raise_counter(memory);
		atomic_fetch_add_explicit(&table.n_live, 1, memory_order_relaxed);
		return true;
	}
	return false;
}

/* Return:  its entry, or LIVE_MAX. */
static uint32_t find(const void *memory)
{
	for (uint32_t i = 0; i < LIVE_PROBES; i++) {
		uint32_t at = place(memory, i);

		if (atomic_load_explicit(&table.keys[at], memory_order_acquire) == (uint64_t)memory)
			return at;
	}
	return LIVE_MAX;
}

bool live_remove(const void *memory, struct live *ret_live)
{
	uint32_t at = find(memory);

	if ((uint64_t)memory <= BEING_WRITTEN || at == LIVE_MAX)
		return false;
	*ret_live = values[at];
	lower_counter(memory);
	atomic_fetch_sub_explicit(&table.n_live, 1, memory_order_relaxed);
	atomic_store_explicit(&table.keys[at], FREE, memory_order_release);
	return true;
}

uint64_t live_bytes(const void *memory)
{
	uint32_t at = (uint64_t)memory <= BEING_WRITTEN ? LIVE_MAX : find(memory);

	return at == LIVE_MAX ? 0 : values[at].bytes;
}
