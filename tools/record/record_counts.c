/* record_counts.c - exact counts into the recording, to --stats-to, and to Prometheus */
#include "tools/record/recorder.h"

#include "base/io.h"
#include "tools/cli/terminal.h"
#include "tools/export/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define NS_PER_S          UINT64_C(1000000000)
#define TEXTFILE_EVERY_NS (15 * NS_PER_S)
#define FLIGHT_EVERY_NS   (10 * NS_PER_S) /* files of a window begin and end somewhere */

static void on_report(const char *message)
{
	say_note("%s", message);
}

static void on_wanted(void *context)
{
	collector_nudge(context);
}

static int start_sinks(struct recorder *recorder, struct err *err)
{
	const struct export_options *options = &recorder->options->export;
	int r = 0;

	for (size_t i = 0; r == 0 && i < options->n_targets; i++)
		r = sink_new(options->targets[i], on_report, &recorder->counts.sinks[i], err);
	return r;
}

static int start_pages(struct recorder *recorder, struct err *err)
{
	const struct export_options *options = &recorder->options->export;
	struct record_counts *counts = &recorder->counts;
	int r = 0;

	if (!options->listen && !options->textfile)
		return 0;
	if (options->textfile && page_check_file(options->textfile, err) < 0)
		return -err->code;
	if (page_maker_new(options->top_tasks, &counts->maker) < 0 ||
	    functions_new(&counts->functions) < 0)
		return err_set(err, ENOMEM, "make pages for Prometheus");
	if (options->listen)
		r = listener_new(options->listen, on_wanted, recorder->collector, &counts->listener,
				 err);
	if (r == 0 && counts->listener)
		say_note("serving %s to Prometheus", listener_address(counts->listener));
	if (options->textfile)
		counts->textfile_due_ns = io_now_ns();
	return r;
}

int record_counts_start(struct recorder *recorder, struct err *err)
{
	const struct record_options *options = recorder->options;
	struct record_counts *counts = &recorder->counts;
	int r;

	counts->every_ns = options->export.every_ns;
	if (flight_options_on(&options->flight) &&
	    (!counts->every_ns || counts->every_ns > FLIGHT_EVERY_NS))
		counts->every_ns = FLIGHT_EVERY_NS;
	if (counts->every_ns)
		counts->due_ns = io_now_ns() + counts->every_ns;
	if (collector_totals(recorder->collector, &counts->last) < 0)
		return err_set(err, ENOMEM, "count");
	r = start_sinks(recorder, err);
	return r < 0 ? r : start_pages(recorder, err);
}

void record_counts_sample(struct recorder *recorder, const struct sample *sample)
{
	uint32_t hz = recorder->control.rate.hz;

	if (!recorder->counts.functions || !sample->n_frames || !hz ||
	    sample->state != STATE_RUNNING ||
	    (sample->event != EVENT_CPU && sample->event != EVENT_WALL))
		return;
	functions_add(recorder->counts.functions, &sample->frames[0],
		      sample->weight * NS_PER_S / hz);
}

static void note_rows(struct recording *recording, char *rows)
{
	char *save = NULL;

	if (!recording)
		return;
	for (char *row = strtok_r(rows, "\n", &save); row; row = strtok_r(NULL, "\n", &save))
		recording_note(recording, "req", row);
}

/* The oldest of those that are kept. */
static struct record_interval *oldest(struct record_counts *counts)
{
	for (size_t i = counts->n_kept > RECORD_KEPT_COUNTS ? counts->n_kept - RECORD_KEPT_COUNTS
							    : 0;
	     i < counts->n_kept; i++)
		if (counts->kept[i % RECORD_KEPT_COUNTS].rows)
			return &counts->kept[i % RECORD_KEPT_COUNTS];
	return NULL;
}

static void drop(struct record_counts *counts, struct record_interval *interval)
{
	if (interval->rows)
		counts->kept_bytes -= strlen(interval->rows);
	free(interval->rows);
	*interval = (struct record_interval){0};
}

