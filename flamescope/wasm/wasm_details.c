/* wasm_details.c - what the samples of a selection, or of one of its functions, say, for the page
 */
#include "flamescope/wasm/internal.h"

#include "base/json.h"
#include "flamescope/draw/draw.h"
#include "flamescope/query/query.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 12, MOST_PLACES = 4 }; /* that are listed of a dimension, and of a function */

/* Marks of a stack: the function is in it, and is the innermost one. */
enum { HAS_IT = 1, IS_IT = 2 };

struct sums {
	uint64_t samples;
	double gain, loss;
};

static void count(struct sums *sums, int64_t value)
{
	sums->samples++;
	if (value > 0)
		sums->gain += (double)value;
	else
		sums->loss -= (double)value;
}

/* The amount of one value of a dimension. */
struct part {
	const char *label;
	double amount;
	bool occurs; /* in the recording */
};

static int by_amount(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	return strcmp(a->label, b->label);
}

/* What each value of a dimension has of the samples with a mark, most first; MARKS NULL: of all. */
static struct part *parts_of(const struct selection *selection, struct dimension *dimension,
			     const uint8_t *marks)
{
	const bool counts = !marks && (selection->is_signed || selection->measure == QUERY_MEAN);
	struct part *parts = calloc(dimension->n_values + 1, sizeof(*parts));

	for (size_t i = 0; parts && i < dimension->n_values; i++)
		parts[i].label = dimension->labels[i];
	for (size_t i = 0; parts && i < selection->profile->n_samples; i++)
		parts[dimension_value(dimension, i)].occurs = true;
	for (size_t i = 0; parts && i < selection->n; i++)
		if (!marks || marks[selection->stacks[i]])
			parts[dimension_value(dimension, selection->samples[i])].amount +=
				counts ? 1 : fabs((double)selection->values[i]);
	if (parts)
		qsort(parts, dimension->n_values, sizeof(*parts), by_amount);
	return parts;
}

static void add_part(struct buf *buf, const struct part *part)
{
	buf_add_char(buf, '{');
	json_add_text(buf, "label", part->label);
	buf_printf(buf, ",\"amount\":%.17g}", part->amount);
}

/*
 * The values of a dimension that occur in the recording, and what each has of a selection, most
 * first: [{label, amount}].  Of what is no sum the amount is a number of samples.
 */
WASM_EXPORT("values_facts")
const char *wasm_values_facts(const struct selection *selection, const char *name)
{
	struct buf *buf = wasm_answer();
	struct dimension dimension = {0};
	struct err *err = wasm_err();
	struct part *parts = NULL;
	const char *comma = "";

	if (dimension_init(&dimension, selection->profile, name, NULL, err) == 0)
		parts = parts_of(selection, &dimension, NULL);
	buf_add_char(buf, '[');
	for (size_t i = 0; parts && i < dimension.n_values; i++) {
		if (!parts[i].occurs)
			continue;
		buf_add(buf, comma);
		add_part(buf, &parts[i]);
		comma = ",";
	}
	buf_add_char(buf, ']');
	dimension_release(&dimension);
	if (!parts && !*err->text)
		(void)err_set(err, ENOMEM, "the values of '%s'", name);
	free(parts);
	return parts ? buf_text(buf) : NULL;
}

/* A member of "tags", if any of the samples says something of it. */
static void add_tag(struct buf *buf, const struct selection *selection, const uint8_t *marks,
		    const char *name)
{
	struct dimension dimension = {0};
	struct part *parts = NULL;
	size_t n = 0;
	double rest = 0;

	if (dimension_init(&dimension, selection->profile, name, NULL, wasm_err()) == 0)
		parts = parts_of(selection, &dimension, marks);
	while (parts && n < dimension.n_values && parts[n].amount > 0)
		n++;
	if (n > 1 || (n == 1 && *parts[0].label)) {
		buf_add(buf, buf->data[buf->len - 1] == '[' ? "{" : ",{");
		json_add_text(buf, "name", name);
		for (size_t i = 0; i < n && i < MOST_VALUES; i++) {
			buf_add(buf, i ? "," : ",\"values\":[");
			add_part(buf, &parts[i]);
		}
		for (size_t i = MOST_VALUES; i < n; i++)
			rest += parts[i].amount;
		buf_printf(buf, "],\"more\":%zu,\"moreAmount\":%.17g}",
			   n > MOST_VALUES ? n - MOST_VALUES : 0, rest);
	}
	free(parts);
	dimension_release(&dimension);
}

