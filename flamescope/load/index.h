/*
 * index.h - profiles that were made before, packed, in a directory of the user's own
 *
 * Whatever is wrong with the index, the files are read instead: it is never an error.
 */
#ifndef LOAD_INDEX_H
#define LOAD_INDEX_H

#include "flamescope/load/index_key.h"

/**
 * index_read - the profile that is kept under a key, its files called as they are called now
 *
 * Return:  it; NULL: there is none, or it is damaged (and removed).
 * Owns:    the caller, to profile_free().
 * Context: any thread.
 */
struct profile *index_read(const struct load_options *options, const char *key);

enum { INDEX_MAX_MIB = 1024 }; /* of all profiles that are kept */

/**
 * index_write - keep a profile, and remove those not used for longest, down to INDEX_MAX_MIB
 *
 * Context: any thread.
 */
void index_write(const struct load_options *options, const char *key,
		 const struct profile *profile);

#endif
