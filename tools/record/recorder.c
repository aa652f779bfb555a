/* recorder.c - the heart of `wick record`: next sample, resolve, write, rotate */
#include "tools/record/recorder.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/words.h"
#include "tools/cli/terminal.h"
#include "tools/record/output_check.h"
#include "tools/summary/summary.h"
#include "tools/target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MAX_LINE = 1000, DEFAULT_COLUMNS = 80 };

void progress_print(const struct progress *progress, struct buf *buf)
{
	const struct collector_stats *stats = &progress->collected;
	uint64_t lost = summary_weight_lost(stats);

	buf_add(buf, "wick: ");
	text_seconds(buf, progress->elapsed_ns);
	buf_add(buf, "  ");
	text_rate(buf, progress->effective_hz, progress->hz);
	buf_add(buf, "  ");
	text_of(buf, stats->samples, "sample");
	buf_add(buf, "  ");
	text_of(buf, stats->threads, "thread");
	buf_add(buf, "  ");
	text_of(buf, stats->processes, "process");
	if (lost) {
		buf_add(buf, "  lost ");
		words_count(buf, lost);
	}
	buf_add(buf, "  ");
	words_bytes(buf, progress->written.bytes);
	if (progress->written.segments > 1) {
		buf_add(buf, " in ");
		text_of(buf, progress->written.segments, "file");
	}
	if (progress->interrupted)
		buf_add(buf, "  Ctrl-C again: stop recording");
}

/* Put that line at the bottom of the terminal, cut to its width. */
static void progress_show(const struct progress *progress)
{
	struct winsize size = {0};
	struct buf line;
	size_t columns = DEFAULT_COLUMNS;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		columns = size.ws_col;
	buf_init(&line, MAX_LINE);
	progress_print(progress, &line);
	if (line.len >= columns)
		line.len = columns - 1;
	say_live(buf_text(&line));
	buf_release(&line);
}

#define REST_NS UINT64_C(1000000000) /* without a sample, or anything that is due */
#define BUSY_NS UINT64_C(10000000)   /* between two checks of what is due while samples come */
#define TELL_NS UINT64_C(250000000)  /* between two live lines */

static void on_message(void *context, const char *message)
{
	(void)context;
	say_error("%s", message);
}

static void keep(struct recorder *recorder, const struct sample *sample)
{
	struct sample kept = *sample;
	bool keeps = !recorder->disk_is_full && sample_filter_keeps(&recorder->filter, &kept);

	if (recorder->disk_is_full)
		sample_filter_leave_out(&recorder->filter, &kept);
	live_file_sample(&recorder->live, &kept, keeps);
	if (keeps && flight_sample(&recorder->flight, &kept))
		return;
	if (keeps && !hook_files_write(&recorder->hook_files, &kept) && recorder->recording)
		recording_write(recorder->recording, &kept);
}

static void on_named(void *context, const struct sample *sample)
{
	struct recorder *recorder = context;

	recorder->truncated += sample->truncated;
	record_counts_sample(recorder, sample);
	keep(recorder, sample);
}

static void on_rate(void *context, const struct collector_rate *rate)
{
	record_control_passed(context, rate);
	record_budget_passed(context, rate);
	record_flight_passed(context, rate);
}

static void on_exit_of(struct recorder *recorder, const struct collector_event *event, uint64_t now)
{
	name_queue_exit(&recorder->queue, event->process);
	live_heap_exit(&recorder->live.heap, event->process);
	record_flight_ended(recorder, event, now);
}

static void on_ending(void *context)
{
	record_counts_write(context);
}

static bool is_rotated(const struct record_options *options)
{
	return options->rotate.bytes || options->rotate.ns || options->rotate.samples;
}

