/* arenas.c - reads how much memory the program's allocator has, and how much of it is free */
#include "sampler/hooks/arenas.h"

#include "sampler/handler/sys/sys.h"
#include "sampler/hooks/next.h"
#include "sampler/wire/ring.h"

#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>

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

void arenas_read(const struct hook_table *table)
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