/* A member of "metrics", if any of the samples has a value of it. */
static void add_metric(struct buf *buf, const struct selection *selection, const uint8_t *marks,
		       const struct profile_metric *metric)
{
	const struct profile *profile = selection->profile;
	struct sums values = {0}, deltas = {0};
	double min = INFINITY, max = -INFINITY;

	for (size_t i = 0; i < selection->n; i++) {
		uint32_t sample = selection->samples[i];

		if (!marks[selection->stacks[i]] || metric->values[sample] == PROFILE_ABSENT)
			continue;
		count(&values, metric->values[sample]);
		min = fmin(min, (double)metric->values[sample]);
		max = fmax(max, (double)metric->values[sample]);
		if (metric->deltas[sample] != PROFILE_ABSENT)
			count(&deltas, metric->deltas[sample]);
	}
	if (!values.samples)
		return;
	buf_add(buf, buf->data[buf->len - 1] == '[' ? "{" : ",{");
	json_add_text(buf, "name", profile->strings[metric->name]);
	json_add_text(buf, "unit", profile->strings[metric->unit]);
	buf_printf(buf, ",\"mean\":%.17g,\"min\":%.17g,\"max\":%.17g",
		   (values.gain - values.loss) / (double)values.samples, min, max);
	buf_printf(buf, ",\"gain\":%.17g,\"loss\":%.17g}", deltas.gain, deltas.loss);
}

/* Where functions of that name are: [[module, address, as far as it is known]]; and how many there
 * are. */
static void add_places(struct buf *buf, const struct selection *selection, const uint8_t *is_named)
{
	const struct profile *profile = selection->profile;
	size_t n = 0;

	buf_add(buf, ",\"places\":[");
	for (size_t i = 0; i < profile->n_frames; i++) {
		const struct profile_frame *frame = &profile->frames[i];

		if (!is_named[i] || n++ >= MOST_PLACES)
			continue;
		buf_add(buf, n > 1 ? ",[" : "[");
		json_add_string(buf, flame_module(selection, (uint32_t)i));
		buf_printf(buf, frame->addr ? ",\"0x%llx" : ",\"", (unsigned long long)frame->addr);
		if (frame->addr && frame->offset)
			buf_printf(buf, " (+0x%llx)", (unsigned long long)frame->offset);
		buf_add(buf, "\"]");
	}
	buf_printf(buf, "],\"nPlaces\":%zu", n);
}

static void add_sums(struct buf *buf, const char *name, const struct sums *sums)
{
	buf_printf(buf, ",\"%s\":{\"samples\":%llu,\"gain\":%.17g,\"loss\":%.17g}", name,
		   (unsigned long long)sums->samples, sums->gain, sums->loss);
}

static void add_details(struct buf *buf, const struct selection *selection, const uint8_t *marks)
{
	const struct profile *profile = selection->profile;
	struct sums total = {0}, self = {0};
	uint64_t first_ns = 0, last_ns = 0;

	for (size_t i = 0; i < selection->n; i++) {
		uint8_t mark = marks[selection->stacks[i]];

		if (!mark)
			continue;
		last_ns = profile->times_ns[selection->samples[i]];
		first_ns = total.samples ? first_ns : last_ns;
		count(&total, selection->values[i]);
		if (mark & IS_IT)
			count(&self, selection->values[i]);
	}
	buf_printf(buf, "{\"firstNs\":%llu,\"lastNs\":%llu", (unsigned long long)first_ns,
		   (unsigned long long)last_ns);
	add_sums(buf, "total", &total);
	add_sums(buf, "self", &self);
	buf_add(buf, ",\"metrics\":[");
	for (size_t i = 0; i < profile->n_metrics; i++)
		add_metric(buf, selection, marks, &profile->metrics[i]);
	buf_add(buf, "],\"tags\":[");
	add_tag(buf, selection, marks, "thread");
	for (size_t i = 0; i < profile->n_tags; i++)
		add_tag(buf, selection, marks, profile->strings[profile->tags[i].name]);
	buf_add_char(buf, ']');
}

/* What is known of the functions called NAME in a selection; "": of all of it. */
WASM_EXPORT("details_facts")
const char *wasm_details_facts(const struct selection *selection, const char *name)
{
	const size_t n_frames = selection->profile->n_frames + selection->n_labels;
	struct buf *buf = wasm_answer();
	uint8_t *marks = calloc(selection->n_nodes + 1, 1);
	uint8_t *is_named = calloc(n_frames + 1, 1);

	if (marks && is_named) {
		for (size_t i = 0; *name && i < n_frames; i++)
			is_named[i] =
				strcmp(selection_frame_name(selection, (uint32_t)i), name) == 0;
		marks[0] = *name ? 0 : HAS_IT;
		for (size_t node = 1; node < selection->n_nodes; node++) {
			const struct profile_node *it = &selection->nodes[node];

			marks[node] =
				is_named[it->frame] ? HAS_IT | IS_IT : marks[it->parent] & HAS_IT;
		}
		add_details(buf, selection, marks);
		add_places(buf, selection, is_named);
		buf_add_char(buf, '}');
	} else {
		(void)err_set(wasm_err(), ENOMEM, "the details of '%s'", name);
		buf = NULL;
	}
	free(marks);
	free(is_named);
	return buf ? buf_text(buf) : NULL;
}
