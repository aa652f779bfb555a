/* merge.c - puts together what several readers have seen */
#include "flamescope/load/build/internal.h"

#include "base/saturated.h"

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

/* Put the samples into the order of time. Returns 0; -ENOMEM. */
static int merge_sort(struct profile *profile)
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

/*
 * Bring all weights to periods of one rate, the highest; after merge_samples(). Where not every
 * part says its rate, weights stay as they are and the profile has none.
 */
static void merge_rates(struct merge *merge)
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

/* Files of one host whose clocks are further apart than this were not of one boot. */
static const int64_t same_clock_ns = INT64_C(60000000000);

static uint32_t same_string(struct uniques *to, const struct uniques *from, uint32_t string)
{
	const char *text = uniques_text(from, string);

	return uniques_string(to, text, strlen(text));
}

static void add_facts(struct builder_facts *to, struct uniques *strings, const struct builder *from)
{
	const struct builder_facts *facts = &from->facts;

	for (size_t i = 0; i < N_BUILDER_WORDS; i++) {
		if (facts->at[i] >= to->at[i])
			continue;
		to->at[i] = facts->at[i];
		to->text[i] = same_string(strings, &from->uniques, facts->text[i]);
	}
	if (facts->wick_at < to->wick_at) {
		to->wick_at = facts->wick_at;
		to->hz = facts->hz;
		to->has_epoch = facts->has_epoch;
		to->epoch_offset_ns = facts->epoch_offset_ns;
	}
	to->lost = saturated_add(to->lost, facts->lost);
	to->bad_lines += facts->bad_lines;
	to->cut |= facts->cut;
	to->inlined |= facts->inlined;
}

void merge_facts(struct builder *const *builders, size_t n, struct builder_facts *ret_facts)
{
	*ret_facts = builders[0]->facts;
	for (size_t i = 1; i < n; i++)
		add_facts(ret_facts, &builders[0]->uniques, builders[i]);
}

static bool is_before(struct place a, struct place b)
{
	return a.at != b.at ? a.at < b.at : a.word < b.word;
}

static void map_tags(struct builder *all, const struct builder *from, struct merge_map *map)
{
	for (size_t i = 0; i < from->n_tags; i++) {
		const struct builder_tag *tag = &from->tags[i];
		struct builder_tag *same;

		map->tags[i] =
			builder_tag(all, uniques_text(&from->uniques, tag->name), tag->first);
		if (map->tags[i] == PROFILE_MAX_TAGS)
			continue;
		same = &all->tags[map->tags[i]];
		if (is_before(tag->first, same->first))
			same->first = tag->first;
		map->codes[i] = calloc(tag->n_values + 1, sizeof(*map->codes[i]));
		for (size_t j = 1; map->codes[i] && j < tag->n_values; j++)
			map->codes[i][j] = builder_tag_code(
				all, same, uniques_text(&from->uniques, tag->values[j]));
		if (!map->codes[i])
			budget_fail(all->uniques.budget, ENOMEM);
	}
}

static void map_metrics(struct builder *all, const struct builder *from, struct merge_map *map)
{
	for (size_t i = 0; i < from->n_metrics; i++) {
		const struct builder_metric *metric = &from->metrics[i];
		const char *name = uniques_text(&from->uniques, metric->name);
		struct builder_metric *same =
			builder_metric(all, name, strlen(name), metric->first);

		map->metrics[i] = same ? (size_t)(same - all->metrics) : PROFILE_MAX_METRICS;
		if (!same)
			continue;
		if (is_before(metric->first, same->first))
			same->first = metric->first;
		same->inlined |= metric->inlined;
		if (!is_before(metric->declared, same->declared))
			continue;
		same->declared = metric->declared;
		same->kind = metric->kind;
		same->unit = same_string(&all->uniques, &from->uniques, metric->unit);
	}
}

