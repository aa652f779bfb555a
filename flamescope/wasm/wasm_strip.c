/* wasm_strip.c - what threads were doing, one stack a pixel, in the order of time, for the page */
#include "flamescope/wasm/internal.h"

#include "base/json.h"
#include "flamescope/query/query.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ROWS = 256,      /* of a stack */
	MOST_DISTANCES = 999, /* between samples, of which the median is taken */
	MOST_FUNCTIONS = 3,   /* that are named of a part of the time */
};

struct strip_thread {
	const char *label;
	double amount; /* of its samples, without their signs */
	size_t first;  /* of its samples in the strip's `order` */
	size_t n;
	uint32_t depth; /* of its deepest stack */
	uint32_t value; /* of the dimension; then its place among the others, most first */
	double gap_ns;  /* for how long a sample stands for what came after it */
};

/* A call that goes on in columns beside each other; half open. */
struct strip_box {
	uint32_t node, depth;
	uint32_t parent; /* its place among the boxes of its thread */
	uint32_t from, to;
};

/* What is seen: N columns of the time from FROM_NS to TO_NS. */
struct strip_window {
	double from_ns, to_ns;
	uint32_t n;
};

struct strip {
	const struct selection *selection;
	struct strip_window window;
	struct dimension dimension;
	size_t n_threads; /* that have samples; the first N_SHOWN of them are looked at */
	size_t n_shown;
	struct strip_thread *threads; /* most first */
	size_t *order;                /* places in the selection, thread by thread */
	uint32_t *depths;             /* of nodes */
	int32_t *columns;             /* what each shows of one thread: a node, or -1 */
	size_t n_boxes, room;
	struct strip_box *boxes; /* thread by thread, each row by row, after its root */
	size_t *ends;            /* where those of a thread end */
};

/* --- threads --- */

static double time_of(const struct strip *strip, size_t place)
{
	const struct selection *selection = strip->selection;

	return (double)selection->profile->times_ns[selection->samples[strip->order[place]]];
}

static double amount_of(const struct strip *strip, size_t place)
{
	return fabs((double)strip->selection->values[strip->order[place]]);
}

static uint32_t node_of(const struct strip *strip, size_t place)
{
	return strip->selection->stacks[strip->order[place]];
}

static int compare_threads(const void *left, const void *right)
{
	const struct strip_thread *a = left, *b = right;

	if (!a->n != !b->n)
		return !a->n - !b->n;
	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	return a->value < b->value ? -1 : 1;
}

