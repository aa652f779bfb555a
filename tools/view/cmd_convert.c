/* cmd_convert.c - `wick convert`: recordings in the formats of other programs */
#include "flamescope/convert/convert.h"

#include "base/io.h"
#include "tools/cli/terminal.h"
#include "tools/view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_METRICS_AS = OPTION_LONG_ONLY,
	OPT_REPEAT,
	OPT_MAX_SAMPLES,
	OPT_BARE,
	NAME_BYTES = 256,
};

const struct option_spec convert_option_specs[] = {
	VIEW_OUTPUT_SPEC("write to FILE, whose extension selects the format; - is standard output"),
	{VIEW_OPT_FORMAT, "format", "FORMAT",
	 "folded, pb, speedscope.json, firefox.json or perf, each also with .gz (default: by the "
	 "extension of FILE)"},
	{OPT_METRICS_AS, "metrics-as", "HOW",
	 "perf: write metrics as comment or inline, which flame_prof and its fork of FlameScope "
	 "read (default: comment)"},
	{OPT_REPEAT, "repeat", "METRIC",
	 "perf: write each sample in proportion to METRIC, or to its growth (METRIC_delta), for "
	 "programs that only count samples"},
	{OPT_REPEAT, "weight", "METRIC", NULL}, /* as it was called */
	{OPT_MAX_SAMPLES, "max-samples", "N",
	 "with --repeat: write at most about N samples (default: 1000000)"},
	{OPT_BARE, "bare", NULL, "perf: write no comment lines, for Perfetto"},
	VIEW_TITLE_SPEC("title in speedscope and Firefox (default: the file's name)"),
	QUERY_OPTION_SPECS,
	VIEW_INPUT_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

/* Options of this command alone. */
struct convert_asked {
	struct view_command command;
	struct convert_options options;
	bool metrics_as;
	bool max_samples;
	char metric[NAME_BYTES];
};

static int parse_max_samples(const char *text, uint64_t *ret_n, struct err *err)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || n == 0)
		return err_set(err, 0, "--max-samples takes a number above 0, not '%s'", text);
	*ret_n = n;
	return 0;
}

static int parse_metrics_as(const char *text, bool *ret_inline, struct err *err)
{
	*ret_inline = strcmp(text, "inline") == 0;
	if (*ret_inline || strcmp(text, "comment") == 0)
		return 0;
	return err_set(err, 0, "--metrics-as is inline or comment, not '%s'", text);
}

static int own_option(void *context, int id, const char *value, struct err *err)
{
	struct convert_asked *asked = context;
	int r;

	switch (id) {
	case OPT_METRICS_AS:
		asked->metrics_as = true;
		return parse_metrics_as(value, &asked->options.inline_metrics, err);
	case OPT_REPEAT:
		asked->options.replicate = true;
		r = query_option_take(&asked->command.words, QUERY_OPT_METRIC, value, err);
		return r < 0 ? r : 0;
	case OPT_MAX_SAMPLES:
		asked->max_samples = true;
		return parse_max_samples(value, &asked->options.max_samples, err);
	default:
		asked->options.bare = true;
		return 0;
	}
}

/* What the query's measure is called, in the words of --metric. */
static void name_measure(struct convert_asked *asked)
{
	static const char *const ends[] = {
		[QUERY_VALUE] = "",     [QUERY_MEAN] = ":mean", [QUERY_DELTA] = ":delta",
		[QUERY_GAIN] = ":gain", [QUERY_LOSS] = ":loss",
	};
	const struct query *query = &asked->command.words.query;

	if (query->measure == QUERY_SAMPLES || query->measure == QUERY_WEIGHT || !query->metric)
		(void)snprintf(asked->metric, sizeof(asked->metric), "%s",
			       query->measure == QUERY_SAMPLES ? "samples" : "period");
	else
		(void)snprintf(asked->metric, sizeof(asked->metric), "%s%s", query->metric,
			       ends[query->measure]);
	asked->options.metric = asked->metric;
	asked->options.has_measure = query->has_measure;
}

