/* heat.c - how much in which moment: a grid of cells */
#include "flamescope/heat/heat.h"

#include "base/saturated.h"
#include "flamescope/query/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ROWS = 50 };

static const uint64_t second_ns = 1000000000;

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

static void count(struct counting *counting)
{
	const struct selection *selection = counting->selection;
	const struct profile *profile = selection->profile;
	struct heat *heat = counting->heat;
	uint64_t row_ns = (heat->column_ns + heat->n_rows - 1) / heat->n_rows;
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
				: (time_ns - column * heat->column_ns) / row_ns;
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

static int make(struct counting *counting, const struct heat_options *options, struct err *err)
{
	const struct profile *profile = counting->selection->profile;
	struct heat *heat = counting->heat;
	int r = 0;

	heat->column_ns = options->column_ns ? options->column_ns : second_ns;
	heat->shift_ns = shift_of(profile, options->phase_ns, heat->column_ns);
	heat->start_ns = profile->start_ns - heat->shift_ns;
	heat->n_rows = options->n_rows ? options->n_rows : DEFAULT_ROWS;
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
	if (r == 0) {
		count(counting);
		if (counting->selection->measure == QUERY_MEAN && !options->largest)
			take_means(heat);
		find_scale(heat);
	}
	return r;
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
