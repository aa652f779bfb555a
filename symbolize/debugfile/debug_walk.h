/* debug_walk.h - every ELF file below a folder, by build-id: --symbol-dir of any layout */
#ifndef DEBUGFILE_DEBUG_WALK_H
#define DEBUGFILE_DEBUG_WALK_H

#include <stddef.h>
#include <stdint.h>

/* How far a walk goes: a folder such as "/" must not hold anybody up. */
enum {
	DEBUG_WALK_DEPTH = 12,
	DEBUG_WALK_ENTRIES = 200 * 1000,
	DEBUG_WALK_FILES = 20 * 1000, /* that are opened for their build-id */
};

struct debug_walk;

/**
 * debug_walk_new - walk once; links to folders are not followed
 *
 * Return:  0; -ENOMEM; -errno of the folder.
 * Owns:    the caller; debug_walk_free().
 * Context: any thread.
 */
int debug_walk_new(const char *folder, struct debug_walk **ret_walk);

/**
 * debug_walk_free - NULL is fine
 *
 * Context: any thread.
 */
void debug_walk_free(struct debug_walk *walk);

/**
 * debug_walk_find - the nth file with that build-id
 *
 * Return:  its path; NULL: no more.
 * Owns:    the walk.
 * Context: any thread.
 */
const char *debug_walk_find(const struct debug_walk *walk, const uint8_t *build_id, size_t len,
			    size_t nth);

#endif
