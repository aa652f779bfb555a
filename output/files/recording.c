/* recording.c - samples into the files of one run */
#include "output/files/recording.h"

#include "base/io.h"
#include "output/files/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int recording_split(struct recording *recording, uint32_t hz)
{
	const struct perf_script_file *file = &recording->backlog.file;

	recording_release_held(recording);
	if (hz)
		recording->header.hz = hz;
	if (recording->segment.fd < 0 || (file->n_samples == 0 && !hz))
		return 0;
	if (recording->segment.len > 0 || file->n_samples > 0)
		return recording->write_failed ? -EIO : recording_rotate(recording);
	backlog_start(&recording->backlog, &recording->options.text, &recording->header);
	return 0;
}

int recording_write_out(struct recording *recording)
{
	recording_release_held(recording);
	if (recording->segment.fd < 0)
		return recording->options.on_demand ? 0 : -EIO;
	return recording_flush(recording);
}

int recording_begin(struct recording *recording, unsigned number, struct err *err)
{
	int r;

	if (recording->segment.fd >= 0)
		return err_set(err, EBUSY, "begin a file");
	if (number > recording->name.number)
		recording->name.number = number;
	recording->name.time_ns = io_realtime_ns();
	r = recording_open_segment(recording, err);
	return r < 0 ? r : (int)recording->name.number;
}

/* What the counts were, where the end line is to count from. */
static void count_from(struct recording *recording, const struct perf_script_count *before,
		       size_t n_before)
{
	for (size_t i = 0; i < recording->n_counts; i++) {
		recording->counts_written[i] = 0;
		for (size_t j = 0; j < n_before; j++)
			if (strcmp(recording->counts[i].name, before[j].name) == 0)
				recording->counts_written[i] = before[j].value;
	}
}

int recording_end(struct recording *recording, const struct perf_script_count *before,
		  size_t n_before, char **ret_path)
{
	uint64_t dropped = recording->stats.dropped;
	int r = 0;

	*ret_path = NULL;
	if (recording->segment.fd < 0)
		return -EIO;
	(void)recording_flush(recording);
	recording->write_failed = false; /* what this file could not take is lost, not waited for */
	if (recording->segment.fd < 0)   /* it was removed, and there is no other */
		return -EIO;
	if (asprintf(ret_path, "%s%s", recording->segment.path,
		     recording_ending(recording->options.compress)) < 0)
		*ret_path = NULL;
	count_from(recording, before, n_before);
	if (recording->segment.len == 0)
		r = -EIO;
	recording_close_segment(recording);
	recording->name.number++;
	return recording->stats.dropped > dropped ? -EIO : r;
}

enum {
	END_LINE_BYTES = 512, /* what a segment's end line takes of --rotate SIZE */
	FLUSH_BYTES = 256 * 1024,
};

static const uint64_t early_most_ns = 100000000U; /* a flush is due before its time */
static const uint64_t hook_wait_ns = 30000000000U;
static const uint64_t hook_backoff_ns = 1000000000U;

static bool is_rotated(const struct recording *recording)
{
	const struct recording_limit *rotate = &recording->options.rotate;

	return rotate->bytes || rotate->ns || rotate->samples;
}

static int check_options(const struct recording_options *options, struct err *err)
{
	const struct perf_script_options *text = &options->text;

	if (text->n_metrics > SAMPLE_MAX_METRICS || (text->n_metrics && !text->metrics))
		return err_set(err, EINVAL, "record %zu metrics", text->n_metrics);
	if (options->header.argc > 0 && !options->header.argv)
		return err_set(err, EINVAL, "record a command line");
	return 0;
}

static int start(struct recording *recording, struct err *err)
{
	struct archive_options archive = {
		.compress = recording->options.compress,
		.on_rotate = recording->options.on_rotate,
		.keep = recording->options.keep,
		.backoff_ns = hook_backoff_ns,
	};
	int r = archive_new(&archive, &recording->archive, err);

	if (r < 0 || recording->options.on_demand)
		return r;
	return recording_open_segment(recording, err);
}

int recording_new(const struct recording_options *options, struct recording **ret_recording,
		  struct err *err)
{
	struct recording *recording;
	int r = check_options(options, err);

	if (r < 0)
		return r;
	recording = calloc(1, sizeof(*recording));
	if (!recording)
		return err_set(err, ENOMEM, "record");
	recording->options = *options;
	recording->header = options->header;
	recording->disk = &segment_real_disk;
	recording->segment.fd = -1;
	backlog_init(&recording->backlog);
	recording->name = (struct file_name){
		.pattern = options->path ? options->path : "wick.%c.%p.%t.perf",
		.comm = options->comm,
		.pid = options->header.pid,
		.time_ns = io_realtime_ns(),
		.number = is_rotated(recording) || options->on_demand,
	};
	recording->held_frames = calloc(SAMPLE_MAX_NAMED, sizeof(*recording->held_frames));
	r = recording->held_frames ? start(recording, err) : err_set(err, ENOMEM, "record");
	if (r < 0) {
		recording_free(recording);
		return r;
	}
	*ret_recording = recording;
	return 0;
}

