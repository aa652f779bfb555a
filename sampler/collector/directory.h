/* directory.h - the directory in which agents find us: a socket and a link to the agent */
#ifndef COLLECTOR_DIRECTORY_H
#define COLLECTOR_DIRECTORY_H

#include "base/err.h"

enum { DIRECTORY_PATH_BYTES = 108 }; /* sun_path */

struct directory {
	char path[DIRECTORY_PATH_BYTES];
	char socket[DIRECTORY_PATH_BYTES];
	char agent[DIRECTORY_PATH_BYTES]; /* the link */
	int listen_fd;
};

/**
 * directory_init - make the directory, the listening socket and the link
 * @agent_path: what the link points to
 *
 * In $XDG_RUNTIME_DIR, $TMPDIR or /tmp.  Directories of ours that a killed wick left there are
 * removed.
 *
 * Return:  0; -errno, and the reason in ERR.
 * Owns:    the caller, to directory_release().
 * Context: main thread.
 */
int directory_init(struct directory *ret_directory, const char *agent_path, struct err *err);

/**
 * directory_release - close the socket and remove everything
 *
 * Context: any thread.  A zeroed directory is fine.
 */
void directory_release(struct directory *directory);

#endif
