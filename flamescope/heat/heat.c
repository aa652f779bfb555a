/* heat.c - how much in which moment: a grid of cells */
#include "flamescope/heat/heat.h"

#include "base/saturated.h"
#include "flamescope/query/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENOUGH_SAMPLES = 4, /* in the mean of the cells that have any */
	FEW_SAMPLES = HEAT_FITTING_ROWS * ENOUGH_SAMPLES, /* of a whole recording */
	SHORT_SECONDS = 16,  /* what is longer has enough columns of a second */
	ENOUGH_COLUMNS = 28, /* of what is shorter: thirty, where it ended a little early */
};

static const uint64_t second_ns = 1000000000;

/* Milliseconds, of which those of less than a second divide it. */
#define MS(n) ((n)*UINT64_C(1000000))
static const uint64_t round_ns[] = {
	MS(1),       MS(2),       MS(5),        MS(10),       MS(20),     MS(50),     MS(100),
	MS(200),     MS(500),     MS(1000),     MS(2000),     MS(5000),   MS(10000),  MS(15000),
	MS(30000),   MS(60000),   MS(120000),   MS(300000),   MS(600000), MS(900000), MS(1800000),
	MS(3600000), MS(7200000), MS(21600000), MS(86400000),
};

/* A grid while it is filled. */
struct counting {
	const struct selection *selection;
	struct heat *heat;
	struct dimension dimension;
	uint32_t *row_of; /* of the dimension's values; NULL: rows are time */
	bool largest;     /* as options.largest */
};

/* A value of a dimension, and how much of the selection it has. */
struct ranked {
	uint32_t value;
	uint64_t samples;
	uint64_t amount;
};

static int64_t add_saturated(int64_t sum, int64_t value)
{
	int64_t result;

	if (!__builtin_add_overflow(sum, value, &result))
		return result;
	return value < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t times_saturated(int64_t value, uint32_t n)
{
	int64_t result;

	return __builtin_mul_overflow(value, (int64_t)n, &result) ? INT64_MAX : result;
}

static uint64_t add_amount(uint64_t sum, int64_t value)
{
	uint64_t amount = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	return saturated_add(sum, amount);
}

/* Most first; of equals the one that the profile knows first. */
static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;

	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->value > b->value) - (a->value < b->value);
}

static char *value_label(const struct dimension *dimension, uint32_t value)
{
	char *label = NULL;

	if (dimension->labels[value][0])
		return strdup(dimension->labels[value]);
	return asprintf(&label, "[no %s]", dimension->name) < 0 ? NULL : label;
}

/* Of one value; of all that there is no other row for; of none. */
static char *label_row(const struct counting *counting, const struct ranked *ranked, size_t n,
		       size_t row)
{
	char *label = NULL;

	if (n == 0)
		return strdup("");
	if (row + 1 < counting->heat->n_rows || !counting->heat->has_others)
		return value_label(&counting->dimension, ranked[row].value);
	return asprintf(&label, "[%zu others]", n - row) < 0 ? NULL : label;
}

/* The values that occur are the rows. */
static int label_rows(struct counting *counting, const struct ranked *ranked, size_t n_values,
		      size_t max_rows)
{
	struct heat *heat = counting->heat;
	size_t n = 0;

	while (n < n_values && ranked[n].samples > 0)
		n++;
	heat->n_rows = n > max_rows ? max_rows : n;
	heat->has_others = n > max_rows;
	if (heat->n_rows == 0)
		heat->n_rows = 1;
	heat->row_labels = calloc(heat->n_rows, sizeof(*heat->row_labels));
	if (!heat->row_labels)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		counting->row_of[ranked[i].value] =
			(uint32_t)(i < heat->n_rows ? i : heat->n_rows - 1);
	for (size_t i = 0; i < heat->n_rows; i++) {
		heat->row_labels[i] = label_row(counting, ranked, n, i);
		if (!heat->row_labels[i])
			return -ENOMEM;
	}
	return 0;
}

static int make_rows_of_values(struct counting *counting, const struct heat_options *options,
			       struct err *err)
{
	const struct selection *selection = counting->selection;
	struct dimension *dimension = &counting->dimension;
	struct ranked *ranked;
	size_t max_rows = options->n_rows ? options->n_rows : HEAT_MAX_ROWS;
	int r = dimension_init(dimension, selection->profile, options->by, selection->delta_metric,
			       err);

