/* cmd_diff.c - `wick diff`: what changed between two recordings, or two times of one */
#include "base/cleanup.h"
#include "base/err.h"
#include "flamescope/diff/diff.h"
#include "flamescope/draw/draw.h"
#include "tools/cli/terminal.h"
#include "tools/cli/value.h"
#include "tools/view/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is compared with what. */
struct diff_sides {
	struct view_input files[DIFF_SIDES];
	struct query queries[DIFF_SIDES];
	bool one_file; /* both sides are times of the same recordings */
};

/* Zero it. */
struct diff_input {
	size_t n_profiles;
	struct profile **profiles;
	struct selection **selections[DIFF_SIDES];
	struct diff_side sides[DIFF_SIDES];
	char *names[DIFF_SIDES]; /* for people */
};

static int load_files(struct diff_input *input, const struct view_input *files, struct err *err)
{
	for (size_t i = 0; i < files->n_paths; i++) {
		struct view_input one = {
			.paths = &files->paths[i], .n_paths = 1, .no_index = files->no_index};
		int r = view_input_load(&one, &input->profiles[input->n_profiles], err);

		if (r < 0)
			return r;
		input->n_profiles++;
	}
	return 0;
}

static int name_side(char **ret_name, const struct view_input *files)
{
	int r = files->n_paths == 1 ? asprintf(ret_name, "%s", files->paths[0])
				    : asprintf(ret_name, "%s and %zu more", files->paths[0],
					       files->n_paths - 1);

	if (r >= 0)
		return 0;
	*ret_name = NULL;
	return -ENOMEM;
}

/* Of the recordings from FIRST on. */
static int select_side(struct diff_input *input, unsigned side, size_t first,
		       const struct query *query, struct err *err)
{
	struct diff_side *recordings = &input->sides[side];

	for (size_t i = 0; i < recordings->n; i++) {
		int r = view_input_select(input->profiles[first + i], query,
					  &input->selections[side][i], err);

		if (r < 0)
			return r;
	}
	recordings->recordings = (const struct selection *const *)input->selections[side];
	return 0;
}

static int make_room(struct diff_input *input, const struct diff_sides *sides, struct err *err)
{
	const struct view_input *files = sides->files;
	size_t n = files[DIFF_BASE].n_paths + files[DIFF_NEW].n_paths;
	bool done;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		if (files[side].n_paths > DIFF_MAX_RECORDINGS) {
			(void)err_set(err, E2BIG, "compare more than %d recordings a side",
				      DIFF_MAX_RECORDINGS);
			return -E2BIG;
		}
	input->profiles = calloc(n + 1, sizeof(struct profile *));
	done = input->profiles;
	for (unsigned side = 0; side < DIFF_SIDES && done; side++) {
		input->sides[side].n = files[side].n_paths;
		input->selections[side] =
			calloc(files[side].n_paths + 1, sizeof(struct selection *));
		done = input->selections[side] && name_side(&input->names[side], &files[side]) == 0;
	}
	if (done)
		return 0;
	(void)err_set(err, ENOMEM, "compare");
	return -ENOMEM;
}

/*
 * Load each file of both sides as a recording of its own. Returns 0; -E2BIG: more than
 * DIFF_MAX_RECORDINGS; as view_input_load().
 */
static int diff_input_load(struct diff_input *input, const struct diff_sides *sides,
			   struct err *err)
{
	int r = make_room(input, sides, err);

	if (r == 0)
		r = load_files(input, &sides->files[DIFF_BASE], err);
	if (r == 0 && !sides->one_file)
		r = load_files(input, &sides->files[DIFF_NEW], err);
	return r;
}

/*
 * Select of each recording that was loaded by its side's query. Returns as
 * view_input_select().
 */
static int diff_input_select(struct diff_input *input, const struct diff_sides *sides,
			     struct err *err)
{
	size_t first = sides->one_file ? 0 : input->sides[DIFF_BASE].n;
	int r = select_side(input, DIFF_BASE, 0, &sides->queries[DIFF_BASE], err);