static int compare_doubles(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Twice the median distance between its samples. */
static double gap_of(const struct strip *strip, const struct strip_thread *thread)
{
	const size_t step = thread->n / MOST_DISTANCES + 1;
	double distances[MOST_DISTANCES] = {0};
	size_t n = 0;

	for (size_t i = 0; i + 1 < thread->n && n < MOST_DISTANCES; i += step) {
		const size_t place = thread->first + i;

		distances[n++] = time_of(strip, place + 1) - time_of(strip, place);
	}
	qsort(distances, n, sizeof(*distances), compare_doubles);
	return n ? 2 * distances[n / 2] : 0;
}

/* Which threads have most, and the samples of those that are shown. */
static int sort_threads(struct strip *strip)
{
	const struct selection *selection = strip->selection;
	const size_t n_values = strip->dimension.n_values;
	struct strip_thread **of = calloc(n_values + 1, sizeof(struct strip_thread *));
	size_t first = 0;

	if (!of)
		return -ENOMEM;
	for (size_t i = 0; i < n_values; i++)
		strip->threads[i] = (struct strip_thread){.label = strip->dimension.labels[i],
							  .value = (uint32_t)i};
	for (size_t i = 0; i < selection->n; i++) {
		const uint32_t value = dimension_value(&strip->dimension, selection->samples[i]);

		strip->threads[value].n++;
		strip->threads[value].amount += fabs((double)selection->values[i]);
	}
	qsort(strip->threads, n_values, sizeof(*strip->threads), compare_threads);
	while (strip->n_threads < n_values && strip->threads[strip->n_threads].n)
		strip->n_threads++;
	if (strip->n_shown > strip->n_threads)
		strip->n_shown = strip->n_threads;
	for (size_t i = 0; i < strip->n_shown; i++) {
		struct strip_thread *thread = &strip->threads[i];

		of[thread->value] = thread;
		thread->first = first;
		first += thread->n;
		thread->n = 0;
	}
	for (size_t i = 0; i < selection->n; i++) {
		const uint32_t node = selection->stacks[i];
		struct strip_thread *thread =
			of[dimension_value(&strip->dimension, selection->samples[i])];

		if (!thread)
			continue;
		strip->order[thread->first + thread->n++] = i;
		if (thread->depth < strip->depths[node])
			thread->depth = strip->depths[node];
	}
	for (size_t i = 0; i < strip->n_shown; i++)
		strip->threads[i].gap_ns = gap_of(strip, &strip->threads[i]);
	free(of);
	return 0;
}

/* The first of a thread's samples that is at or after a moment; the end: none is. */
static size_t first_from(const struct strip *strip, const struct strip_thread *thread, double ns)
{
	size_t from = thread->first, to = thread->first + thread->n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (time_of(strip, middle) >= ns)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

/* --- what columns show --- */

/*
 * The node of the heaviest sample of each; a column without one goes on with the last sample while
 * its gap lasts, and is -1 after.
 */
static void fill_columns(const struct strip *strip, const struct strip_thread *thread)
{
	const struct strip_window *window = &strip->window;
	const double column_ns = (window->to_ns - window->from_ns) / window->n;
	const size_t end = thread->first + thread->n;
	size_t place = first_from(strip, thread, window->from_ns);
	size_t last = end; /* the last sample so far; END: none */

	if (place > thread->first)
		last = place - 1;
	for (uint32_t c = 0; c < window->n; c++) {
		const double from_ns = window->from_ns + c * column_ns;
		const double to_ns = window->from_ns + (c + 1) * column_ns;
		size_t best = end;

		for (; place < end && time_of(strip, place) < to_ns; place++) {
			last = place;
			if (best == end || amount_of(strip, place) > amount_of(strip, best))
				best = place;
		}
		if (best == end && last != end && from_ns - time_of(strip, last) <= thread->gap_ns)
			best = last;
		strip->columns[c] = best == end ? -1 : (int32_t)node_of(strip, best);
	}
}

static int add_box(struct strip *strip, struct strip_box box)
{
	if (strip->n_boxes == strip->room) {
		const size_t room = strip->room * 2 + 1024;
		struct strip_box *boxes = realloc(strip->boxes, room * sizeof(*boxes));

		if (!boxes)
			return -ENOMEM;
		strip->boxes = boxes;
		strip->room = room;
	}
	strip->boxes[strip->n_boxes++] = box;
	return 0;
}

/* NODE and its callers are in the columns FROM to TO; LAST: the last box so far by depth. */
static int add_stack(struct strip *strip, uint32_t node, uint32_t from, uint32_t to, size_t *last)
{
	int r = 0;

	for (; r == 0 && node; node = strip->selection->nodes[node].parent) {
		const uint32_t depth = strip->depths[node];
		struct strip_box *before;

		if (depth > MOST_ROWS)
			continue;
		before = strip->boxes + last[depth];
		if (before->node == node && before->to == from) {
			before->to = to;
			continue;
		}
		last[depth] = strip->n_boxes;
		r = add_box(strip, (struct strip_box){node, depth, 0, from, to});
	}
	return r;
}

/*
 * Puts the N boxes of a thread row by row: they are from left to right in each.  The parent of one
 * is in the row before, and goes on for as long.
 */
static int sort_boxes(struct strip_box *boxes, size_t n)
{
	size_t starts[MOST_ROWS + 2] = {0};
	struct strip_box *sorted = calloc(n, sizeof(*sorted));
	size_t up = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		starts[boxes[i].depth + 1]++;
	for (size_t depth = 0; depth <= MOST_ROWS; depth++)
		starts[depth + 1] += starts[depth];
	for (size_t i = 0; i < n; i++)
		sorted[starts[boxes[i].depth]++] = boxes[i];
	for (size_t i = 1; i < n; i++) {
		while (sorted[up].depth + 1 < sorted[i].depth || sorted[up].to <= sorted[i].from)
			up++;
		sorted[i].parent = (uint32_t)up;
	}
	memcpy(boxes, sorted, n * sizeof(*boxes));
	free(sorted);
	return 0;
}

static int add_boxes(struct strip *strip, const struct strip_thread *thread)
{
	const size_t first = strip->n_boxes;
	size_t last[MOST_ROWS + 1];
	int r = add_box(strip, (struct strip_box){.to = strip->window.n});

	for (size_t depth = 0; depth <= MOST_ROWS; depth++)
		last[depth] = first; /* the root, which no call goes on with */
	fill_columns(strip, thread);
	for (uint32_t c = 0, next = 0; r == 0 && c < strip->window.n; c = next) {
		while (next < strip->window.n && strip->columns[next] == strip->columns[c])
			next++;
		if (strip->columns[c] > 0)
			r = add_stack(strip, (uint32_t)strip->columns[c], c, next, last);
	}
	return r < 0 ? r : sort_boxes(strip->boxes + first, strip->n_boxes - first);
}

/* --- the strip --- */

WASM_EXPORT("strip_free") void wasm_strip_free(struct strip *strip)
{
	dimension_release(&strip->dimension);
	free(strip->threads);
	free(strip->order);
	free(strip->depths);
	free(strip->columns);
	free(strip->boxes);
	free(strip->ends);
	free(strip);
}

static int fill(struct strip *strip)
{
	const struct selection *selection = strip->selection;
	int r = dimension_init(&strip->dimension, selection->profile, "thread", NULL, wasm_err());

	if (r < 0)
		return r;
	strip->threads = calloc(strip->dimension.n_values + 1, sizeof(*strip->threads));
	strip->order = calloc(selection->n + 1, sizeof(*strip->order));
	strip->depths = calloc(selection->n_nodes + 1, sizeof(*strip->depths));
	strip->columns = calloc(strip->window.n + 1, sizeof(*strip->columns));
	if (!strip->threads || !strip->order || !strip->depths || !strip->columns)
		return -ENOMEM;
	for (size_t node = 1; node < selection->n_nodes; node++)
		strip->depths[node] = strip->depths[selection->nodes[node].parent] + 1;
	return sort_threads(strip);
}

/* The N_SHOWN threads with most of a selection, in N_COLUMNS of the time from FROM_NS to TO_NS. */
static struct strip *make_strip(const struct selection *selection, uint32_t n_shown, double from_ns,
				double to_ns, uint32_t n_columns)
{
	struct strip *strip = calloc(1, sizeof(*strip));
	int r = -ENOMEM;

	if (strip) {
		strip->selection = selection;
		strip->n_shown = n_shown;
		strip->window = (struct strip_window){from_ns, to_ns, n_columns};
		r = fill(strip);
	}
	if (r == 0)
		return strip;
	if (strip)
		wasm_strip_free(strip);
	(void)err_set(wasm_err(), -r, "threads in the order of time");
	return NULL;
}

WASM_EXPORT("strip_new")
struct strip *wasm_strip_new(const struct selection *selection, uint32_t n_shown, double from_ns,
			     double to_ns, uint32_t n_columns)
{
	struct strip *strip = make_strip(selection, n_shown, from_ns, to_ns, n_columns);
	int r = 0;

	if (!strip)
		return NULL;
	strip->ends = calloc(strip->n_shown + 1, sizeof(*strip->ends));
	for (size_t i = 0; strip->ends && r == 0 && i < strip->n_shown; i++) {
		r = add_boxes(strip, &strip->threads[i]);
		strip->ends[i] = strip->n_boxes;
	}
	if (strip->ends && r == 0)
		return strip;
	wasm_strip_free(strip);
	(void)err_set(wasm_err(), ENOMEM, "threads in the order of time");
	return NULL;
}

/* How many threads there are, and of those that are shown where their boxes end. */
WASM_EXPORT("strip_facts") const char *wasm_strip_facts(const struct strip *strip)
{
	struct buf *buf = wasm_answer();

	buf_printf(buf, "{\"nThreads\":%zu,\"threads\":[", strip->n_threads);
	for (size_t i = 0; i < strip->n_shown; i++) {
		const struct strip_thread *thread = &strip->threads[i];
		const uint32_t depth = thread->depth < MOST_ROWS ? thread->depth : MOST_ROWS;

		buf_printf(buf, "%s{\"amount\":%.17g,\"nSamples\":%zu,\"maxDepth\":%u,\"end\":%zu",
			   i ? "," : "", thread->amount, thread->n, depth, strip->ends[i]);
		json_add_text(buf, "label", thread->label);
		buf_add_char(buf, '}');
	}
	buf_add(buf, "]}");
	return buf_text(buf);
}

/* Where boxes start, or how wide they are: all of the recording is 1, as the roots are. */
static const struct wasm_view *place_boxes(const struct strip *strip, bool is_start)
{
	const struct strip_window *window = &strip->window;
	const double whole_ns = (double)strip->selection->profile->length_ns + 1;
	const double column_ns = (window->to_ns - window->from_ns) / window->n;
	double *to;
	const struct wasm_view *column = wasm_doubles(strip->n_boxes, &to);

	for (size_t i = 0; to && i < strip->n_boxes; i++) {
		const struct strip_box *box = &strip->boxes[i];

		if (box->depth == 0)
			to[i] = is_start ? 0 : 1;
		else if (is_start)
			to[i] = (window->from_ns + box->from * column_ns) / whole_ns;
		else
			to[i] = (box->to - box->from) * column_ns / whole_ns;
	}
	return column;
}

WASM_EXPORT("strip_column")
const struct wasm_view *wasm_strip_column(const struct strip *strip, const char *name)
{
	uint32_t *to;
	const struct wasm_view *column;

	if (strcmp(name, "x") == 0 || strcmp(name, "width") == 0)
		return place_boxes(strip, *name == 'x');
	if (strcmp(name, "parent") == 0)
		return WASM_NUMBERS(strip->boxes, strip->n_boxes, parent);
	if (strcmp(name, "depth") == 0)
		return WASM_NUMBERS(strip->boxes, strip->n_boxes, depth);
	if (strcmp(name, "node") == 0)
		return WASM_NUMBERS(strip->boxes, strip->n_boxes, node);
	column = wasm_numbers(strip->n_boxes, &to);
	for (size_t i = 0; to && i < strip->n_boxes; i++)
		to[i] = strip->selection->nodes[strip->boxes[i].node].frame;
	return column;
}

/* --- the strip in words --- */

/* What a function has of a part of the time. */
struct part_function {
	const char *name;
	double amount;
	uint32_t node; /* at first there is one for each */
};

/* Those of one part; AT says by node which of them is its, plus 1. */
struct part_functions {
	struct part_function *list;
	uint32_t *at;
	size_t n;
};

static int by_amount(const void *left, const void *right)
{
	const struct part_function *a = left, *b = right;

	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	return strcmp(a->name, b->name);
}

static int by_name(const void *left, const void *right)
{
	const struct part_function *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static void count(struct part_functions *functions, const struct selection *selection,
		  uint32_t node, double amount)
{
	if (functions->at[node] == 0) {
		const char *name = "[no stack]";

		if (node)
			name = selection_frame_name(selection, selection->nodes[node].frame);
		functions->list[functions->n++] = (struct part_function){name, 0, node};
		functions->at[node] = (uint32_t)functions->n;
	}
	functions->list[functions->at[node] - 1].amount += amount;
}

/* One for each name, most first. */
static void add_up(struct part_functions *functions)
{
	struct part_function *list = functions->list;
	size_t n_names = 0;

	for (size_t i = 0; i < functions->n; i++)
		functions->at[list[i].node] = 0;
	qsort(list, functions->n, sizeof(*list), by_name);
	for (size_t i = 0; i < functions->n; i++) {
		if (n_names && strcmp(list[n_names - 1].name, list[i].name) == 0)
			list[n_names - 1].amount += list[i].amount;
		else
			list[n_names++] = list[i];
	}
	qsort(list, n_names, sizeof(*list), by_amount);
	functions->n = n_names;
}

/* A member of "parts": the samples from PLACE until TO_NS.  Return: the first after them. */
static size_t add_part(struct buf *buf, const struct strip *strip,
		       const struct strip_thread *thread, size_t place, double to_ns,
		       struct part_functions *functions)
{
	const size_t first = place;
	double amount = 0;

	functions->n = 0;
	for (; place < thread->first + thread->n && time_of(strip, place) < to_ns; place++) {
		count(functions, strip->selection, node_of(strip, place), amount_of(strip, place));
		amount += amount_of(strip, place);
	}
	add_up(functions);
	buf_printf(buf, "{\"to\":%.17g,\"samples\":%zu,\"amount\":%.17g,\"functions\":[", to_ns,
		   place - first, amount);
	for (size_t i = 0; i < functions->n && i < MOST_FUNCTIONS; i++) {
		buf_add(buf, i ? ",{" : "{");
		json_add_text(buf, "name", functions->list[i].name);
		buf_printf(buf, ",\"amount\":%.17g}", functions->list[i].amount);
	}
	buf_add(buf, "]}");
	return place;
}

static void add_parts(struct buf *buf, const struct strip *strip, struct part_functions *functions)
{
	const struct strip_window *window = &strip->window;
	const double part_ns = (window->to_ns - window->from_ns) / window->n;

	buf_add_char(buf, '[');
	for (size_t i = 0; i < strip->n_shown; i++) {
		const struct strip_thread *thread = &strip->threads[i];
		size_t place = first_from(strip, thread, window->from_ns);

		buf_add(buf, i ? ",{" : "{");
		json_add_text(buf, "label", thread->label);
		buf_add(buf, ",\"parts\":[");
		for (uint32_t part = 1; part <= window->n; part++) {
			buf_add(buf, part > 1 ? "," : "");
			place = add_part(buf, strip, thread, place,
					 window->from_ns + part * part_ns, functions);
		}
		buf_add(buf, "]}");
	}
	buf_add_char(buf, ']');
}

/*
 * Of each of the threads the time from FROM_NS to TO_NS in N_PARTS, and the innermost functions of
 * each part, most first: [{label, parts: [{to, samples, amount, functions: [{name, amount}]}]}].
 */
WASM_EXPORT("strip_parts_facts")
const char *wasm_strip_parts_facts(const struct selection *selection, uint32_t n_shown,
				   double from_ns, double to_ns, uint32_t n_parts)
{
	struct strip *strip = make_strip(selection, n_shown, from_ns, to_ns, n_parts);
	struct part_functions functions = {
		.list = calloc(selection->n_nodes + 1, sizeof(*functions.list)),
		.at = calloc(selection->n_nodes + 1, sizeof(*functions.at))};
	const bool is_made = strip && functions.list && functions.at;
	struct buf *buf = wasm_answer();

	if (is_made)
		add_parts(buf, strip, &functions);
	else if (strip)
		(void)err_set(wasm_err(), ENOMEM, "threads in the order of time");
	free(functions.list);
	free(functions.at);
	if (strip)
		wasm_strip_free(strip);
	return is_made ? buf_text(buf) : NULL;
}
