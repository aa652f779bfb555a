/* pattern.h - a regular expression of the user's, which may not take for ever */
#ifndef QUERY_PATTERN_H
#define QUERY_PATTERN_H

#include "base/err.h"

struct pattern;

/**
 * pattern_new - compile a pattern (PCRE2, UTF-8, unanchored)
 *
 * Return:  0; -EINVAL and where the mistake is; -ENOMEM.
 * Owns:    the caller, to pattern_free().
 * Context: any thread.
 */
int pattern_new(const char *text, struct pattern **ret_pattern, struct err *err);

/**
 * pattern_matches - whether it is found in a text
 *
 * A match has a limit of steps, and all matches of a pattern together one of time.
 *
 * Return:  1, 0; -E2BIG: it took too long, and on what.
 * Context: any thread; one at a time.
 */
int pattern_matches(struct pattern *pattern, const char *text, struct err *err);

/**
 * pattern_free - forget it
 *
 * Context: any thread.  NULL is fine.
 */
void pattern_free(struct pattern *pattern);

#endif
