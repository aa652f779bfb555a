/* record_choose.h - `wick record -a`: the heaviest of all processes, chosen anew */
#ifndef RECORD_RECORD_CHOOSE_H
#define RECORD_RECORD_CHOOSE_H

#include "base/err.h"
#include "sampler/collector/select/choice.h"

#include <stdbool.h>
#include <stdint.h>

struct recorder;

/* Zero it. */
struct record_choose {
	bool on;
	struct choice choice;
	struct choice_gauges gauges; /* of --by GAUGE */
	pid_t refused;               /* the last one; 0: none has */
	struct err why;
};

/**
 * record_choose_start - begin to record, with nobody in it yet
 *
 * Return:  0; -errno and the reason.
 * Context: main thread.
 */
int record_choose_start(struct recorder *recorder, struct err *err);

/**
 * record_choose_tick - look at the machine's processes when that is due; some join, some leave
 *
 * Context: main thread.
 */
void record_choose_tick(struct recorder *recorder, uint64_t now_ns);

/**
 * record_choose_due_ns - when record_choose_tick() next has something to do
 *
 * Return:  ns; UINT64_MAX: never.
 * Context: main thread.
 */
uint64_t record_choose_due_ns(const struct recorder *recorder);

/**
 * record_choose_tell - say how many joined, left and refused
 *
 * Context: main thread.
 */
void record_choose_tell(const struct recorder *recorder);

/**
 * record_choose_release - forget everything
 *
 * Context: main thread.
 */
void record_choose_release(struct recorder *recorder);

#endif
