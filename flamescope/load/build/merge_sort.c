/* merge_sort.c - samples into the order of time; those of one moment stay as they are */
#include "flamescope/load/build/internal.h"

#include <errno.h>

static bool is_sorted(const struct profile *profile)
{
	for (size_t i = 1; i < profile->n_samples; i++)
		if (profile->times_ns[i] < profile->times_ns[i - 1])
			return false;
	return true;
}

/* Merge two runs of numbers that are next to each other. */
static void merge_runs(const uint64_t *times, const uint32_t *from, uint32_t *to, size_t middle,
		       size_t end)
{
	size_t left = 0;
	size_t right = middle;

	for (size_t i = 0; i < end; i++)
		to[i] = right == end || (left < middle && times[from[left]] <= times[from[right]])
				? from[left++]
				: from[right++];
}

/* Numbers of the samples by time: runs of twice the length, until there is one. */
static uint32_t *sort_numbers(const uint64_t *times, size_t n)
{
	uint32_t *from = calloc(n, sizeof(*from));
	uint32_t *to = calloc(n, sizeof(*to));

	if (!from || !to) {
		free(from);
		free(to);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		from[i] = (uint32_t)i;
	for (size_t run = 1; run < n; run *= 2) {
		uint32_t *swap = from;

		for (size_t i = 0; i < n; i += 2 * run) {
			size_t end = n - i < 2 * run ? n - i : 2 * run;

			merge_runs(times, from + i, to + i, run < end ? run : end, end);
		}
		from = to;
		to = swap;
	}
	free(to);
	return from;
}

/* One column in the order of NUMBERS, by way of SCRATCH. */
static void reorder(void *column, size_t size, const uint32_t *numbers, size_t n, void *scratch)
{
	for (size_t i = 0; i < n; i++) {
		if (size == sizeof(uint64_t))
			((uint64_t *)scratch)[i] = ((uint64_t *)column)[numbers[i]];
		else if (size == sizeof(uint32_t))
			((uint32_t *)scratch)[i] = ((uint32_t *)column)[numbers[i]];
		else if (size == sizeof(uint16_t))
			((uint16_t *)scratch)[i] = ((uint16_t *)column)[numbers[i]];
		else
			((uint8_t *)scratch)[i] = ((uint8_t *)column)[numbers[i]];
	}
	memcpy(column, scratch, n * size);
}

static void reorder_all(struct profile *p, const uint32_t *numbers, void *scratch)
{
	size_t n = p->n_samples;

	reorder(p->times_ns, sizeof(*p->times_ns), numbers, n, scratch);
	reorder(p->threads, sizeof(*p->threads), numbers, n, scratch);
	reorder(p->stacks, sizeof(*p->stacks), numbers, n, scratch);
	reorder(p->weights, sizeof(*p->weights), numbers, n, scratch);
	reorder(p->cpus, sizeof(*p->cpus), numbers, n, scratch);
	reorder(p->events, sizeof(*p->events), numbers, n, scratch);
	for (size_t i = 0; i < p->n_tags; i++)
		reorder(p->tags[i].codes, sizeof(*p->tags[i].codes), numbers, n, scratch);
	for (size_t i = 0; i < p->n_metrics; i++) {
		reorder(p->metrics[i].values, sizeof(int64_t), numbers, n, scratch);
		reorder(p->metrics[i].deltas, sizeof(int64_t), numbers, n, scratch);
	}
}

int merge_sort(struct profile *profile)
{
	size_t n = profile->n_samples;
	uint32_t *numbers;
	void *scratch;
	int r = -ENOMEM;

	if (n > UINT32_MAX)
		return -E2BIG;
	if (!is_sorted(profile)) {
		numbers = sort_numbers(profile->times_ns, n);
		scratch = calloc(n, sizeof(uint64_t));
		if (numbers && scratch) {
			reorder_all(profile, numbers, scratch);
			r = 0;
		}
		free(numbers);
		free(scratch);
		if (r < 0)
			return r;
	}
	if (n == 0)
		return 0;
	profile->start_ns = profile->times_ns[0];
	profile->length_ns = profile->times_ns[n - 1] - profile->start_ns;
	for (size_t i = 0; i < n; i++)
		profile->times_ns[i] -= profile->start_ns;
	return 0;
}
