/* cmd_diff.c - `wick diff`: what changed between two recordings, or two times of one */
#include "base/cleanup.h"
#include "flamescope/diff/diff.h"
#include "flamescope/diff/diff_picture.h"
#include "flamescope/diff/diff_rule.h"
#include "flamescope/diff/diff_table.h"
#include "flamescope/draw/flame_svg.h"
#include "tools/say.h"
#include "tools/value.h"
#include "tools/view_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_AGAINST = OPTION_LONG_ONLY,
	OPT_TOP,
	OPT_ALL,
	OPT_FAIL_IF,
	OPT_LEVEL,
	MAX_RULES = 64,
	DEFAULT_TOP = 20,
	RESULT_BYTES = 64 * 1024 * 1024,
};

static const double default_level = 0.01;

const struct option_spec diff_option_specs[] = {
	{OPT_AGAINST, "against", "RANGE",
	 "compare with this time of the first recording; with one FILE, --time is compared with "
	 "it"},
	{OPT_FAIL_IF, "fail-if", "RULE",
	 "exit 10 when RULE is met by more than chance: 'total(NAME)>+3%', 'self(NAME)<-2%', in "
	 "points of the whole; NAME * is any; can be given several times"},
	{OPT_LEVEL, "significant", "P",
	 "a change that chance makes less often than this is more than chance (default: 0.01)"},
	{OPT_TOP, "top", "N", "show no more than N functions (default: 20)"},
	{OPT_ALL, "all", NULL, "show all functions"},
	VIEW_OUTPUT_SPEC("write to FILE: .txt, .md, .csv, .json or .svg"),
	QUERY_OPTION_SPECS,
	VIEW_INPUT_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

/* What only this command is asked. */
struct diff_asked {
	struct query against; /* its ranges only */
	struct diff_rule rules[MAX_RULES];
	size_t n_rules;
	size_t top; /* 0: all */
	double level;
};

/* The two recordings, or one and itself. */
struct diff_input {
	struct profile *profiles[DIFF_SIDES];
	const struct profile *of[DIFF_SIDES];
	struct selection *sides[DIFF_SIDES];
	const char *names[DIFF_SIDES];
	struct diff *diff;
};

static int parse_level(const char *text, double *ret_level, struct err *err)
{
	char *end;
	double level = strtod(text, &end);

	if (end == text || *end || !(level > 0 && level < 1))
		return err_set(err, EINVAL,
			       "--significant wants a part of 1 such as 0.01, not '%s'", text);
	*ret_level = level;
	return 0;
}

static int parse_top(const char *text, size_t *ret_top, struct err *err)
{
	char *end;
	unsigned long top = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || top == 0 || top > 1000000)
		return err_set(err, 0, "--top wants a number from 1 on, not '%s'", text);
	*ret_top = top;
	return 0;
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
	case OPT_AGAINST:
		return query_parse_range(&asked->against, value, err);
	case OPT_FAIL_IF:
		return add_rule(asked, value, err);
	case OPT_LEVEL:
		return parse_level(value, &asked->level, err);
	case OPT_TOP:
		return parse_top(value, &asked->top, err);
	default:
		asked->top = 0;
		return 0;
	}
}

static int load_one(const struct view_input *input, size_t i, struct profile **ret_profile,
		    struct err *err)
{
	struct view_input one = {
		.paths = &input->paths[i], .n_paths = 1, .no_index = input->no_index};

	return view_input_load(&one, ret_profile, err);
}

static int load_sides(const struct view_command *command, struct diff_input *input, struct err *err)
{
	const struct view_input *files = &command->input;
	int r = 0;

	for (size_t i = 0; i < files->n_paths && r == 0; i++)
		r = load_one(files, i, &input->profiles[i], err);
	if (r < 0)
		return r;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		size_t i = files->n_paths == 1 ? 0 : side;

		input->of[side] = input->profiles[i];
		input->names[side] = files->paths[i];
	}
	return 0;
}

static int select_sides(const struct view_command *command, const struct diff_asked *asked,
			struct diff_input *input, struct err *err)
{
	struct query query = command->options.query;
	int r = view_input_select(input->of[DIFF_NEW], &query, &input->sides[DIFF_NEW], err);