/* Strings, functions, stacks and threads; a number is never above its own builder's. */
static void map_uniques(struct builder *all, const struct builder *from, struct merge_map *map)
{
	const struct uniques *u = &from->uniques;

	for (size_t i = 0; i < u->n_frames; i++) {
		struct unique_frame frame = u->frames[i];

		frame.frame.name = same_string(&all->uniques, u, frame.frame.name);
		frame.frame.module = same_string(&all->uniques, u, frame.frame.module);
		map->frames[i] = uniques_frame(&all->uniques, &frame.frame, frame.at);
	}
	map->nodes[0] = 0;
	for (size_t i = 1; i < u->n_nodes; i++)
		map->nodes[i] = uniques_node(&all->uniques, map->nodes[u->nodes[i].parent],
					     map->frames[u->nodes[i].frame]);
	for (size_t i = 0; i < u->n_threads; i++) {
		struct unique_thread thread = u->threads[i];

		thread.comm = same_string(&all->uniques, u, thread.comm);
		map->threads[i] = uniques_thread(&all->uniques, &thread);
	}
	for (size_t i = 0; i < from->n_events; i++)
		map->events[i] = builder_event(all, uniques_text(u, from->event_names[i]));
}

static int make_map(struct builder *all, const struct builder *from, struct merge_map *map)
{
	const struct uniques *u = &from->uniques;

	map->builder = from;
	for (size_t i = 0; from == all && i < PROFILE_MAX_METRICS; i++)
		map->metrics[i] = i;
	for (size_t i = 0; from == all && i < PROFILE_MAX_TAGS; i++)
		map->tags[i] = i;
	for (size_t i = 0; from == all && i < PROFILE_MAX_EVENTS; i++)
		map->events[i] = (uint8_t)i;
	if (from == all)
		return 0;
	map->frames = calloc(u->n_frames + 1, sizeof(*map->frames));
	map->nodes = calloc(u->n_nodes + 1, sizeof(*map->nodes));
	map->threads = calloc(u->n_threads + 1, sizeof(*map->threads));
	if (!map->frames || !map->nodes || !map->threads)
		return -ENOMEM;
	map_uniques(all, from, map);
	map_tags(all, from, map);
	map_metrics(all, from, map);
	return 0;
}

static int compare_segments(const void *a, const void *b)
{
	const struct merge_segment *one = a;
	const struct merge_segment *other = b;

	return (one->segment.at > other->segment.at) - (one->segment.at < other->segment.at);
}

static int list_segments(struct merge *merge)
{
	size_t n = 0;
	size_t to = 0;
	size_t file = 0;

	for (size_t i = 0; i < merge->n_maps; i++)
		n += merge->maps[i].builder->n_segments;
	merge->segments = calloc(n + 1, sizeof(*merge->segments));
	if (!merge->segments)
		return -ENOMEM;
	for (size_t i = 0; i < merge->n_maps; i++)
		for (size_t j = 0; j < merge->maps[i].builder->n_segments; j++)
			merge->segments[merge->n_segments++] = (struct merge_segment){
				.segment = merge->maps[i].builder->segments[j],
				.map = &merge->maps[i]};
	qsort(merge->segments, n, sizeof(*merge->segments), compare_segments);
	for (size_t i = 0; i < n; i++) {
		while (file + 1 < merge->n_files &&
		       merge->segments[i].segment.at >= merge->files[file].end_at)
			file++;
		merge->segments[i].to = to;
		merge->segments[i].file = file;
		to += merge->segments[i].segment.n;
		merge->files[file].file.samples += merge->segments[i].segment.n;
	}
	merge->profile->n_samples = to;
	return 0;
}

/* A file that gave nothing (it is not there, or was given before) has no say, if another has. */
static bool has_say(const struct merge *merge, size_t file)
{
	return merge->profile->n_samples == 0 || merge->files[file].file.samples > 0;
}

/* The file whose clock is that of FILE: the first one of its host and boot. */
static size_t clock_of(const struct merge *merge, size_t file)
{
	const struct merge_file *files = merge->files;

	for (size_t i = 0; i < file; i++) {
		int64_t apart = (int64_t)(files[i].facts.epoch_offset_ns -
					  files[file].facts.epoch_offset_ns);

		if (has_say(merge, i) &&
		    files[i].facts.text[WORD_HOST] == files[file].facts.text[WORD_HOST] &&
		    apart < same_clock_ns && apart > -same_clock_ns)
			return i;
	}
	return file;
}

