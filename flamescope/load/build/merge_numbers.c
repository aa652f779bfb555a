/* merge_numbers.c - numbers by first use: the same text always gives the same profile */
#include "flamescope/load/build/internal.h"
#include "flamescope/text/text.h"

#include <errno.h>

struct numbers {
	const struct uniques *from;
	const struct merge *merge;
	struct profile *profile;
	uint32_t *strings, *frames, *nodes, *threads; /* new numbers by old ones */
	size_t bytes;                                 /* of the strings that are used */
	uint32_t *used;                               /* old strings by new number */
};

static uint32_t *none(size_t n)
{
	uint32_t *numbers = malloc((n + 1) * sizeof(*numbers));

	if (numbers)
		memset(numbers, 0xff, (n + 1) * sizeof(*numbers));
	return numbers;
}

static uint32_t use_string(struct numbers *numbers, uint32_t old)
{
	if (numbers->strings[old] == NUMBER_NONE) {
		numbers->used[numbers->profile->n_strings] = old;
		numbers->strings[old] = (uint32_t)numbers->profile->n_strings++;
		numbers->bytes += strlen(uniques_text(numbers->from, old)) + 1;
	}
	return numbers->strings[old];
}

static uint32_t use_frame(struct numbers *numbers, uint32_t old)
{
	struct profile *p = numbers->profile;

	if (numbers->frames[old] == NUMBER_NONE) {
		struct profile_frame frame = numbers->from->frames[old].frame;

		frame.name = use_string(numbers, frame.name);
		frame.module = use_string(numbers, frame.module);
		numbers->frames[old] = (uint32_t)p->n_frames;
		p->frames[p->n_frames++] = frame;
	}
	return numbers->frames[old];
}

/* Callers before callees; no stack is deeper than what the readers keep. */
static uint32_t use_node(struct numbers *numbers, uint32_t old)
{
	struct profile *p = numbers->profile;

	uint32_t path[PERF_TEXT_MAX_FRAMES];

	while (numbers->nodes[old] == NUMBER_NONE) {
		size_t n = 0;

		for (uint32_t at = old; numbers->nodes[at] == NUMBER_NONE;
		     at = numbers->from->nodes[at].parent) {
			if (n == PERF_TEXT_MAX_FRAMES)
				n = 0; /* deeper than readers keep: the outermost go first */
			path[n++] = at;
		}
		while (n) {
			const struct profile_node *node = &numbers->from->nodes[path[--n]];

			p->nodes[p->n_nodes].parent = numbers->nodes[node->parent];
			p->nodes[p->n_nodes].frame = use_frame(numbers, node->frame);
			numbers->nodes[path[n]] = (uint32_t)p->n_nodes++;
		}
	}
	return numbers->nodes[old];
}

static uint32_t use_thread(struct numbers *numbers, struct number_table *table, uint32_t old)
{
	const struct unique_thread *from = &numbers->from->threads[old];
	struct profile *p = numbers->profile;
	struct profile_thread thread = {.pid = from->pid, .tid = from->tid};
	struct text_hash key;
	uint32_t number = numbers->threads[old];

	if (number != NUMBER_NONE)
		return number;
	thread.comm = use_string(numbers, from->comm);
	thread.host = use_string(numbers, numbers->merge->files[from->file].facts.text[WORD_HOST]);
	key = text_hash_pair((uint64_t)thread.comm << 32 | thread.host,
			     (uint64_t)(uint32_t)thread.pid << 32 | (uint32_t)thread.tid);
	number = number_table_get(table, key);
	if (number == NUMBER_NONE) {
		number = (uint32_t)p->n_threads;
		if (number_table_put(table, numbers->from->budget, key, number) < 0)
			return 0;
		p->thread_list[p->n_threads++] = thread;
	}
	numbers->threads[old] = number;
	return number;
}

static void number_samples(struct numbers *numbers)
{
	struct profile *p = numbers->profile;
	struct number_table threads = {0};

	for (size_t i = 0; i < p->n_samples; i++) {
		p->threads[i] = use_thread(numbers, &threads, p->threads[i]);
		p->stacks[i] = use_node(numbers, p->stacks[i]);
	}
	number_table_release(&threads);
}

