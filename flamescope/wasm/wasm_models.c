/* wasm_models.c - heatmaps, graphs, functions and comparisons of selections, for the page */
#include "flamescope/wasm/internal.h"

#include "base/json.h"
#include "flamescope/diff/diff.h"
#include "flamescope/draw/colour.h"
#include "flamescope/flame/flame.h"
#include "flamescope/heat/heat.h"
#include "flamescope/heat/tracks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- heatmaps --- */

enum {
	MOST_CELLS = 16 * 1024 * 1024, /* of a heatmap, that a page has memory for */
	MAX_STATES = 16,
};

/* COLUMN_NS, or as many whole seconds as it takes to have no more cells than that. */
static uint64_t column_with_room(const struct profile *profile, uint64_t column_ns, uint64_t n_rows)
{
	const uint64_t second_ns = 1000000000;
	const uint64_t length_ns = profile->start_ns % second_ns + profile->length_ns + column_ns;
	const uint64_t least_ns = (length_ns / (MOST_CELLS / n_rows) / second_ns + 1) * second_ns;

	if (length_ns / column_ns < MOST_CELLS / n_rows || column_ns > least_ns)
		return column_ns;
	return least_ns;
}

/* BY: a dimension; "": rows are time. */
WASM_EXPORT("heat_new")
struct heat *wasm_heat_new(const struct selection *selection, double column_ns, double phase_ns,
			   uint32_t n_rows, const char *by, uint32_t largest)
{
	const uint64_t most_rows = n_rows ? n_rows : *by ? HEAT_MAX_ROWS : HEAT_FITTING_ROWS;
	const uint64_t asked_ns = column_ns > 0 ? (uint64_t)column_ns : 1000000000;
	const struct heat_options options = {
		.column_ns = column_with_room(selection->profile, asked_ns, most_rows),
		.phase_ns = (uint64_t)phase_ns,
		.n_rows = n_rows,
		.by = *by ? by : NULL,
		.largest = largest != 0};
	struct heat *heat = NULL;

	(void)heat_make(selection, &options, &heat, wasm_err());
	return heat;
}

WASM_EXPORT("heat_free") void wasm_heat_free(struct heat *heat)
{
	heat_free(heat);
}

WASM_EXPORT("heat_facts") const char *wasm_heat_facts(const struct heat *heat)
{
	struct buf *buf = wasm_answer();

	buf_printf(buf, "{\"nColumns\":%zu,\"nRows\":%zu,\"columnNs\":%llu", heat->n_columns,
		   heat->n_rows, (unsigned long long)heat->column_ns);
	json_add_number(buf, "rowNs", (heat->column_ns + heat->n_rows - 1) / heat->n_rows);
	buf_printf(buf, ",\"min\":%lld,\"max\":%lld,\"scale\":{\"min\":%lld,\"max\":%lld}",
		   (long long)heat->min, (long long)heat->max, (long long)heat->scale_min,
		   (long long)heat->scale_max);
	buf_printf(buf, ",\"originNs\":-%llu", (unsigned long long)heat->shift_ns);
	json_add_bool(buf, "hasOthers", heat->has_others);
	buf_add(buf, ",\"rowLabels\":");
	buf_add(buf, heat->row_labels ? "[" : "null");
	for (size_t i = 0; heat->row_labels && i < heat->n_rows; i++) {
		if (i)
			buf_add_char(buf, ',');
		json_add_string(buf, heat->row_labels[i]);
	}
	buf_add(buf, heat->row_labels ? "]}" : "}");
	return buf_text(buf);
}

WASM_EXPORT("heat_column")
const struct wasm_view *wasm_heat_column(const struct heat *heat, const char *name)
{
	const size_t n = heat->n_columns * heat->n_rows;
	const struct wasm_view *view;
	double *to;

	if (strcmp(name, "samples") == 0)
		return wasm_view(heat->samples, n, WASM_U32);
	view = wasm_doubles(n, &to);
	for (size_t i = 0; to && i < n; i++)
		to[i] = (double)heat->values[i];
	return view;
}

/* --- bins of time --- */

/* Sums of what is above 0 ("gain") and below in N equal parts of the recording. */
WASM_EXPORT("bins_column")
const struct wasm_view *wasm_bins_column(const struct selection *selection, uint32_t n,
					 const char *name)
{
	const double length_ns = (double)selection->profile->length_ns;
	const struct tracks_window window = {0, length_ns + 1, n, true};
	const bool is_loss = strcmp(name, "loss") == 0;
	double *to;
	const struct wasm_view *view = wasm_doubles(n, &to);

	for (uint32_t bin = 0; to && bin < n; bin++)
		to[bin] = 0;
	for (size_t i = 0; to && i < selection->n; i++)
		if ((selection->values[i] < 0) == is_loss)
			tracks_add(selection, i, fabs((double)selection->values[i]), &window, to,
				   1);
	return view;
}