static int set_clocks(struct merge *merge)
{
	struct profile *profile = merge->profile;
	const struct merge_file *files = merge->files;
	size_t first = 0;

	merge->shifts = calloc(merge->n_files + 1, sizeof(*merge->shifts));
	if (!merge->shifts)
		return -ENOMEM;
	profile->has_epoch = merge->n_files > 0;
	profile->is_wick = merge->n_files > 0;
	profile->has_times = merge->n_files == 0;
	while (first + 1 < merge->n_files && !has_say(merge, first))
		first++;
	for (size_t i = first; i < merge->n_files; i++) {
		if (!has_say(merge, i))
			continue;
		profile->has_epoch &= files[i].facts.has_epoch;
		profile->is_wick &= files[i].facts.wick_at != UINT64_MAX;
		profile->has_times |= !files[i].folded;
	}
	if (!profile->has_epoch)
		return 0;
	profile->epoch_offset_ns = (int64_t)files[first].facts.epoch_offset_ns;
	for (size_t i = first + 1; i < merge->n_files; i++)
		merge->shifts[i] = (int64_t)files[clock_of(merge, i)].facts.epoch_offset_ns -
				   profile->epoch_offset_ns;
	return 0;
}

static void set_words(struct merge *merge)
{
	struct profile *profile = merge->profile;
	const struct merge_file *files = merge->files;

	for (size_t i = 0; i < merge->n_files; i++) {
		const struct builder_facts *facts = &files[i].facts;

		if (!profile->command)
			profile->command = facts->text[WORD_COMMAND];
		if (!profile->captured)
			profile->captured = facts->text[WORD_CAPTURED];
	}
}

static int set_files(struct merge *merge)
{
	struct profile *profile = merge->profile;

	profile->files = profile_alloc(profile, merge->n_files, sizeof(*profile->files));
	if (!profile->files)
		return -ENOMEM;
	for (size_t i = 0; i < merge->n_files; i++) {
		struct profile_file *file = &merge->files[i].file;
		int r;

		file->bad_lines = merge->files[i].facts.bad_lines;
		file->lost = merge->files[i].facts.lost;
		file->cut = merge->files[i].facts.cut;
		r = file->problem ? profile_keep(profile, file->problem) : 0;
		if (r == 0)
			r = profile_keep(profile, file->path);
		if (r < 0)
			return r;
		profile->files[profile->n_files++] = *file;
		*file = (struct profile_file){0};
	}
	return 0;
}

static int run(struct merge *merge, struct builder *const *builders)
{
	int r = 0;

	for (size_t i = 0; i < merge->n_maps && r == 0; i++)
		r = make_map(merge->all, builders[i], &merge->maps[i]);
	if (r == 0)
		r = list_segments(merge);
	if (r == 0)
		r = set_clocks(merge);
	if (r == 0)
		r = merge_samples(merge);
	if (r == 0)
		merge_rates(merge);
	if (r == 0)
		r = merge_sort(merge->profile);
	set_words(merge);
	if (r == 0)
		r = merge_numbers(merge);
	if (r == 0)
		r = set_files(merge);
	if (r == 0)
		r = -atomic_load_explicit(&merge->all->uniques.budget->failed,
					  memory_order_relaxed);
	return r;
}

static void release(struct merge *merge)
{
	for (size_t i = 0; merge->maps && i < merge->n_maps; i++) {
		free(merge->maps[i].frames);
		free(merge->maps[i].nodes);
		free(merge->maps[i].threads);
		for (size_t j = 0; j < PROFILE_MAX_TAGS; j++)
			free(merge->maps[i].codes[j]);
	}
	free(merge->maps);
	free(merge->segments);
	free(merge->shifts);
	profile_free(merge->profile);
}

int merge_profile(struct builder *const *builders, size_t n, struct merge_file *files,
		  size_t n_files, struct profile **ret_profile)
{
	struct merge merge = {.all = builders[0],
			      .n_maps = n,
			      .maps = calloc(n, sizeof(*merge.maps)),
			      .files = files,
			      .n_files = n_files,
			      .profile = profile_new()};
	int r = merge.maps && merge.profile ? run(&merge, builders) : -ENOMEM;

	if (r == 0) {
		*ret_profile = merge.profile;
		merge.profile = NULL;
	}
	release(&merge);
	return r;
}
