/* poll_interval.h - how long the rings are left alone between two passes */
#ifndef CONTROL_POLL_INTERVAL_H
#define CONTROL_POLL_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PASS_MOST_MS = 240,    /* between two passes at most */
	PASS_MS = 50,          /* while mappings change, and where no descriptor reports an end */
	PASS_HOOKS_MS = 5,     /* with hooks: their events come in bursts */
	PASS_LEAST_MS = 2,     /* when rings fill fast */
	PASS_MOVING_MS = 2000, /* mappings that changed this recently may change again */
	PERF_PASS_MS = 10,     /* how soon a perf event replaces a timer of a thread */
	PERF_QUICK_MS = 1000,  /* for this long after one did: other threads may begin too */
};

/*
 * A model: it is told what a pass found, and knows no clock or ring of its own.  Engine perf is in
 * a hurry only while threads begin, so that their events take over from timers soon.
 */
struct poll_interval {
	uint64_t tick_ns;  /* signals come no more often than so; 0: as often as their period */
	bool hooks;        /* events of memory and locks come in bursts */
	bool takes_over;   /* engine perf */
	uint32_t most_ms;  /* a sample stays in its ring no longer */
	uint64_t n_taken;  /* threads that it has taken over, */
	uint64_t quick_ns; /* and until when others are expected */
	uint64_t moved_ns; /* until when mappings are expected to change again */
};

/* What a pass found. */
struct poll_interval_pass {
	uint64_t now_ns;
	uint64_t period_ns;
	uint64_t n_taken;
	uint32_t n_slots; /* of the process that has most */
	double fill;      /* of the fullest ring, 0 .. 1 */
	bool moved;       /* a mapping has come or gone */
};

/**
 * poll_interval_set_events - events are about to take over from timers: be quick; or there are none
 * any more
 * @tick_ns: of the kernel
 *
 * Context: any thread.
 */
void poll_interval_set_events(struct poll_interval *pace, bool events, uint64_t tick_ns);

/**
 * poll_interval_wait - how long after a pass the next one is due, if the rings hold anything
 *
 * Sooner when a ring has filled by more than a quarter, and while mappings change: what stood at
 * an address can only be told as long as it does.  No thread that begins to run fills its ring
 * before, however deep its stacks are.
 *
 * Return:  ms.
 * Context: any thread.
 */
uint32_t poll_interval_wait(struct poll_interval *pace, const struct poll_interval_pass *pass);

#endif