WASM_EXPORT("tracks_new")
struct tracks *wasm_tracks_new(const struct selection *whole, const struct selection *selected,
			       double from_ns, double to_ns, uint32_t n_bins)
{
	const struct tracks_window window = {from_ns, to_ns, n_bins, false};
	const char *states[MAX_STATES + 1] = {NULL};
	struct tracks *tracks = NULL;

	for (unsigned i = 0; i < MAX_STATES && colour_state_word(i); i++)
		states[i] = colour_state_word(i);
	(void)tracks_make(whole, selected, &window, states, &tracks, wasm_err());
	return tracks;
}

WASM_EXPORT("tracks_free") void wasm_tracks_free(struct tracks *tracks)
{
	tracks_free(tracks);
}

WASM_EXPORT("tracks_facts") const char *wasm_tracks_facts(const struct tracks *tracks)
{
	struct buf *buf = wasm_answer();

	buf_printf(buf, "{\"nStates\":%zu,\"total\":%.17g,\"most\":[0,%.17g,%.17g]}",
		   tracks->n_states, tracks->total, tracks->most[1], tracks->most[2]);
	return buf_text(buf);
}

/* With a NUL after each. */
static const struct wasm_view *track_labels(const struct tracks *tracks)
{
	struct buf *buf = wasm_answer();

	for (size_t i = 0; i < tracks->n; i++)
		(void)buf_append(buf, tracks->rows[i].label, strlen(tracks->rows[i].label) + 1);
	return wasm_view(buf->failed ? NULL : buf_text(buf), buf->len, WASM_U8);
}

WASM_EXPORT("tracks_column")
const struct wasm_view *wasm_tracks_column(const struct tracks *tracks, const char *name)
{
	const struct track *rows = tracks->rows;

	if (strcmp(name, "labels") == 0)
		return track_labels(tracks);
	if (strcmp(name, "level") == 0)
		return WASM_NUMBERS(rows, tracks->n, level);
	if (strcmp(name, "nThreads") == 0)
		return WASM_NUMBERS(rows, tracks->n, n_threads);
	if (strcmp(name, "from") == 0)
		return WASM_NUMBERS(rows, tracks->n, from);
	if (strcmp(name, "to") == 0)
		return WASM_NUMBERS(rows, tracks->n, to);
	if (strcmp(name, "amount") == 0)
		return WASM_DOUBLES(rows, tracks->n, amount);
	if (strcmp(name, "running") == 0)
		return WASM_DOUBLES(rows, tracks->n, running);
	if (strcmp(name, "bins") == 0)
		return WASM_NUMBERS(tracks->cells, tracks->n_cells, at);
	return WASM_DOUBLES(tracks->cells, tracks->n_cells, amount);
}

/* --- graphs --- */

/* AROUND: a function's name; "": whole stacks. */
WASM_EXPORT("flame_new")
struct flame *wasm_flame_new(const struct selection *selection, int reverse, const char *around)
{
	struct flame *flame = NULL;
	int r = flame_make(selection, reverse ? FLAME_REVERSE : FLAME_CALLS,
			   *around ? around : NULL, &flame);

	if (r < 0)
		(void)err_set(wasm_err(), -r, "a graph of these stacks");
	return flame;
}

WASM_EXPORT("flame_free") void wasm_flame_free(struct flame *flame)
{
	flame_free(flame);
}

/*
 * How wide the nodes of a tree are, or where they start: the root is 0 to 1.  They are row by row,
 * PARENT is that of the first, and SIZE that of a node; AMOUNT has one a node, not below 0: of
 * nothing at the root all are 0 wide.
 */
static const struct wasm_view *place_nodes(size_t n, const uint32_t *parent, size_t size,
					   const double *amount, bool is_start)
{
	const double whole = n && amount && amount[0] > 0 ? amount[0] : 0;
	const char *at = (const char *)parent;
	uint32_t before = 0; /* parent of the node before, and where that one ends */
	double end = 0;
	double *to;
	const struct wasm_view *column = wasm_doubles(amount ? n : 0, &to);

	for (size_t i = 0; amount && to && i < n; i++, at += size) {
		const uint32_t above = *(const uint32_t *)(const void *)at;
		const double width = whole > 0 ? amount[i] / whole : 0;
		const double start = i == 0 ? 0 : i > 1 && above == before ? end : to[above];

		to[i] = is_start ? start : width;
		before = above;
		end = start + width;
	}
	return column;
}