	if (r < 0)
		return r;
	ranked = calloc(dimension->n_values + 1, sizeof(*ranked));
	counting->row_of = calloc(dimension->n_values + 1, sizeof(*counting->row_of));
	if (!ranked || !counting->row_of) {
		free(ranked);
		return err_set(err, ENOMEM, "a heatmap");
	}
	for (size_t i = 0; i < dimension->n_values; i++)
		ranked[i].value = (uint32_t)i;
	for (size_t i = 0; i < selection->n; i++) {
		struct ranked *at = &ranked[dimension_value(dimension, selection->samples[i])];

		at->samples++;
		at->amount = add_amount(at->amount, selection->values[i]);
	}
	qsort(ranked, dimension->n_values, sizeof(*ranked), compare_ranked);
	r = label_rows(counting, ranked, dimension->n_values, max_rows);
	free(ranked);
	return r < 0 ? err_set(err, -r, "a heatmap") : 0;
}

/* A width that people count in, with which the time has room. */
static uint64_t wider_column(uint64_t length_ns, size_t n_rows)
{
	static const uint64_t seconds[] = {1, 10, 60, 600, 3600, 86400};
	uint64_t columns = HEAT_MAX_CELLS / n_rows;

	for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		if (length_ns / (seconds[i] * second_ns) < columns)
			return seconds[i];
	}
	return length_ns / second_ns / columns + 1;
}

static int make_cells(struct counting *counting, struct err *err)
{
	struct heat *heat = counting->heat;
	uint64_t length_ns = counting->heat->shift_ns + counting->selection->profile->length_ns;
	uint64_t last = length_ns / heat->column_ns;

	if (last >= HEAT_MAX_CELLS / heat->n_rows) {
		(void)err_set(err, 0, "a heatmap of %llu columns with %zu rows each",
			      (unsigned long long)last + 1, heat->n_rows);
		err_hint(err, "columns of %llu s",
			 (unsigned long long)wider_column(length_ns, heat->n_rows));
		return -E2BIG;
	}
	heat->n_columns = (size_t)last + 1;
	heat->values = calloc(heat->n_columns * heat->n_rows, sizeof(*heat->values));
	heat->samples = calloc(heat->n_columns * heat->n_rows, sizeof(*heat->samples));
	if (!heat->values || !heat->samples)
		return err_set(err, ENOMEM, "a heatmap");
	return 0;
}

static uint64_t row_ns(const struct heat *heat)
{
	return (heat->column_ns + heat->n_rows - 1) / heat->n_rows;
}

static void add_part(struct heat *heat, size_t cell, int64_t value, uint32_t samples)
{
	heat->values[cell] = add_saturated(heat->values[cell], value);
	heat->samples[cell] += samples;
}

/*
 * The cells of a thread in the order of time are places 0, 1, 2...: those of a column and then of
 * the next, or, where rows are values, those of one row.
 */
static size_t places_of_column(const struct counting *counting)
{
	return counting->row_of ? 1 : counting->heat->n_rows;
}

static size_t n_places(const struct counting *counting)
{
	return counting->heat->n_columns * places_of_column(counting);
}

/* When a place begins, in ns since the profile's start; the first has all that was before. */
static int64_t place_start(const struct counting *counting, size_t place)
{
	const struct heat *heat = counting->heat;
	const size_t n = places_of_column(counting);
	uint64_t offset = place % n * row_ns(heat);

	if (offset > heat->column_ns)
		offset = heat->column_ns; /* rows that are longer together have none at the end */
	return (int64_t)(place / n * heat->column_ns + offset - heat->shift_ns);
}

static size_t place_at(const struct counting *counting, int64_t time_ns)
{
	const struct heat *heat = counting->heat;
	const uint64_t since_ns = (uint64_t)time_ns + heat->shift_ns;

	if ((int64_t)since_ns < 0)
		return 0;
	if (counting->row_of)
		return (size_t)(since_ns / heat->column_ns);
	return (size_t)(since_ns / heat->column_ns * heat->n_rows +
			since_ns % heat->column_ns / row_ns(heat));
}

static int64_t time_between(const struct counting *counting, int64_t from_ns, int64_t to_ns)
{
	return selection_time(counting->selection, (struct selection_span){from_ns, to_ns});
}

