/* cmd_heatmap.c - `wick heatmap`: how much in which moment */
#include "flamescope/draw/draw.h"
#include "flamescope/query/query.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/view/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OPT_WIDTH = OPTION_LONG_ONLY, OPT_COLUMN, OPT_ROWS, OPT_BY, OPT_CELL };

enum {
	DEFAULT_COLUMNS = 80,     /* of what is no terminal */
	TEXT_ROWS = 25,           /* where a row is a line */
	PICTURE_COLUMNS = 2400,   /* more than these are too narrow to be seen */
	PICTURE_BY_COLUMNS = 600, /* where they could be as short as one likes */
	MIN_WIDTH = 20,
	MAX_WIDTH = 20000,
	WORD_BYTES = 32,
};

const struct option_spec heatmap_option_specs[] = {
	VIEW_OUTPUT_SPEC(
		"write to FILE: .svg, .html, .txt, .csv or .json (default: draw in the terminal)"),
	VIEW_FORMAT_SPEC("output format, whatever FILE is called: svg, txt, csv..."),
	VIEW_TITLE_SPEC("title of the picture"),
	{OPT_WIDTH, "width", "N", "width of a picture in pixels, or of text in characters"},
	{OPT_COLUMN, "column", "DURATION",
	 "time range of one column (default: 1s; less for a recording of less than 16s, and more "
	 "if the columns do not fit)"},
	{OPT_ROWS, "rows", "N",
	 "number of rows in a column (default: 20 to 50, as the samples are dense)"},
	{OPT_BY, "by", "DIM",
	 "one row for each thread, state... instead of parts of a second; DIM as in --group"},
	{OPT_CELL, "cell", "WHAT",
	 "what a cell shows of its samples: sum (default), or max, the largest value"},
	QUERY_OPTION_SPECS,
	VIEW_INPUT_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

struct heatmap {
	struct view_subject subject;
	struct heat_options options;
	uint32_t width;
};

static int take_own(void *context, int id, const char *value, struct err *err)
{
	struct heatmap *it = context;

	switch (id) {
	case OPT_WIDTH:
		return view_number("width", value, MIN_WIDTH, MAX_WIDTH, &it->width, err);
	case OPT_COLUMN:
		return value_duration(value, &it->options.column_ns, err);
	case OPT_ROWS:
		return view_number("rows", value, 1, HEAT_MAX_ROWS, &it->options.n_rows, err);
	case OPT_CELL:
		it->options.largest = strcmp(value, "max") == 0;
		if (it->options.largest || strcmp(value, "sum") == 0)
			return 0;
		return err_set(err, EINVAL, "--cell %s: a cell is a sum or a max", value);
	default:
		it->options.by = value;
		it->subject.command.words.query.every_event = strcmp(value, "event") == 0;
		return 0;
	}
}

static bool is_drawn(const struct heatmap *it)
{
	return it->subject.format == VIEW_NONE || it->subject.format == VIEW_TXT;
}

static uint32_t drawing_width(const struct heatmap *it)
{
	uint32_t here = it->subject.command.output.path ? 0 : terminal_columns();

	return it->width ? it->width : here ? here : DEFAULT_COLUMNS;
}

/* How many columns can be seen; 0: however many there are. */
static uint64_t column_room(const struct heatmap *it)
{
	uint32_t margin = it->options.by ? HEAT_TERMINAL_LABEL : HEAT_TERMINAL_AXIS;

	if (is_drawn(it)) {
		uint32_t width = drawing_width(it);

		return width > margin + 1 ? width - margin - 1 : 1;
	}
	if (it->subject.format == VIEW_SVG)
		return it->options.by ? PICTURE_BY_COLUMNS : PICTURE_COLUMNS;
	return 0;
}

/* The shortest round time of which no more than ROOM cover the recording. */
static uint64_t round_column(uint64_t length_ns, uint64_t room, const uint64_t *columns_ns,
			     size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (length_ns / columns_ns[i] + 2 <= room)
			return columns_ns[i];
	return length_ns / (room > 2 ? room - 1 : 1) + 1;
}

static void choose_column(struct heatmap *it)
{
	static const uint64_t second_ns = 1000000000;
	const struct profile *profile = it->subject.profile;
	/* from the whole second on that the first sample is in */
	uint64_t length_ns = profile->start_ns % second_ns + profile->length_ns;
	uint64_t room = column_room(it);
	const uint64_t *columns_ns;
	size_t n;

	if (is_drawn(it) && !terminal_has_colours())
		it->options.most_rows = TEXT_ROWS;
	if (it->options.column_ns || room == 0)
		return;
	/* of values columns may be as short as those of the shortest recording */
	n = heat_columns(it->options.by ? 1 : profile->length_ns, &columns_ns);
	it->options.column_ns = round_column(length_ns, room, columns_ns, n);
}

static enum heat_colours colours_of(const struct heatmap *it)
{
	if (it->subject.format != VIEW_NONE || !terminal_has_colours())
		return HEAT_PLAIN;
	return terminal_has_true_colours() ? HEAT_TRUE : HEAT_256;
}

static void write_heat(const struct heatmap *it, const struct heat *heat, struct buf *text)
{
	const struct selection *selection = it->subject.selection;
	struct heat_terminal terminal = {.title = it->subject.title,
					 .columns = drawing_width(it),
					 .colours = colours_of(it),
					 .theme = terminal_is_light() ? COLOUR_LIGHT : COLOUR_DARK};
	struct heat_svg_options picture = {.title = it->subject.title, .width = it->width};

	switch (it->subject.format) {
	case VIEW_CSV:
		heat_write_csv(text, heat, selection);
		break;
	case VIEW_JSON:
		heat_write_json(text, heat, selection);
		break;
	case VIEW_SVG:
		/* a size error is reported when it is written */
		(void)heat_svg_write(text, heat, selection, &picture);
		break;
	default:
		heat_write_terminal(text, heat, selection, &terminal);
		break;
	}
}

static int draw(void *context, struct buf *text, struct err *err)
{
	struct heatmap *it = context;
	struct heat *heat = NULL;
	int r;

	if (!it->subject.profile->has_times && !it->options.by)
		say_note("the recording has no times: all of its stacks are in one column");
	choose_column(it);
	r = heat_make(it->subject.selection, &it->options, &heat, err);
	if (r == 0)
		write_heat(it, heat, text);
	heat_free(heat);
	return r;
}

static void add_number(struct buf *words, const char *name, uint64_t number)
{
	char word[WORD_BYTES];

	(void)snprintf(word, sizeof(word), "%llu", (unsigned long long)number);
	if (number)
		view_state_add(words, name, word);
}

/* The page draws it anew: it gets the same options. */
static int tell_page(void *context, struct buf *words, struct err *err)
{
	const struct heatmap *it = context;
	struct dimension by = {0};
	int r = 0;

	if (it->options.by)
		r = dimension_init(&by, it->subject.profile, it->options.by,
				   query_delta_metric(&it->subject.command.words.query), err);
	dimension_release(&by);
	if (r < 0)
		return r;
	if (it->options.by)
		view_state_add(words, "by", it->options.by);
	if (it->options.largest)
		view_state_add(words, "cell", "max");
	add_number(words, "rows", it->options.n_rows);
	add_number(words, "column", it->options.column_ns);
	return 0;
}

int cmd_heatmap(struct cmd_ctx *ctx)
{
	static const enum view_format formats[] = {VIEW_SVG, VIEW_HTML, VIEW_TXT,
						   VIEW_CSV, VIEW_JSON, VIEW_NONE};
	static const struct view_verb verb = {formats, take_own, draw, tell_page};
	struct heatmap it = {0};

	return view_subject_run(&it.subject, &verb, &it, ctx);
}