/* As wide as gain and loss together. */
static const struct wasm_view *flame_place(const struct flame *flame, bool is_start)
{
	double *amount = malloc((flame->n_nodes + 1) * sizeof(*amount));
	const struct wasm_view *column;

	for (size_t i = 0; amount && i < flame->n_nodes; i++)
		amount[i] = (double)flame->nodes[i].gain + (double)flame->nodes[i].loss;
	column = place_nodes(flame->n_nodes, &flame->nodes->parent, sizeof(*flame->nodes), amount,
			     is_start);
	free(amount);
	return column;
}

static const struct wasm_view *tree_column(const struct flame *flame, const char *name)
{
	if (strcmp(name, "frame") == 0)
		return WASM_NUMBERS(flame->nodes, flame->n_nodes, frame);
	if (strcmp(name, "parent") == 0)
		return WASM_NUMBERS(flame->nodes, flame->n_nodes, parent);
	if (strcmp(name, "depth") == 0)
		return WASM_NUMBERS(flame->nodes, flame->n_nodes, depth);
	if (strcmp(name, "x") == 0 || strcmp(name, "width") == 0)
		return flame_place(flame, *name == 'x');
	return NULL;
}

#define SUMS(array, n, name)                                                                       \
	(strcmp(name, "selfGain") == 0      ? WASM_DOUBLES(array, n, self_gain)                    \
	 : strcmp(name, "selfLoss") == 0    ? WASM_DOUBLES(array, n, self_loss)                    \
	 : strcmp(name, "gain") == 0        ? WASM_DOUBLES(array, n, gain)                         \
	 : strcmp(name, "loss") == 0        ? WASM_DOUBLES(array, n, loss)                         \
	 : strcmp(name, "selfSamples") == 0 ? WASM_DOUBLES(array, n, self_samples)                 \
	 : strcmp(name, "samples") == 0     ? WASM_DOUBLES(array, n, samples)                      \
					    : NULL)

WASM_EXPORT("flame_column")
const struct wasm_view *wasm_flame_column(const struct flame *flame, const char *name)
{
	const struct wasm_view *column = tree_column(flame, name);

	return column ? column : SUMS(flame->nodes, flame->n_nodes, name);
}

/* --- functions --- */

struct wasm_functions {
	struct flame_function *functions;
	size_t n;
};

WASM_EXPORT("functions_new")
struct wasm_functions *wasm_functions_new(const struct selection *selection)
{
	struct wasm_functions *made = calloc(1, sizeof(*made));
	int r = made ? flame_functions(selection, &made->functions, &made->n) : -ENOMEM;

	if (r == 0)
		return made;
	free(made);
	(void)err_set(wasm_err(), -r, "the functions of these stacks");
	return NULL;
}

WASM_EXPORT("functions_free") void wasm_functions_free(struct wasm_functions *functions)
{
	free(functions->functions);
	free(functions);
}

WASM_EXPORT("functions_column")
const struct wasm_view *wasm_functions_column(const struct wasm_functions *functions,
					      const char *name)
{
	if (strcmp(name, "frame") == 0)
		return WASM_NUMBERS(functions->functions, functions->n, frame);
	if (strcmp(name, "calls") == 0)
		return WASM_DOUBLES(functions->functions, functions->n, calls);
	return SUMS(functions->functions, functions->n, name);
}

/* --- comparisons --- */

/* Of a share: what changed by less is not tested, as in `wick diff`. */
#define LEAST_CHANGE 0.01

WASM_EXPORT("diff_new")
struct diff *wasm_diff_new(const struct selection *base, const struct selection *now)
{
	const struct selection *const sides_of[DIFF_SIDES][1] = {{base}, {now}};
	const struct diff_side sides[DIFF_SIDES] = {{1, sides_of[0]}, {1, sides_of[1]}};
	struct diff *diff = NULL;

	(void)diff_begin(sides, LEAST_CHANGE, &diff, wasm_err());
	return diff;
}

WASM_EXPORT("diff_free") void wasm_diff_free(struct diff *diff)
{
	diff_free(diff);
}

/* The part of all permutations that were tested, N of them now; -1: there is no memory. */
WASM_EXPORT("diff_test") double wasm_diff_test(struct diff *diff, uint32_t n)
{
	double part;

	return diff_test(diff, n, &part) < 0 ? -1 : part;
}

