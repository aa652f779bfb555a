/* cmd_report.c - `wick report`: which functions take most, and who calls them */
#include "flamescope/draw/words.h"
#include "tools/report_relatives.h"
#include "tools/say.h"
#include "tools/view_subject.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_TOP = OPTION_LONG_ONLY, OPT_BY, OPT_FUNCTION, OPT_FORMAT, OPT_JSON, OPT_TITLE };
enum { DEFAULT_TOP = 20, MAX_TOP = 1000000 };

const struct option_spec report_option_specs[] = {
	VIEW_OUTPUT_SPEC("write to FILE: .txt, .md, .csv, .json or .html"),
	{OPT_FORMAT, "format", "NAME", "print so: txt, md, csv or json"},
	{OPT_JSON, "json", NULL, "the same as --format json"},
	{OPT_TOP, "top", "N", "how many functions, at most (default: 20; 0: all)"},
	{OPT_BY, "by", "ORDER", "most first, of self or total (default: self)"},
	{OPT_FUNCTION, "function", "RE",
	 "instead, functions that match, each with its callers and callees"},
	{OPT_TITLE, "title", "TEXT", "what stands above it"},
	QUERY_OPTION_SPECS,
	VIEW_INPUT_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

struct report {
	struct view_subject subject;
	uint32_t top;
	bool by_total;
	const char *function;
};

static int take_own(void *context, int id, const char *value, struct err *err)
{
	struct report *it = context;

	switch (id) {
	case OPT_TOP:
		return view_number("top", value, 0, MAX_TOP, &it->top, err);
	case OPT_BY:
		it->by_total = strcmp(value, "total") == 0;
		if (it->by_total || strcmp(value, "self") == 0)
			return 0;
		return err_set(err, 0, "--by is self or total, not '%s'", value);
	case OPT_FUNCTION:
		it->function = value;
		return 0;
	case OPT_FORMAT:
		it->subject.wanted_format = value;
		return 0;
	case OPT_TITLE:
		it->subject.wanted_title = value;
		return 0;
	default:
		it->subject.wanted_format = "json";
		return 0;
	}
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

/* What all samples together stand for. */
static uint64_t total_of(const struct selection *selection)
{
	uint64_t total = 0;

	if (selection->measure == QUERY_MEAN)
		return selection->n;
	for (size_t i = 0; i < selection->n; i++) {
		int64_t value = selection->values[i];
		uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

		total = size > UINT64_MAX - total ? UINT64_MAX : total + size;
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
	words_count(text, selection->n);
	buf_add(text, selection->n == 1 ? " sample" : " samples");
	if (selection->measure != QUERY_SAMPLES && selection->measure != QUERY_MEAN) {
		buf_add(text, selection->measure == QUERY_WEIGHT ? ", weight " : ", ");
		words_amount(text, table->total, selection->unit);
		if (selection->is_signed)
			buf_add(text, " up (+) and down (-)");
		if (it->subject.command.options.query.metric) {
			buf_add(text, " of ");
			words_plain(text, it->subject.command.options.query.metric);
		}
	}
	buf_add(text, "\n\n");
}

static void write_table(const struct report *it, const struct function_table *table,
			struct buf *text)
{
	switch (it->subject.format) {
	case VIEW_CSV:
		function_table_csv(text, table);
		break;
	case VIEW_JSON:
		buf_add(text, "{\"kind\":\"report\",\"title\":");
		words_json(text, it->subject.title);
		buf_printf(text, ",\"by\":\"%s\",", table->by_self ? "self" : "total");
		function_table_json(text, table);
		buf_add(text, "}\n");
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

static int write_report(const struct report *it, struct buf *text, struct err *err)
{
	const struct selection *selection = it->subject.selection;
	struct function_table table = {.selection = selection, .by_self = !it->by_total};
	struct flame_function *rows = NULL;
	int r = flame_functions(selection, &rows, &table.n_all);

	if (r < 0)
		return err_set(err, -r, "count the functions");
	table.rows = rows;
	table.total = total_of(selection);
	table.n_rows = it->top && it->top < table.n_all ? it->top : table.n_all;
	qsort_r(rows, table.n_all, sizeof(*rows), compare_widths, &table);
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

static int write_result(struct report *it, struct err *err)
{
	struct buf text;
	int r;

	if (it->subject.format == VIEW_HTML)
		return view_subject_page(&it->subject, "view=table", err);
	buf_init(&text, VIEW_TEXT_BYTES);
	r = write_report(it, &text, err);
	if (r == 0)
		r = view_subject_write(&it->subject, &text, err);
	buf_release(&text);
	return r;
}

int cmd_report(struct cmd_ctx *ctx)
{
	static const enum view_format can[] = {VIEW_TXT,  VIEW_MD,   VIEW_CSV,
					       VIEW_JSON, VIEW_HTML, VIEW_NONE};
	struct report it = {.subject.can = can, .top = DEFAULT_TOP};
	struct err err = {0};
	int status = WICK_OK;
	int r;

	if (view_command_read(&it.subject.command, ctx, take_own, &it, &status)) {
		r = view_subject_open(&it.subject, &err);
		if (r == 0)
			r = write_result(&it, &err);
		if (r < 0)
			status = view_fail(r, &err);
	}
	view_subject_release(&it.subject);
	return status;
}
