/* trim.h - the end of a profile, without its beginning */
#ifndef SERVE_TRIM_H
#define SERVE_TRIM_H

#include "flamescope/profile.h"

/**
 * trim_before - leave out what was before a time since 1970
 * @ret_times: what ret_view->times_ns points to
 *
 * A profile that does not say when it was is left whole, and so is one that has no sample then.
 *
 * Return:  0, and a profile whose columns point into PROFILE's; -ENOMEM.
 * Owns:    the caller: free(*ret_times), and nothing else of it; PROFILE has to outlive it.
 * Context: any thread.
 */
int trim_before(const struct profile *profile, int64_t from_ns, struct profile *ret_view,
		uint64_t **ret_times);

#endif