static int open_recording(struct recorder *recorder, struct err *err)
{
	const struct record_options *options = recorder->options;
	struct recording_options recording = {
		.path = options->output,
		.replace = options->force,
		.comm = recorder->comm,
		.flush_ns = options->flush_ns,
		.rotate = options->rotate,
		.keep = options->keep,
		.on_demand = flight_options_on(&options->flight),
		.compress = options->compress,
		.on_rotate = options->on_rotate,
		.report = on_message,
	};
	int r;

	recording.text = (struct perf_script_options){
		.bare = options->bare,
		.ns = options->ns,
		.metrics_as = options->metrics_as,
		.metrics = recorder->columns.metrics,
		.n_metrics = recorder->columns.n,
		.metrics_mask = options->metrics.mask,
		.groups = options->groups,
		.flatten = options->flatten,
		.srcline = options->symbols.srcline,
		.modules = &recorder->modules.modules,
	};
	recording.header = (struct perf_script_header){
		.hz = options->hz,
		.pid = recorder->pid,
		.namespace_pid = recorder->namespace_pid,
		.argc = options->no_cmdline ? 0 : options->argc,
		.argv = (const char *const *)options->argv,
	};
	r = hook_files_open(&recorder->hook_files, &recording, &options->event_list, err);
	if (r == 0 && options->live)
		r = live_file_open(&recorder->live, &recording, &options->event_list, err);
	hook_files_describe(&recording, hook_files_main(options->event_list.events),
			    &options->event_list);
	recording.ending = on_ending; /* of the main file alone */
	recording.ending_context = recorder;
	if (r == 0)
		r = recording_new(&recording, &recorder->recording, err);
	return r < 0 ? r : record_flight_start(recorder, err);
}

static int check_output(const struct record_options *options, struct err *err)
{
	bool numbered = is_rotated(options) || flight_options_on(&options->flight);
	int r = output_check(options->output, numbered, options->force, err);

	return r == 0 && options->picture
		       ? output_check(options->picture, false, options->force, err)
		       : r;
}

static int start_symbolizer(struct recorder *recorder, struct err *err)
{
	struct symbolize_options symbols = {0};

	symbol_options_pass(&recorder->options->symbols, &symbols);
	symbols.mem_limit = recorder->options->budget.mem_limit;
	symbols.lag_ns = recorder->options->flush_ns / 2 + 1; /* 0 would be the usual half second */
	return symbol_options_start(&symbols, &recorder->symbolizer, err);
}

/* Everything that can fail before CMD runs. */
static int prepare(struct recorder *recorder, struct err *err)
{
	const struct record_options *options = recorder->options;
	struct collector_options collector = {
		.hz = options->hz,
		.discovery = options->discovery,
		.paused = options->paused || options->delay_ns > 0,
		.events = options->event_list.events,
		.alloc_bytes = options->event_list.alloc_bytes,
		.lock_ns = options->event_list.lock_ns,
		.metrics = options->metrics.mask,
		.gauges = recorder->columns.gauges,
		.signal = options->attach.signal,
		.alone = options->attach.no_children,
		.n_gauges = options->metrics.n_gauges,
		.lag_ns = options->flush_ns ? options->flush_ns : 1,
	};
	const char *command = options->argc ? options->argv[0] : "";
	const char *slash = strrchr(command, '/');
	int r = check_output(options, err);

	if (r == 0)
		r = agent_path_find(&recorder->agent_path, err);
	if (r < 0)
		return r;
	recorder->comm = strdup(slash && slash[1] ? slash + 1 : command);
	if (!recorder->comm)
		return err_set(err, ENOMEM, "start");
	r = engine_choose(&options->engine, options->hz, &recorder->engine, err);
	if (r < 0)
		return r;
	if (recorder->engine.note[0])
		say_note("%s", recorder->engine.note);
	collector.stay = options->attach.all;
	collector.follows =
		!collector.alone && attach_options_given(&options->attach) && !options->attach.all;
	collector.engine = recorder->engine.kind;
	collector.perf = recorder->engine.how;
	external_choice_pass(&options->external, &collector);
	engine_measure(&recorder->engine, options->hz, recorder->engine.kind == RING_ENGINE_PERF);
	budget_options_pass(&options->budget, &collector);
	collector.engine_is_auto = recorder->engine.is_auto;
	collector.events_permitted = recorder->engine.permitted;
	collector.prices = recorder->engine.prices;
	record_budget_tell_price(recorder);
	collector.agent_path = recorder->agent_path;
	r = sample_filter_init(&recorder->filter, &options->filter, err);
	if (r < 0)
		return r;
	collector.filter = sample_filter_for_collector(&recorder->filter);
	r = record_flight_prepare(options, &collector, err);
	if (r < 0)
		return r;
	r = collector_new(&collector, &recorder->collector, err);
	if (r == 0)
		r = record_counts_start(recorder, err);
	return r < 0 ? r : start_symbolizer(recorder, err);
}

