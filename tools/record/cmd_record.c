/* cmd_record.c - `wick record`: start a program and record it */
#include "base/cleanup.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/record/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "x.7.svg" for "x.7.perf.gz", as the picture is asked for as "x.%p.svg". */
static char *picture_of(const char *recording, const char *asked)
{
	const char *end = NULL;
	char *picture;

	for (const char *at = recording; (at = strstr(at, ".perf")); at++)
		end = at;
	if (!end || asprintf(&picture, "%.*s%s", (int)(end - recording), recording,
			     strrchr(asked, '.')) < 0)
		return NULL;
	return picture;
}

static int draw(char *picture, char *recording, bool force)
{
	char verb[] = "flamegraph", output[] = "--output", replace[] = "--force", files[] = "--";
	char *argv[7] = {verb, output, picture};
	size_t n = 3;

	if (force)
		argv[n++] = replace;
	argv[n++] = files;
	argv[n++] = recording;
	return program_run("wick-view", argv, NULL);
}

/*
 * Draw the flame graph that -o has asked for beside the recording, which is whole. What goes wrong
 * is said, and leaves the recording as it is.
 */
static void record_picture(const struct recorder *recorder)
{
	struct recording_stats stats;
	char *picture;

	if (!recorder->options->picture)
		return;
	recording_stats(recorder->recording, &stats);
	if (stats.n_paths != 1) {
		say_note("no picture: the recording is in %zu files, try: wick flamegraph -o %s "
			 "FILES",
			 stats.n_paths, recorder->options->picture);
		return;
	}
	picture = picture_of(stats.paths[0], recorder->options->picture);
	if (picture && draw(picture, (char *)stats.paths[0], recorder->options->force) == WICK_OK)
		say_note("the flame graph is '%s'", picture);
	free(picture);
}

/* There is no file.  CMD goes on, its samples go nowhere, and its status is ours; those that have
 * joined are let go. */
static int go_on_unrecorded(struct recorder *recorder, int error, const struct err *err)
{
	bool attaches = attach_options_given(&recorder->options->attach);

	say_error("%s; '%s' continues to run without being recorded", err->text, recorder->comm);
	if (attaches)
		collector_detach(recorder->collector);
	recorder_run(recorder);
	if (attaches)
		return cmd_exit_of(error);
	return recorder_wait(recorder);
}

/* Why CMD did not start, or no process attaches. */
static int exit_of_start(const struct record_options *options, int r)
{
	if (attach_options_given(&options->attach) && (r == -EPERM || r == -EACCES))
		return WICK_PERMISSION;
	return r == -ENOENT || r == -ESRCH ? WICK_NOT_FOUND : WICK_CANNOT_EXECUTE;
}

static int record(const struct record_options *options)
{
	struct recorder recorder = {0};
	struct err err = {0};
	bool launched;
	int status;
	int r = recorder_start(&recorder, options, &launched, &err);

	if (r == 0) {
		recorder_run(&recorder);
		recorder_finish(&recorder);
		record_picture(&recorder);
		status = recorder_wait(&recorder);
		/* Samples that no disk took are told of; CMD's own failure comes first. */
		if (status == WICK_OK && recorder_has_dropped(&recorder))
			status = WICK_IO;
	} else if (launched) {
		status = go_on_unrecorded(&recorder, r, &err);
	} else if (recorder.symbolizer) { /* all was ready but CMD */
		if (r == -ENOENT && options->argc > 0)
			attach_options_hint(options->argv[0], &err);
		say_error("%s", err.text);
		status = exit_of_start(options, r);
	} else {
		say_error("%s", err.text);
		status = cmd_exit_of(r);
	}
	recorder_release(&recorder);
	return status;
}

int cmd_record(struct cmd_ctx *ctx)
{
	struct record_options options;
	struct err err = {0};

	if (record_options_parse(ctx->argc, ctx->argv, &options, &err) < 0) {
		say_error("%s", err.text);
		return WICK_USAGE;
	}
	if (options.help)
		return cmd_help(ctx->command);
	if (options.quiet)
		say_quiet();
	if (options.bare && options.ns)
		say_note("--bare is for Perfetto, which cannot read time stamps with nine "
			 "decimals, try: without --ns");
	return record(&options);
}