	if (r < 0)
		return r;
	if (asked->against.n_ranges > 0) {
		query.n_ranges = asked->against.n_ranges;
		memcpy(query.ranges, asked->against.ranges, sizeof(query.ranges));
	}
	return view_input_select(input->of[DIFF_BASE], &query, &input->sides[DIFF_BASE], err);
}

static void input_release(struct diff_input *input)
{
	diff_free(input->diff);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		selection_free(input->sides[side]);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		profile_free(input->profiles[side]);
}

/* Two recordings, or one with two times. */
static int check_arguments(const struct view_command *command, const struct diff_asked *asked,
			   struct err *err)
{
	size_t n = command->input.n_paths;

	if (n == 1 && (asked->against.n_ranges == 0 || command->options.query.n_ranges == 0)) {
		(void)err_set(err, 0, "one recording needs two times");
		err_hint(err, "--time 20-30 --against 0-10, or a second FILE");
		return -EINVAL;
	}
	if (n != 1 && n != 2)
		return err_set(err, 0, "two recordings can be compared, not %zu", n);
	return 0;
}

/* What a rule has come to, on stderr: a log of a failed build has to say why. */
static bool say_verdict(const struct diff_rule *rule, const struct diff *diff, double level)
{
	struct diff_verdict verdict = diff_rule_judge(rule, diff, level);

	if (!verdict.known) {
		say_note("%s: no such function on either side", rule->text);
		return false;
	}
	if (!verdict.met) {
		say_note("%s: not met: %+.2f points", rule->text, verdict.change * 100);
		return false;
	}
	if (verdict.significant)
		say_error("%s: met: %s changed by %+.2f points, more than chance (p = %.4f)",
			  rule->text, verdict.function->name, verdict.change * 100, verdict.p);
	else if (diff->no_chance || diff->smallest_p >= level)
		say_error("%s: met: %+.2f points, but what is chance cannot be told: %s",
			  rule->text, verdict.change * 100,
			  diff->no_chance ? diff->no_chance : "too few seconds");
	else
		say_note("%s: met: %+.2f points, but this may be chance (p = %.4f)", rule->text,
			 verdict.change * 100, verdict.p);
	return verdict.significant;
}

static int judge(const struct diff_asked *asked, const struct diff *diff)
{
	int status = WICK_OK;

	for (size_t i = 0; diff && i < asked->n_rules; i++)
		if (say_verdict(&asked->rules[i], diff, asked->level))
			status = WICK_RULE_MET;
	return status;
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
		       struct err *err)
{
	struct buf text;
	int r = 0;

	buf_init(&text, RESULT_BYTES);
	switch (command->output ? view_format_of(command->output) : VIEW_TXT) {
	case VIEW_TXT:
		diff_table_text(table, &text);
		break;
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
		r = err_set(err, 0, "-o wants a name that ends in .txt, .md, .csv, .json or .svg");
	}
	if (r == 0)
		r = view_output_write(command->output, &text, &command->input, err);
	buf_release(&text);
	return r;
}

static int compare(const struct view_command *command, const struct diff_asked *asked,
		   struct diff_input *input, struct err *err)
{
	struct diff_table table = {.top = asked->top, .level = asked->level};
	int r = load_sides(command, input, err);

	if (r == 0)
		r = select_sides(command, asked, input, err);
	if (r == 0)
		r = diff_make(input->sides[DIFF_BASE], input->sides[DIFF_NEW], &input->diff, err);
	if (r < 0)
		return r;
	table.diff = input->diff;
	memcpy(table.names, input->names, sizeof(table.names));
	return write_table(command, &table, err);
}

int cmd_diff(struct cmd_ctx *ctx)
{
	struct diff_asked asked = {.top = DEFAULT_TOP, .level = default_level};
	struct view_command command = {0};
	struct diff_input input = {0};
	struct err err = {0};
	int status = WICK_OK;
	int r;

	if (view_command_read(&command, ctx, own_option, &asked, &status)) {
		r = check_arguments(&command, &asked, &err);
		if (r == 0)
			r = compare(&command, &asked, &input, &err);
		status = r < 0 ? view_fail(r, &err) : judge(&asked, input.diff);
	}
	input_release(&input);
	view_command_release(&command);
	return status;
}
