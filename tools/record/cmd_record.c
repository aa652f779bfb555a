/* cmd_record.c - `wick record`: start a program and record it */
#include "tools/cli/cmd.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/say.h"
#include "tools/record/record_picture.h"
#include "tools/record/recorder.h"

#include <errno.h>

/* There is no file.  CMD goes on, its samples go nowhere, and its status is ours; those that have
 * joined are let go. */
static int go_on_unrecorded(struct recorder *recorder, int error, const struct err *err)
{
	bool joined = attach_options_given(&recorder->options->attach);

	say_error("%s; '%s' continues to run without being recorded", err->text, recorder->comm);
	if (joined)
		collector_detach(recorder->collector);
	recorder_run(recorder);
	if (joined)
		return cmd_exit_of(error);
	return recorder_wait(recorder);
}

/* Why CMD did not start, or no process joined. */
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
