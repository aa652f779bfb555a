/* report_parts.c - samples added up by a dimension, or by the module that they were in */
#include "tools/view/view.h"

#include "base/json.h"
#include "base/saturated.h"
#include "base/words.h"
#include "flamescope/draw/draw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An inlined call has no module of its own: it is in that of the function around it. */
static uint32_t module_of(const struct selection *selection, uint32_t node)
{
	const struct profile *profile = selection->profile;

	for (; node; node = selection->nodes[node].parent) {
		uint32_t frame = selection->nodes[node].frame;

		if (frame >= profile->n_frames)
			break;
		if (!profile->frames[frame].inlined)
			return profile->frames[frame].module;
	}
	return 0;
}

static void add(struct flame_function *row, int64_t value)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	uint64_t *sum = value < 0 ? &row->loss : &row->gain;

	*sum = saturated_add(*sum, size);
	row->samples++;
	row->calls++;
}

/* The rows with samples, to the front. */
static void pack(struct report_parts *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (parts->rows[i].samples) {
			parts->rows[parts->n] = parts->rows[i];
			parts->rows[parts->n++].frame = (uint32_t)i;
		}
}

static int allocate(struct report_parts *parts, size_t n)
{
	parts->rows = calloc(n + 1, sizeof(*parts->rows));
	parts->labels = calloc(n + 1, sizeof(*parts->labels));
	parts->n_labels = n;
	return parts->rows && parts->labels ? 0 : -ENOMEM;
}

static void name_parts(struct report_parts *parts, size_t n, const char *const *labels)
{
	for (size_t i = 0; i < n; i++)
		parts->labels[i] = *labels[i] ? labels[i] : "-";
}

static int make_modules(struct report_parts *parts, const struct selection *selection)
{
	const struct profile *profile = selection->profile;
	int r = allocate(parts, profile->n_strings);

	if (r < 0)
		return r;
	for (size_t i = 0; i < selection->n; i++)
		add(&parts->rows[module_of(selection, selection->stacks[i])], selection->values[i]);
	name_parts(parts, profile->n_strings, profile->strings);
	pack(parts, profile->n_strings);
	return 0;
}

static int make_values(struct report_parts *parts, const struct selection *selection,
		       const char *name, struct err *err)
{
	struct dimension *dimension = &parts->dimension;
	int r = dimension_init(dimension, selection->profile, name, selection->delta_metric, err);

	if (r == 0)
		r = allocate(parts, dimension->n_values);
	if (r < 0)
		return r;
	for (size_t i = 0; i < selection->n; i++)
		add(&parts->rows[dimension_value(dimension, selection->samples[i])],
		    selection->values[i]);
	name_parts(parts, dimension->n_values, dimension->labels);
	pack(parts, dimension->n_values);
	return 0;
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct function_table *table = context;
	uint64_t left = function_table_width(table->selection, a, false);
	uint64_t right = function_table_width(table->selection, b, false);

	if (left != right)
		return left < right ? 1 : -1;
	return strcmp(table->labels[((const struct flame_function *)a)->frame],
		      table->labels[((const struct flame_function *)b)->frame]);
}

int report_parts_make(struct report_parts *parts, const struct selection *selection,
		      const char *name, struct err *err)
{
	struct function_table table = {.selection = selection};
	int r = strcmp(name, "module") == 0 ? make_modules(parts, selection)
					    : make_values(parts, selection, name, err);

	if (r < 0)
		return err->text[0] ? r : err_set(err, -r, "add up by %s", name);
	table.labels = parts->labels;
	qsort_r(parts->rows, parts->n, sizeof(*parts->rows), compare_rows, &table);
	return 0;
}

const struct flame_function *report_parts_others(struct report_parts *parts, size_t n_shown)
{
	struct flame_function *others = &parts->rows[parts->n_labels];

	*others = (struct flame_function){.frame = (uint32_t)parts->n_labels};
	for (size_t i = n_shown; i < parts->n; i++) {
		others->gain = saturated_add(others->gain, parts->rows[i].gain);
		others->loss = saturated_add(others->loss, parts->rows[i].loss);
		others->samples += parts->rows[i].samples;
		others->calls += parts->rows[i].calls;
	}
	(void)snprintf(parts->others_label, sizeof(parts->others_label), "[%zu other%s]",
		       parts->n - n_shown, parts->n - n_shown == 1 ? "" : "s");
	parts->labels[parts->n_labels] = parts->others_label;
	return n_shown < parts->n ? others : NULL;
}

void report_parts_csv(struct buf *buf, const struct function_table *table)
{
	buf_printf(buf, "%s,gain,loss,samples\n", table->part);
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct flame_function *row = &table->rows[i];

		words_csv(buf, table->labels[row->frame]);
		buf_printf(buf, ",%llu,%llu,%llu\n", (unsigned long long)row->gain,
			   (unsigned long long)row->loss, (unsigned long long)row->samples);
	}
}

void report_parts_json(struct buf *buf, const struct function_table *table)
{
	measure_json(buf, table->selection);
	buf_printf(buf, ",\"samples\":%zu,\"total\":%llu,\"by\":", table->selection->n,
		   (unsigned long long)table->total);
	json_add_string(buf, table->part);
	buf_printf(buf, ",\"n_parts\":%zu,\"parts\":[", table->n_all);
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct flame_function *row = &table->rows[i];

		buf_add(buf, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_add_string(buf, table->labels[row->frame]);
		buf_printf(buf, ",\"gain\":%llu,\"loss\":%llu,\"samples\":%llu}",
			   (unsigned long long)row->gain, (unsigned long long)row->loss,
			   (unsigned long long)row->samples);
	}
	buf_add_char(buf, ']');
	if (table->others)
		buf_printf(buf, ",\"others\":{\"gain\":%llu,\"loss\":%llu,\"samples\":%llu}",
			   (unsigned long long)table->others->gain,
			   (unsigned long long)table->others->loss,
			   (unsigned long long)table->others->samples);
}

void report_parts_release(struct report_parts *parts)
{
	dimension_release(&parts->dimension);
	free((void *)parts->labels);
	free(parts->rows);
	*parts = (struct report_parts){0};
}
