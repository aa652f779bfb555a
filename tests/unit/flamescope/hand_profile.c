/* hand_profile.c - profiles made by hand, sample by sample, for tests of what reads them */
#include "tests/unit/flamescope/hand_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_STRINGS = 256, MAX_FRAMES = 256, MAX_THREADS = 64, MAX_NODES = 300 * 1000 };

static void *must(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static uint32_t string_number(struct profile *profile, const char *text)
{
	for (size_t i = 0; i < profile->n_strings; i++) {
		if (strcmp(profile->strings[i], text) == 0)
			return (uint32_t)i;
	}
	if (profile->n_strings == MAX_STRINGS)
		abort();
	profile->strings[profile->n_strings] = must(strdup(text));
	return (uint32_t)profile->n_strings++;
}

static void add_tag(struct profile *profile, const char *name)
{
	struct profile_tag *tag = &profile->tags[profile->n_tags++];

	tag->name = string_number(profile, name);
	tag->values = must(calloc(MAX_STRINGS, sizeof(*tag->values)));
	tag->n_values = 1;
}

void hand_profile_init(struct hand_profile *hand, uint64_t start_ns)
{
	struct profile *profile = &hand->profile;

	memset(hand, 0, sizeof(*hand));
	profile->start_ns = start_ns;
	profile->has_times = true;
	profile->strings = must(calloc(MAX_STRINGS, sizeof(*profile->strings)));
	(void)string_number(profile, "");
	profile->frames = must(calloc(MAX_FRAMES, sizeof(*profile->frames)));
	profile->nodes = must(calloc(MAX_NODES, sizeof(*profile->nodes)));
	profile->n_nodes = 1;
	profile->thread_list = must(calloc(MAX_THREADS, sizeof(*profile->thread_list)));
	profile->event_names[0] = string_number(profile, "cpu-clock");
	profile->n_events = 1;
	add_tag(profile, "state");
	add_tag(profile, "wait");
	profile->n_metrics = 1;
	profile->metrics[0].name = string_number(profile, "bytes");
	profile->metrics[0].unit = string_number(profile, "B");
	if (pair_map_init(&hand->nodes) < 0)
		abort();
}

uint32_t hand_profile_frame(struct hand_profile *hand, const char *function)
{
	struct profile *profile = &hand->profile;
	uint32_t name = string_number(profile, function);

	for (size_t i = 0; i < profile->n_frames; i++) {
		if (profile->frames[i].name == name)
			return (uint32_t)i;
	}
	if (profile->n_frames == MAX_FRAMES)
		abort();
	profile->frames[profile->n_frames].name = name;
	return (uint32_t)profile->n_frames++;
}

static uint32_t child(struct hand_profile *hand, uint32_t parent, uint32_t frame)
{
	struct profile *profile = &hand->profile;
	uint32_t *node = must(pair_map_at(&hand->nodes, parent, frame));

	if (*node == 0) {
		if (profile->n_nodes == MAX_NODES)
			abort();
		*node = (uint32_t)profile->n_nodes;
		profile->nodes[profile->n_nodes].parent = parent;
		profile->nodes[profile->n_nodes++].frame = frame;
	}
	return *node;
}

uint32_t hand_profile_stack(struct hand_profile *hand, const char *function, size_t n)
{
	uint32_t frame = hand_profile_frame(hand, function);
	uint32_t node = 0;

	for (size_t i = 0; i < n; i++)
		node = child(hand, node, frame);
	return node;
}

static uint32_t stack_number(struct hand_profile *hand, const char *stack)
{
	char *copy = must(strdup(stack ? stack : ""));
	char *rest = copy;
	uint32_t node = 0;
	char *name;

	while ((name = strsep(&rest, ";")) != NULL && *name)
		node = child(hand, node, hand_profile_frame(hand, name));
	free(copy);
	return node;
}

static uint32_t thread_number(struct profile *profile, const struct hand_sample *sample)
{
	struct profile_thread thread = {
		.comm = string_number(profile, sample->comm ? sample->comm : "app"),
		.pid = sample->pid ? sample->pid : 1,
		.tid = sample->tid ? sample->tid : 1,
	};

	for (size_t i = 0; i < profile->n_threads; i++) {
		if (memcmp(&profile->thread_list[i], &thread, sizeof(thread)) == 0)
			return (uint32_t)i;
	}
	if (profile->n_threads == MAX_THREADS)
		abort();
	profile->thread_list[profile->n_threads] = thread;
	return (uint32_t)profile->n_threads++;
}

static uint32_t tag_code(struct profile *profile, struct profile_tag *tag, const char *value)
{
	uint32_t string = string_number(profile, value ? value : "");

	for (uint32_t i = 0; i < tag->n_values; i++) {
		if (tag->values[i] == string)
			return (uint32_t)i;
	}
	tag->values[tag->n_values] = string;
	return (uint32_t)tag->n_values++;
}

static void grow(struct hand_profile *hand)
{
	struct profile *profile = &hand->profile;
	size_t n = hand->size ? hand->size * 2 : 64;

	hand->size = n;
	profile->times_ns = must(realloc(profile->times_ns, n * sizeof(*profile->times_ns)));
	profile->threads = must(realloc(profile->threads, n * sizeof(*profile->threads)));
	profile->stacks = must(realloc(profile->stacks, n * sizeof(*profile->stacks)));
	profile->weights = must(realloc(profile->weights, n * sizeof(*profile->weights)));
	profile->cpus = must(realloc(profile->cpus, n * sizeof(*profile->cpus)));
	profile->events = must(realloc(profile->events, n));
	for (size_t i = 0; i < profile->n_tags; i++)
		profile->tags[i].codes =
			must(realloc(profile->tags[i].codes, n * sizeof(uint32_t)));
	profile->metrics[0].values = must(realloc(profile->metrics[0].values, n * 8));
	profile->metrics[0].deltas = must(realloc(profile->metrics[0].deltas, n * 8));
}

void hand_profile_add(struct hand_profile *hand, const struct hand_sample *sample)
{
	struct profile *profile = &hand->profile;
	size_t at = profile->n_samples;

	if (at == hand->size)
		grow(hand);
	profile->times_ns[at] = sample->time_ns;
	profile->length_ns = sample->time_ns;
	profile->threads[at] = thread_number(profile, sample);
	profile->stacks[at] = stack_number(hand, sample->stack);
	profile->weights[at] = sample->weight ? sample->weight : 1;
	profile->cpus[at] = sample->cpu;
	profile->events[at] = 0;
	profile->tags[0].codes[at] = tag_code(profile, &profile->tags[0], sample->state);
	profile->tags[1].codes[at] = tag_code(profile, &profile->tags[1], sample->wait);
	profile->metrics[0].values[at] = sample->measured ? sample->value : PROFILE_ABSENT;
	profile->metrics[0].deltas[at] = sample->measured ? sample->delta : PROFILE_ABSENT;
	profile->n_samples++;
}

int hand_profile_begin(void **state)
{
	struct hand_profile *hand = must(calloc(1, sizeof(*hand)));

	hand_profile_init(hand, 0);
	*state = hand;
	return 0;
}

int hand_profile_end(void **state)
{
	hand_profile_release(*state);
	free(*state);
	return 0;
}

struct selection *hand_profile_select(struct hand_profile *hand, const struct query *query)
{
	struct err err = {0};

	selection_free(hand->selection);
	hand->selection = NULL;
	if (selection_make(&hand->profile, query, &hand->selection, &err) < 0)
		fail_msg("%s", err.text);
	return hand->selection;
}

void hand_profile_release(struct hand_profile *hand)
{
	struct profile *profile = &hand->profile;

	selection_free(hand->selection);
	for (size_t i = 0; i < profile->n_strings; i++)
		free((void *)(uintptr_t)profile->strings[i]);
	for (size_t i = 0; i < profile->n_tags; i++) {
		free(profile->tags[i].values);
		free(profile->tags[i].codes);
	}
	free(profile->metrics[0].values);
	free(profile->metrics[0].deltas);
	free(profile->strings);
	free(profile->frames);
	free(profile->nodes);
	free(profile->thread_list);
	free(profile->times_ns);
	free(profile->threads);
	free(profile->stacks);
	free(profile->weights);
	free(profile->cpus);
	free(profile->events);
	pair_map_release(&hand->nodes);
}