/* The recording is named after the first attached process. */
static int attach_named(struct recorder *recorder, struct err *err)
{
	struct attaching attaching = {
		.collector = recorder->collector,
		.attach = &recorder->options->attach,
		.external = &recorder->options->external,
		.verbose = recorder->options->verbose,
	};
	int r = attaching_start(&attaching, err);

	if (r == 0) {
		free(recorder->comm);
		recorder->comm = steal_pointer(&attaching.comm);
		recorder->pid = attaching.pid;
		recorder->namespace_pid = attaching.namespace_pid;
		recorder->n_attached = attaching.n;
		if (!external_choice_only(&recorder->options->external) &&
		    !recorder->options->attach.no_children)
			recorder->following.collector = recorder->collector;
		recorder->following.verbose = recorder->options->verbose;
	}
	attaching_release(&attaching);
	return r;
}

/* With -a there is no process yet. */
static int attach(struct recorder *recorder, struct err *err)
{
	return recorder->options->attach.all ? record_choose_start(recorder, err)
					     : attach_named(recorder, err);
}

int recorder_start(struct recorder *recorder, const struct record_options *options,
		   bool *ret_launched, struct err *err)
{
	struct collector_signals signals;
	int r;

	*ret_launched = false;
	recorder->options = options;
	recorder->is_live = say_is_live();
	metric_list_columns(&options->metrics, &recorder->columns);
	r = prepare(recorder, err);
	if (r < 0)
		return r;
	recorder->queue = (struct name_queue){
		.symbolizer = recorder->symbolizer,
		.deliver = on_named,
		.pass = on_rate,
		.context = recorder,
	};
	if (attach_options_given(&options->attach))
		interrupt_no_cmd();
	interrupt_catch();
	process_signals(&signals);
	recorder->start_ns = io_now_ns();
	if (attach_options_given(&options->attach))
		r = attach(recorder, err);
	else
		r = collector_launch(recorder->collector, options->argv, &signals, &recorder->pid,
				     err);
	if (r < 0)
		return r;
	*ret_launched = true;
	external_choice_tell(&options->external, recorder->collector, options->argv[0]);
	interrupt_detaches(recorder->collector);
	r = open_recording(recorder, err);
	if (r == 0)
		record_control_start(recorder);
	return r;
}

static void count_series(struct recorder *recorder, const struct collector_stats *stats,
			 enum sample_series series)
{
	uint32_t events = recorder->options->event_list.events;
	const struct perf_script_count counts[] = {
		{"lost_full", stats->lost_full},
		{"lost_nested", stats->lost_nested},
		{"lost_noslot", stats->lost_noslot},
		{"lost_queue", stats->lost_queue},
		{"lost_corrupt", stats->lost_corrupt},
		{"lost_forged", stats->lost_forged},
		{"lost_pause", stats->lost_pause},
		{"starved", stats->starved},
		{"overruns", stats->overruns},
		{"merged", stats->merged},
		{"lost_events", stats->lost_events},
		{"misdirected", stats->spurious},
		{"filtered",
		 stats->filtered[series].weight + recorder->filter.filtered[series].weight},
		{"unnamed_frames", recorder->queue.unnamed_frames},
		{"mangled_names", symbolize_mangled_names()},
		{"cpu_ns", stats->charged_ns},
		{"paused_ns", stats->paused_ns},
		{"starting_ns", stats->starting_ns},
		{"children_missed_ns", stats->children_missed_ns},
		{"folded", stats->folded},
		{"own", stats->own_weight},
	};

