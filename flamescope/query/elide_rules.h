/* elide_rules.h - INI files of frames that say nothing: wrappers, dispatchers, executors */
#ifndef QUERY_ELIDE_RULES_H
#define QUERY_ELIDE_RULES_H

#include "base/err.h"

/**
 * elide_rules_read - one pattern out of a file of rules, for query.elide
 * @name: a path, or "wrappers" for the rules that come with wick (query/wrappers.ini)
 *
 * The file has sections of any name, and lines `frame = PATTERN`; lines that begin with ; or # are
 * comments.  Who takes a name from a stranger may only pass "wrappers" on.
 *
 * Return:  0; -EINVAL and the line that is wrong; -errno of the file; -EFBIG.
 * Owns:    the caller: free(*ret_pattern).
 * Context: any thread.
 */
int elide_rules_read(const char *name, char **ret_pattern, struct err *err);

#endif
