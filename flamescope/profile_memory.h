/* profile_memory.h - what a profile's arrays are part of */
#ifndef FLAMESCOPE_PROFILE_MEMORY_H
#define FLAMESCOPE_PROFILE_MEMORY_H

#include <stddef.h>

struct profile;

/* Zero is none. */
struct profile_memory {
	void **blocks; /* of malloc */
	size_t n_blocks;
	size_t size;
	void *mapping; /* of a file; NULL: none */
	size_t mapping_bytes;
	int (*unmap)(void *mapping, size_t bytes); /* munmap(), where there is one */
};

/**
 * profile_new - an empty profile with an empty memory
 *
 * Return:  the profile; NULL when memory ran out.
 * Owns:    the caller, to profile_free().
 * Context: any thread.
 */
struct profile *profile_new(void);

/**
 * profile_keep - give a block of malloc to a profile
 *
 * Return:  0; -ENOMEM, and the block is freed (also when it is NULL, for a malloc that failed).
 * Context: any thread; one user of the profile.
 */
int profile_keep(struct profile *profile, void *block);

/**
 * profile_alloc - a block of COUNT zeroed elements that goes with the profile
 *
 * Return:  the block, never of no bytes; NULL when memory ran out.
 * Owns:    the profile.
 * Context: any thread; one user of the profile.
 */
void *profile_alloc(struct profile *profile, size_t count, size_t size);

#endif
