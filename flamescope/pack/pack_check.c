/* pack_check.c - every number of a profile against the length of what it counts in */
#include "flamescope/pack/internal.h"

/* The largest of N numbers is below COUNT.  Taken as a whole: it is one pass without branches. */
static bool all_below(const uint32_t *numbers, size_t n, size_t count)
{
	uint32_t largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = numbers[i] > largest ? numbers[i] : largest;
	return n == 0 || largest < count;
}

static const char *check_uniques(const struct profile *p)
{
	for (size_t i = 0; i < p->n_frames; i++)
		if (p->frames[i].name >= p->n_strings || p->frames[i].module >= p->n_strings)
			return "a function's name is not there";
	for (size_t i = 1; i < p->n_nodes; i++)
		if (p->nodes[i].parent >= i || p->nodes[i].frame >= p->n_frames)
			return "a stack is not there";
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->thread_list[i].comm >= p->n_strings ||
		    p->thread_list[i].host >= p->n_strings)
			return "a thread's name is not there";
	return NULL;
}

static bool tag_is_good(const struct profile *p, const struct profile_tag *tag)
{
	if (tag->name >= p->n_strings || !all_below(tag->values, tag->n_values, p->n_strings))
		return false;
	for (size_t i = 0; i < p->n_samples; i++)
		if (tag->codes[i] >= tag->n_values && tag->codes[i] != PROFILE_TAG_OTHER)
			return false;
	return true;
}

static const char *check_words(const struct profile *p)
{
	if (p->command >= p->n_strings || p->captured >= p->n_strings ||
	    !all_below(p->event_names, p->n_events, p->n_strings))
		return "a word is not there";
	for (size_t i = 0; i < p->n_tags; i++)
		if (!tag_is_good(p, &p->tags[i]))
			return "a tag's value is not there";
	for (size_t i = 0; i < p->n_metrics; i++)
		if (p->metrics[i].name >= p->n_strings || p->metrics[i].unit >= p->n_strings)
			return "a metric's name is not there";
	return NULL;
}

static const char *check_samples(const struct profile *p)
{
	uint64_t before = 0;

	if (!all_below(p->threads, p->n_samples, p->n_threads))
		return "a sample's thread is not there";
	if (!all_below(p->stacks, p->n_samples, p->n_nodes))
		return "a sample's stack is not there";
	for (size_t i = 0; i < p->n_samples; i++) {
		if (p->events[i] >= p->n_events)
			return "a sample's event is not there";
		if (p->times_ns[i] < before)
			return "its samples are not in the order of time";
		before = p->times_ns[i];
	}
	if (before != p->length_ns || (p->n_samples && p->times_ns[0] != 0))
		return "its times do not fit its length";
	if (p->length_ns > UINT64_MAX - p->start_ns)
		return "its times are past the end of all time";
	return NULL;
}

const char *pack_check(const struct profile *profile)
{
	const char *wrong = check_uniques(profile);

	if (!wrong)
		wrong = check_words(profile);
	return wrong ? wrong : check_samples(profile);
}
