/* report_relatives.c - callers and callees of functions, out of the edges of all stacks */
#include "tools/view/report_relatives.h"

#include "base/json.h"
#include "tools/cli/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The edges of a selection, and room for the rows of one function. */
struct edges {
	struct flame_edge *all;
	size_t n;
	struct flame_function *callers;
	struct flame_function *callees;
};

static struct flame_function row_of(uint32_t frame, const struct flame_edge *edge)
{
	return (struct flame_function){.frame = frame,
				       .gain = edge->gain,
				       .loss = edge->loss,
				       .samples = edge->samples,
				       .calls = edge->samples};
}

/* Edges are most first, and so are the rows. */
static struct function_relatives find(const struct edges *edges,
				      const struct flame_function *function)
{
	struct function_relatives found = {
		.function = *function, .callers = edges->callers, .callees = edges->callees};

	for (size_t i = 0; i < edges->n; i++) {
		const struct flame_edge *edge = &edges->all[i];

		if (edge->callee == function->frame)
			edges->callers[found.n_callers++] = row_of(edge->caller, edge);
		if (edge->caller == function->frame)
			edges->callees[found.n_callees++] = row_of(edge->callee, edge);
	}
	return found;
}

static void write_one(const struct report_relatives *relatives,
		      const struct function_relatives *found, bool first, struct buf *text)
{
	switch (relatives->format) {
	case VIEW_JSON:
		buf_add(text, first ? "\n" : ",\n");
		function_relatives_json(text, relatives->table, found);
		break;
	case VIEW_CSV:
		function_relatives_csv(text, relatives->table, found, first);
		break;
	default:
		function_relatives_text(text, relatives->table, found,
					relatives->format == VIEW_MD);
		break;
	}
}

static int write_matches(const struct report_relatives *relatives, const struct edges *edges,
			 struct pattern *pattern, struct buf *text)
{
	const struct function_table *table = relatives->table;
	size_t n = 0;

	for (size_t i = 0; i < table->n_all && n < table->n_rows; i++) {
		const struct flame_function *row = &table->rows[i];
		const char *name = selection_frame_name(table->selection, row->frame);
		struct function_relatives found;

		/* what a group is called is nobody's function */
		if (row->frame >= table->selection->profile->n_frames ||
		    !pattern_matches(pattern, name, strlen(name)))
			continue;
		found = find(edges, row);
		write_one(relatives, &found, n == 0, text);
		n++;
	}
	return n ? 0 : -ENODATA;
}

static int read_edges(struct edges *edges, const struct selection *selection, struct err *err)
{
	int r = flame_edges(selection, &edges->all, &edges->n);

	if (r < 0)
		return err_set(err, -r, "find the callers");
	edges->callers = calloc(edges->n + 1, sizeof(*edges->callers));
	edges->callees = calloc(edges->n + 1, sizeof(*edges->callees));
	if (!edges->callers || !edges->callees)
		return err_set(err, ENOMEM, "find the callers");
	return 0;
}

int report_relatives_write(const struct report_relatives *relatives, struct buf *text,
			   struct err *err)
{
	const struct selection *selection = relatives->table->selection;
	struct pattern *pattern = NULL;
	struct edges edges = {0};
	int r = pattern_new(relatives->pattern, &pattern, err);

	if (r == 0)
		r = read_edges(&edges, selection, err);
	if (r == 0) {
		if (relatives->format == VIEW_JSON) {
			buf_add(text, "{\"kind\":\"relatives\",\"title\":");
			json_add_string(text, relatives->title);
			buf_add(text, ",\"matches\":[");
		}
		r = write_matches(relatives, &edges, pattern, text);
		if (relatives->format == VIEW_JSON)
			buf_add(text, "\n]}\n");
		if (r == -ENODATA) {
			(void)err_set(err, 0, "no function matches '%s'", relatives->pattern);
			err_hint(err, "wick report without --function, to see what there is");
		}
	}
	free(edges.all);
	free(edges.callers);
	free(edges.callees);
	pattern_free(pattern);
	return r;
}
