/* control_directories.h - the directories in which recordings can be found */
#ifndef CONTROL_CONTROL_DIRECTORIES_H
#define CONTROL_CONTROL_DIRECTORIES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/un.h>

enum { CONTROL_PLACES = 8 };

/* Directories, the one to make a socket in first. */
struct control_directories {
	char at[CONTROL_PLACES][sizeof(((struct sockaddr_un *)0)->sun_path)];
	size_t n;
};

/**
 * control_directories_list - where recordings of a user put their sockets
 * @uid: the caller's own, or for root somebody's
 *
 * $XDG_RUNTIME_DIR/wick where that is UID's own, /run/user/UID/wick, then /tmp/wick-UID, and what
 * there is of /tmp/wick-UID.XXXXXX that is UID's and private.
 *
 * Context: main thread.
 */
void control_directories_list(uid_t uid, struct control_directories *ret_places);

/**
 * control_directory_make - a directory for sockets that nobody else can come into
 *
 * Return:  0, and the directory; 1, and one that stands in for another that is somebody else's or
 *          open to others, which ERR names; -errno.
 * Context: main thread.
 */
int control_directory_make(char ret_path[static sizeof(((struct sockaddr_un *)0)->sun_path)],
			   struct err *err);

/**
 * control_directory_is_private - whether a directory is UID's and open to UID alone
 *
 * Context: any thread.
 */
bool control_directory_is_private(const char *path, uid_t uid);

#endif