/* Whether the segment is full, with one more sample like the last. */
static bool is_full(const struct recording *recording, uint64_t now)
{
	const struct recording_limit *rotate = &recording->options.rotate;
	const struct backlog *backlog = &recording->backlog;
	uint64_t bytes = recording->segment.len + backlog->text.len + backlog->last_len;

	if (!is_rotated(recording) || recording->segment.fd < 0 || recording->write_failed ||
	    now < recording->rotate_retry_ns ||
	    backlog->file.n_samples - backlog->file.n_releases < 2)
		return false;
	if (rotate->bytes)
		return bytes + END_LINE_BYTES > rotate->bytes;
	if (rotate->ns)
		return now - recording->segment.opened_ns >= rotate->ns;
	return backlog->file.n_samples >= rotate->samples;
}

static void add(struct recording *recording, const struct sample *sample, uint64_t now)
{
	struct backlog *backlog = &recording->backlog;

	if (recording->segment.fd < 0 ||
	    backlog_add(backlog, &recording->options.text, sample, now) < 0) {
		recording->stats.dropped++;
		return;
	}
	if (!recording->write_failed &&
	    (recording->n_first < RECORDING_FIRST_SAMPLES || recording->options.flush_ns == 0 ||
	     backlog->text.len >= FLUSH_BYTES))
		(void)recording_flush(recording);
	if (recording->n_first < RECORDING_FIRST_SAMPLES)
		recording->n_first++;
}

void recording_note(struct recording *recording, const char *word, const char *json)
{
	const bool is_open = recording->segment.fd >= 0;

	if (recording->options.text.bare || (!is_open && recording->options.on_demand))
		return;
	recording_hold_again(recording);
	if (!is_open || backlog_note(&recording->backlog, word, json) < 0)
		recording_left_out(recording, 1);
	else if (!recording->write_failed && recording->backlog.text.len >= FLUSH_BYTES)
		(void)recording_flush(recording);
}

void recording_left_out(struct recording *recording, uint64_t n)
{
	recording->stats.dropped_lines += n;
}

/* Without memory for them it has none. */
static void hold_labels(struct recording *recording, const struct sample *sample)
{
	struct sample *held = &recording->held;

	free(recording->held_labels);
	recording->held_labels = sample->n_labels ? malloc(sample_labels_bytes(sample)) : NULL;
	held->labels =
		recording->held_labels ? sample_labels_copy(sample, recording->held_labels) : NULL;
	held->n_labels = held->labels ? sample->n_labels : 0;
}

static void hold(struct recording *recording, const struct sample *sample)
{
	struct sample *held = &recording->held;
	bool deep = sample->n_frames > SAMPLE_MAX_NAMED;

	*held = *sample;
	hold_labels(recording, sample);
	held->frames = recording->held_frames;
	held->n_frames = deep ? SAMPLE_MAX_NAMED : sample->n_frames;
	held->truncated |= deep;
	if (held->n_waker > SAMPLE_MAX_NAMED - held->n_frames || deep)
		held->n_waker = 0;
	if (held->n_frames)
		memcpy(held->frames, sample->frames,
		       (held->n_frames + held->n_waker) * sizeof(*held->frames));
	recording->held_as = HELD_IN_MEMORY;
}

void recording_release_held(struct recording *recording)
{
	if (recording->held_as == HELD_IN_MEMORY)
		add(recording, &recording->held, io_now_ns());
	recording->held_as = HELD_NONE;
}

/*
 * It has waited as long as a sample may: on disk with it, but in such a way that it can still be
 * moved to the next segment when a second one comes.
 */
static void write_held(struct recording *recording, uint64_t now)
{
	if (recording_flush(recording) < 0) {
		recording_release_held(recording);
		return;
	}
	recording->len_before_held = recording->segment.len;
	recording->file_before_held = recording->backlog.on_disk;
	add(recording, &recording->held, now);
	recording->held_as = recording_flush(recording) < 0 ? HELD_NONE : HELD_WRITTEN;
}

void recording_hold_again(struct recording *recording)
{
	if (recording->held_as == HELD_WRITTEN)
		recording->held_as =
			recording_take_back_held(recording) < 0 ? HELD_NONE : HELD_IN_MEMORY;
}

void recording_write(struct recording *recording, const struct sample *sample)
{
	uint64_t now = io_now_ns();

	/* comments are no samples, and come before the sample that waits */
	if (perf_script_hides(&recording->options.text, sample)) {
		recording_hold_again(recording);
		if (!recording->options.text.bare)
			add(recording, sample, now);
		return;
	}
	if (recording->held_as == HELD_NONE && is_full(recording, now)) {
		hold(recording, sample);
		return;
	}
	if (recording->held_as != HELD_NONE && !recording->write_failed &&
	    recording_rotate(recording) == 0) {
		add(recording, &recording->held, now);
		recording->held_as = HELD_NONE;
	}
	recording_release_held(recording);
	add(recording, sample, now);
}

