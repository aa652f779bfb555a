/* cmd_record.c - `wick record`: start a program, record it, finish the files, print the summary */
#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/cmd.h"
#include "tools/cli/terminal.h"
#include "tools/record/recorder.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SUMMARY_BYTES = 256 * 1024, POLL_MS = 1000, REAP_MS = 10 };

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000U +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000U;
}

static void print_summary(struct recorder *recorder, uint64_t elapsed_ns)
{
	struct summary summary = {
		.command = recorder->comm,
		.pid = recorder->pid,
		.elapsed_ns = elapsed_ns,
		.n_attached = recorder->n_attached,
		.choose = &recorder->options->choose,
		.hz = recorder->control.hz_least,
		.hz_most = recorder->control.hz_most,
		.kernel_hz = collector_kernel_hz(),
		.discovery = recorder->options->discovery,
		.engine = recorder->engine.kind,
		.event = recorder->options->event_list.events & COLLECT_COUNT
				 ? recorder->options->event_list.event.shown
				 : NULL,
		.signal_cost_ns = recorder->engine.kind == RING_ENGINE_PERF
					  ? recorder->engine.prices.event_ns
					  : recorder->engine.prices.timer_ns,
		.no_events = recorder->engine.why_not,
		.collector_ns = own_cpu_ns(),
		.unnamed_frames = recorder->queue.unnamed_frames,
		.mangled_names = symbolize_mangled_names(),
		.truncated = recorder->truncated,
		.no_clock = !hook_files_clock(recorder->options->event_list.events),
		.lock_ns = recorder->options->event_list.events & COLLECT_LOCK
				   ? recorder->options->event_list.lock_ns
				   : 0,
		.verbose = recorder->options->verbose,
		.no_symbols = recorder->options->symbols.no_symbols,
		.live = recorder->options->live ? &recorder->live : NULL,
		.filter = &recorder->filter,
	};
	struct totals totals = {0};
	struct buf text;

	summary.cmd_ended = collector_status(recorder->collector, &summary.wait_status);
	collector_stats(recorder->collector, &summary.collected);
	if (attach_options_given(&recorder->options->attach))
		summary.cmd_ended = summary.collected.still_running == 0;
	recording_stats(recorder->recording, &summary.written);
	summary.n_beside = hook_files_stats(&recorder->hook_files, summary.beside);
	summary.n_modules = symbolizer_modules(recorder->symbolizer, &summary.modules);
	symbolizer_servers(recorder->symbolizer, &summary.servers);
	if (collector_totals(recorder->collector, &totals) == 0)
		summary.totals = &totals;
	buf_init(&text, SUMMARY_BYTES);
	summary_print(&summary, &text);
	say_text(&text);
	buf_release(&text);
	totals_release(&totals);
}

/* A gauge is only known by its name: one that is not registered may be a misspelt metric. */
static void tell_gauges(struct recorder *recorder)
{
	const struct metric_list *list = &recorder->options->metrics;
	struct collector_stats stats;

	collector_stats(recorder->collector, &stats);
	for (size_t i = 0; i < list->n_gauges; i++) {
		const char *near = metric_list_nearest(list->gauges[i]);

		if (stats.gauges >> i & 1U)
			continue;
		say_note("no program registered the gauge '%s'%s%s%s", list->gauges[i],
			 near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	}
}

/* Write what is left, close the files, and print the summary. */
static void recorder_finish(struct recorder *recorder)
{
	uint64_t elapsed_ns = io_now_ns() - recorder->start_ns;

	say_live("");
	name_queue_drain(&recorder->queue);
	record_control_stop(recorder);
	recorder_update_counts(recorder);
	record_counts_finish(recorder);
	record_flight_finish(recorder);
	(void)recording_finish(recorder->recording); /* it has printed what went wrong */
	hook_files_finish(&recorder->hook_files);
	live_file_finish(&recorder->live, recorder->collector);
	print_summary(recorder, elapsed_ns);
	tell_gauges(recorder);
	record_choose_tell(recorder);
	following_tell(&recorder->following);
}

/* Whether there are samples that no disk took. */
static bool recorder_has_dropped(const struct recorder *recorder)
{
	struct recording_stats stats;

	recording_stats(recorder->recording, &stats);
	return stats.dropped > 0;
}

/* CMD's status from the collector, or from the kernel where the collector has stopped looking. */
static bool has_ended(struct recorder *recorder, int *ret_status)
{
	if (collector_status(recorder->collector, ret_status))
		return true;
	return waitpid(recorder->pid, ret_status, WNOHANG) == recorder->pid;
}

/* Sleep until CMD may have ended; a signal ends the sleep, and none lasts longer than a second. */
static void sleep_for(int pidfd)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	int n = poll(&end, pidfd >= 0, pidfd >= 0 ? POLL_MS : REAP_MS);

	if (n > 0) /* ended, and perhaps being reaped by the collector's thread */
		(void)poll(NULL, 0, REAP_MS);
}

/*
 * Wait for CMD's end, unless a signal ends wick. Returns the exit status of wick: CMD's,
 * or 128 + the signal that ended wick.
 */
static int recorder_wait(struct recorder *recorder)
{
	_cleanup_fd_ int pidfd = (int)syscall(SYS_pidfd_open, recorder->pid, 0);
	int status = 0;

	if (attach_options_given(&recorder->options->attach))
		return WICK_OK;
	while (!has_ended(recorder, &status)) {
		if (interrupt_signal())
			return WICK_SIGNAL + interrupt_signal();
		sleep_for(pidfd);
	}
	return cmd_exit_of_wait(status);
}

/* "x.7.svg" for "x.7.perf.gz", as the picture is requested as "x.%p.svg". */
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
 * Draw the flame graph that -o has requested beside the recording, which is whole. What goes wrong
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

/*
 * Show the recording, which is whole, in a browser, or say how. What goes wrong is said, and leaves
 * the recording as it is.
 */
static void record_view(const struct recorder *recorder)
{
	char verb[] = "view", files[] = "--";
	char *argv[4] = {verb, files};
	struct recording_stats stats;
	struct buf page;

	recording_stats(recorder->recording, &stats);
	if (!recorder->options->view || stats.n_paths == 0)
		return;
	if (stats.n_paths > 1) {
		say_note("no page: the recording is in %zu files, try: wick view FILES",
			 stats.n_paths);
		return;
	}
	if (!browser_is_here()) {
		browser_say_remote(stats.paths[0]);
		return;
	}
	argv[2] = (char *)stats.paths[0];
	buf_init(&page, PATH_MAX + 2); /* it prints its name, and CMD's output is not ours */
	if (program_run("wick-view", argv, &page) == WICK_OK && page.len > 0) {
		page.data[page.len - 1] = '\0';
		say_note("the page is '%s'", page.data);
	}
	buf_release(&page);
}

/* There is no file.  CMD continues, its samples are dropped, and its status is ours; attached
 * processes are detached. */
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
		record_view(&recorder);
		status = recorder_wait(&recorder);
		/* Samples that could not be written are reported; CMD's own failure comes first. */
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