	return r < 0 ? r : select_side(input, DIFF_NEW, first, &sides->queries[DIFF_NEW], err);
}

/* Forget them. */
static void diff_input_release(struct diff_input *input)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; input->selections[side] && i < input->sides[side].n; i++)
			selection_free(input->selections[side][i]);
		free((void *)input->selections[side]);
		free(input->names[side]);
	}
	for (size_t i = 0; i < input->n_profiles; i++)
		profile_free(input->profiles[i]);
	free((void *)input->profiles);
	*input = (struct diff_input){0};
}

enum { STATE_BYTES = 1024 * 1024 };

/* The words of the page's URL; a baseline that is another recording is there without them. */
static int make_state(const struct diff_sides *sides, struct buf *state, struct err *err)
{
	view_state_words(&sides->queries[DIFF_NEW], state);
	view_state_ranges(state, "b", &sides->queries[DIFF_BASE]);
	view_state_add(state, "view", "diff");
	return state->failed ? err_set(err, E2BIG, "put the options into the page") : 0;
}

/* A side as one recording: loaded already, or its files together. */
static int side_profile(const struct diff_input *input, const struct diff_sides *sides,
			unsigned side, struct profile **ret_joined, const struct profile **ret,
			struct err *err)
{
	int r = 0;

	if (sides->files[side].n_paths > 1)
		r = view_input_load(&sides->files[side], ret_joined, err);
	if (r == 0)
		*ret = *ret_joined ? *ret_joined
				   : input->profiles[side == DIFF_BASE ? 0 : input->n_profiles - 1];
	return r;
}

/*
 * Both sides in one page, the baseline chosen and the difference shown. Several recordings of a
 * side are one there: the page's chance is that of seconds. Returns 0; as view_input_load() and
 * view_page_write().
 */
static int diff_page_write(const struct view_command *command, const struct diff_sides *sides,
			   const struct diff_input *input, struct err *err)
{
	static const unsigned order[DIFF_SIDES] = {DIFF_NEW, DIFF_BASE};
	struct profile *joined[DIFF_SIDES] = {NULL};
	struct page page = {.title = input->names[DIFF_NEW],
			    .n_recordings = sides->one_file ? 1 : DIFF_SIDES};
	struct buf state;
	int r;

	buf_init(&state, STATE_BYTES);
	r = make_state(sides, &state, err);
	for (size_t i = 0; r == 0 && i < page.n_recordings; i++) {
		page.names[i] = input->names[order[i]];
		r = side_profile(input, sides, order[i], &joined[i], &page.recordings[i], err);
	}
	page.state = buf_text(&state);
	if (r == 0)
		r = view_page_write(&command->output, &page, err);
	for (size_t i = 0; i < DIFF_SIDES; i++)
		profile_free(joined[i]);
	buf_release(&state);
	return r;
}

enum {
	OPT_BASELINE = OPTION_LONG_ONLY,
	OPT_AGAINST,
	OPT_TOP,
	OPT_ALL,
	OPT_FAIL_IF,
	OPT_ALLOW_UNJUDGED,
	OPT_LEVEL,
	OPT_LEAST,
	MAX_RULES = 64,
	DEFAULT_TOP = 20,
	MAX_TOP = 1000000,
	RESULT_BYTES = 64 * 1024 * 1024,
};

static const double default_least = 0.01;