/* For files of the flight recorder that are yet to be requested. */
static void keep(struct record_counts *counts, const struct totals *totals, struct buf *rows)
{
	struct record_interval *place = &counts->kept[counts->n_kept % RECORD_KEPT_COUNTS];
	struct record_interval *old;

	drop(counts, place);
	while (counts->kept_bytes + rows->len > RECORD_KEPT_BYTES && (old = oldest(counts)))
		drop(counts, old);
	place->rows = strdup(buf_text(rows));
	if (!place->rows)
		return;
	place->since_ns = totals->since_ns;
	place->time_ns = totals->time_ns;
	counts->kept_bytes += rows->len;
	counts->n_kept++;
}

static void note_too_many(struct record_counts *counts, size_t left_out, size_t room)
{
	if (left_out && !counts->too_many)
		say_note("%zu rows of exact counts are left out: all together have more than "
			 "%zu MiB",
			 left_out, room >> 20);
	counts->too_many |= left_out > 0;
}

static void write_rows(struct recorder *recorder, const struct totals *totals)
{
	struct record_counts *counts = &recorder->counts;
	const bool kept = flight_is_on(&recorder->flight);
	const size_t room = kept ? RECORD_KEPT_BYTES : TOTALS_MOST_BYTES;
	size_t left_out;
	struct buf rows;

	buf_init(&rows, room);
	if (recorder->options->export.n_targets) {
		left_out = totals_all_rows(&rows, totals, false);
		note_too_many(counts, left_out, room);
		for (size_t i = 0; i < recorder->options->export.n_targets; i++)
			if (counts->sinks[i] && rows.len)
				sink_add(counts->sinks[i], rows.data, rows.len);
		buf_clear(&rows);
	}
	left_out = totals_rows_that_fit(&rows, totals);
	note_too_many(counts, left_out, room);
	(void)buf_text(&rows); /* ends it */
	if (rows.len && kept)
		keep(counts, totals, &rows);
	else if (rows.len)
		note_rows(recorder->recording, rows.data);
	if (recorder->recording)
		recording_left_out(recorder->recording, left_out);
	buf_release(&rows);
}

void record_counts_write(struct recorder *recorder)
{
	struct record_counts *counts = &recorder->counts;
	struct totals interval;
	struct totals now;

	if (collector_totals(recorder->collector, &now) < 0)
		return;
	if (now.n_processes && totals_interval(&now, &counts->last, &interval) == 0) {
		write_rows(recorder, &interval);
		totals_release(&interval);
		totals_release(&counts->last);
		counts->last = now;
	} else {
		totals_release(&now); /* they are in the next interval */
	}
}

void record_counts_window(struct recorder *recorder, uint64_t from_ns, uint64_t until_ns)
{
	struct record_counts *counts = &recorder->counts;

	record_counts_write(recorder);
	for (size_t i = counts->n_kept > RECORD_KEPT_COUNTS ? counts->n_kept - RECORD_KEPT_COUNTS
							    : 0;
	     i < counts->n_kept; i++) {
		const struct record_interval *interval = &counts->kept[i % RECORD_KEPT_COUNTS];
		char *rows;

		if (!interval->rows || interval->time_ns <= from_ns ||
		    interval->since_ns >= until_ns)
			continue;
		rows = strdup(interval->rows);
		if (rows)
			note_rows(recorder->recording, rows);
		free(rows);
	}
}

/* What came before is in the recording first. */
static int begin_anew(struct recorder *recorder)
{
	struct totals zero;
	int r;

	record_counts_write(recorder);
	r = collector_totals_reset(recorder->collector);
	if (r == 0)
		r = collector_totals(recorder->collector, &zero);
	if (r < 0)
		return r;
	totals_release(&recorder->counts.last);
	recorder->counts.last = zero;
	return 0;
}

int record_counts_rows(struct recorder *recorder, bool reset, struct buf *rows)
{
	struct totals totals;
	int r = collector_totals(recorder->collector, &totals);

	if (r < 0)
		return r;
	if (totals.n_processes)
		r = totals_rows_that_fit(rows, &totals) == 0 ? 0 : -ENOMEM;
	else
		r = -ENODATA;
	totals_release(&totals);
	return r == 0 && reset ? begin_anew(recorder) : r;
}

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static uint64_t lines_lost(struct recorder *recorder)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < EXPORT_TARGETS; i++) {
		struct sink_stats stats;

		if (!recorder->counts.sinks[i])
			continue;
		sink_stats(recorder->counts.sinks[i], &stats);
		lost += stats.lost;
	}
	return lost;
}

