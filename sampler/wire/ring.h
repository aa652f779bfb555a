/*
 * ring.h - the shared memory in which a target process passes samples to the collector
 *
 * Context: handler.
 */
#ifndef WIRE_RING_H
#define WIRE_RING_H

#include "sampler/wire/handshake.h"
#include "sampler/wire/record.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One memfd per process. The collector creates it, sets its size (ring_file_bytes()) and seals it
 * against resizing. Untouched pages use no memory.
 *
 *   [ struct ring_header ][ chunk 0 ][ chunk 1 ] ...
 *
 * A chunk is 16 slots; a slot is a struct ring_slot with its data to the end of the slot.
 * The first 63 chunks have slots of 64 KiB (1,008 threads), later ones of 16 KiB.
 *
 * A slot has one writer, the thread whose tid is in header.tids[slot], and one reader, the
 * collector. Writer: body, then head (release). Reader: head (acquire), body, tail (release). head
 * and tail only grow; a byte is at data[position % ring_data_bytes(slot)].
 *
 * tids[i]: 0 free; a tid; RING_TID_DEAD: the collector saw that the thread has ended and has
 * drained the slot. The agent claims a slot by exchanging 0 or RING_TID_DEAD for its tid, and
 * deletes the dead thread's timer, whose id is still in the slot.
 *
 * The target can write anything here at any time: the collector copies, checks, then uses.
 */
#define RING_TID_DEAD 0xffffffffU

enum {
	RING_CHUNK_SLOTS = 16,
	RING_BIG_SLOT_BYTES = 64 * 1024,
	RING_SMALL_SLOT_BYTES = 16 * 1024,
	RING_BIG_CHUNKS = 63,
	RING_MAX_SLOTS = 32768,
	RING_MAX_CHUNKS = RING_MAX_SLOTS / RING_CHUNK_SLOTS,
	RING_POSTED = 64,
};

enum ring_discovery {
	DISCOVERY_TIMER = 1, /* a process CPU timer finds threads (Linux 6.4 and later) */
	DISCOVERY_HOOKS = 2, /* pthread_create is hooked; the collector posts the rest */
};

/* What sends sampling signals to a thread. */
enum ring_engine {
	RING_ENGINE_CTIMER = 1, /* POSIX CPU timers of the agent */
	RING_ENGINE_PERF = 2,   /* also perf events of the collector, in slots that have one */
};

enum ring_hooks {
	RING_HOOK_ALLOC = 1,
	RING_HOOK_LOCK = 2,
	RING_NO_TIMERS = 4, /* only hooks were requested: arm no timer */
	RING_HOOK_ARENAS =
		8, /* with RING_HOOK_ALLOC: also report the allocator's total and free bytes */
};

enum agent_state {
	AGENT_NEW = 0,
	AGENT_SAMPLING = 1,
	AGENT_NO_TIMER = 2,    /* timer_create failed; see agent_errno */
	AGENT_NO_SYSCALLS = 3, /* under seccomp: the handler makes no system calls */
	AGENT_STOPPED = 4,     /* stopped by the collector, or nothing drained the rings for 5 s */
	AGENT_EXITED = 5,      /* exit() or _exit() ran; cpu_ns is final */
	AGENT_SECCOMP = 6,     /* seccomp forbids rt_sigreturn: the timers were deleted before */
};

/* Each side writes cache lines (64 bytes) of its own, so that neither slows the other. */
struct ring_header {
	/* Written by the collector, constant once the descriptor is sent. */
	uint32_t magic;   /* WIRE_MAGIC */
	uint32_t version; /* WIRE_VERSION */
	uint64_t period_ns;
	uint32_t hz;
	uint32_t discovery;       /* enum ring_discovery */
	uint32_t max_slots;       /* <= RING_MAX_SLOTS */
	uint32_t jitter_pct;      /* 10; 0 switches it off */
	uint64_t start_offset_ns; /* start offset: the part of the first period that counts as used;
				     random */
	uint32_t hooks;           /* enum ring_hooks: what the hooks object reports */
	uint32_t pad4;
	uint64_t alloc_bytes;   /* RING_HOOK_ALLOC: mean bytes between two samples, at least 1 */
	uint64_t lock_ns;       /* RING_HOOK_LOCK: shorter waits are not reported */
	uint32_t signal;        /* the sampling signal */
	uint32_t event_base;    /* perf events have descriptors (si_fd) from here on */
	uint32_t non_cpu_event; /* 1: events count something other than CPU time */
	uint8_t pad0[52];

	/* Written by the collector at any time. A live_period_ns of 0 means period_ns. */
	_Atomic uint64_t drained_ns; /* when it last drained, CLOCK_MONOTONIC of the target */
	_Atomic uint32_t stop;       /* 1: delete the timers, sample no more */
	_Atomic uint32_t n_posted; /* posts ever made; the newest RING_POSTED of them stand below */
	_Atomic uint64_t live_period_ns; /* now; period_ns is what it was at the start */
	_Atomic uint32_t paused;         /* 1: sampling is paused */
	_Atomic uint32_t epoch;  /* incremented (release) when live_period_ns or paused changes */
	_Atomic uint32_t engine; /* enum ring_engine; RING_ENGINE_PERF may come, and then stays */
	_Atomic uint32_t counts; /* 1: the program keeps tables (tables.h): say HANDSHAKE_LEAVING
				    before they are gone */
	uint8_t pad1[24];
	_Atomic uint32_t posted[RING_POSTED]; /* tids of threads that use CPU and have no timer */
	struct context_variable contexts[CONTEXT_VARIABLES]; /* in the order of reading */
	_Atomic uint32_t unloads_seen; /* what unloads was before the contexts were found */
	uint8_t pad5[28];

