/* load_way.h - load_profile() by a way of the caller's choice: the tests compare them */
#ifndef LOAD_LOAD_WAY_H
#define LOAD_LOAD_WAY_H

#include "flamescope/load/load.h"

enum load_way {
	LOAD_ANY,  /* what is quickest for each file */
	LOAD_ONE,  /* quick, by one thread */
	LOAD_SLOW, /* line by line */
};

struct load_by {
	enum load_way way;
	uint64_t parallel_bytes; /* files of this size or more are read by several threads */
	uint64_t chunk_bytes;    /* that each takes at a time; 0: what is quickest */
};

/**
 * load_profile_by - load_profile() by a given way, without an index
 *
 * Return:  as load_profile().
 * Owns:    the caller, to profile_free().
 * Context: any thread; makes threads of its own and joins them.
 */
int load_profile_by(const struct load_options *options, const struct load_by *by,
		    struct profile **ret_profile, struct err *err);

#endif
