/* trim.c - samples are in the order of time: the first N are left out of every column */
#include "flamescope/serve/trim.h"

#include <errno.h>
#include <stdlib.h>

/* How many samples are before NS since the profile's start. */
static size_t n_before(const struct profile *profile, uint64_t ns)
{
	size_t low = 0;
	size_t high = profile->n_samples;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (profile->times_ns[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void skip(struct profile *view, size_t n)
{
	view->n_samples -= n;
	view->threads += n;
	view->stacks += n;
	view->weights += n;
	view->cpus += n;
	view->events += n;
	for (size_t i = 0; i < view->n_tags; i++)
		view->tags[i].codes += n;
	for (size_t i = 0; i < view->n_metrics; i++) {
		view->metrics[i].values += n;
		view->metrics[i].deltas += n;
	}
}

/* What the start is later by, if there is a sample from then on. */
static bool later_by(const struct profile *profile, int64_t from_ns, uint64_t *ret_ns)
{
	const int64_t start_ns = (int64_t)profile->start_ns;
	int64_t own_ns;

	if (!profile->has_epoch || !profile->n_samples || start_ns < 0 ||
	    __builtin_sub_overflow(from_ns, profile->epoch_offset_ns, &own_ns) ||
	    own_ns <= start_ns || (uint64_t)(own_ns - start_ns) > profile->length_ns)
		return false;
	*ret_ns = (uint64_t)(own_ns - start_ns);
	return true;
}

int trim_before(const struct profile *profile, int64_t from_ns, struct profile *ret_view,
		uint64_t **ret_times)
{
	uint64_t later_ns = 0;
	uint64_t first_ns;
	uint64_t *times;
	size_t n;

	*ret_view = *profile;
	*ret_times = NULL;
	if (!later_by(profile, from_ns, &later_ns))
		return 0;
	n = n_before(profile, later_ns);
	if (n == 0)
		return 0;
	times = malloc((profile->n_samples - n) * sizeof(*times));
	if (!times)
		return -ENOMEM;
	first_ns = profile->times_ns[n];
	for (size_t i = n; i < profile->n_samples; i++)
		times[i - n] = profile->times_ns[i] - first_ns;
	skip(ret_view, n);
	ret_view->times_ns = times;
	ret_view->start_ns += first_ns;
	ret_view->length_ns -= first_ns;
	*ret_times = times;
	return 0;
}
