/* ring.h - the memory that one target process and the collector share */
#ifndef WIRE_RING_H
#define WIRE_RING_H

#include "sampler/wire/handshake.h"
#include "sampler/wire/record.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One memfd a process, made, sized (ring_file_bytes()) and sealed against resizing by the
 * collector; pages that nobody touched cost nothing.
 *
 *   [ struct ring_header ][ chunk 0 ][ chunk 1 ] ...
 *
 * A chunk is 16 slots; a slot is a struct ring_slot with its data to the end of the slot.
 * The first 63 chunks have slots of 64 KiB (1,008 threads), later ones of 16 KiB.
 *
 * A slot has one writer, the thread whose tid stands in header.tids[slot], and one reader, the
 * collector.  Writer: body, then head (release).  Reader: head (acquire), body, tail (release).
 * head and tail only grow; a byte stands at data[position % ring_data_bytes(slot)].
 *
 * tids[i]: 0 free; a tid; RING_TID_DEAD: the collector saw the thread gone and has drained it.
 * The agent claims a slot by exchanging 0 or RING_TID_DEAD for its tid (and deletes the dead
 * thread's timer, whose id still stands in the slot).
 *
 * The target can write all of this at any time: the collector copies, checks, then believes.
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

/* What sends a thread its signals. */
enum ring_engine {
	RING_ENGINE_CTIMER = 1, /* the agent's POSIX timers */
	RING_ENGINE_PERF = 2,   /* and the collector's perf events, where a slot has one */
};

enum ring_hooks {
	RING_HOOK_ALLOC = 1,
	RING_HOOK_LOCK = 2,
	RING_NO_TIMERS = 4,   /* only hooks are wanted: arm no timer */
	RING_HOOK_ARENAS = 8, /* beside RING_HOOK_ALLOC: what the allocator has */
};

enum agent_state {
	AGENT_NEW = 0,
	AGENT_SAMPLING = 1,
	AGENT_NO_TIMER = 2,    /* timer_create failed; see agent_errno */
	AGENT_NO_SYSCALLS = 3, /* seccomp: sampling without system calls */
	AGENT_STOPPED = 4,     /* told to stop, or nothing drained the rings for 5 s */
	AGENT_EXITED = 5,      /* exit() or _exit() ran; cpu_ns is final */
	AGENT_SECCOMP = 6,     /* seccomp forbids rt_sigreturn: timers deleted before it */
};

/* Each side writes lines of its own (64 bytes) so that neither slows the other. */
struct ring_header {
	/* The collector's, constant once the descriptor is sent. */
	uint32_t magic;   /* WIRE_MAGIC */
	uint32_t version; /* WIRE_VERSION */
	uint64_t period_ns;
	uint32_t hz;
	uint32_t discovery;  /* enum ring_discovery */
	uint32_t max_slots;  /* <= RING_MAX_SLOTS */
	uint32_t jitter_pct; /* 10; 0 switches it off */
	uint64_t
		start_offset_ns; /* of a period that counts as past when the image begins: random */
	uint32_t residual_periods; /* periods that ended images used and no sample stands for */
	uint32_t hooks;            /* enum ring_hooks: what the hooks object is to watch */
	uint64_t alloc_bytes;      /* RING_HOOK_ALLOC: mean bytes between two samples, at least 1 */
	uint64_t lock_ns;          /* RING_HOOK_LOCK: shorter waits are not told */
	uint32_t signal;           /* that samples come by: SIGPROF unless another was asked for */
	uint32_t event_base;       /* perf events have descriptors (si_fd) from here on */
	uint32_t non_cpu_event;    /* 1: they count something else than CPU */
	uint8_t pad0[52];

	/* The collector's, changing.  A live period of 0 is period_ns. */
	_Atomic uint64_t drained_ns; /* when it last looked, CLOCK_MONOTONIC of the target */
	_Atomic uint32_t stop;       /* 1: delete the timers, sample no more */
	_Atomic uint32_t n_posted; /* posts ever made; the newest RING_POSTED of them stand below */
	_Atomic uint64_t live_period_ns; /* now; period_ns is what it was at the start */
	_Atomic uint32_t paused;         /* 1: no samples are wanted */
	_Atomic uint32_t epoch;          /* one more (release) when one of these has changed */
	_Atomic uint32_t engine; /* enum ring_engine; RING_ENGINE_PERF may come, and then stays */
	uint8_t pad1[28];
	_Atomic uint32_t posted[RING_POSTED]; /* tids that burn CPU without a timer */

	/* The agent's. */
	_Atomic uint32_t state; /* enum agent_state */
	_Atomic uint32_t agent_errno;
	_Atomic uint32_t n_chunks; /* mapped by the agent so far */
	_Atomic uint32_t n_slots;  /* highest slot ever claimed + 1 */
	_Atomic uint32_t wake;     /* futex: set to 1 and woken when a ring is over half full */
	_Atomic uint32_t handles_sigprof; /* 1: the program handles SIGPROF: its masks mean it */
	_Atomic uint64_t lost_noslot;     /* weight that found no slot */
	_Atomic uint64_t spurious;  /* discovery signals at threads that had not run: no samples */
	_Atomic uint64_t cpu_ns;    /* CLOCK_PROCESS_CPUTIME_ID at exit or exec; 0 before */
	_Atomic uint64_t n_signals; /* of ours that carried no sample (discovery, stale) */
	_Atomic uint64_t lost_nested; /* arrived while a slot was written that changed hands then */
	_Atomic uint64_t event_full;  /* hooks' events that found no room in the ring, */
	_Atomic uint64_t event_nested; /* that came while the slot was being written, */
	_Atomic uint64_t event_noslot; /* or that found no slot */
	_Atomic uint64_t live_full;    /* sampled memory whose release will not be told: no room */
	_Atomic uint32_t n_in_exec;    /* threads that are about to exec: no events meanwhile */
	uint8_t pad3[4];
	_Atomic uint64_t arena_bytes;      /* what the allocator had when it was last asked, */
	_Atomic uint64_t arena_free_bytes; /* of it free, */
	_Atomic uint64_t arena_ns;         /* and the time that asking took, summed */

	_Atomic uint32_t tids[RING_MAX_SLOTS];

	/* The collector's: at (si_fd - event_base) % RING_MAX_SLOTS: that event's slot, plus 1. */
	_Atomic uint32_t event_slots[RING_MAX_SLOTS];

	/* Slot i was written to since the collector looked: bit i % 64 of word i / 64.  Its writer
	 * sets it (release) behind what it tells of, the collector takes it (acquire) before it
	 * reads that. */
	_Atomic uint64_t changed[RING_MAX_SLOTS / 64];
};

struct ring_slot {
	/* The writer's. */
	_Atomic uint64_t head;
	_Atomic uint64_t n_samples;  /* committed, ever */
	_Atomic uint64_t lost_full;  /* weight */
	_Atomic uint64_t handler_ns; /* time inside the handler, summed over samples */
	_Atomic uint64_t n_overruns; /* weight beyond 1, summed */
	_Atomic uint32_t armed;      /* 1: its thread runs enough for signals of its own */
	uint32_t pad0;
	_Atomic uint64_t hooks_ns; /* time that events of hooks took, summed */
	uint64_t pad3;

	/* The reader's. */
	_Atomic uint64_t tail;
	_Atomic uint32_t event; /* the descriptor of the thread's event, plus 1; 0: none, or that
				   the agent gives it up */
	uint32_t pad1;
	uint64_t pad2[6];

	/* The agent's own; the collector does not look here. */
	uint64_t own[28];

	unsigned char data[];
};

_Static_assert(sizeof(struct ring_slot) == 352, "docs/wire.md");
_Static_assert(_Alignof(struct ring_slot) == 8 && offsetof(struct ring_slot, data) % 8 == 0,
	       "records are aligned");
_Static_assert(sizeof(struct ring_header) ==
		       128 + 64 + 4 * RING_POSTED + 128 + 8 * RING_MAX_SLOTS + RING_MAX_SLOTS / 8,
	       "docs/wire.md");

enum { RING_PAGE = 4096 };

/* The header, rounded up to pages: where chunk 0 starts. */
#define RING_HEADER_BYTES ((sizeof(struct ring_header) + RING_PAGE - 1) / RING_PAGE * RING_PAGE)

/* Between two looks of a thread that samples are not wanted of. */
#define RING_PAUSED_NS UINT64_C(20000000)

/**
 * ring_slot_bytes - the size of a slot of a chunk
 *
 * Context: handler.
 */
static inline uint64_t ring_slot_bytes(uint32_t chunk)
{
	return chunk < RING_BIG_CHUNKS ? RING_BIG_SLOT_BYTES : RING_SMALL_SLOT_BYTES;
}

/**
 * ring_data_bytes - the ring's capacity in a slot of a chunk, a multiple of 8
 *
 * Context: handler.
 */
static inline uint64_t ring_data_bytes(uint32_t chunk)
{
	return ring_slot_bytes(chunk) - sizeof(struct ring_slot);
}

/**
 * ring_chunk_offset - where a chunk starts in the file; of RING_MAX_CHUNKS: the file's size
 *
 * Context: handler.
 */
static inline uint64_t ring_chunk_offset(uint32_t chunk)
{
	uint64_t big = chunk < RING_BIG_CHUNKS ? chunk : RING_BIG_CHUNKS;

	return RING_HEADER_BYTES + RING_CHUNK_SLOTS * (big * RING_BIG_SLOT_BYTES +
						       (chunk - big) * RING_SMALL_SLOT_BYTES);
}

/**
 * ring_chunk_bytes - the size of a chunk
 *
 * Context: handler.
 */
static inline uint64_t ring_chunk_bytes(uint32_t chunk)
{
	return RING_CHUNK_SLOTS * ring_slot_bytes(chunk);
}

#endif
