/*
 * identities.h - names of requests that wick.h numbered, from the program's tables
 *
 * Context: collector thread.
 */
#ifndef CONTEXT_IDENTITIES_H
#define CONTEXT_IDENTITIES_H

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

/* Zero knows none yet. */
struct identities {
	struct map names; /* by number: text; numbers are never given again */
};

/**
 * identities_find - the name with this number
 * @anchor: address of a struct tables_anchor of the process; 0: none
 *
 * Return:  the name; NULL: there is none, or it cannot be read.
 * Owns:    the identities.
 */
const char *identities_find(struct identities *identities, int mem_fd, uint64_t anchor,
			    uint32_t number);

/** identities_release - forget them */
void identities_release(struct identities *identities);

#endif
