/* profile_facts.h - what `wick info` says about a recording */
#ifndef INFO_PROFILE_FACTS_H
#define INFO_PROFILE_FACTS_H

#include "base/buf.h"
#include "base/err.h"

struct profile_facts;

/**
 * profile_facts_read - read a recording, or any perf-script text, and count
 * @ret_facts: is also set when the file is damaged further on: what came before
 *
 * Return:  0; -errno of open; -EIO: damaged; -ENODATA: no sample and no header of wick's.
 * Owns:    the caller, to profile_facts_free().
 * Context: main thread.
 */
int profile_facts_read(const char *path, struct profile_facts **ret_facts, struct err *err);

/**
 * profile_facts_print - as text for people
 *
 * Context: any thread.
 */
void profile_facts_print(const struct profile_facts *facts, struct buf *buf);

/**
 * profile_facts_print_json - as one JSON object in one line
 *
 * Context: any thread.
 */
void profile_facts_print_json(const struct profile_facts *facts, struct buf *buf);

/**
 * profile_facts_free - forget everything
 *
 * Context: any thread.  NULL is fine.
 */
void profile_facts_free(struct profile_facts *facts);

#endif
