/* missing.h - what a recording was asked for and lacks: what it has, and what would have brought it
 */
#ifndef QUERY_MISSING_H
#define QUERY_MISSING_H

#include "base/err.h"
#include "flamescope/profile.h"

/**
 * missing_metric - refuse a metric that a profile has not
 *
 * ERR names what the profile has and, of what wick knows, the option of wick record that brings it
 * (or, of another word for a metric that is there, that one).
 *
 * Return:  -ENOENT.
 * Context: any thread, as for both.
 */
int missing_metric(const struct profile *profile, const char *name, struct err *err);

/**
 * missing_dimension - the same of a word that samples would be told apart by
 * @known: those that every profile has, with commas
 *
 * Return:  -ENOENT.
 * Context: any thread.
 */
int missing_dimension(const struct profile *profile, const char *name, const char *known,
		      struct err *err);

#endif
