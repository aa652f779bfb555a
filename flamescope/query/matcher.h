/* matcher.h - a regular expression of the user's, which may not take for ever */
#ifndef QUERY_MATCHER_H
#define QUERY_MATCHER_H

#include "base/err.h"

struct matcher;

/**
 * matcher_new - compile a pattern (PCRE2, UTF-8, unanchored)
 *
 * Return:  0; -EINVAL and where the mistake is; -ENOMEM.
 * Owns:    the caller, to matcher_free().
 * Context: any thread.
 */
int matcher_new(const char *text, struct matcher **ret_matcher, struct err *err);

/**
 * matcher_matches - whether it is found in a text
 *
 * A match has a limit of steps, and all matches of a pattern together one of time.
 *
 * Return:  1, 0; -E2BIG: it took too long, and on what.
 * Context: any thread; one at a time.
 */
int matcher_matches(struct matcher *matcher, const char *text, struct err *err);

/**
 * matcher_free - forget it
 *
 * Context: any thread.  NULL is fine.
 */
void matcher_free(struct matcher *matcher);

#endif