	if (series == sample_series(hook_files_main(events)))
		recording_counts(recorder->recording, counts, sizeof(counts) / sizeof(counts[0]));
	if (flight_is_on(&recorder->flight))
		flight_counts_add(&recorder->flight.counts, series, counts,
				  sizeof(counts) / sizeof(counts[0]), stats->as_of_ns);
	hook_files_counts(&recorder->hook_files, series, counts,
			  sizeof(counts) / sizeof(counts[0]));
}

void recorder_update_counts(struct recorder *recorder)
{
	const struct symbolize_module *modules;
	struct collector_stats stats;
	size_t n;

	if (!recorder->recording)
		return;
	n = symbolizer_modules(recorder->symbolizer, &modules);
	module_list_set(&recorder->modules, modules, n);
	collector_stats(recorder->collector, &stats);
	if (recorder->barrier) {
		stats.as_of_ns = recorder->barrier->time_ns;
		stats.charged_ns = recorder->barrier->charged_ns;
		stats.paused_ns = recorder->barrier->paused_ns;
	}
	for (enum sample_series series = SERIES_CLOCK; series < N_SERIES; series++)
		count_series(recorder, &stats, series);
}

void recorder_note(struct recorder *recorder, uint64_t time_ns, const char *word, const char *json)
{
	if (!recorder->recording)
		return;
	recording_note(recorder->recording, word, json);
	flight_note(&recorder->flight, time_ns, word, json);
}

static void show_progress(struct recorder *recorder, uint64_t now)
{
	struct progress progress = {.elapsed_ns = now - recorder->start_ns,
				    .hz = recorder->control.rate.hz,
				    .effective_hz = recorder->control.rate.effective_hz,
				    .interrupted = interrupt_count() > 0};

	if (!recorder->recording || !recorder->is_live)
		return;
	collector_stats(recorder->collector, &progress.collected);
	recording_stats(recorder->recording, &progress.written);
	progress_show(&progress);
}

static void tell_dear(struct recorder *recorder, const struct collector_stats *stats)
{
	if (!stats->dear_ppm || recorder->told_dear)
		return;
	recorder->told_dear = true;
	say_note("perf events cost %.0f %% of the program's CPU because of its many context "
		 "switches: wick switches to timers, at the kernel's %u Hz tick; --engine perf "
		 "keeps events",
		 (double)stats->dear_ppm / 10000, (unsigned)collector_kernel_hz());
}

/* The events are priced when they are first needed. */
static void tell_switched(struct recorder *recorder)
{
	struct collector_stats stats;

	collector_stats(recorder->collector, &stats);
	tell_dear(recorder, &stats);
	if (stats.switched == recorder->switched)
		return;
	recorder->switched = stats.switched;
	if (recorder->switched > 1)
		return; /* the summary counts them */
	engine_measure(&recorder->engine, recorder->options->hz, true);
	collector_price(recorder->collector, &recorder->engine.prices);
	say_note("process %d runs in step with the kernel's %u Hz tick (tick aliasing): from now "
		 "on its samples come from perf events",
		 (int)stats.aliased_pid, (unsigned)collector_kernel_hz());
}

/* The first sample may come; when samples have come for long enough, it is the end. */
static void keep_time(struct recorder *recorder, uint64_t now)
{
	const struct record_options *options = recorder->options;
	uint64_t spent = now - recorder->start_ns;

	if (options->delay_ns && !recorder->delayed && spent >= options->delay_ns) {
		recorder->delayed = true;
		(void)collector_resume(recorder->collector);
	}
	if (options->duration_ns && spent >= options->delay_ns &&
	    spent - options->delay_ns >= options->duration_ns)
		collector_detach(recorder->collector);
}