/* COVERED: how many more samples have all of a cell than of the one before it. */
static void spread(struct counting *counting, size_t i, uint32_t *covered)
{
	const struct selection *selection = counting->selection;
	const struct selection_span span = selection->spans[i];
	struct heat *heat = counting->heat;
	const size_t step = counting->row_of ? heat->n_rows : 1;
	size_t row = counting->row_of ? counting->row_of[dimension_value(&counting->dimension,
									 selection->samples[i])]
				      : 0;
	size_t first = place_at(counting, span.from_ns);
	size_t last = place_at(counting, span.to_ns > span.from_ns ? span.to_ns - 1 : span.to_ns);
	int64_t rest = selection->values[i];
	int64_t part;

	if (last >= n_places(counting))
		return;
	if (first == last) {
		add_part(heat, row + last * step, rest, 1);
		return;
	}
	part = time_between(counting, place_start(counting, last), span.to_ns);
	rest -= part;
	rest -= time_between(counting, place_start(counting, first + 1),
			     place_start(counting, last));
	add_part(heat, row + last * step, part, part > 0);
	add_part(heat, row + first * step, rest, rest > 0);
	covered[row + (first + 1) * step]++;
	covered[row + last * step]--;
}

/* What samples have all of a cell has its length of each. */
static void fill_covered(struct counting *counting, const uint32_t *covered)
{
	struct heat *heat = counting->heat;
	const size_t step = counting->row_of ? heat->n_rows : 1;

	for (size_t row = 0; row < step; row++) {
		uint32_t n = 0;

		for (size_t place = 0; place < n_places(counting); place++) {
			const size_t cell = row + place * step;
			int64_t length;

			n += covered[cell];
			if (n == 0)
				continue;
			length = time_between(counting, place_start(counting, place),
					      place_start(counting, place + 1));
			if (length == 0)
				continue;
			add_part(heat, cell, times_saturated(length, n), n);
		}
	}
}

static int count_spans(struct counting *counting, struct err *err)
{
	const struct heat *heat = counting->heat;
	uint32_t *covered = calloc(heat->n_columns * heat->n_rows, sizeof(*covered));

	if (!covered)
		return err_set(err, ENOMEM, "a heatmap");
	for (size_t i = 0; i < counting->selection->n; i++)
		spread(counting, i, covered);
	fill_covered(counting, covered);
	free(covered);
	return 0;
}

static void count(struct counting *counting)
{
	const struct selection *selection = counting->selection;
	const struct profile *profile = selection->profile;
	struct heat *heat = counting->heat;
	uint64_t column = 0;

	for (size_t i = 0; i < selection->n; i++) {
		uint32_t sample = selection->samples[i];
		uint64_t time_ns = profile->times_ns[sample] + counting->heat->shift_ns;
		size_t cell;

		/* Samples are in the order of time: most are in the column of the last one. */
		if (time_ns - column * heat->column_ns >= heat->column_ns)
			column = time_ns / heat->column_ns;
		if (column >= heat->n_columns)
			continue;
		cell = column * heat->n_rows;
		cell += counting->row_of
				? counting->row_of[dimension_value(&counting->dimension, sample)]
				: (time_ns - column * heat->column_ns) / row_ns(heat);
		if (!counting->largest)
			heat->values[cell] =
				add_saturated(heat->values[cell], selection->values[i]);
		else if (heat->samples[cell] == 0 || selection->values[i] > heat->values[cell])
			heat->values[cell] = selection->values[i];
		heat->samples[cell]++;
	}
}

/* Of a sum of N values, to the nearest whole number. */
static int64_t mean(int64_t sum, int64_t n)
{
	int64_t rest = sum % n;

	if (rest >= n - n / 2)
		return sum / n + 1;
	if (-rest >= n - n / 2)
		return sum / n - 1;
	return sum / n;
}

static void take_means(struct heat *heat)
{
	for (size_t i = 0; i < heat->n_columns * heat->n_rows; i++)
		if (heat->samples[i])
			heat->values[i] = mean(heat->values[i], heat->samples[i]);
}

/* Of the first N rows; false: they have no sample. */
static bool find_extremes(const struct heat *heat, size_t n_rows, int64_t *ret_min,
			  int64_t *ret_max)
{
	int64_t min = INT64_MAX, max = INT64_MIN;

	for (size_t i = 0; i < heat->n_columns * heat->n_rows; i++) {
		if (heat->samples[i] == 0 || (n_rows < heat->n_rows && i % heat->n_rows >= n_rows))
			continue;
		if (heat->values[i] < min)
			min = heat->values[i];
		if (heat->values[i] > max)
			max = heat->values[i];
	}
	if (min > max)
		return false;
	*ret_min = min;
	*ret_max = max;
	return true;
}

static void find_scale(struct heat *heat)
{
	size_t n_named = heat->has_others ? heat->n_rows - 1 : heat->n_rows;

	(void)find_extremes(heat, heat->n_rows, &heat->min, &heat->max);
	if (find_extremes(heat, n_named, &heat->scale_min, &heat->scale_max))
		return;
	heat->scale_min = heat->min;
	heat->scale_max = heat->max;
}

