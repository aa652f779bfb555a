/* cmd_report.c - `wick report`: the most expensive functions and their callers */
#include "base/json.h"
#include "base/saturated.h"
#include "base/words.h"
#include "flamescope/draw/draw.h"
#include "tools/cli/pattern.h"
#include "tools/cli/terminal.h"
#include "tools/view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct report_relatives {
	struct function_table *table; /* all of its rows are read; n_rows: what is shown */
	const char *pattern;
	const char *title;
	enum view_format format;
};

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

		/* the name of a group is not a function */
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

/*
 * Each match, the widest first, no more of them than table->n_rows. Returns 0; -ENODATA: no
 * function matches; -EINVAL: no pattern; -ENOMEM.
 */
static int report_relatives_write(const struct report_relatives *relatives, struct buf *text,
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

enum { OPT_TOP = OPTION_LONG_ONLY, OPT_BY, OPT_FUNCTION, OPT_PER, OPT_JSON };
enum { DEFAULT_TOP = 20, MAX_TOP = 1000000, BAR_TERMINAL = 100 };

const struct option_spec report_option_specs[] = {
	VIEW_OUTPUT_SPEC("write to FILE: .txt, .md, .csv, .json or .html"),
	VIEW_FORMAT_SPEC("output format: txt, md, csv or json"),
	{OPT_JSON, "json", NULL, "same as --format json"},
	{OPT_TOP, "top", "N", "show at most N functions (default: 20; 0: all)"},
	{OPT_BY, "by", "ORDER",
	 "sort by self, total or calls (default: self); calls needs a recording of every call. A "
	 "label (task, tier, identity, req, trace, function): same as --per"},
	{OPT_FUNCTION, "function", "RE",
	 "show only matching functions, each with its callers and callees"},
	{OPT_PER, "per", "DIM",
	 "show a table by thread, state and so on; DIM is a name as in --group, or module"},
	VIEW_TITLE_SPEC("title of the report"),
	QUERY_OPTION_SPECS,
	VIEW_INPUT_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

enum order { BY_SELF, BY_TOTAL, BY_CALLS };

static const char *const orders[] = {
	[BY_SELF] = "self", [BY_TOTAL] = "total", [BY_CALLS] = "calls"};

enum { N_ORDERS = sizeof(orders) / sizeof(orders[0]) };

struct report {
	struct view_subject subject;
	uint32_t top;
	enum order by;
	const char *function;
	const char *per;
};

static int check_one(const struct report *it, struct err *err)
{
	if (it->per && it->function)
		return err_set(err, 0, "--per and --function cannot be combined, try: one of them");
	if (it->per && it->by == BY_CALLS)
		return err_set(err, 0, "--by calls sorts functions, try: without --per");
	return 0;
}

static int take_order(struct report *it, const char *value, struct err *err)
{
	for (size_t i = 0; i < N_ORDERS; i++) {
		if (strcmp(value, orders[i]) != 0)
			continue;
		it->by = (enum order)i;
		return check_one(it, err);
	}
	if (dimension_is_label(value)) {
		it->per = value;
		return check_one(it, err);
	}
	(void)err_set(err, 0,
		      "--by is self, total, calls or a label such as tier or identity, not '%.60s'",
		      value);
	err_hint(err, "--per %.60s, if samples have that", value);
	return -EINVAL;
}

static int take_own(void *context, int id, const char *value, struct err *err)
{
	struct report *it = context;

	switch (id) {
	case OPT_TOP:
		return view_number("top", value, 0, MAX_TOP, &it->top, err);
	case OPT_BY:
		return take_order(it, value, err);
	case OPT_FUNCTION:
		it->function = value;
		return check_one(it, err);
	case OPT_PER:
		it->per = value;
		it->subject.command.words.query.every_event = strcmp(value, "event") == 0;
		return check_one(it, err);
	default:
		it->subject.command.format = "json";
		return 0;
	}
}

/*
 * Whether each sample of an event is one call: wick's waits for locks, and tracepoints and probes,
 * whose names are SYSTEM:NAME (SYSTEM.NAME in wick's recordings); after the colon of other events
 * are modifiers (perf-list(1)).
 */
static bool counts_calls(const struct profile *profile, const char *event)
{
	const char *colon = strchr(event, profile->is_wick ? '.' : ':');

	if (strcmp(event, "lock") == 0)
		return profile->is_wick;
	return colon && colon[1 + strspn(colon + 1, "ukhGHpPSDWIe")] != '\0';
}

/* Return: 0; -EINVAL and why the samples are no exact count. */
static int check_calls(const struct selection *selection, struct err *err)
{
	const struct profile *profile = selection->profile;
	uint64_t lost = 0;

	for (size_t i = 0; i < selection->n; i++) {
		size_t sample = selection->samples[i];
		const char *event = profile->strings[profile->event_names[profile->events[sample]]];
		bool waits = strcmp(event, "lock") == 0;

		if (counts_calls(profile, event) && (waits || profile->weights[sample] == 1))
			continue;
		(void)err_set(
			err, 0,
			"calls cannot be counted: '%.60s' is sampled, not recorded at every call",
			*event ? event : "the event");
		err_hint(err, "--by self; wick record -e lock, or a probe or tracepoint with =1 "
			      "after its name, record every call");
		return -EINVAL;
	}
	for (size_t i = 0; i < profile->n_files; i++)
		lost = saturated_add(lost, profile->files[i].lost);
	if (lost == 0)
		return 0;
	(void)err_set(err, 0, "calls are not exact: %llu were lost when they were recorded",
		      (unsigned long long)lost);
	err_hint(err, "--by self");
	return -EINVAL;
}

/* What each function did itself, as samples: then each is a call. */
static int count_calls(const struct selection *selection, struct flame_function *rows, size_t n,
		       struct err *err)
{
	int r = check_calls(selection, err);

	for (size_t i = 0; r == 0 && i < n; i++)
		rows[i].calls = rows[i].self_samples;
	return r;
}

static int compare_widths(const void *a, const void *b, void *context)
{
	const struct function_table *table = context;
	uint64_t left = function_table_width(table->selection, a, table->by_self);
	uint64_t right = function_table_width(table->selection, b, table->by_self);

	if (left != right)
		return left < right ? 1 : -1;
	left = function_table_width(table->selection, a, !table->by_self);
	right = function_table_width(table->selection, b, !table->by_self);
	if (left != right)
		return left < right ? 1 : -1;
	return strcmp(
		selection_frame_name(table->selection, ((const struct flame_function *)a)->frame),
		selection_frame_name(table->selection, ((const struct flame_function *)b)->frame));
}

static int compare_calls(const void *a, const void *b, void *context)
{
	uint64_t left = ((const struct flame_function *)a)->calls;
	uint64_t right = ((const struct flame_function *)b)->calls;

	return left != right ? (left < right ? 1 : -1) : compare_widths(a, b, context);
}

/* What all samples together stand for. */
static uint64_t total_of(const struct selection *selection)
{
	uint64_t total = 0;

	if (selection->measure == QUERY_MEAN)
		return selection->n;
	for (size_t i = 0; i < selection->n; i++) {
		int64_t value = selection->values[i];
		uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

		total = saturated_add(total, size);
	}
	return total;
}

static void add_head(const struct report *it, const struct function_table *table, struct buf *text)
{
	const struct selection *selection = it->subject.selection;
	bool markdown = it->subject.format == VIEW_MD;

	if (markdown)
		buf_add(text, "### `");
	if (markdown)
		words_markdown(text, it->subject.title);
	else
		words_plain(text, it->subject.title);
	buf_add(text, markdown ? "`\n\n" : "\n");
	measure_taken(text, selection);
	if (selection->measure == QUERY_MEAN) {
		buf_add(text, ", mean of ");
		words_plain(text, it->subject.command.words.query.metric);
	} else if (selection->measure != QUERY_SAMPLES) {
		buf_add(text, ", ");
		measure_total(text, selection, table->total);
		if (selection->is_signed)
			buf_add(text, " up (+) and down (-)");
		if (it->subject.command.words.query.metric) {
			buf_add(text, " of ");
			words_plain(text, it->subject.command.words.query.metric);
		}
	}
	if (!selection->is_signed && selection->measure <= QUERY_WEIGHT) {
		buf_add(text, "; ");
		measure_precision(text, selection);
	}
	buf_add(text, "\n\n");
}

static void add_json(const struct report *it, const struct function_table *table, struct buf *text)
{
	buf_printf(text, "{\"kind\":\"%s\",\"title\":", table->labels ? "parts" : "report");
	json_add_string(text, it->subject.title);
	if (table->labels) {
		buf_add_char(text, ',');
		report_parts_json(text, table);
	} else {
		buf_printf(text, ",\"by\":\"%s\",", orders[it->by]);
		function_table_json(text, table);
	}
	buf_add(text, "}\n");
}

static void write_table(const struct report *it, const struct function_table *table,
			struct buf *text)
{
	switch (it->subject.format) {
	case VIEW_CSV:
		if (table->labels)
			report_parts_csv(text, table);
		else
			function_table_csv(text, table);
		break;
	case VIEW_JSON:
		add_json(it, table, text);
		break;
	case VIEW_MD:
		add_head(it, table, text);
		function_table_markdown(text, table);
		break;
	default:
		add_head(it, table, text);
		function_table_text(text, table);
		break;
	}
}

/* Bars are for people, where they leave names enough room. */
static void fit_terminal(const struct report *it, struct function_table *table)
{
	table->columns = it->subject.command.output.path ? 0 : terminal_columns();
	table->has_bars = table->columns >= BAR_TERMINAL && terminal_has_colours();
}

static int write_report(const struct report *it, struct buf *text, struct err *err)
{
	const struct selection *selection = it->subject.selection;
	struct function_table table = {.selection = selection, .by_self = it->by != BY_TOTAL};
	struct flame_function *rows = NULL;
	int r = flame_functions(selection, &rows, &table.n_all);

	if (r < 0)
		return err_set(err, -r, "count the functions");
	if (it->by == BY_CALLS)
		r = count_calls(selection, rows, table.n_all, err);
	if (r < 0) {
		free(rows);
		return r;
	}
	table.rows = rows;
	fit_terminal(it, &table);
	table.total = total_of(selection);
	table.n_rows = it->top && it->top < table.n_all ? it->top : table.n_all;
	qsort_r(rows, table.n_all, sizeof(*rows),
		it->by == BY_CALLS ? compare_calls : compare_widths, &table);
	if (it->function) {
		struct report_relatives relatives = {.table = &table,
						     .pattern = it->function,
						     .format = it->subject.format,
						     .title = it->subject.title};

		if (it->subject.format != VIEW_CSV && it->subject.format != VIEW_JSON)
			add_head(it, &table, text);
		r = report_relatives_write(&relatives, text, err);
	} else {
		write_table(it, &table, text);
	}
	free(rows);
	return r;
}

static int write_parts(const struct report *it, struct buf *text, struct err *err)
{
	const struct selection *selection = it->subject.selection;
	struct function_table table = {.selection = selection, .part = it->per};
	struct report_parts parts = {0};
	int r = report_parts_make(&parts, selection, it->per, err);

	if (r == 0) {
		table.rows = parts.rows;
		table.labels = parts.labels;
		table.total = total_of(selection);
		table.n_all = parts.n;
		table.n_rows = it->top && it->top < parts.n ? it->top : parts.n;
		table.others = report_parts_others(&parts, table.n_rows);
		fit_terminal(it, &table);
		write_table(it, &table, text);
	}
	report_parts_release(&parts);
	return r;
}

static int draw(void *context, struct buf *text, struct err *err)
{
	const struct report *it = context;

	view_error_weights(it->subject.selection, &it->subject.command.words.query);
	return it->per ? write_parts(it, text, err) : write_report(it, text, err);
}

static int tell_page(void *context, struct buf *words, struct err *err)
{
	(void)context;
	(void)err;
	view_state_add(words, "view", "table");
	return 0;
}

int cmd_report(struct cmd_ctx *ctx)
{
	static const enum view_format formats[] = {VIEW_TXT,  VIEW_MD,   VIEW_CSV,
						   VIEW_JSON, VIEW_HTML, VIEW_NONE};
	static const struct view_verb verb = {formats, take_own, draw, tell_page};
	struct report it = {.top = DEFAULT_TOP};

	return view_subject_run(&it.subject, &verb, &it, ctx);
}
