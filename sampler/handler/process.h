/*
 * process.h - the state that all handlers of a process share, in memory that fork wipes
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef HANDLER_PROCESS_H
#define HANDLER_PROCESS_H

#include "sampler/handler/sys/sys.h"
#include "sampler/unwind/unwind.h"
#include "sampler/wire/ring.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	PROCESS_RULES = 16384,  /* entries of the rule cache, 16 bytes each */
	PROCESS_PAGES = 1024,   /* module pages known to be readable */
	PROCESS_MODULES = 1024, /* modules that the collector knows of */
	PROCESS_SNAPSHOT = 256, /* modules, where libc has no _dl_find_object */
	PROCESS_RANGES = 512,   /* readable segments, noted before seccomp */
	PROCESS_HINTS = 4096,
	PROCESS_STALE_MS = 5000,  /* nothing drained for this long: stop */
	PROCESS_RECHECK_MS = 1000 /* and again after this time (a stopped collector may continue) */
};

/* Modules may be unloaded at any time: dlclose is not interposed. */
#define PROCESS_UNHOOKED UINT32_C(0x40000000)

/* The slot number of the process timer in si_value. */
#define PROCESS_TIMER_SLOT 0xffffffffU

struct process_range {
	uint64_t start;
	uint64_t end;
};

/*
 * MADV_WIPEONFORK: a child after fork finds zeros: no header, no cookie, no pid. So neither hooks
 * nor handler touch anything until the child has made its own handshake. A child that shares memory
 * is recognized by its pid.
 */
struct process {
	struct ring_header *header; /* NULL: not sampling */
	int32_t pid;
	uint32_t cookie;    /* upper half of si_value in every timer of wick; never 0 */
	uint64_t period_ns; /* at the start */
	uint32_t max_slots;
	uint32_t max_chunks; /* that the file holds */
	uint32_t jitter_pct;
	uint32_t discovery; /* enum ring_discovery */
	uint64_t stack_top; /* end of the stack that exec made; 0: unknown */
	uint64_t file_bytes;

	_Atomic uint32_t state; /* enum agent_state; the header's is for the collector to read */
	_Atomic uint32_t n_chunks;
	_Atomic uint32_t n_slots;          /* highest ever claimed + 1 */
	_Atomic uint32_t growing;          /* 1: a thread is mapping the next chunk */
	_Atomic uint32_t n_posted;         /* posts seen */
	_Atomic uint32_t unloading;        /* calls of dlclose under way; or PROCESS_UNHOOKED */
	_Atomic uint32_t jittering;        /* a thread is moving the process timer */
	_Atomic uint32_t n_ticks;          /* of the process timer */
	_Atomic uint32_t n_swept;          /* slots that nearly_idle_sweep() has checked */
	int32_t timer;                     /* the process timer's id + 1; 0: none */
	_Atomic uint32_t epoch;            /* of the header, when the process timer was last set */
	_Atomic uint64_t timer_ns;         /* CPU time between two of its expiries */
	_Atomic int64_t account_ns;        /* residual CPU time: timer.h, nearly_idle.h */
	_Atomic uint64_t account_since_ns; /* CPU time of the process when the account began */
	_Atomic uint32_t n_ended;  /* timers of threads that have ended, deleted since it was last
				      settled */
	_Atomic uint64_t stale_ns; /* when the collector was first found not draining */
	_Atomic uint32_t n_snapshot;

	struct process_range program; /* the main program, from its first segment to its last */
	struct unwind_cache rules;
	struct unwind_module snapshot[PROCESS_SNAPSHOT]; /* sorted by start */
	_Atomic uint16_t hints[PROCESS_HINTS];           /* slots of threads, by their tids */
	struct process_range ranges[PROCESS_RANGES];     /* valid in AGENT_NO_SYSCALLS */
	uint32_t n_ranges;
	_Atomic uint64_t modules[PROCESS_MODULES]; /* starts; 0 free */
	_Atomic uint64_t pages[PROCESS_PAGES];     /* addresses of pages; 0 free */
	struct ring_slot *chunks[RING_MAX_CHUNKS];
	struct unwind_cache_entry entries[PROCESS_RULES];
};

/* NULL until the agent has mapped it; never unmapped. */
extern struct process *handler_process;

/**
 * process_is_self - whether this process is the one that is sampled
 *
 * Makes a system call; returns NULL without one when system calls are forbidden.
 *
 * Return:  the process, or NULL: then no state may be touched.
 */
struct process *process_is_self(void);

/** process_state - the state of sampling: enum agent_state */
static inline enum agent_state process_state(struct process *p)
{
	return (enum agent_state)atomic_load_explicit(&p->state, memory_order_relaxed);
}

/**
 * process_epoch - the version of rate and pause in the header
 *
 * Read it before them: a reader that stores it then notices a change in between.
 */
static inline uint32_t process_epoch(struct process *p)
{
	/* Pairs with the collector's release: rate and pause are at least as new. */
	return atomic_load_explicit(&p->header->epoch, memory_order_acquire);
}

/** process_is_paused - whether sampling is paused */
static inline bool process_is_paused(struct process *p)
{
	return atomic_load_explicit(&p->header->paused, memory_order_relaxed) != 0;
}

/** process_period_ns - CPU time between two signals, as requested now */
uint64_t process_period_ns(struct process *p);

/** process_forbids_syscalls - whether a seccomp filter may end the program for any system call */
static inline bool process_forbids_syscalls(struct process *p)
{
	enum agent_state state = process_state(p);

	return state == AGENT_NO_SYSCALLS || state == AGENT_SECCOMP;
}

/** process_set_state - change the state here and in the header */
void process_set_state(struct process *p, enum agent_state state);

/**
 * process_stop - delete every timer of the process
 *
 * Only the first call does it. In AGENT_NO_SYSCALLS the timers stay, and their signals are ignored.
 */
void process_stop(struct process *p, enum agent_state state);

/**
 * process_wait_handlers - wait until no other thread is inside the handler
 * @tid: the caller's
 *
 * Gives up after 100 ms.
 *
 * Context: agent.
 */
void process_wait_handlers(struct process *p, uint32_t tid);

/** process_check - stop when asked to, or when the rings were not drained for 5 s */
void process_check(struct process *p, uint64_t now_ns);

#endif