/* The options of perf text are refused where they would do nothing. */
static int check(const struct convert_asked *asked, struct err *err)
{
	const struct convert_options *options = &asked->options;
	const char *wrong = asked->metrics_as    ? "--metrics-as"
			    : options->bare      ? "--bare"
			    : options->replicate ? "--repeat"
			    : asked->max_samples ? "--max-samples"
						 : NULL;

	if (options->format != CONVERT_PERF && wrong)
		return err_set(err, 0, "%s is for perf text only, try: %s", wrong,
			       options->replicate ? "--metric METRIC" : "-o FILE.perf");
	if (options->format == CONVERT_PERF && options->has_measure && !options->replicate)
		return err_set(err, 0, "perf text counts samples, try: --repeat %s",
			       options->metric);
	if (asked->max_samples && !options->replicate)
		return err_set(err, 0, "--max-samples is for --repeat, try: --repeat METRIC");
	if (options->replicate && asked->command.words.query.measure == QUERY_MEAN)
		return err_set(err, 0, "a mean cannot be added up, try: --repeat METRIC");
	return 0;
}

static int settle(struct convert_asked *asked, struct err *err)
{
	const struct query *query = &asked->command.words.query;
	const char *name =
		asked->command.format ? asked->command.format : asked->command.output.path;
	int r;

	if (!asked->command.output.path)
		return err_set(err, 0, "no output given, try: -o FILE.speedscope.json");
	if (!asked->command.format && strcmp(name, "-") == 0)
		return err_set(err, 0, "standard output has no extension, try: --format FORMAT");
	r = convert_format_of(name, &asked->options.format, &asked->options.gzip, err);
	if (r < 0)
		return -EINVAL;
	name_measure(asked);
	asked->options.title = asked->command.title;
	asked->options.n_groups = query->n_groups;
	asked->options.groups = query->groups;
	/* perf text says of each sample what it is, and its readers choose */
	asked->command.words.query.every_event |=
		asked->options.format == CONVERT_PERF && !asked->options.replicate;
	asked->command.words.query.idle |= asked->command.words.query.every_event;
	return check(asked, err);
}

static int on_write(void *context, const void *bytes, size_t len)
{
	return io_write_all(*(const int *)context, bytes, len, NULL);
}

/* One conversion, on its way into a file. */
struct conversion {
	const struct convert_asked *asked;
	const struct selection *selection;
	struct convert_report report;
};

static int write_all(void *context, int fd, struct err *err)
{
	struct conversion *it = context;
	struct convert_sink sink = {on_write, &fd};
	int r = convert_write(it->selection, &it->asked->options, &sink, &it->report, err);

	if (r < 0 && r != -ENOMEM && r != -EFBIG && fd != STDOUT_FILENO)
		return err_set(err, -r, "write '%s'", it->asked->command.output.path);
	return r;
}

static void tell(const struct convert_asked *asked, const struct convert_report *report)
{
	if (report->quantum)
		say_note("%" PRIu64 " samples written, each stands for %" PRIu64 " of %s",
			 report->n_samples, report->quantum, asked->options.metric);
	if (report->n_negative)
		say_note("%" PRIu64 " samples with values below 0 are left out, because the format "
			 "cannot have them, try: --metric NAME:loss",
			 report->n_negative);
	if (report->several_events)
		say_note("there are several events, and most readers take only the first, try: "
			 "--event NAME");
}

static int convert(struct convert_asked *asked, struct err *err)
{
	struct conversion it = {.asked = asked};
	struct selection *selection = NULL;
	struct profile *profile = NULL;
	int r = settle(asked, err);

	if (r == 0)
		r = view_input_load(&asked->command.input, &profile, err);
	if (r == 0)
		r = view_input_select(profile, &asked->command.words.query, &selection, err);
	it.selection = selection;
	if (r == 0)
		r = view_output_make(&asked->command.output, write_all, &it, err);
	if (r == 0)
		tell(asked, &it.report);
	selection_free(selection);
	profile_free(profile);
	return r;
}

int cmd_convert(struct cmd_ctx *ctx)
{
	struct convert_asked asked = {0};
	struct err err = {0};
	int status = WICK_OK;
	int r;

	if (view_command_read(&asked.command, ctx, own_option, &asked, &status)) {
		r = convert(&asked, &err);
		if (r < 0)
			status = view_fail(r, &err);
	}
	view_command_release(&asked.command);
	return status;
}
