/* elide_rules.h - INI files of frames that say nothing: wrappers, dispatchers, executors */
#ifndef TOOLS_ELIDE_RULES_H
#define TOOLS_ELIDE_RULES_H

#include "base/err.h"

/**
 * elide_rules_read - one regular expression out of a file of rules
 * @name: a path, or "wrappers" for the rules that come with wick
 *
 * The file has sections, [of any name], with lines "frame = RE"; lines that begin with ; or # are
 * comments.
 *
 * Return:  0; -EINVAL and the line that is wrong; -errno of the file; -EFBIG.
 * Owns:    the caller: free(*ret_pattern).
 * Context: any thread.
 */
int elide_rules_read(const char *name, char **ret_pattern, struct err *err);

#endif
