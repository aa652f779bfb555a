/*
 * slot.h - finds and claims the ring of a thread, and writes records to it
 *
 * Context: handler (one writer a slot), unless a function says otherwise.
 */
#ifndef HANDLER_SLOT_H
#define HANDLER_SLOT_H

#include "sampler/handler/process.h"
#include "sampler/handler/sys/clock.h"

enum {
	SLOT_STAYING = 6, /* pages for context.c that are never unmapped while the thread lives, */
	SLOT_PROBED = 2,  /* and others, last found readable */
};

/* What the agent keeps in ring_slot.own. */
struct slot_own {
	uint64_t window_lo; /* stack pages proven readable without a gap; 0: none */
	uint64_t window_hi;
	uint64_t armed_cpu_ns;     /* DISCOVERY_HOOKS: CPU clock of the thread when it was armed */
	uint64_t sampled_ns;       /* CPU time that its samples since then represent */
	uint64_t claimed_head;     /* head when it was claimed */
	uint64_t period_ns;        /* between two expiries of its timer */
	uint64_t accounted_cpu_ns; /* CPU clock up to which samples account for it; 0: unknown */
	uint64_t ahead_ns;         /* how far this, or a quarter of it, may be ahead of the clock */
	uint64_t event_cpu_ns;     /* CPU clock at the last signal of its event; 0: none yet */
	struct clock_ticks ticks;  /* at the last check, with an event */
	uint64_t hit_ns;           /* time of the last process-timer signal in it; 0: never */
	uint64_t hit_thread_ns;    /* CPU clocks of thread and process then */
	uint64_t hit_process_ns;
	int64_t late_ns; /* CPU time until then that no such signal represents; below 0: they came
			    early */
	uint64_t staying[SLOT_STAYING]; /* 0: none */
	uint64_t probed[SLOT_PROBED];
	char comm[16];             /* as last written to the ring */
	int32_t timer;             /* id + 1; 0: none */
	uint32_t random;           /* xorshift32 */
	uint32_t n_signals;        /* own samples, for every-8th work */
	uint32_t extra;            /* periods to add to the next sample's weight */
	_Atomic uint32_t busy;     /* a handler is writing */
	_Atomic uint32_t residual; /* weight of signals that came meanwhile, for the next sample */
	uint16_t populated;        /* number of pages of the slot that are populated */
	uint16_t no_window;        /* samples until the stack is examined again */
	uint32_t n_events;         /* of hooks */
	uint32_t named;            /* comm is in the ring */
	uint32_t epoch;            /* of the header, when the timer was last set */
	uint32_t event;            /* the event of these two: as ring_slot.event */
	bool ticked;               /* ticks has been read */
	uint8_t n_staying;         /* ever kept */
	uint8_t n_probed;
};

_Static_assert(sizeof(struct slot_own) <= sizeof(((struct ring_slot *)0)->own),
	       "the agent's own part of a slot");

struct slot {
	struct ring_slot *ring;
	struct slot_own *own;
	_Atomic uint64_t *changed; /* its word in the header */
	uint32_t index;
	uint32_t data_bytes;
};

/**
 * slot_at - the slot with this number
 *
 * Return:  0, or -1 when its chunk is not mapped.
 * Context: handler.
 */
int slot_at(struct process *p, uint32_t index, struct slot *ret_slot);

/**
 * slot_find - the slot of a thread
 *
 * Return:  0, or -1 when it has none.
 * Context: handler.
 */
int slot_find(struct process *p, uint32_t tid, struct slot *ret_slot);

/**
 * slot_claim - take a slot for a thread, and delete the timer of an ended predecessor
 *
 * Maps more chunks when half of the slots are taken. The slot is returned entered: call
 * slot_leave() when it is armed.
 *
 * Return:  0, or -1 when there is none (the caller counts the loss).
 * Context: handler.  Any number of threads; not in AGENT_NO_SYSCALLS.
 */
int slot_claim(struct process *p, uint32_t tid, struct slot *ret_slot);

/**
 * slot_enter - become the slot's only writer
 *
 * Return:  false when a handler is already writing.
 * Context: handler.  The slot's thread.
 */
bool slot_enter(struct slot *slot);

/**
 * slot_leave - end what slot_enter() began, and tell the collector that the slot changed
 *
 * Context: handler.  The slot's thread.
 */
void slot_leave(struct slot *slot);

/**
 * slot_populate - populate the pages of the ring that are written next, once each
 *
 * Context: handler.  Between slot_enter() and slot_leave(); not in AGENT_NO_SYSCALLS.
 */
void slot_populate(struct slot *slot);

/**
 * ring_reserve - claim LEN bytes that do not wrap
 * @len: a multiple of 8
 *
 * Nothing is visible to the reader until ring_commit(), except padding.
 *
 * Return:  the bytes, or NULL if the ring is full (the caller counts the loss).
 * Owns:    the ring owns the bytes; write them and commit.
 */
void *ring_reserve(struct slot *slot, uint32_t len);

/**
 * ring_commit - publish what was written to the reserved bytes
 * @len: at most what was reserved, a multiple of 8
 */
void ring_commit(struct slot *slot, uint32_t len);

/** ring_half_full - whether the reader should be woken */
bool ring_half_full(const struct slot *slot);

/** ring_nearly_full - whether less than a quarter is left */
bool ring_nearly_full(const struct slot *slot);

#endif
