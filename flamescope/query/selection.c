/* selection.c - what a query takes out of a profile: samples, their values and their stacks */
#include "flamescope/query/query.h"

#include "flamescope/query/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Samples [begin, end), which are in all the ranges whose bit is set. */
struct time_span {
	size_t begin;
	size_t end;
	uint64_t ranges;
	bool tested; /* none of the ranges takes all of them */
};

/* Spans are ascending and do not overlap, so that nothing counts twice. */
struct time_spans {
	const struct profile *profile;
	const struct query *query;
	uint64_t shift_ns; /* from the whole second to the profile's start */
	size_t n;
	struct time_span spans[2 * QUERY_MAX_RANGES];
	size_t n_samples; /* in all of them, before their rows are checked */
};

static const uint64_t second_ns = 1000000000;

struct bounds {
	size_t begin;
	size_t end;
};

static size_t first_at(const struct profile *profile, uint64_t time_ns)
{
	size_t low = 0;
	size_t high = profile->n_samples;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (profile->times_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_places(const void *left, const void *right)
{
	size_t a = *(const size_t *)left;
	size_t b = *(const size_t *)right;

	return (a > b) - (a < b);
}

static bool in_rows(const struct query_every *every, uint64_t time_ns)
{
	uint64_t offset;

	if (every->every_ns == 0)
		return true;
	offset = time_ns % every->every_ns;
	return offset >= every->from_ns && offset < every->to_ns;
}

/* The samples between two neighbouring bounds of ranges are all in the same ranges. */
static void add_span(struct time_spans *spans, const struct bounds *bounds, size_t begin,
		     size_t end)
{
	struct time_span span = {.begin = begin, .end = end, .tested = true};

	for (size_t i = 0; i < spans->query->n_ranges; i++) {
		if (begin < bounds[i].begin || end > bounds[i].end)
			continue;
		span.ranges |= (uint64_t)1 << i;
		if (spans->query->ranges[i].every.every_ns == 0)
			span.tested = false;
	}
	if (span.ranges == 0)
		return;
	spans->n_samples += end - begin;
	spans->spans[spans->n++] = span;
}

/* Find a query's times (by halving: samples are in the order of time). */
static void time_spans_init(struct time_spans *spans, const struct profile *profile,
			    const struct query *query)
{
	struct bounds bounds[QUERY_MAX_RANGES] = {0};
	size_t places[2 * QUERY_MAX_RANGES] = {0};
	size_t n = query->n_ranges;

	*spans = (struct time_spans){.profile = profile, .query = query};
	spans->shift_ns = profile->start_ns % second_ns;
	if (n == 0) {
		spans->spans[spans->n++] = (struct time_span){.end = profile->n_samples};
		spans->n_samples = profile->n_samples;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		places[2 * i] = bounds[i].begin = first_at(profile, query->ranges[i].from_ns);
		places[2 * i + 1] = bounds[i].end =
			query->ranges[i].to_ns == UINT64_MAX
				? profile->n_samples
				: first_at(profile, query->ranges[i].to_ns);
	}
	qsort(places, 2 * n, sizeof(places[0]), compare_places);
	for (size_t i = 0; i + 1 < 2 * n; i++) {
		if (places[i] < places[i + 1])
			add_span(spans, bounds, places[i], places[i + 1]);
	}
}

/* Whether a sample of a span is in the rows of the query and of a range. */
static bool time_spans_take(const struct time_spans *spans, const struct time_span *span,
			    size_t sample)
{
	uint64_t time_ns = spans->profile->times_ns[sample] + spans->shift_ns;
	uint64_t ranges = span->ranges;

	if (!in_rows(&spans->query->every, time_ns))
		return false;
	for (; span->tested && ranges != 0; ranges &= ranges - 1) {
		size_t range = (size_t)__builtin_ctzll(ranges);

		if (in_rows(&spans->query->ranges[range].every, time_ns))
			return true;
	}
	return !span->tested;
}

/* A filter once its pattern has been matched against each of the dimension's values. */
struct value_filter {
	struct dimension dimension;
	uint8_t *passes;
};

struct selection_memory {
	struct stack_rules rules;
	struct stack_groups groups;
	struct profile_node root; /* of a selection without a tree */
	struct wall_time time;    /* of one with spans */
};

/* A query while it is run. */
struct run {
	const struct profile *profile;
	const struct query *query;
	struct selection *selection;
	struct time_spans times;
	struct idle idle;
	size_t n_filters;
	struct value_filter filters[QUERY_MAX_PATTERNS];
	struct period period;
	uint64_t last_weight; /* many in a row are the same */
	int64_t last_value;
	const int64_t *column;        /* of the metric; NULL: samples or their periods */
	struct selection_span *spans; /* of all samples; NULL: they are moments */
};

static void release_filters(struct run *run)
{
	for (size_t i = 0; i < run->n_filters; i++) {
		dimension_release(&run->filters[i].dimension);
		free(run->filters[i].passes);
	}
}

static int match_values(struct value_filter *filter, const struct query_filter *query,
			struct err *err)
{
	const struct dimension *dimension = &filter->dimension;
	struct matcher *matcher = NULL;
	int r;

	filter->passes = calloc(dimension->n_values + 1, 1);
	if (!filter->passes)
		return err_set(err, ENOMEM, "a filter");
	r = matcher_new(query->pattern, &matcher, err);
	for (size_t i = 0; r >= 0 && i < dimension->n_values; i++) {
		const char *label = dimension->labels[i];

		r = *query->pattern ? matcher_matches(matcher, label, err) : *label == '\0';
		if (r >= 0)
			filter->passes[i] = (r > 0) != query->exclude;
	}
	matcher_free(matcher);
	return r < 0 ? r : 0;
}

static int make_filters(struct run *run, struct err *err)
{
	const struct query *query = run->query;
	int r = 0;

	if (query->n_filters > QUERY_MAX_PATTERNS) {
		(void)err_set(err, 0, "more than %d filters", QUERY_MAX_PATTERNS);
		return -E2BIG;
	}
	for (size_t i = 0; r == 0 && i < query->n_filters; i++) {
		struct value_filter *filter = &run->filters[i];

		r = dimension_init(&filter->dimension, run->profile, query->filters[i].dimension,
				   run->selection->delta_metric, err);
		run->n_filters = i + 1;
		if (r == 0)
			r = match_values(filter, &query->filters[i], err);
	}
	return r;
}

static bool passes_event(const struct run *run, size_t event)
{
	for (size_t i = 0; i < run->n_filters; i++) {
		const struct value_filter *filter = &run->filters[i];

		if (strcmp(run->query->filters[i].dimension, "event") == 0 &&
		    !filter->passes[filter->dimension.value_of[event]])
			return false;
	}
	return true;
}

/* Numbers of different events mean different things: they are not added up. */
static void choose_event(struct run *run)
{
	const struct profile *profile = run->profile;
	uint32_t event = 0;

	run->selection->event = SELECTION_EVERY_EVENT;
	if (run->query->every_event || profile->n_events < 2)
		return;
	for (size_t i = 0; i < run->query->n_groups; i++)
		if (strcmp(run->query->groups[i], "event") == 0)
			return;
	while (event < profile->n_events && !passes_event(run, event))
		event++;
	run->selection->event = event;
}

static int find_measure(struct run *run, struct err *err)
{
	const struct profile *profile = run->profile;
	const struct query *query = run->query;
	struct selection *selection = run->selection;

	run->period = period_of(profile, selection->event);
	selection->measure = query->has_measure       ? query->measure
			     : run->period.is_default ? QUERY_WEIGHT
						      : QUERY_SAMPLES;
	selection->unit = selection->measure == QUERY_WEIGHT ? run->period.unit : "samples";
	selection->noun = selection->measure == QUERY_WEIGHT ? run->period.noun : "";
	if (selection->measure == QUERY_SAMPLES || selection->measure == QUERY_WEIGHT)
		return 0;
	for (size_t i = 0; query->metric && i < profile->n_metrics; i++) {
		const struct profile_metric *metric = &profile->metrics[i];
		bool levels = selection->measure == QUERY_VALUE || selection->measure == QUERY_MEAN;

		if (strcmp(profile->strings[metric->name], query->metric) != 0)
			continue;
		run->column = levels ? metric->values : metric->deltas;
		selection->unit = profile->strings[metric->unit];
		if (selection->delta_metric) /* the query may go, the profile stays */
			selection->delta_metric = profile->strings[metric->name];
		return 0;
	}
	return missing_metric(profile, query->metric ? query->metric : "", err);
}

/* Where the weights are wall time, and their share in the time of the query can be told. */
static int find_spans(struct run *run, struct err *err)
{
	struct selection *selection = run->selection;

	if (selection->measure != QUERY_WEIGHT || !run->period.is_wall ||
	    !wall_time_init(&selection->memory->time, run->profile, run->query))
		return 0;
	if (wall_spans(run->profile, selection->event, &run->period, &run->spans) < 0)
		return err_set(err, ENOMEM, "a selection");
	return 0;
}

static bool has_all_time(const struct run *run)
{
	return run->query->n_ranges == 0 && run->query->every.every_ns == 0;
}

/* A sample that stands for nothing is where its span is. */
static bool is_in_time(const struct run *run, size_t sample)
{
	struct selection_span span = run->spans[sample];

	if (span.from_ns == span.to_ns)
		span.to_ns++;
	return wall_time_within(&run->selection->memory->time, span) > 0;
}

static int64_t value_of_weight(struct run *run, uint64_t weight)
{
	if (weight != run->last_weight) {
		run->last_weight = weight;
		run->last_value = period_value(&run->period, weight);
	}
	return run->last_value;
}

/* By the measure; the sample has a value. */
static int64_t value_of(struct run *run, size_t sample)
{
	int64_t value = run->column ? run->column[sample] : 0;

	if (run->spans && !has_all_time(run))
		return wall_time_within(&run->selection->memory->time, run->spans[sample]);
	switch (run->selection->measure) {
	case QUERY_SAMPLES:
		return 1;
	case QUERY_WEIGHT:
		return value_of_weight(run, run->profile->weights[sample]);
	case QUERY_GAIN:
		return value > 0 ? value : 0;
	case QUERY_LOSS:
		return value < 0 ? -value : 0;
	case QUERY_VALUE:
	case QUERY_MEAN:
	case QUERY_DELTA:
		break;
	}
	return value;
}

static bool passes_filters(struct run *run, size_t sample)
{
	struct selection *selection = run->selection;

	for (size_t i = 0; i < run->n_filters; i++) {
		const struct value_filter *filter = &run->filters[i];

		if (!filter->passes[dimension_value(&filter->dimension, sample)])
			return false;
	}
	if (selection->event != SELECTION_EVERY_EVENT &&
	    run->profile->events[sample] != selection->event) {
		selection->n_others++;
		return false;
	}
	if (idle_has(&run->idle, run->profile, sample)) {
		selection->n_idle++;
		return false;
	}
	return true;
}

static int no_room(int r, struct err *err)
{
	(void)err_set(err, -r, "the stacks of all groups");
	if (r == -E2BIG)
		err_hint(err, "groups of fewer values, or a shorter time");
	return r;
}

static int take_sample(struct run *run, size_t sample, struct err *err)
{
	struct selection *selection = run->selection;
	struct selection_memory *memory = selection->memory;
	uint32_t node;
	int64_t value;
	int r = stack_rules_apply(&memory->rules, run->profile->stacks[sample], &node, err);

	if (r <= 0)
		return r;
	if (run->column && run->column[sample] == PROFILE_ABSENT) {
		selection->n_absent++;
		return 0;
	}
	if (memory->groups.n > 0) {
		r = stack_groups_place(&memory->groups,
				       memory->rules.remade ? memory->rules.tree.nodes
							    : run->profile->nodes,
				       node, sample, &node);
		if (r < 0)
			return no_room(r, err);
	}
	value = value_of(run, sample);
	selection->is_signed |= value < 0;
	if (run->spans)
		selection->spans[selection->n] = run->spans[sample];
	selection->samples[selection->n] = (uint32_t)sample;
	selection->stacks[selection->n] = node;
	selection->values[selection->n++] = value;
	return 0;
}

static int make_columns(struct run *run, size_t n, struct err *err)
{
	struct selection *selection = run->selection;

	selection->samples = malloc(n * sizeof(*selection->samples));
	selection->stacks = malloc(n * sizeof(*selection->stacks));
	selection->values = malloc(n * sizeof(*selection->values));
	if (run->spans)
		selection->spans = malloc(n * sizeof(*selection->spans));
	if (!selection->samples || !selection->stacks || !selection->values ||
	    (run->spans && !selection->spans))
		return err_set(err, ENOMEM, "a selection");
	return 0;
}

/* Of wall time: those of which some is in the query's. */
static int take_spans(struct run *run, struct err *err)
{
	int r = make_columns(run, run->profile->n_samples + 1, err);

	for (size_t sample = 0; r == 0 && sample < run->profile->n_samples; sample++)
		if ((has_all_time(run) || is_in_time(run, sample)) && passes_filters(run, sample))
			r = take_sample(run, sample, err);
	return r;
}

static int take_samples(struct run *run, struct err *err)
{
	int r = make_columns(run, run->times.n_samples + 1, err);

	for (size_t i = 0; r == 0 && i < run->times.n; i++) {
		const struct time_span *span = &run->times.spans[i];
		bool all = !span->tested && run->query->every.every_ns == 0;

		for (size_t sample = span->begin; r == 0 && sample < span->end; sample++) {
			if (!all && !time_spans_take(&run->times, span, sample))
				continue;
			if (passes_filters(run, sample))
				r = take_sample(run, sample, err);
		}
	}
	return r;
}

/* Which tree the stacks are of, now that no more is added to any. */
static void show_tree(struct selection *selection)
{
	struct selection_memory *memory = selection->memory;

	if (memory->groups.n > 0) {
		selection->nodes = memory->groups.tree.nodes;
		selection->n_nodes = memory->groups.tree.n;
	} else if (memory->rules.remade) {
		selection->nodes = memory->rules.tree.nodes;
		selection->n_nodes = memory->rules.tree.n;
	} else {
		selection->nodes = selection->profile->nodes;
		selection->n_nodes = selection->profile->n_nodes;
	}
	if (selection->n_nodes == 0) {
		selection->nodes = &memory->root;
		selection->n_nodes = 1;
	}
	selection->labels = memory->groups.labels;
	selection->n_labels = memory->groups.n_labels;
}

static int run_query(struct run *run, struct err *err)
{
	struct selection_memory *memory = run->selection->memory;
	int r;

	if (run->query->n_ranges > QUERY_MAX_RANGES) {
		(void)err_set(err, 0, "more than %d time ranges", QUERY_MAX_RANGES);
		return -E2BIG;
	}
	time_spans_init(&run->times, run->profile, run->query);
	run->selection->delta_metric = query_delta_metric(run->query);
	r = make_filters(run, err);
	if (r == 0) {
		choose_event(run);
		r = find_measure(run, err);
	}
	if (r == 0)
		r = find_spans(run, err);
	if (r == 0 && !run->query->idle && idle_init(&run->idle, run->profile) < 0)
		r = err_set(err, ENOMEM, "a selection");
	if (r == 0)
		r = stack_rules_init(&memory->rules, run->profile, run->query, err);
	if (r == 0)
		r = stack_groups_init(&memory->groups, run->profile, run->query, err);
	if (r == 0)
		r = run->spans ? take_spans(run, err) : take_samples(run, err);
	return r;
}

struct selection *selection_new(const struct profile *profile)
{
	struct selection *selection = calloc(1, sizeof(*selection));

	if (!selection)
		return NULL;
	selection->profile = profile;
	selection->memory = calloc(1, sizeof(*selection->memory));
	if (selection->memory)
		return selection;
	free(selection);
	return NULL;
}

int selection_labels(struct selection *selection, char *const *labels, size_t n)
{
	struct stack_groups *groups = &selection->memory->groups;

	groups->labels = calloc(n + 1, sizeof(*groups->labels));
	for (size_t i = 0; groups->labels && i < n; i++) {
		groups->labels[i] = strdup(labels[i]);
		if (!groups->labels[i])
			return -ENOMEM;
		groups->n_labels++;
	}
	selection->labels = groups->labels;
	selection->n_labels = groups->n_labels;
	return groups->labels ? 0 : -ENOMEM;
}

void selection_tree(struct selection *selection, const struct stack_tree *tree)
{
	selection->memory->rules.tree = *tree;
	selection->nodes = tree->nodes;
	selection->n_nodes = tree->n;
}

int selection_make(const struct profile *profile, const struct query *query,
		   struct selection **ret_selection, struct err *err)
{
	struct selection *selection = selection_new(profile);
	struct run run = {.profile = profile, .query = query, .selection = selection};
	int r;

	if (!selection)
		return err_set(err, ENOMEM, "a selection");
	r = run_query(&run, err);
	release_filters(&run);
	idle_release(&run.idle);
	free(run.spans);
	if (r < 0) {
		selection_free(selection);
		return r;
	}
	if (selection->measure == QUERY_DELTA)
		selection->is_signed = true;
	show_tree(selection);
	*ret_selection = selection;
	return 0;
}

const char *selection_frame_name(const struct selection *selection, uint32_t frame)
{
	const struct profile *profile = selection->profile;

	if (frame < profile->n_frames)
		return profile->strings[profile->frames[frame].name];
	frame -= (uint32_t)profile->n_frames;
	return frame < selection->n_labels ? selection->labels[frame] : "";
}

int64_t selection_time(const struct selection *selection, struct selection_span span)
{
	return wall_time_within(&selection->memory->time, span);
}

void selection_same_time(struct selection *to, const struct selection *from)
{
	to->memory->time = from->memory->time;
}

void selection_free(struct selection *selection)
{
	if (!selection)
		return;
	if (selection->memory) {
		stack_rules_release(&selection->memory->rules);
		stack_groups_release(&selection->memory->groups);
	}
	free(selection->memory);
	free(selection->samples);
	free(selection->stacks);
	free(selection->values);
	free(selection->spans);
	free(selection);
}
