/* record.h - the records that the agent writes into the ring of a slot */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include "sampler/wire/context.h"

#include <stdint.h>

/*
 * Every record starts on a multiple of 8 with a struct record and is `bytes` long, a multiple
 * of 8 that includes the head.  A record never wraps: RECORD_PAD fills the end of the ring.
 * Times are CLOCK_MONOTONIC ns of the target's time namespace.
 */
enum record_type {
	RECORD_PAD = 1,
	RECORD_SAMPLE = 2,
	RECORD_THREAD = 3, /* the name of a thread; precedes its samples */
	RECORD_MODULE = 4, /* a module not seen before; precedes the samples in it */
	RECORD_UNMAP = 5,  /* dlclose() returned: modules may be gone since time_ns */
	RECORD_EVENT = 6,  /* an event of a hook: memory allocated or freed, or a wait for a lock */
};

struct record {
	uint32_t bytes;
	uint16_t type;
	uint16_t flags;
};

enum sample_flags {
	SAMPLE_NO_METRICS = 1, /* no system call may be made (seccomp): metrics are 0 */
	SAMPLE_DISCOVERY = 2,  /* from the process timer: the first sample of this thread */
	SAMPLE_JITTERED = 4,   /* the next expiry was moved (jitter) */
	SAMPLE_EVENT = 8,      /* from a perf event */
	SAMPLE_IN_KERNEL = 16, /* at a kernel tick: periods that ended in the kernel, for a thread
				  with a perf event */
};

/* A pc with this bit was interrupted there; without it, it is a return address.
 * User addresses end far below (Documentation/arch/x86/x86_64/mm.rst: 2^56 with 5 levels). */
#define PC_EXACT (UINT64_C(1) << 63)

enum { RECORD_MAX_PCS = 256 };

#define RECORD_MAX_PERIOD_NS UINT64_C(3600000000000)

struct record_sample {
	struct record head;
	uint64_t time_ns;
	uint32_t tid;
	uint32_t cpu;
	uint32_t weight; /* in units of period_ns: 1 + overruns */
	uint16_t n_pcs;  /* 1 .. RECORD_MAX_PCS, innermost first */
	uint8_t stop;    /* enum unwind_stop: why the walk ended */
	uint8_t pad;
	uint64_t cpu_ns; /* of the thread, ru_utime + ru_stime: getrusage(2), microsecond steps */
	uint64_t minflt;
	uint64_t majflt;
	uint64_t vcsw;
	uint64_t ivcsw;
	uint64_t stack_bytes; /* the outermost CFA minus sp */
	uint64_t period_ns;   /* the unit of weight, at most RECORD_MAX_PERIOD_NS */
	uint64_t pcs[];       /* then a struct record_context, or nothing */
};

struct record_thread {
	struct record head;
	uint64_t time_ns;
	uint32_t tid;
	uint32_t pad;
	char comm[16]; /* prctl(PR_GET_NAME), NUL-terminated */
};

enum { RECORD_PATH_BYTES = 192 };

struct record_module {
	struct record head;
	uint64_t time_ns;
	uint64_t start; /* first mapped address, and one past the last */
	uint64_t end;
	uint64_t bias;                /* what to add to ELF virtual addresses (l_addr) */
	char path[RECORD_PATH_BYTES]; /* l_name, NUL-terminated, cut if longer; "" is the program */
};

struct record_unmap {
	struct record head;
	uint64_t time_ns;
};

/* The numbers are record_event.kind's: only append. */
enum hook_kind {
	HOOK_ALLOC = 1, /* memory was allocated: amount is the bytes that this sample represents */
	HOOK_FREE = 2,  /* memory of a HOOK_ALLOC was freed: same amount */
	HOOK_LOCK = 3,  /* a thread waited for a lock: amount is ns */
};

/* The numbers stand in record_event.extra: only append. */
enum lock_kind {
	LOCK_MUTEX = 1,
	LOCK_RWLOCK = 2,
	LOCK_COND = 3,
	LOCK_SEM = 4,
};

/* Fields of extra for a lock. The last N_WAKER pcs are the stack of the thread that released it. */
#define RECORD_LOCK_EXTRA(kind, n_waker, waker_tid)                                                \
	((uint64_t)(kind) | (uint64_t)(n_waker) << 8 | (uint64_t)(waker_tid) << 32)
#define RECORD_LOCK_KIND(extra)      ((uint32_t)((extra)&0xff))
#define RECORD_LOCK_N_WAKER(extra)   ((uint32_t)((extra) >> 8 & 0xffff))
#define RECORD_LOCK_WAKER_TID(extra) ((uint32_t)((extra) >> 32))

/* The stack is that of the call: its first pc is a return address. */
struct record_event {
	struct record head;
	uint64_t time_ns;
	uint32_t tid;
	uint32_t cpu;
	uint16_t n_pcs; /* 1 .. RECORD_MAX_PCS, innermost first */
	uint8_t kind;   /* enum hook_kind */
	uint8_t stop;   /* enum unwind_stop: why the walk ended */
	uint32_t pad;
	uint64_t amount; /* at most RECORD_MAX_AMOUNT */
	uint64_t object; /* address of the lock or of the memory (0: its release cannot be reported)
			  */
	uint64_t extra;  /* memory: the bytes requested; lock: RECORD_LOCK_EXTRA */
	uint64_t pcs[];  /* then a struct record_context, or nothing */
};

#define RECORD_MAX_AMOUNT (UINT64_C(1) << 56)

enum {
	RECORD_MAX_BYTES = sizeof(struct record_sample) + RECORD_MAX_PCS * sizeof(uint64_t) +
			   sizeof(struct record_context) + CONTEXT_MAX_BYTES,
};

_Static_assert(sizeof(struct record) == 8, "heads keep records aligned");
_Static_assert(sizeof(struct record_sample) == 88, "docs/wire.md");
_Static_assert(sizeof(struct record_thread) == 40, "docs/wire.md");
_Static_assert(sizeof(struct record_module) == 232, "docs/wire.md");
_Static_assert(sizeof(struct record_event) == 56, "docs/wire.md");
_Static_assert(sizeof(struct record_event) <= sizeof(struct record_sample), "RECORD_MAX_BYTES");

#endif