static void number_events(struct numbers *numbers)
{
	struct profile *p = numbers->profile;
	uint8_t events[PROFILE_MAX_EVENTS + 1];

	memset(events, 0xff, sizeof(events));
	for (size_t i = 0; i < p->n_samples; i++) {
		uint8_t old = p->events[i];

		if (events[old] == 0xff) {
			events[old] = (uint8_t)p->n_events;
			p->event_names[p->n_events++] =
				use_string(numbers, numbers->merge->all->event_names[old]);
		}
		p->events[i] = events[old];
	}
}

static int number_tag(struct numbers *numbers, const struct builder_tag *from,
		      struct profile_tag *tag)
{
	struct profile *p = numbers->profile;
	uint32_t *codes = none(from->n_values);

	tag->values = profile_alloc(p, from->n_values + 1, sizeof(*tag->values));
	if (!codes || !tag->values) {
		free(codes);
		return -ENOMEM;
	}
	tag->name = use_string(numbers, tag->name);
	tag->n_values = 1;
	codes[0] = 0;
	for (size_t i = 0; i < p->n_samples; i++) {
		uint32_t old = tag->codes[i];

		if (old == PROFILE_TAG_OTHER)
			continue;
		if (codes[old] == NUMBER_NONE) {
			codes[old] = tag->n_values;
			tag->values[tag->n_values++] = use_string(numbers, from->values[old]);
		}
		tag->codes[i] = codes[old];
	}
	free(codes);
	return 0;
}

/* The tag that became the profile's number I. */
static const struct builder_tag *tag_at(const struct merge *merge, size_t i)
{
	size_t old = 0;

	while (merge->tag_of[old] != i)
		old++;
	return &merge->all->tags[old];
}

static int number_words(struct numbers *numbers)
{
	struct profile *p = numbers->profile;
	int r = 0;

	p->command = use_string(numbers, p->command);
	p->captured = use_string(numbers, p->captured);
	number_events(numbers);
	for (size_t i = 0; i < p->n_tags && r == 0; i++)
		r = number_tag(numbers, tag_at(numbers->merge, i), &p->tags[i]);
	for (size_t i = 0; i < p->n_metrics; i++) {
		p->metrics[i].name = use_string(numbers, p->metrics[i].name);
		p->metrics[i].unit = use_string(numbers, p->metrics[i].unit);
	}
	return r;
}

static int copy_strings(struct numbers *numbers)
{
	struct profile *p = numbers->profile;
	char *bytes = profile_alloc(p, numbers->bytes, 1);

	p->strings = profile_alloc(p, p->n_strings, sizeof(*p->strings));
	if (!bytes || !p->strings)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_strings; i++) {
		const char *text = uniques_text(numbers->from, numbers->used[i]);
		size_t size = strlen(text) + 1;

		memcpy(bytes, text, size);
		p->strings[i] = bytes;
		bytes += size;
	}
	return 0;
}

static int run(struct numbers *numbers)
{
	const struct uniques *from = numbers->from;
	struct profile *p = numbers->profile;
	int r;

	p->frames = profile_alloc(p, from->n_frames, sizeof(*p->frames));
	p->nodes = profile_alloc(p, from->n_nodes, sizeof(*p->nodes));
	p->thread_list = profile_alloc(p, from->n_threads, sizeof(*p->thread_list));
	if (!p->frames || !p->nodes || !p->thread_list || !numbers->strings || !numbers->used ||
	    !numbers->frames || !numbers->nodes || !numbers->threads)
		return -ENOMEM;
	(void)use_string(numbers, 0);
	numbers->nodes[0] = 0;
	p->n_nodes = 1;
	r = number_words(numbers);
	if (r < 0)
		return r;
	number_samples(numbers);
	return copy_strings(numbers);
}

int merge_numbers(struct merge *merge)
{
	const struct uniques *from = &merge->all->uniques;
	struct numbers numbers = {.from = from,
				  .merge = merge,
				  .profile = merge->profile,
				  .strings = none(from->n_strings),
				  .used = none(from->n_strings),
				  .frames = none(from->n_frames),
				  .nodes = none(from->n_nodes),
				  .threads = none(from->n_threads)};
	int r = run(&numbers);

	free(numbers.strings);
	free(numbers.used);
	free(numbers.frames);
	free(numbers.nodes);
	free(numbers.threads);
	return r;
}
