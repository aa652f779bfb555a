/* merge_rates.c - weights of recordings whose rate has changed are brought to one rate */
#include "flamescope/load/build/internal.h"

/* What a segment does not say of its rate, the one before it in the same file has said. */
static void hand_on(struct merge *merge)
{
	for (size_t i = 0; i < merge->n_segments; i++) {
		struct merge_segment *s = &merge->segments[i];

		if (s->segment.hz == 0 && i > 0 && merge->segments[i - 1].file == s->file)
			s->segment.hz = merge->segments[i - 1].segment.hz;
	}
}

/* Return: the highest rate; 0: one is not said, or cannot be. */
static uint64_t highest(const struct merge *merge)
{
	bool empty = merge->profile->n_samples == 0;
	uint64_t most = 0;

	for (size_t i = 0; i < merge->n_segments; i++) {
		const struct segment *segment = &merge->segments[i].segment;

		if (segment->n == 0 && !(empty && segment->hz))
			continue;
		if (segment->hz == 0 || segment->hz > UINT32_MAX)
			return 0;
		most = segment->hz > most ? segment->hz : most;
	}
	return most;
}

/* Return: the part of a period that is left over, for the next sample. */
static uint64_t scale(uint64_t *weights, const struct merge_segment *s, uint64_t to_hz,
		      uint64_t left)
{
	uint64_t from_hz = s->segment.hz;

	for (size_t i = s->to; i < s->to + s->segment.n; i++) {
		uint64_t weight = weights[i] < UINT32_MAX ? weights[i] : UINT32_MAX;
		uint64_t part = weight * (to_hz % from_hz) + left;

		weights[i] = weight * (to_hz / from_hz) + part / from_hz;
		left = part % from_hz;
	}
	return left;
}

void merge_rates(struct merge *merge)
{
	struct profile *profile = merge->profile;
	const struct merge_segment *last = NULL; /* that had samples */
	uint64_t left = 0;
	uint64_t hz;

	hand_on(merge);
	hz = highest(merge);
	profile->hz = (uint32_t)hz;
	for (size_t i = 0; i < merge->n_segments && hz; i++) {
		const struct merge_segment *s = &merge->segments[i];

		if (s->segment.n == 0)
			continue;
		if (last && (last->file != s->file || last->segment.hz != s->segment.hz))
			left = 0;
		if (s->segment.hz != hz)
			left = scale(profile->weights, s, hz, left);
		last = s;
	}
}