const struct option_spec diff_option_specs[] = {
	{OPT_BASELINE, "baseline", "FILE",
	 "compare with this recording; every other FILE then belongs to the new side; may be "
	 "repeated. With 5 recordings on each side, wick tells a change from chance by whole "
	 "recordings"},
	{OPT_AGAINST, "against", "RANGE",
	 "compare with this time range of the first recording; with one FILE, compare its --time "
	 "with it"},
	{OPT_FAIL_IF, "fail-if", "RULE",
	 "exit with 10 if RULE is broken by more than chance, with 11 if that cannot be judged. "
	 "RULE: 'total(NAME)>+3%', 'self(NAME)<-2%', in percentage points of the total; NAME * is "
	 "any function; may be repeated"},
	{OPT_ALLOW_UNJUDGED, "allow-unjudged", NULL, "exit with 0 instead of 11"},
	{OPT_LEVEL, "significant", "P",
	 "a change is significant if its probability by chance is below P (default: 0.01)"},
	{OPT_LEAST, "least", "POINTS",
	 "ignore changes below this many percentage points (default: 1, or the limit of a rule if "
	 "that is smaller)"},
	{OPT_TOP, "top", "N", "show at most N functions (default: 20)"},
	{OPT_ALL, "all", NULL, "show all functions"},
	VIEW_OUTPUT_SPEC("write to FILE: .txt, .md, .csv, .json, .svg or .html"),
	VIEW_FORMAT_SPEC("output format, whatever FILE is called: txt, md, csv..."),
	QUERY_OPTION_SPECS,
	VIEW_INPUT_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

/* Options of this command alone. */
struct diff_asked {
	struct query against; /* its ranges only */
	struct diff_rule rules[MAX_RULES];
	size_t n_rules;
	bool allow_unjudged;
	enum view_format format;
	uint32_t top; /* 0: all */
	double level;
	double least;
	struct view_input baseline;
};

static int parse_level(const char *text, double *ret_level, struct err *err)
{
	char *end;
	double level = strtod(text, &end);

	if (end == text || *end || !(level > 0 && level < 1))
		return err_set(err, 0, "--significant takes a probability such as 0.01, not '%s'",
			       text);
	*ret_level = level;
	return 0;
}

/* A rule may need smaller changes than the default. */
static double least_asked(const struct diff_asked *asked)
{
	double least = asked->least;

	for (size_t i = 0; i < asked->n_rules; i++)
		least = fmin(least, fabs(asked->rules[i].limit));
	return least;
}

static int add_rule(struct diff_asked *asked, const char *text, struct err *err)
{
	int r;

	if (asked->n_rules == MAX_RULES)
		return err_set(err, 0, "more than %d rules", MAX_RULES);
	r = diff_rule_parse(text, &asked->rules[asked->n_rules], err);
	asked->n_rules += r == 0;
	return r;
}

static int own_option(void *context, int id, const char *value, struct err *err)
{
	struct diff_asked *asked = context;

	switch (id) {
	case OPT_BASELINE:
		return view_input_add(&asked->baseline, value, err);
	case OPT_AGAINST:
		return query_parse_range(&asked->against, value, err);
	case OPT_FAIL_IF:
		return add_rule(asked, value, err);
	case OPT_ALLOW_UNJUDGED:
		asked->allow_unjudged = true;
		return 0;
	case OPT_LEVEL:
		return parse_level(value, &asked->level, err);
	case OPT_LEAST:
		return view_percent("least", value, &asked->least, err);
	case OPT_TOP:
		return view_number("top", value, 1, MAX_TOP, &asked->top, err);
	default:
		asked->top = 0;
		return 0;
	}
}

/* Recordings against a baseline, two recordings, or one with two times. */
static int check_arguments(const struct view_command *command, const struct diff_asked *asked,
			   struct err *err)
{
	size_t n = command->input.n_paths;

	if (asked->baseline.n_paths > 0)
		return 0;
	if (n == 1 && (asked->against.n_ranges == 0 || command->words.query.n_ranges == 0)) {
		(void)err_set(err, 0,
			      "one recording alone cannot be compared without two time ranges");
		err_hint(err, "--time 20-30 --against 0-10, or a second FILE");
		return -EINVAL;
	}
	if (n == 1 || n == 2)
		return 0;
	(void)err_set(err, 0, "it is unclear which of %zu recordings to compare with which", n);
	err_hint(err, "--baseline FILE for each recording of the old side");
	return -EINVAL;
}

/* Why no rule can be judged; NULL where they can. */
static const char *what_is_missing(const struct diff *diff, double level)
{
	if (diff->no_chance)
		return diff->no_chance;
	if (diff->smallest_p < level)
		return NULL;
	return diff->block_ns ? "too few seconds" : "too few recordings";
}

/* What a rule has come to, on stderr: a log of a failed build has to say why. */
static int say_verdict(const struct diff_rule *rule, const struct diff *diff, double level)
{
	struct diff_verdict verdict = diff_rule_judge(rule, diff, level);
	const char *missing = what_is_missing(diff, level);

	if (!verdict.known) {
		say_error("%s: cannot be judged: no such function on either side, "
			  "try: wick report, for its names",
			  rule->text);
		return WICK_UNJUDGED;
	}
	if (missing) {
		say_error("%s: cannot be judged: %+.2f points, but these may be chance: %s, try: "
			  "longer or more recordings",
			  rule->text, verdict.change * 100, missing);
		return WICK_UNJUDGED;
	}
	if (verdict.significant) {
		say_error("%s: broken: %s changed by %+.2f points, more than chance (p = %.4f)",
			  rule->text, verdict.function->name, verdict.change * 100, verdict.p);
		return WICK_BROKEN;
	}
	if (verdict.met)
		say_note("%s: held: %+.2f points, but this may be chance (p = %.4f)", rule->text,
			 verdict.change * 100, verdict.p);
	else
		say_note("%s: held: %+.2f points", rule->text, verdict.change * 100);
	return WICK_OK;
}

/* A rule that is broken counts for more than one that cannot be judged. */
static int judge(const struct diff_asked *asked, const struct diff *diff)
{
	int status = WICK_OK;

	for (size_t i = 0; i < asked->n_rules; i++) {
		int one = say_verdict(&asked->rules[i], diff, asked->level);

		if (one == WICK_BROKEN || status == WICK_OK)
			status = one;
	}
	return status == WICK_UNJUDGED && asked->allow_unjudged ? WICK_OK : status;
}

/* Of recordings that could be read but have not what the rules are about. */
static int leave_unjudged(const struct diff_asked *asked, const struct err *err)
{
	for (size_t i = 0; i < asked->n_rules; i++)
		say_error("%s: cannot be judged: %s", asked->rules[i].text, err->text);
	return asked->allow_unjudged ? WICK_OK : WICK_UNJUDGED;
}

static int draw_picture(const struct diff_table *table, struct buf *text, struct err *err)
{
	struct flame_svg_options options = {0};
	struct diff_picture picture;
	struct buf title;
	int r = diff_picture_make(table->diff, &picture);

	buf_init(&title, CMD_TEXT_BYTES);
	buf_printf(&title, "%s, against %s", table->names[DIFF_NEW], table->names[DIFF_BASE]);
	options.title = buf_text(&title);
	options.change = picture.change;
	options.reverse_change = picture.reverse_change;
	if (r == 0)
		r = flame_svg_write(text, &picture.calls, &picture.reverse, &options);
	buf_release(&title);
	diff_picture_release(&picture);
	return r < 0 ? err_set(err, -r, "draw the difference") : 0;
}

static int write_table(const struct view_command *command, const struct diff_table *table,
		       enum view_format format, struct err *err)
{
	struct buf text;
	int r = 0;

	buf_init(&text, RESULT_BYTES);
	switch (format) {
	case VIEW_MD:
		diff_table_markdown(table, &text);
		break;
	case VIEW_CSV:
		diff_table_csv(table, &text);
		break;
	case VIEW_JSON:
		diff_table_json(table, &text);
		break;
	case VIEW_SVG:
		r = draw_picture(table, &text, err);
		break;
	default:
		diff_table_text(table, &text);
	}
	if (r == 0)
		r = view_output_write(&command->output, &text, err);
	buf_release(&text);
	return r;
}

/* Without a baseline the first of two files is it, or the same file at another time. */
static void take_sides(const struct view_command *command, const struct diff_asked *asked,
		       struct diff_sides *sides)
{
	struct view_input *base = &sides->files[DIFF_BASE];
	struct view_input *now = &sides->files[DIFF_NEW];
	struct query *query = &sides->queries[DIFF_BASE];

	*base = asked->baseline;
	*now = command->input;
	sides->queries[DIFF_BASE] = command->words.query;
	sides->queries[DIFF_NEW] = command->words.query;
	sides->one_file = base->n_paths == 0 && now->n_paths == 1;
	if (base->n_paths == 0) {
		*base = *now;
		base->n_paths = 1;
		now->paths += now->n_paths - 1;
		now->n_paths = 1;
	}
	base->no_index = now->no_index;
	if (asked->against.n_ranges > 0) {
		query->n_ranges = asked->against.n_ranges;
		memcpy(query->ranges, asked->against.ranges, sizeof(query->ranges));
	}
}

/* Return: as diff_make(); LACKING: the recordings do not have what is to be compared. */
static int make_diff(const struct diff_asked *asked, const struct diff_sides *sides,
		     struct diff_input *input, struct diff **ret_diff, bool *lacking,
		     struct err *err)
{
	int r = diff_input_load(input, sides, err);

	if (r < 0)
		return r;
	r = diff_input_select(input, sides, err);
	*lacking = r == -ENOENT || r == -ENODATA;
	if (r < 0)
		return r;
	r = diff_make(input->sides, least_asked(asked), ret_diff, err);
	*lacking = r == -EINVAL;
	return r;
}

static int write_diff(const struct view_command *command, const struct diff_asked *asked,
		      const struct diff_sides *sides, const struct diff_input *input,
		      const struct diff *diff, struct err *err)
{
	struct diff_table table = {.diff = diff, .top = asked->top, .level = asked->level};

	if (asked->format == VIEW_HTML)
		return diff_page_write(command, sides, input, err);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		table.names[side] = input->names[side];
	return write_table(command, &table, asked->format, err);
}

/* Return: the exit status. */
static int compare(const struct view_command *command, struct diff_asked *asked)
{
	static const enum view_format formats[] = {VIEW_TXT, VIEW_MD,   VIEW_CSV, VIEW_JSON,
						   VIEW_SVG, VIEW_HTML, VIEW_NONE};
	struct diff_input input = {0};
	struct diff *diff = NULL;
	struct diff_sides sides;
	struct err err = {0};
	bool lacking = false;
	int status;
	int r = check_arguments(command, asked, &err);

	if (r == 0)
		r = view_command_format(command, formats, &asked->format, &err);
	if (r == 0) {
		take_sides(command, asked, &sides);
		r = make_diff(asked, &sides, &input, &diff, &lacking, &err);
	}
	if (r == 0)
		r = write_diff(command, asked, &sides, &input, diff, &err);
	if (r == 0)
		status = judge(asked, diff);
	else if (lacking && asked->n_rules > 0)
		status = leave_unjudged(asked, &err);
	else
		status = view_fail(r, &err);
	diff_free(diff);
	diff_input_release(&input);
	return status;
}

int cmd_diff(struct cmd_ctx *ctx)
{
	struct diff_asked asked = {.top = DEFAULT_TOP, .level = DIFF_LEVEL, .least = default_least};
	struct view_command command = {0};
	int status = WICK_OK;

	command.output.inputs[1] = &asked.baseline;
	if (view_command_read(&command, ctx, own_option, &asked, &status))
		status = compare(&command, &asked);
	view_input_release(&asked.baseline);
	view_command_release(&command);
	return status;
}
