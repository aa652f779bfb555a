/* doctor_trigger.h - how often triggers would have fired while a recording was made */
#ifndef DOCTOR_DOCTOR_TRIGGER_H
#define DOCTOR_DOCTOR_TRIGGER_H

#include "tools/flight/trigger.h"

#include <stddef.h>

/* Zero it. */
struct doctor_triggers {
	struct trigger_condition conditions[TRIGGER_MOST];
	size_t n;
};

/**
 * doctor_trigger_add - one more condition
 *
 * Return:  0; -EINVAL and the reason.
 * Owns:    TEXT outlives it.
 * Context: main thread, as for all of these.
 */
int doctor_trigger_add(struct doctor_triggers *triggers, const char *text, struct err *err);

/**
 * doctor_trigger_explain - print when each would have fired
 * @paths: recordings
 *
 * Return:  the exit status of wick.
 * Context: main thread.
 */
int doctor_trigger_explain(struct doctor_triggers *triggers, char *const *paths, size_t n_paths);

#endif
