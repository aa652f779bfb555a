/* catalog_walk.h - the recordings in a tree of folders, by name */
#ifndef SERVE_CATALOG_WALK_H
#define SERVE_CATALOG_WALK_H

#include "flamescope/serve/catalog.h"

#include <sys/stat.h>

struct catalog_found {
	struct catalog_file *files; /* sorted by name; without facts */
	size_t n;
	size_t room;
	size_t n_seen;
	size_t n_left_out;
};

/**
 * catalog_is_recording - whether a file's name is one of a recording
 *
 * Context: any thread.
 */
bool catalog_is_recording(const char *name);

/**
 * catalog_stamp_of - what stat(2) says of a file; its time lies between 1970 and 2043
 *
 * Context: any thread.
 */
struct catalog_stamp catalog_stamp_of(const struct stat *st);

/**
 * catalog_walk - find them
 *
 * Return:  0; -errno when FOLDER itself cannot be read; -ENOMEM.  Folders below that cannot be
 *          read are passed over.
 * Owns:    the caller: free() of each name and of the files, also on failure.
 * Context: any thread.
 */
int catalog_walk(int folder, struct catalog_found *found);

#endif
