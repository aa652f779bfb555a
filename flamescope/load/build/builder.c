/* builder.c - samples to columns */
#include "flamescope/load/build/builder.h"

struct builder *builder_new(struct budget *budget)
{
	struct builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return NULL;
	uniques_init(&builder->uniques, budget);
	builder_start_file(builder, 0);
	return builder;
}

void builder_free(struct builder *builder)
{
	if (!builder)
		return;
	uniques_release(&builder->uniques);
	for (size_t i = 0; i < builder->n_tags; i++) {
		number_table_release(&builder->tags[i].table);
		free(builder->tags[i].values);
		free(builder->tags[i].codes.values);
	}
	for (size_t i = 0; i < builder->n_metrics; i++) {
		free(builder->metrics[i].values.values);
		free(builder->metrics[i].deltas.values);
	}
	free(builder->times);
	free(builder->threads);
	free(builder->stacks);
	free(builder->weights);
	free(builder->cpus);
	free(builder->events);
	free(builder->segments);
	free(builder);
}

void builder_start_file(struct builder *builder, uint32_t file)
{
	builder->file = file;
	builder->facts = (struct builder_facts){.wick_at = UINT64_MAX};
	for (size_t i = 0; i < N_BUILDER_WORDS; i++)
		builder->facts.at[i] = UINT64_MAX;
}

void builder_start_segment(struct builder *builder, uint64_t at)
{
	struct budget *budget = builder->uniques.budget;
	size_t max = builder->max_segments;

	if (!builder->segments || builder->n_segments == max) {
		size_t more = max ? 2 * max : 64;
		struct segment *segments =
			budget_grow(budget, builder->segments, max, more, sizeof(*segments));

		if (!segments)
			return;
		builder->segments = segments;
		builder->max_segments = more;
	}
	builder->segments[builder->n_segments++] =
		(struct segment){.at = at, .first = builder->n_samples};
}

void builder_rate(struct builder *builder, uint64_t hz, uint64_t at)
{
	size_t before = builder->n_segments;
	struct segment *last = before ? &builder->segments[before - 1] : NULL;

	if (!last || last->n > 0) {
		builder_start_segment(builder, at);
		if (builder->n_segments == before)
			return;
		last = &builder->segments[before];
	}
	last->hz = hz;
}

static bool grow_one(struct budget *budget, void **array, size_t old, size_t max, size_t size)
{
	void *grown = budget_grow(budget, *array, old, max, size);

	if (grown)
		*array = grown;
	return grown != NULL;
}

static bool grow_samples(struct builder *builder)
{
	struct budget *budget = builder->uniques.budget;
	size_t old = builder->max_samples;
	size_t max = old ? 2 * old : 1024;

	if (builder->n_samples < old)
		return true;
	if (!grow_one(budget, (void **)&builder->times, old, max, sizeof(*builder->times)) ||
	    !grow_one(budget, (void **)&builder->threads, old, max, sizeof(*builder->threads)) ||
	    !grow_one(budget, (void **)&builder->stacks, old, max, sizeof(*builder->stacks)) ||
	    !grow_one(budget, (void **)&builder->weights, old, max, sizeof(*builder->weights)) ||
	    !grow_one(budget, (void **)&builder->cpus, old, max, sizeof(*builder->cpus)) ||
	    !grow_one(budget, (void **)&builder->events, old, max, sizeof(*builder->events)))
		return false;
	builder->max_samples = max;
	return true;
}

static void column_set(struct column *column, size_t index, uint64_t value)
{
	if (column->size == sizeof(uint32_t))
		((uint32_t *)column->values)[index] = (uint32_t)value;
	else
		((uint64_t *)column->values)[index] = value;
}

void column_put(struct column *column, struct budget *budget, size_t index, uint64_t value)
{
	if (index >= column->max) {
		size_t max = 2 * index + 1024;
		void *values = budget_grow(budget, column->values, column->max, max, column->size);

		if (!values)
			return;
		column->values = values;
		column->max = max;
	}
	while (column->n < index)
		column_set(column, column->n++, column->empty);
	column_set(column, index, value);
	column->n = index + 1;
}

static uint32_t string_of(struct builder *builder, const char *text)
{
	return uniques_string(&builder->uniques, text, strlen(text));
}

size_t builder_tag(struct builder *builder, const char *name, struct place place)
{
	uint32_t string = string_of(builder, name);
	size_t i = 0;

	while (i < builder->n_tags && builder->tags[i].name != string)
		i++;
	if (i < builder->n_tags || i == PROFILE_MAX_TAGS) {
		builder->overflow |= i == PROFILE_MAX_TAGS;
		return i;
	}
	builder->tags[builder->n_tags++] = (struct builder_tag){
		.name = string, .first = place, .codes = {.size = sizeof(uint32_t)}};
	return i;
}

uint32_t builder_tag_code(struct builder *builder, struct builder_tag *tag, const char *value)
{
	struct budget *budget = builder->uniques.budget;
	uint32_t string = string_of(builder, value);
	struct text_hash key = text_hash_pair(string, 0);
	uint32_t code = number_table_get(&tag->table, key);

	if (code != NUMBER_NONE || string == 0)
		return string == 0 ? 0 : code;
	if (tag->n_values == 0)
		tag->n_values = 1;
	if (tag->n_values == PROFILE_MAX_TAG_VALUES) {
		builder->overflow = true;
		return PROFILE_TAG_OTHER;
	}
	if (tag->n_values >= tag->max_values) {
		size_t max = tag->max_values ? 2 * tag->max_values : 16;
		uint32_t *values =
			budget_grow(budget, tag->values, tag->max_values, max, sizeof(*values));

		if (!values)
			return 0;
		values[0] = 0;
		tag->values = values;
		tag->max_values = max;
	}
	if (number_table_put(&tag->table, budget, key, (uint32_t)tag->n_values) < 0)
		return 0;
	tag->values[tag->n_values] = string;
	return (uint32_t)tag->n_values++;
}