static int make_page(struct recorder *recorder, bool open_metrics, struct buf *page)
{
	const struct collector_rate *rate = &recorder->control.rate;
	struct recording_stats written = {0};
	struct collector_stats stats;
	struct totals totals;
	int r = collector_totals(recorder->collector, &totals);

	if (r < 0)
		return r;
	collector_stats(recorder->collector, &stats);
	if (recorder->recording)
		recording_stats(recorder->recording, &written);
	r = page_make(recorder->counts.maker, &totals, recorder->counts.functions,
		      &(struct page_self){.stats = &stats,
					  .hz = rate->hz,
					  .effective_hz = rate->effective_hz,
					  .paused = rate->pauses != 0,
					  .collector_ns = own_cpu_ns(),
					  .lines_lost = lines_lost(recorder),
					  .dropped = written.dropped},
		      open_metrics, page);
	totals_release(&totals);
	return r;
}

static void serve(struct recorder *recorder)
{
	struct record_counts *counts = &recorder->counts;
	bool open_metrics;
	struct buf page;

	if (!counts->listener || !listener_wanted(counts->listener, &open_metrics))
		return;
	buf_init(&page, PAGE_BYTES);
	listener_give(counts->listener,
		      make_page(recorder, open_metrics, &page) < 0 ? NULL : &page);
	buf_release(&page);
}

static void write_textfile(struct recorder *recorder, uint64_t now_ns)
{
	const struct export_options *options = &recorder->options->export;
	struct record_counts *counts = &recorder->counts;
	struct err err = {0};
	struct buf page;
	int r;

	if (!counts->textfile_due_ns || counts->textfile_due_ns > now_ns)
		return;
	counts->textfile_due_ns =
		now_ns + (options->every_ns ? options->every_ns : TEXTFILE_EVERY_NS);
	buf_init(&page, PAGE_BYTES);
	r = make_page(recorder, false, &page);
	r = r < 0 ? err_set(&err, -r, "make '%s'", options->textfile)
		  : page_write_file(options->textfile, &page, &err);
	if (r < 0 && !counts->textfile_failed)
		say_error("%s", err.text);
	counts->textfile_failed = r < 0;
	buf_release(&page);
}

void record_counts_tick(struct recorder *recorder, uint64_t now_ns)
{
	struct record_counts *counts = &recorder->counts;

	serve(recorder);
	write_textfile(recorder, now_ns);
	if (!counts->due_ns || counts->due_ns > now_ns)
		return;
	counts->due_ns = now_ns + counts->every_ns;
	record_counts_write(recorder);
}

uint64_t record_counts_due_ns(const struct recorder *recorder)
{
	uint64_t due_ns = recorder->counts.due_ns ? recorder->counts.due_ns : UINT64_MAX;
	uint64_t file_ns = recorder->counts.textfile_due_ns;

	return file_ns && file_ns < due_ns ? file_ns : due_ns;
}

static void stop_listener(struct record_counts *counts)
{
	listener_free(counts->listener);
	counts->listener = NULL;
}

void record_counts_finish(struct recorder *recorder)
{
	const struct export_options *options = &recorder->options->export;
	struct record_counts *counts = &recorder->counts;
	struct err err = {0};

	stop_listener(counts);
	record_counts_write(recorder);
	for (size_t i = 0; i < options->n_targets; i++) {
		struct sink_stats stats = {0};

		sink_free(counts->sinks[i], &stats);
		counts->sinks[i] = NULL;
		if (stats.lost)
			say_note("--stats-to '%s' took %lu lines and not %lu", options->targets[i],
				 (unsigned long)stats.lines, (unsigned long)stats.lost);
	}
	/* The numbers of a recording that has ended would stay; another file may be there by now.
	 */
	if (counts->textfile_due_ns && page_check_file(options->textfile, &err) == 0)
		(void)unlink(options->textfile);
}

void record_counts_release(struct recorder *recorder)
{
	struct record_counts *counts = &recorder->counts;

	stop_listener(counts);
	for (size_t i = 0; i < EXPORT_TARGETS; i++)
		sink_free(counts->sinks[i], NULL);
	for (size_t i = 0; i < RECORD_KEPT_COUNTS; i++)
		drop(counts, &counts->kept[i]);
	totals_release(&counts->last);
	page_maker_free(counts->maker);
	functions_free(counts->functions);
	*counts = (struct record_counts){0};
}
