/* account.c - samples few of the program's allocations, and reports their release */
#include "sampler/hooks/account.h"

#include "sampler/handler/sys/sys.h"
#include "sampler/hooks/hooks.h"
#include "sampler/hooks/next.h"
#include "sampler/wire/ring.h"

#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>

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

#define MIN_NS     UINT64_C(25000000) /* between two readings, as for other metrics */
#define CLAIMED_NS UINT64_C(1000000000)

#define EXPENSIVE_NS                                                                               \
	UINT64_C(5000000) /* too slow, as other threads wait meanwhile: no further readings */
#define NEVER UINT64_MAX

enum { PART = 200 }; /* pause after a reading, in multiples of its time */

/* All signals except those that a fault of the call itself sends. */
static const uint64_t others =
	~(SYS_SIGBIT(SIGSEGV) | SYS_SIGBIT(SIGBUS) | SYS_SIGBIT(SIGFPE) | SYS_SIGBIT(SIGILL) |
	  SYS_SIGBIT(SIGTRAP) | SYS_SIGBIT(SIGABRT) | SYS_SIGBIT(SIGSYS));

static _Atomic uint64_t next_ns;

/* One thread at a time; a claim that a fork has interrupted ends after CLAIMED_NS. */
static bool claim(uint64_t now_ns)
{
	uint64_t due_ns = atomic_load_explicit(&next_ns, memory_order_relaxed);

	return now_ns >= due_ns &&
	       atomic_compare_exchange_strong_explicit(&next_ns, &due_ns, now_ns + CLAIMED_NS,
						       memory_order_acquire, memory_order_relaxed);
}

/*
 * Reports what mallinfo2(3) returns, unless the last reading was too recent. It locks the
 * allocator's arenas one after the other, and visits every free block. Only for a thread outside
 * the allocator and outside signal handlers: see HOOK_PLAIN.
 */
static void arenas_read(const struct hook_table *table)
{
	struct mallinfo2 info;
	uint64_t begun_ns;
	uint64_t rest_ns;
	uint64_t took_ns;
	uint64_t mask;

	if (!next.mallinfo2 ||
	    !(atomic_load_explicit(&table->watch, memory_order_relaxed) & RING_HOOK_ARENAS))
		return;
	begun_ns = table->now_ns();
	if (begun_ns < atomic_load_explicit(&next_ns, memory_order_relaxed))
		return;
	/* No handler of the program may run while the arenas are locked: it may call malloc(), or
	 * longjmp(). */
	if (sys4(__NR_rt_sigprocmask, SIG_BLOCK, &others, &mask, sizeof(mask)) < 0)
		return;
	if (claim(begun_ns)) {
		info = next.mallinfo2();
		took_ns = table->now_ns() - begun_ns;
		table->arenas(info.arena, info.fordblks, took_ns);
		rest_ns = took_ns * PART > MIN_NS ? took_ns * PART : MIN_NS;
		atomic_store_explicit(&next_ns,
				      took_ns > EXPENSIVE_NS ? NEVER : begun_ns + took_ns + rest_ns,
				      memory_order_release);
	}
	(void)sys4(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
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
