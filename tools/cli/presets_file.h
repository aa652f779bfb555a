/* presets_file.h - wick.ini: where it is, and whether it may be believed */
#ifndef CLI_PRESETS_FILE_H
#define CLI_PRESETS_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/**
 * presets_file_of_user - the path of the user's wick.ini, whether or not it is there
 *
 * $XDG_CONFIG_HOME/wick/wick.ini, or ~/.config/wick/wick.ini.
 *
 * Return:  false when neither variable names a directory.
 * Context: main thread: it reads the environment.
 */
bool presets_file_of_user(struct buf *path);

/**
 * presets_file_read - the text of a file of options
 * @must_exist: somebody has named it: that it cannot be read is a failure
 *
 * A file that belongs to somebody else than root and this user, or that group or others may
 * write, is not read, and that is said: its options run commands and name files.
 *
 * Return:  1; 0: there is none, or it is not to be believed; -errno and the reason.
 * Context: main thread.
 */
int presets_file_read(const char *path, bool must_exist, struct buf *text, struct err *err);

#endif