/* From the last beginning of a column before the profile's start, or its whole second, to it. */
static uint64_t shift_of(const struct profile *profile, uint64_t phase_ns, uint64_t column_ns)
{
	const uint64_t since_second_ns = profile->start_ns % second_ns;

	phase_ns %= column_ns;
	if (since_second_ns >= phase_ns)
		return since_second_ns - phase_ns;
	return since_second_ns + column_ns - phase_ns;
}

/* In the cells of N rows a column: whether those with samples have enough. */
static bool has_enough(const struct counting *counting, size_t n_rows)
{
	const struct selection *selection = counting->selection;
	const uint64_t cell_ns = (counting->heat->column_ns + n_rows - 1) / n_rows;
	uint64_t last = UINT64_MAX;
	size_t n_cells = 0;

	for (size_t i = 0; i < selection->n; i++) {
		uint64_t time_ns = selection->profile->times_ns[selection->samples[i]] +
				   counting->heat->shift_ns;
		uint64_t cell = time_ns / counting->heat->column_ns * n_rows +
				time_ns % counting->heat->column_ns / cell_ns;

		n_cells += cell != last;
		last = cell;
	}
	return selection->n >= n_cells * ENOUGH_SAMPLES;
}

static uint32_t fitting_rows(const struct counting *counting, uint32_t most)
{
	static const uint32_t rows[] = {HEAT_FITTING_ROWS, 40, 25, 20};
	const size_t n = sizeof(rows) / sizeof(rows[0]);
	size_t i = 0;

	while (most && i + 1 < n && rows[i] > most)
		i++;
	if (counting->selection->profile->n_samples < FEW_SAMPLES)
		return rows[i];
	while (i + 1 < n && !has_enough(counting, rows[i]))
		i++;
	return rows[i];
}

static int make(struct counting *counting, const struct heat_options *options, struct err *err)
{
	const struct profile *profile = counting->selection->profile;
	struct heat *heat = counting->heat;
	int r = 0;

	heat->column_ns = options->column_ns ? options->column_ns : second_ns;
	heat->shift_ns = shift_of(profile, options->phase_ns, heat->column_ns);
	heat->start_ns = profile->start_ns - heat->shift_ns;
	heat->n_rows = options->n_rows || options->by ? options->n_rows
						      : fitting_rows(counting, options->most_rows);
	if (options->n_rows > HEAT_MAX_ROWS) {
		(void)err_set(err, 0, "a heatmap of more than %d rows", HEAT_MAX_ROWS);
		return -E2BIG;
	}
	if (heat->n_rows > heat->column_ns)
		heat->n_rows = (size_t)heat->column_ns;
	if (options->by)
		r = make_rows_of_values(counting, options, err);
	if (r == 0)
		r = make_cells(counting, err);
	if (r == 0 && counting->selection->spans && !options->largest)
		r = count_spans(counting, err);
	else if (r == 0)
		count(counting);
	if (r == 0) {
		if (counting->selection->measure == QUERY_MEAN && !options->largest)
			take_means(heat);
		find_scale(heat);
	}
	return r;
}

size_t heat_columns(uint64_t length_ns, const uint64_t **ret_columns_ns)
{
	const bool is_short = length_ns > 0 && length_ns < SHORT_SECONDS * second_ns;
	size_t first = 0;

	while (round_ns[first] < second_ns)
		first++;
	while (is_short && first > 0 && length_ns / round_ns[first] < ENOUGH_COLUMNS)
		first--;
	*ret_columns_ns = &round_ns[first];
	return sizeof(round_ns) / sizeof(round_ns[0]) - first;
}

int heat_make(const struct selection *selection, const struct heat_options *options,
	      struct heat **ret_heat, struct err *err)
{
	struct counting counting = {.selection = selection, .largest = options->largest};
	int r;

	counting.heat = calloc(1, sizeof(*counting.heat));
	if (!counting.heat)
		return err_set(err, ENOMEM, "a heatmap");
	r = make(&counting, options, err);
	dimension_release(&counting.dimension);
	free(counting.row_of);
	if (r < 0) {
		heat_free(counting.heat);
		return r;
	}
	*ret_heat = counting.heat;
	return 0;
}

void heat_free(struct heat *heat)
{
	if (!heat)
		return;
	for (size_t i = 0; heat->row_labels && i < heat->n_rows; i++)
		free(heat->row_labels[i]);
	free(heat->row_labels);
	free(heat->values);
	free(heat->samples);
	free(heat);
}
