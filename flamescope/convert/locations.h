/*
 * locations.h - pprof's places: a function and the calls that were inlined into it are one
 *
 * A place is a chain from an inlined call outwards to the function that was really called; a longer
 * one than LOCATIONS_MAX_CHAIN is parted, since a file writes the chain of each of its links.
 */
#ifndef CONVERT_LOCATIONS_H
#define CONVERT_LOCATIONS_H

#include "flamescope/query/selection.h"

#include <stddef.h>
#include <stdint.h>

enum { LOCATIONS_MAX_CHAIN = 100 };

/* Number 0 is none. */
struct location {
	uint32_t frame;
	uint32_t outer;  /* the location that it is inlined into */
	uint32_t length; /* of the chain from it on */
};

struct locations {
	size_t n;
	struct location *at;
	uint32_t *of_node; /* of each of the selection's nodes */
};

/**
 * locations_make - the places of all stacks of a selection
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to locations_release(), also after a failure.
 * Context: any thread.
 */
int locations_make(const struct selection *selection, struct locations *ret_locations);

/**
 * locations_release - forget them
 *
 * Context: any thread.
 */
void locations_release(struct locations *locations);

#endif