/* When a sample is to be on disk. */
static uint64_t flush_at(const struct recording *recording, uint64_t taken_ns)
{
	uint64_t flush_ns = recording->options.flush_ns;
	uint64_t early_ns = flush_ns / 2 < early_most_ns ? flush_ns / 2 : early_most_ns;
	uint64_t after_ns = flush_ns - early_ns;

	return taken_ns < UINT64_MAX - after_ns ? taken_ns + after_ns : UINT64_MAX;
}

static uint64_t held_due_ns(const struct recording *recording)
{
	return recording->held_as == HELD_IN_MEMORY ? flush_at(recording, recording->held.time_ns)
						    : UINT64_MAX;
}

uint64_t recording_due_ns(const struct recording *recording)
{
	const struct backlog *backlog = &recording->backlog;
	uint64_t held_ns = held_due_ns(recording);
	uint64_t text_ns = backlog->oldest_ns ? flush_at(recording, backlog->oldest_ns) : 0;

	if (recording->write_failed)
		return recording->retry_ns;
	return backlog->text.len && text_ns < held_ns ? text_ns : held_ns;
}

static void report_all(struct recording *recording)
{
	for (;;) {
		char *message = archive_message(recording->archive);

		if (!message)
			return;
		recording_report(recording, "%s", message);
		free(message);
	}
}

void recording_tick(struct recording *recording)
{
	uint64_t now = io_now_ns();

	report_all(recording);
	if (now < recording_due_ns(recording))
		return;
	if (recording->write_failed) {
		(void)(recording->segment.fd < 0 ? recording_reopen(recording)
						 : recording_flush(recording));
		return;
	}
	if (now >= held_due_ns(recording))
		write_held(recording, now);
	else
		(void)recording_flush(recording);
}

void recording_counts(struct recording *recording, const struct perf_script_count *counts,
		      size_t n_counts)
{
	recording->n_counts = n_counts < RECORDING_MAX_COUNTS ? n_counts : RECORDING_MAX_COUNTS;
	for (size_t i = 0; i < recording->n_counts; i++)
		recording->counts[i] = counts[i];
}

int recording_finish(struct recording *recording)
{
	uint64_t wait_ns = recording->options.hook_wait_ns;
	struct recording_stats stats;
	int r;

	if (!recording->finished) {
		recording_release_held(recording);
		if (recording->segment.fd >= 0)
			(void)recording_flush(recording);
		recording_close_segment(recording);
	}
	recording->finished = true;
	r = archive_drain(recording->archive, wait_ns ? wait_ns : hook_wait_ns);
	report_all(recording);
	if (r < 0)
		recording_report(recording,
				 "the --on-rotate command was not done in time for every "
				 "file; none of them is removed");
	recording_stats(recording, &stats);
	return r < 0 || stats.dropped || stats.hook_given_up ? -EIO : 0;
}

bool recording_settled(struct recording *recording)
{
	struct archive_stats stats;

	archive_stats(recording->archive, &stats);
	return stats.n_uncompressed == 0;
}

static void add_path(void *context, const char *path)
{
	struct recording *recording = context;
	char **paths = reallocarray(recording->paths, recording->n_paths + 1, sizeof(*paths));
	char *copy = strdup(path);

	if (paths)
		recording->paths = paths;
	if (paths && copy)
		recording->paths[recording->n_paths++] = copy;
	else
		free(copy);
}

static void clear_paths(struct recording *recording)
{
	for (size_t i = 0; i < recording->n_paths; i++)
		free(recording->paths[i]);
	recording->n_paths = 0;
}

void recording_stats(struct recording *recording, struct recording_stats *ret_stats)
{
	const struct perf_script_file *file = &recording->backlog.file;
	struct archive_stats archive;

	*ret_stats = recording->stats;
	archive_stats(recording->archive, &archive);
	clear_paths(recording);
	archive_each(recording->archive, add_path, recording);
	if (recording->segment.fd >= 0) {
		add_path(recording, recording->segment.path);
		ret_stats->samples += file->n_samples;
		ret_stats->weight += file->weight;
		ret_stats->late += file->n_late;
		ret_stats->bytes += recording->segment.len;
	}
	ret_stats->samples += recording->held_as == HELD_IN_MEMORY;
	ret_stats->hook_failures = archive.hook_failures;
	ret_stats->hook_given_up = archive.n_given_up;
	ret_stats->paths = (const char *const *)recording->paths;
	ret_stats->n_paths = recording->n_paths;
}

void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	archive_free(recording->archive);
	segment_close(&recording->segment);
	backlog_release(&recording->backlog);
	clear_paths(recording);
	free(recording->paths);
	free(recording->held_frames);
	free(recording->held_labels);
	free(recording);
}
