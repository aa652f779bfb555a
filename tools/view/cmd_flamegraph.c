/* cmd_flamegraph.c - `wick flamegraph`: call paths and their cost */
#include "flamescope/convert/convert.h"
#include "flamescope/draw/draw.h"
#include "tools/cli/terminal.h"
#include "tools/view/view.h"

#include <errno.h>
#include <string.h>

enum {
	OPT_WIDTH = OPTION_LONG_ONLY,
	OPT_THRESHOLD,
	OPT_ICICLE,
	OPT_REVERSE,
	OPT_COLOUR,
};

/* A frame of less than a quarter of a pixel cannot be seen, nor can one be of that many. */
static const double tree_threshold = 0.005;

const struct option_spec flamegraph_option_specs[] = {
	VIEW_OUTPUT_SPEC("write to FILE: .svg, .html, .txt, .csv, .json or .folded (default: print "
			 "the tree)"),
	VIEW_FORMAT_SPEC("output format, whatever FILE is called: svg, txt, csv..."),
	VIEW_TITLE_SPEC("title of the picture"),
	{OPT_WIDTH, "width", "PIXELS", "width of the picture (default: 1200)"},
	{OPT_THRESHOLD, "threshold", "PERCENT",
	 "leave out frames below PERCENT of the total (default: 0.02 in pictures, 0.5 in text, 0 "
	 "elsewhere)"},
	{OPT_ICICLE, "icicle", NULL, "draw with the root at the top"},
	{OPT_REVERSE, "reverse", NULL, "in text, CSV and JSON: start at the innermost functions"},
	{OPT_COLOUR, "colour", "BY",
	 "what colours say: family, module, package, name, state or none (default: family, the "
	 "kind "
	 "of code)"},
	QUERY_OPTION_SPECS,
	VIEW_INPUT_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

struct flamegraph {
	struct view_subject subject;
	struct flame_svg_options picture;
	bool has_threshold;
	bool reverse;
};

static int take_colour(const char *value, enum colour_by *ret_by, struct err *err)
{
	for (unsigned by = 0; by < COLOUR_BYS; by++) {
		if (strcmp(value, colour_by_word(by)) == 0) {
			*ret_by = by;
			return 0;
		}
	}
	(void)err_set(err, 0, "'%s' is nothing that --colour knows", value);
	err_hint(err, "family, module, package, name, state or none");
	return -EINVAL;
}

static int take_own(void *context, int id, const char *value, struct err *err)
{
	struct flamegraph *it = context;

	switch (id) {
	case OPT_WIDTH:
		return view_number("width", value, FLAME_SVG_MIN_WIDTH, FLAME_SVG_MAX_WIDTH,
				   &it->picture.width, err);
	case OPT_THRESHOLD:
		it->has_threshold = true;
		return view_percent("threshold", value, &it->picture.threshold, err);
	case OPT_ICICLE:
		it->picture.icicle = true;
		return 0;
	case OPT_COLOUR:
		return take_colour(value, &it->picture.by, err);
	default:
		it->reverse = true;
		return 0;
	}
}

static double threshold_of(const struct flamegraph *it)
{
	enum view_format format = it->subject.format;

	if (it->has_threshold)
		return it->picture.threshold;
	if (format == VIEW_SVG)
		return FLAME_SVG_THRESHOLD;
	return format == VIEW_NONE || format == VIEW_TXT ? tree_threshold : 0;
}

static int no_memory(int error, struct err *err)
{
	return error < 0 ? err_set(err, -error, "make the flame graph") : 0;
}

static int write_svg(struct flamegraph *it, struct buf *text, struct err *err)
{
	struct flame *calls = NULL;
	struct flame *reverse = NULL;
	int r = flame_make(it->subject.selection, FLAME_CALLS, NULL, &calls);

	if (r == 0)
		r = flame_make(it->subject.selection, FLAME_REVERSE, NULL, &reverse);
	if (r == 0) {
		it->picture.title = it->subject.title;
		it->picture.threshold = threshold_of(it);
		r = flame_svg_write(text, calls, reverse, &it->picture);
	}
	if (r == 0 && reverse->cut)
		say_note("the reverse graph shows %u frames of each stack, and some are deeper",
			 reverse->cut);
	flame_free(reverse);
	flame_free(calls);
	return r == -EFBIG ? 0 : no_memory(r, err); /* a size error is reported when written */
}

static int write_tree(struct flamegraph *it, struct buf *text, struct err *err)
{
	enum flame_order order = it->reverse ? FLAME_REVERSE : FLAME_CALLS;
	double threshold = threshold_of(it);
	struct flame *flame = NULL;
	int r = flame_make(it->subject.selection, order, NULL, &flame);

	if (r < 0)
		return no_memory(r, err);
	switch (it->subject.format) {
	case VIEW_CSV:
		r = flame_write_csv(text, flame, threshold);
		break;
	case VIEW_JSON:
		r = flame_write_json(text, flame, threshold);
		break;
	default:
		r = flame_write_tree(text, flame, threshold);
		break;
	}
	flame_free(flame);
	return no_memory(r, err);
}

static int add_bytes(void *context, const void *bytes, size_t len)
{
	return buf_append(context, bytes, len);
}

static int write_folded(const struct flamegraph *it, struct buf *text, struct err *err)
{
	struct convert_options options = {.format = CONVERT_FOLDED, .title = it->subject.title};
	struct convert_sink sink = {.write = add_bytes, .context = text};
	struct convert_report report = {0};
	int r = convert_write(it->subject.selection, &options, &sink, &report, err);

	if (report.n_negative)
		say_note("%llu samples with values below 0 are left out, because the format cannot "
			 "have them, try: --metric NAME:loss",
			 (unsigned long long)report.n_negative);
	return r == -EFBIG ? 0 : r; /* reported when it is written */
}

/* A metric that never changes makes a graph without width. */
static int check_width(const struct selection *selection, struct err *err)
{
	if (selection->measure == QUERY_MEAN)
		return 0;
	for (size_t i = 0; i < selection->n; i++)
		if (selection->values[i] != 0)
			return 0;
	(void)err_set(err, 0, "all values of the metric are 0: there is nothing to draw");
	err_hint(err, "--metric samples");
	return -ENODATA;
}

static int draw(void *context, struct buf *text, struct err *err)
{
	struct flamegraph *it = context;
	int r = check_width(it->subject.selection, err);

	if (r < 0)
		return r;
	if (it->subject.format == VIEW_SVG)
		return write_svg(it, text, err);
	if (it->subject.format == VIEW_FOLDED)
		return write_folded(it, text, err);
	return write_tree(it, text, err);
}

static int tell_page(void *context, struct buf *words, struct err *err)
{
	const struct flamegraph *it = context;

	view_state_add(words, "view", it->picture.icicle ? "icicle" : "flame");
	if (it->picture.by != COLOUR_BY_FAMILY)
		view_state_add(words, "colour", colour_by_word(it->picture.by));
	return check_width(it->subject.selection, err);
}

int cmd_flamegraph(struct cmd_ctx *ctx)
{
	static const enum view_format formats[] = {VIEW_SVG,  VIEW_HTML,   VIEW_TXT, VIEW_CSV,
						   VIEW_JSON, VIEW_FOLDED, VIEW_NONE};
	static const struct view_verb verb = {formats, take_own, draw, tell_page};
	struct flamegraph it = {0};

	return view_subject_run(&it.subject, &verb, &it, ctx);
}
