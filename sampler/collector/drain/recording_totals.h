/*
 * recording_totals.h - exact counts of all processes of the recording, also of those that have
 * ended
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef DRAIN_RECORDING_TOTALS_H
#define DRAIN_RECORDING_TOTALS_H

#include "sampler/collector/tables/process_tables.h"

struct collector;
struct process;

struct recording_totals {
	struct tables_shared shared;
	struct totals_builder *ended; /* of processes that have ended */
	uint64_t since_ns;
	uint64_t n_ended; /* of them, those that counted */
};

/**
 * recording_totals_init - of no process
 *
 * Return:  0; -ENOMEM.
 * Context: main thread, before the drain thread runs.
 */
int recording_totals_init(struct recording_totals *totals);

/**
 * recording_totals_release - what recording_totals_init() made
 *
 * Context: main thread, when the drain thread does not run.
 */
void recording_totals_release(struct recording_totals *totals);

/** recording_totals_begin - a process's tables, before its modules are searched */
void recording_totals_begin(struct recording_totals *totals, struct process *process);

/** recording_totals_end - keep what a process has counted; it ends, or is recorded no more */
void recording_totals_end(struct recording_totals *totals, struct process *process);

/** recording_totals_counting - how many images have counted, or do */
uint64_t recording_totals_counting(const struct collector *collector);

/** recording_totals_turn - what is due in all processes */
void recording_totals_turn(struct collector *collector, uint64_t now_ns);

/**
 * recording_totals_get - all of it, as request_make() calls it
 * @argument: struct totals to set
 *
 * Return:  0; -ENOMEM.
 */
int recording_totals_get(struct collector *collector, void *argument);

/**
 * recording_totals_reset - count from zero again, as request_make() calls it
 *
 * Return:  0; -ENOMEM, and nothing has changed.
 */
int recording_totals_reset(struct collector *collector, void *argument);

#endif