	/* The agent's. */
	_Atomic uint32_t state; /* enum agent_state */
	_Atomic uint32_t agent_errno;
	_Atomic uint32_t n_chunks; /* mapped by the agent so far */
	_Atomic uint32_t n_slots;  /* highest slot ever claimed + 1 */
	_Atomic uint32_t wake;     /* futex: set to 1 and woken when a ring is over half full */
	_Atomic uint32_t
		handles_sigprof;      /* 1: the program handles SIGPROF itself: do not unblock it */
	_Atomic uint64_t lost_noslot; /* weight of samples lost for want of a slot */
	_Atomic uint64_t
		spurious; /* spurious signals: the process timer's, in threads that had not run */
	_Atomic uint64_t cpu_ns;      /* CLOCK_PROCESS_CPUTIME_ID at exit or exec; 0 before */
	_Atomic uint64_t n_signals;   /* signals of wick's that gave no sample (discovery, stale) */
	_Atomic uint64_t lost_nested; /* residual of slots that another thread claimed before the
					 next sample */
	_Atomic uint64_t event_full;  /* events of hooks lost: the ring was full, */
	_Atomic uint64_t event_nested; /* a handler was writing the slot, */
	_Atomic uint64_t event_noslot; /* or there was no slot */
	_Atomic uint64_t
		live_full; /* allocations whose release will not be reported: the table is full */
	_Atomic uint32_t n_in_exec;        /* threads about to exec: no events meanwhile */
	_Atomic uint32_t unloads;          /* calls of dlclose that have returned */
	_Atomic uint64_t arena_bytes;      /* bytes the allocator had at the last reading, */
	_Atomic uint64_t arena_free_bytes; /* of these free, */
	_Atomic uint64_t arena_ns;         /* and the total time of these readings */

	_Atomic uint32_t tids[RING_MAX_SLOTS];

	/* The collector's: at (si_fd - event_base) % RING_MAX_SLOTS: that event's slot, plus 1. */
	_Atomic uint32_t event_slots[RING_MAX_SLOTS];

	/*
	 * Bit i % 64 of word i / 64: slot i was written since the collector last read it. The
	 * writer sets the bit (release) after it has written; the collector clears it (acquire)
	 * before it reads the slot.
	 */
	_Atomic uint64_t changed[RING_MAX_SLOTS / 64];
};

struct ring_slot {
	/* Written by the slot's thread. */
	_Atomic uint64_t head;
	_Atomic uint64_t n_samples;  /* committed, ever */
	_Atomic uint64_t lost_full;  /* weight */
	_Atomic uint64_t handler_ns; /* time in the handler, summed over samples */
	_Atomic uint64_t n_overruns; /* weight above 1, summed */
	_Atomic uint32_t armed; /* 1: the thread uses enough CPU for a timer or event of its own */
	uint32_t pad0;
	_Atomic uint64_t hooks_ns;       /* total time of hook events */
	_Atomic uint64_t thread_pointer; /* its thread pointer at the last sample; 0: not known */

	/* Written by the collector. */
	_Atomic uint64_t tail;
	_Atomic uint32_t event; /* descriptor of the thread's perf event, plus 1; 0: none, or the
				   agent rejected it */
	uint32_t pad1;
	uint64_t pad2[6];

	/* Private to the agent. */
	uint64_t own[32];

	unsigned char data[];
};

_Static_assert(sizeof(struct ring_slot) == 384, "docs/wire.md");
_Static_assert(_Alignof(struct ring_slot) == 8 && offsetof(struct ring_slot, data) % 8 == 0,
	       "records are aligned");
_Static_assert(sizeof(struct ring_header) == 128 + 64 + 4 * RING_POSTED + 128 + 128 +
						     8 * RING_MAX_SLOTS + RING_MAX_SLOTS / 8,
	       "docs/wire.md");

enum { RING_PAGE = 4096 };

/* The header, rounded up to pages: where chunk 0 starts. */
#define RING_HEADER_BYTES ((sizeof(struct ring_header) + RING_PAGE - 1) / RING_PAGE * RING_PAGE)

/* Period of a thread's timer while sampling is paused. */
#define RING_PAUSED_NS UINT64_C(20000000)

/** ring_slot_bytes - the size of a slot of a chunk */
static inline uint64_t ring_slot_bytes(uint32_t chunk)
{
	return chunk < RING_BIG_CHUNKS ? RING_BIG_SLOT_BYTES : RING_SMALL_SLOT_BYTES;
}

/** ring_data_bytes - capacity of the ring in a slot of a chunk, a multiple of 8 */
static inline uint64_t ring_data_bytes(uint32_t chunk)
{
	return ring_slot_bytes(chunk) - sizeof(struct ring_slot);
}

/** ring_chunk_offset - offset of a chunk in the file; of RING_MAX_CHUNKS: the file's size */
static inline uint64_t ring_chunk_offset(uint32_t chunk)
{
	uint64_t big = chunk < RING_BIG_CHUNKS ? chunk : RING_BIG_CHUNKS;

	return RING_HEADER_BYTES + RING_CHUNK_SLOTS * (big * RING_BIG_SLOT_BYTES +
						       (chunk - big) * RING_SMALL_SLOT_BYTES);
}

/** ring_chunk_bytes - the size of a chunk */
static inline uint64_t ring_chunk_bytes(uint32_t chunk)
{
	return RING_CHUNK_SLOTS * ring_slot_bytes(chunk);
}

#endif
