/* arenas.c - how much memory the program's allocator has, and how much of it is free */
#include "sampler/hooks/arenas.h"

#include "sampler/hooks/next.h"
#include "sampler/wire/ring.h"

#include <malloc.h>
#include <stdatomic.h>

#define LEAST_NS   UINT64_C(25000000) /* between two readings, as of other metrics */
#define CLAIMED_NS UINT64_C(1000000000)

enum { PART = 200 }; /* a reading is followed by so many times what it took */

static _Atomic uint64_t next_ns;

/* One thread at a time; one that fork() has taken with it stands in nobody's way for long. */
static bool claim(uint64_t now_ns)
{
	uint64_t due_ns = atomic_load_explicit(&next_ns, memory_order_relaxed);

	return now_ns >= due_ns &&
	       atomic_compare_exchange_strong_explicit(&next_ns, &due_ns, now_ns + CLAIMED_NS,
						       memory_order_acquire, memory_order_relaxed);
}

void arenas_read(const struct hook_table *table)
{
	struct mallinfo2 info;
	uint64_t begun_ns;
	uint64_t rest_ns;
	uint64_t took_ns;

	if (!next.mallinfo2 ||
	    !(atomic_load_explicit(&table->watch, memory_order_relaxed) & RING_HOOK_ARENAS))
		return;
	begun_ns = table->now_ns();
	if (!claim(begun_ns))
		return;
	info = next.mallinfo2();
	took_ns = table->now_ns() - begun_ns;
	table->arenas(info.arena, info.fordblks, took_ns);
	rest_ns = took_ns * PART;
	atomic_store_explicit(&next_ns,
			      begun_ns + took_ns + (rest_ns > LEAST_NS ? rest_ns : LEAST_NS),
			      memory_order_release);
}
