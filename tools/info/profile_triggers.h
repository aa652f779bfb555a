/* profile_triggers.h - why a file was written, and what came true in it: "# trigger" */
#ifndef INFO_PROFILE_TRIGGERS_H
#define INFO_PROFILE_TRIGGERS_H

#include "base/buf.h"
#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

enum { PROFILE_MOST_TRIGGERS = 32 };

struct profile_trigger {
	uint64_t time_ns;
	const char *why;
	const char *value; /* NULL: none */
};

/* Zero it. */
struct profile_triggers {
	struct profile_trigger at[PROFILE_MOST_TRIGGERS];
	size_t n; /* also of those that there was no room for */
};

/**
 * profile_triggers_take - one more line
 * @json: what stands behind "# trigger : "
 *
 * Owns:    NAMES has the texts.
 * Context: main thread, as for all of these.
 */
void profile_triggers_take(struct profile_triggers *triggers, struct intern *names,
			   const char *json);

/**
 * profile_triggers_print - a line each, as text for people; nothing when there are none
 * @first_ns: the time of the first sample
 *
 * Context: main thread.
 */
void profile_triggers_print(const struct profile_triggers *triggers, uint64_t first_ns,
			    struct buf *buf);

/**
 * profile_triggers_print_json - as the member "triggers", a comma before it; nothing when there are
 * none
 *
 * Context: main thread.
 */
void profile_triggers_print_json(const struct profile_triggers *triggers, struct buf *buf);

#endif
