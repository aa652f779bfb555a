/* directory.h - the directory in which agents find us: a socket and a link to the agent */
#ifndef LAUNCH_DIRECTORY_H
#define LAUNCH_DIRECTORY_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

enum {
	DIRECTORY_PATH_BYTES = 108, /* sun_path */
	DIRECTORY_MOST_CLOSED = 16,
};

struct directory {
	char path[DIRECTORY_PATH_BYTES];
	char socket[DIRECTORY_PATH_BYTES];
	char agent[DIRECTORY_PATH_BYTES];       /* the link */
	char hooks[DIRECTORY_PATH_BYTES];       /* another, to the hooks object; "": not made */
	char preload[2 * DIRECTORY_PATH_BYTES]; /* what LD_PRELOAD has to name: the links */
	int listen_fd;
};

/**
 * directory_init - make the directory, the listening socket and the link
 * @agent_path: what the link points to
 *
 * In $XDG_RUNTIME_DIR, $TMPDIR or /tmp.  Only root's can be reached by other users: children of
 * root may have become anybody.  Directories of ours that a killed wick left there are removed.
 *
 * Return:  0; -errno, and the reason in ERR.
 * Owns:    the caller, to directory_release().
 * Context: main thread.
 */
int directory_init(struct directory *ret_directory, const char *agent_path, struct err *err);

/**
 * directory_add_hooks - have programs load the hooks object as well, which stands beside the agent
 *
 * Return:  0; -errno, and the reason in ERR.
 * Context: main thread.
 */
int directory_add_hooks(struct directory *directory, const char *agent_path, struct err *err);

/**
 * directory_close_to - have the kernel refuse connections of users
 * @uids: the users; n = 0 accepts all again
 *
 * By an access control list; where the file system has none, everybody but root and this user.
 *
 * Context: collector thread.
 */
void directory_close_to(const struct directory *directory, const uid_t *uids, size_t n);

/**
 * directory_release - close the socket and remove everything
 *
 * Context: any thread.  A zeroed directory is fine.
 */
void directory_release(struct directory *directory);

#endif
