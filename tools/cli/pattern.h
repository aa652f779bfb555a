/* pattern.h - a regular expression (PCRE2 underneath) */
#ifndef CLI_PATTERN_H
#define CLI_PATTERN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct pattern;

/**
 * pattern_new - make sense of a regular expression, as Perl writes them
 *
 * Return:  0; -EINVAL and the reason, with the place; -ENOMEM.
 * Owns:    the caller, to pattern_free().
 * Context: any thread.
 */
int pattern_new(const char *text, struct pattern **ret_pattern, struct err *err);

/**
 * pattern_matches - whether some part of a text is what the expression says
 * @pattern: a struct pattern, as a callback's context
 * @text: LEN bytes; those that are not UTF-8 match nothing
 *
 * An expression that takes too long on a text does not match it.
 *
 * Context: any thread, one at a time.
 */
bool pattern_matches(void *pattern, const char *text, size_t len);

/**
 * pattern_free - forget it
 *
 * Context: any thread.  NULL is fine.
 */
void pattern_free(struct pattern *pattern);

#endif
