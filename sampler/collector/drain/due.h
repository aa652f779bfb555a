/*
 * due.h - when the drain thread next has something to do, and its turns of wall mode
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef DRAIN_DUE_H
#define DRAIN_DUE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PASS_READING_MS = 80, /* between two passes when samples hold values read at a pass */
	HOLD_BACK_MS = 20,    /* a record may be committed this long after its time */
};

struct collector;
struct drain;
struct poll_interval_pass;
struct process;

/* Until the earlier of the two the thread sleeps, but for its descriptors. */
struct due {
	uint64_t pass_ns;    /* a pass, whatever the rings hold */
	uint64_t changes_ns; /* a pass if they hold anything; else that is looked for again, */
	uint64_t every_ns;
};

/**
 * due_init - how soon samples are to be given, by the options; the first pass is due at once
 *
 * Context: main thread, before the drain thread runs.
 */
void due_init(struct collector *collector);

/**
 * due_plan - a pass is over
 * @external_ns: when a turn from outside is due
 */
void due_plan(struct collector *collector, const struct poll_interval_pass *pass,
	      uint64_t external_ns);

/** due_wake_ns - how long the thread may sleep; after that, since when a pass is due */
uint64_t due_wake_ns(const struct due *due);

/**
 * due_is - whether it is time for a pass
 *
 * Checking for changes costs a few loads of shared memory for each process.
 */
bool due_is(struct drain *drain, uint64_t now_ns);

/** wall_turn_begin - account for the threads of a new process, if that is wanted */
void wall_turn_begin(struct collector *collector, struct process *process);

/** wall_turn_all - read all threads that are due, if a turn is due */
void wall_turn_all(struct collector *collector);

#endif