static void put_tag(struct builder *builder, const char *name, const char *value,
		    struct place place)
{
	size_t i = value ? builder_tag(builder, name, place) : PROFILE_MAX_TAGS;

	if (i < PROFILE_MAX_TAGS)
		column_put(&builder->tags[i].codes, builder->uniques.budget, builder->n_samples,
			   builder_tag_code(builder, &builder->tags[i], value));
}

struct builder_metric *builder_metric(struct builder *builder, const char *name, size_t len,
				      struct place place)
{
	uint32_t string = uniques_string(&builder->uniques, name, len);
	size_t i = 0;

	while (i < builder->n_metrics && builder->metrics[i].name != string)
		i++;
	if (i == PROFILE_MAX_METRICS) {
		builder->overflow = true;
		return NULL;
	}
	if (i == builder->n_metrics)
		builder->metrics[builder->n_metrics++] = (struct builder_metric){
			.name = string,
			.first = place,
			.declared.at = UINT64_MAX,
			.values = {.size = sizeof(uint64_t), .empty = (uint64_t)PROFILE_ABSENT},
			.deltas = {.size = sizeof(uint64_t), .empty = (uint64_t)PROFILE_ABSENT}};
	return &builder->metrics[i];
}

static void put_metrics(struct builder *builder, const struct perf_facts *facts, uint64_t at)
{
	struct budget *budget = builder->uniques.budget;

	for (size_t i = 0; i < facts->n_metrics; i++) {
		const struct perf_metric *metric = &facts->metrics[i];
		struct builder_metric *column =
			builder_metric(builder, metric->name, strlen(metric->name),
				       (struct place){.at = at, .word = (uint32_t)i});

		if (!column || column->values.n > builder->n_samples)
			continue; /* said twice: the first counts */
		column->inlined |= facts->from_head;
		column_put(&column->values, budget, builder->n_samples, (uint64_t)metric->value);
		column_put(&column->deltas, budget, builder->n_samples, (uint64_t)metric->delta);
	}
}

static void put_facts(struct builder *builder, const struct builder_sample *sample)
{
	const struct perf_facts *facts = sample->facts;
	const char *state = facts->state;

	/* in the inline dialect the header line begins with the state */
	if (facts->from_head && !state)
		state = sample->head->comm;
	put_tag(builder, "state", state, (struct place){.at = sample->at});
	put_tag(builder, "wait", facts->wait, (struct place){.at = sample->at});
	put_tag(builder, "on", facts->object, (struct place){.at = sample->at});
	for (size_t i = 0; i < facts->n_words; i++)
		put_tag(builder, facts->words[i].name, facts->words[i].value,
			(struct place){.at = sample->at,
				       .word = PERF_LINE_MAX_METRICS + 1 + (uint32_t)i});
	put_metrics(builder, facts, sample->at);
	builder->facts.inlined |= facts->from_head;
}

uint8_t builder_event(struct builder *builder, const char *name)
{
	uint32_t string = string_of(builder, name);
	size_t i = 0;

	while (i < builder->n_events && builder->event_names[i] != string)
		i++;
	if (i < builder->n_events)
		return (uint8_t)i;
	if (i == PROFILE_MAX_EVENTS) {
		builder->overflow = true;
		return PROFILE_MAX_EVENTS - 1;
	}
	builder->event_names[builder->n_events++] = string;
	return (uint8_t)i;
}

void builder_add(struct builder *builder, const struct builder_sample *sample)
{
	const struct perf_head *head = sample->head;
	const char *full = sample->facts->comm;
	struct unique_thread thread = {
		.comm = string_of(builder, full && *full ? full : head->comm),
		.file = builder->file,
		.pid = (int32_t)head->pid,
		.tid = (int32_t)head->tid};
	size_t i = builder->n_samples;

	if (!grow_samples(builder) || builder->n_segments == 0)
		return;
	builder->times[i] = head->time_ns;
	builder->threads[i] = uniques_thread(&builder->uniques, &thread);
	builder->stacks[i] = sample->stack;
	builder->weights[i] = head->period;
	builder->cpus[i] = head->cpu >= 0 && head->cpu < PROFILE_CPU_UNKNOWN ? (uint16_t)head->cpu
									     : PROFILE_CPU_UNKNOWN;
	builder->events[i] = builder_event(builder, head->event);
	put_facts(builder, sample);
	builder->n_samples++;
	builder->segments[builder->n_segments - 1].n++;
}

uint32_t builder_frame(struct builder *builder, const struct perf_frame *frame, uint64_t at)
{
	struct profile_frame unique = {.name = string_of(builder, frame->name),
				       .module = string_of(builder, frame->module),
				       .inlined = frame->inlined,
				       .addr = frame->addr,
				       .offset = frame->has_offset ? frame->offset : 0};

	return uniques_frame(&builder->uniques, &unique, at);
}

uint32_t builder_stack(struct builder *builder, uint32_t parent, const uint32_t *frames, size_t n)
{
	while (n)
		parent = uniques_node(&builder->uniques, parent, frames[--n]);
	return parent;
}