WASM_EXPORT("diff_facts") const char *wasm_diff_facts(const struct diff *diff)
{
	struct buf *buf = wasm_answer();

	buf_printf(buf, "{\"n\":%u,\"level\":%g,\"least\":%g,\"smallestP\":%.17g",
		   diff->n_permutations, DIFF_LEVEL, diff->least, diff->smallest_p);
	buf_printf(buf, ",\"whole\":[%.17g,%.17g],\"problem\":", diff->whole[DIFF_BASE],
		   diff->whole[DIFF_NEW]);
	if (diff->no_chance)
		json_add_string(buf, diff->no_chance);
	else
		buf_add(buf, "\"\"");
	buf_add(buf, ",\"names\":[");
	for (size_t i = 0; i < diff->n_functions; i++) {
		if (i)
			buf_add_char(buf, ',');
		json_add_string(buf, diff->functions[i].name);
	}
	buf_add(buf, "]}");
	return buf_text(buf);
}

/* Whether self or total of each function changed by more than chance. */
static const struct wasm_view *diff_flags(const struct diff *diff, bool of_self)
{
	uint32_t *to;
	const struct wasm_view *column = wasm_numbers(diff->n_functions, &to);

	for (size_t i = 0; to && i < diff->n_functions; i++) {
		const struct diff_function *it = &diff->functions[i];

		to[i] = of_self ? diff_significant(diff, it->self_change, it->self_p, DIFF_LEVEL)
				: diff_significant(diff, it->total_change, it->total_p, DIFF_LEVEL);
	}
	return column;
}

static const struct wasm_view *diff_function_column(const struct diff *diff, const char *name)
{
	const struct diff_function *functions = diff->functions;
	const size_t n = diff->n_functions;

	if (strcmp(name, "self0") == 0)
		return WASM_DOUBLES(functions, n, self[DIFF_BASE]);
	if (strcmp(name, "self1") == 0)
		return WASM_DOUBLES(functions, n, self[DIFF_NEW]);
	if (strcmp(name, "total0") == 0)
		return WASM_DOUBLES(functions, n, total[DIFF_BASE]);
	if (strcmp(name, "total1") == 0)
		return WASM_DOUBLES(functions, n, total[DIFF_NEW]);
	if (strcmp(name, "selfFlag") == 0 || strcmp(name, "totalFlag") == 0)
		return diff_flags(diff, *name == 's');
	if (strcmp(name, "selfP") == 0)
		return WASM_DOUBLES(functions, n, self_p);
	if (strcmp(name, "totalP") == 0)
		return WASM_DOUBLES(functions, n, total_p);
	return NULL;
}

/*
 * As wide as the mean of both sides; of CHANGES that are "new" or "gone": what only one side has,
 * and what leads to it.
 */
static const struct wasm_view *diff_place(const struct diff *diff, const char *changes,
					  bool is_start)
{
	const struct diff_node *nodes = diff->nodes;
	const bool is_part = strcmp(changes, "new") == 0 || strcmp(changes, "gone") == 0;
	const unsigned lacking = *changes == 'n' ? DIFF_BASE : DIFF_NEW;
	double *amount = calloc(diff->n_nodes + 1, sizeof(*amount));
	const struct wasm_view *column;

	for (size_t i = diff->n_nodes; amount && i-- > 0;) {
		if (!is_part || (i && nodes[i].total[lacking] == 0))
			amount[i] = nodes[i].width;
		else if (i == 0)
			break;
		if (is_part)
			amount[nodes[i].parent] += amount[i];
	}
	column = place_nodes(diff->n_nodes, &nodes->parent, sizeof(*nodes), amount, is_start);
	free(amount);
	return column;
}

static const struct wasm_view *diff_node_column(const struct diff *diff, const char *name)
{
	const struct diff_node *nodes = diff->nodes;
	const size_t n = diff->n_nodes;

	if (strcmp(name, "frame") == 0)
		return WASM_NUMBERS(nodes, n, function);
	if (strcmp(name, "parent") == 0)
		return WASM_NUMBERS(nodes, n, parent);
	if (strcmp(name, "depth") == 0)
		return WASM_NUMBERS(nodes, n, depth);
	if (strcmp(name, "base") == 0)
		return WASM_DOUBLES(nodes, n, total[DIFF_BASE]);
	if (strcmp(name, "now") == 0)
		return WASM_DOUBLES(nodes, n, total[DIFF_NEW]);
	return WASM_DOUBLES(nodes, n, width);
}

/* Of functions: "self0" to "totalP"; of the tree's nodes: "x" and "width" of CHANGES, "mean"... */
WASM_EXPORT("diff_column")
const struct wasm_view *wasm_diff_column(const struct diff *diff, const char *name,
					 const char *changes)
{
	const struct wasm_view *column = diff_function_column(diff, name);

	if (!column && changes)
		return diff_place(diff, changes, *name == 'x');
	return column ? column : diff_node_column(diff, name);
}