/* What is due by the clock. */
static void tick(struct recorder *recorder, uint64_t now)
{
	record_control_tick(recorder, now);
	record_choose_tick(recorder, now);
	following_tick(&recorder->following, now);
	symbolizer_tick(recorder->symbolizer);
	name_queue_advance(&recorder->queue, now);
	keep_time(recorder, now);
	if (now - recorder->told_ns >= TELL_NS) {
		recorder->told_ns = now;
		recorder_update_counts(recorder);
		record_budget_tick(recorder);
		tell_switched(recorder);
		show_progress(recorder, now);
	}
	if (recorder->recording)
		recording_tick(recorder->recording);
	hook_files_tick(&recorder->hook_files);
	live_file_tick(&recorder->live, recorder->collector, now);
	record_counts_tick(recorder, now);
	record_flight_tick(recorder, now);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* keep_time() */
static uint64_t time_due_ns(const struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	uint64_t begin_ns = recorder->start_ns + options->delay_ns;

	if (options->delay_ns && !recorder->delayed)
		return begin_ns;
	return options->duration_ns ? begin_ns + options->duration_ns : UINT64_MAX;
}

/* Whether anything depends on what is brought up to date every quarter of a second. */
static bool tells(const struct recorder *recorder)
{
	return recorder->is_live || flight_is_on(&recorder->flight) ||
	       (recorder->options->budget.mem_limit && !recorder->no_more_names);
}

/* When tick() next has something to do; samples wake us as well. */
static uint64_t due_ns(const struct recorder *recorder, uint64_t now)
{
	uint64_t ns = earlier(now + REST_NS, time_due_ns(recorder));

	if (control_server_is_busy(&recorder->control.server))
		ns = earlier(ns, now + BUSY_NS);
	if (tells(recorder))
		ns = earlier(ns, recorder->told_ns + TELL_NS);
	ns = earlier(ns, record_choose_due_ns(recorder));
	ns = earlier(ns, following_due_ns(&recorder->following));
	ns = earlier(ns, name_queue_due_ns(&recorder->queue, now));
	if (recorder->recording)
		ns = earlier(ns, recording_due_ns(recorder->recording));
	ns = earlier(ns, hook_files_due_ns(&recorder->hook_files));
	ns = earlier(ns, live_file_due_ns(&recorder->live));
	ns = earlier(ns, record_counts_due_ns(recorder));
	return earlier(ns, flight_due_ns(&recorder->flight, now));
}

/* No sooner than it takes for anything to be new. */
static uint64_t time_out(const struct recorder *recorder, uint64_t now, uint64_t ticked)
{
	uint64_t ns = due_ns(recorder, now);

	if (ns < ticked + BUSY_NS)
		ns = ticked + BUSY_NS;
	return ns > now ? ns - now : 0;
}

void recorder_run(struct recorder *recorder)
{
	struct collector_event event = {.kind = COLLECTOR_IDLE};
	uint64_t now = io_now_ns();
	uint64_t ticked = 0;

	for (;;) {
		bool more = event.kind != COLLECTOR_IDLE;
		uint64_t wait_ns = more ? 0 : time_out(recorder, now, ticked);

		collector_next(recorder->collector, wait_ns, &event);
		now = io_now_ns();
		if (event.kind == COLLECTOR_END)
			return;
		if (event.kind == COLLECTOR_SAMPLE)
			name_queue_add(&recorder->queue, &event.sample, now);
		else if (event.kind == COLLECTOR_MAPPING)
			symbolizer_add(recorder->symbolizer, &event.mapping);
		else if (event.kind == COLLECTOR_RATE)
			name_queue_pass(&recorder->queue, &event.rate);
		else if (event.kind == COLLECTOR_EXIT)
			on_exit_of(recorder, &event, now);
		if (event.kind == COLLECTOR_IDLE || now - ticked >= BUSY_NS) {
			ticked = now;
			tick(recorder, now);
		}
	}
}

void recorder_release(struct recorder *recorder)
{
	interrupt_detaches(NULL);
	record_control_stop(recorder);
	record_counts_release(recorder);
	flight_release(&recorder->flight);
	recording_free(recorder->recording);
	hook_files_release(&recorder->hook_files);
	live_file_release(&recorder->live);
	symbolizer_free(recorder->symbolizer);
	collector_free(recorder->collector);
	sample_filter_release(&recorder->filter);
	record_choose_release(recorder);
	following_release(&recorder->following);
	module_list_release(&recorder->modules);
	free(recorder->agent_path);
	free(recorder->comm);
	*recorder = (struct recorder){0};
}
