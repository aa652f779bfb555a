/* rotation.c - a recording's files: opened, flushed, rotated, closed, and disks that fail */
#include "output/files/internal.h"

#include "base/io.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
	NAMES_TRIED = 10000,
	CLOCK_READINGS = 5,
	CAUSE_REMOVED = 63, /* no errno */
};

static const uint64_t retry_after_ns = 1000000000U;

void recording_report(struct recording *recording, const char *format, ...)
{
	char message[1024];
	va_list args;

	if (!recording->options.report)
		return;
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	recording->options.report(recording->options.report_context, message);
}

/* One message a cause, however often it happens. */
static void report_once(struct recording *recording, int cause, const char *message,
			const char *then)
{
	uint64_t bit = (uint64_t)1 << (cause & 63);

	if (recording->reported & bit)
		return;
	recording->reported |= bit;
	recording_report(recording, "%s; %s", message, then);
}

/* Samples have no place to go; later. */
static void report_failure(struct recording *recording, int error, const char *message)
{
	recording->write_failed = true;
	recording->retry_ns = io_now_ns() + retry_after_ns;
	report_once(recording, error, message,
		    "sampling goes on, samples are dropped until it can be written again");
}

void recording_measure_clocks(struct perf_script_header *header)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < CLOCK_READINGS; i++) {
		uint64_t before = io_now_ns();
		uint64_t real = io_realtime_ns();
		uint64_t took = io_now_ns() - before;

		if (took >= best)
			continue;
		best = took;
		header->captured_ns = real;
		header->epoch_offset_ns = real - (before + took / 2);
	}
}

/* Its later name is taken when the closed segment would get a compressed one that exists. */
static bool compressed_exists(const struct recording *recording, const char *path)
{
	char compressed[PATH_MAX + 8];
	struct stat st;

	if (recording->options.compress == COMPRESS_NONE)
		return false;
	(void)snprintf(compressed, sizeof(compressed), "%s%s", path,
		       recording_ending(recording->options.compress));
	if (recording->options.replace)
		segment_make_way(compressed);
	return lstat(compressed, &st) == 0;
}

static int try_name(struct recording *recording, struct segment *segment, struct err *err)
{
	char path[PATH_MAX];
	int r = file_name_make(&recording->name, path, err);

	if (r < 0)
		return r;
	if (compressed_exists(recording, path))
		return err_set(err, EEXIST, "create '%s': compressed, it", path);
	if (recording->options.replace)
		segment_make_way(path);
	return segment_open(segment, recording->disk, path, err);
}

/* Another name after one that is taken; false when there is to be no other. */
static bool next_name(struct recording *recording)
{
	struct file_name *name = &recording->name;

	if (recording->options.on_demand) {
		name->number++;
		return true;
	}
	if (recording->stats.segments == 0 && recording->options.path)
		return false;
	if (recording->stats.segments == 0)
		name->copy++;
	else
		name->number++;
	return true;
}

static int open_file(struct recording *recording, struct segment *ret_segment, struct err *err)
{
	int r = -EEXIST;

	for (int i = 0; i < NAMES_TRIED && r == -EEXIST; i++) {
		if (i > 0 && !next_name(recording)) {
			err_hint(err, "another name, or --force to replace it");
			return r;
		}
		r = try_name(recording, ret_segment, err);
	}
	return r;
}

static void begin_segment(struct recording *recording, const struct segment *segment)
{
	recording->segment = *segment;
	recording->stats.segments++;
	recording->write_failed = false;
	recording_measure_clocks(&recording->header);
	backlog_start(&recording->backlog, &recording->options.text, &recording->header);
}

int recording_open_segment(struct recording *recording, struct err *err)
{
	struct segment segment;
	int r = open_file(recording, &segment, err);

	if (r == 0)
		begin_segment(recording, &segment);
	return r;
}

int recording_reopen(struct recording *recording)
{
	struct err err = {0};
	int r = recording_open_segment(recording, &err);

	if (r < 0)
		report_failure(recording, -r, err.text);
	return r;
}

/* The file can take no more: what is not on disk is lost, and the next one begins. */
static void abandon(struct recording *recording, int cause, const char *why)
{
	char message[PATH_MAX + 64];

	(void)snprintf(message, sizeof(message), "'%s' %s", recording->segment.path, why);
	report_once(recording, cause, message, "going on in a new file");
	recording_close_segment(recording);
	if (recording->held_as == HELD_WRITTEN)
		recording->held_as = HELD_NONE;
	if (recording->name.number)
		recording->name.number++;
	(void)recording_reopen(recording);
}

static int note_failure(struct recording *recording, int error)
{
	char message[PATH_MAX + 128];

	if (error == EFBIG && recording->backlog.on_disk.n_samples > 1) {
		abandon(recording, EFBIG, "may not grow larger");
		return -EFBIG;
	}
	(void)snprintf(message, sizeof(message), "write '%s': %s", recording->segment.path,
		       strerrordesc_np(error));
	report_failure(recording, error, message);
	return -error;
}

int recording_flush(struct recording *recording)
{
	struct backlog *backlog = &recording->backlog;
	size_t written;
	size_t whole;
	int r;

	if (backlog->text.len == 0)
		return 0;
	if (segment_is_gone(&recording->segment)) {
		abandon(recording, CAUSE_REMOVED, "was removed");
		return -ENOENT;
	}
	r = segment_write(&recording->segment, backlog->text.data, backlog->text.len, &written);
	whole = backlog_whole(backlog, written);
	if (r < 0 || whole < written || recording->segment.ragged) {
		int error = segment_keep(&recording->segment, whole);

		r = r < 0 ? r : error;
	} else {
		recording->segment.len += whole;
	}
	backlog_took(backlog, whole);
	if (r < 0)
		return note_failure(recording, -r);
	recording->write_failed = false;
	return 0;
}

/* What was added to the counts since the last end line that a disk took. */
static bool write_end(struct recording *recording)
{
	struct perf_script_count added[RECORDING_MAX_COUNTS + RECORDING_OWN_COUNTS];
	size_t n = recording->n_counts;
	size_t written = 0;
	struct buf text;
	int r;

	recording->counts[n++] = (struct perf_script_count){"dropped", recording->stats.dropped};
	if (recording->stats.dropped_lines)
		recording->counts[n++] =
			(struct perf_script_count){"dropped_lines", recording->stats.dropped_lines};
	for (size_t i = 0; i < n; i++) {
		added[i] = recording->counts[i];
		added[i].value -= recording->counts_written[i];
	}
	buf_init(&text, 16 * 1024);
	perf_script_end(&recording->options.text, &recording->backlog.on_disk, added, n, &text);
	r = segment_write(&recording->segment, text.data, text.len, &written);
	(void)segment_keep(&recording->segment, r < 0 ? 0 : written);
	buf_release(&text);
	for (size_t i = 0; i < n && r == 0; i++)
		recording->counts_written[i] = recording->counts[i].value;
	return r == 0;
}

void recording_close_segment(struct recording *recording)
{
	struct segment *segment = &recording->segment;
	const struct perf_script_file *file = &recording->backlog.on_disk;
	bool gone;

	if (segment->fd < 0)
		return;
	gone = segment_is_gone(segment);
	recording_left_out(recording, recording->backlog.file.n_notes - file->n_notes);
	recording->stats.dropped += backlog_drop(&recording->backlog);
	recording->stats.samples += file->n_samples;
	recording->stats.weight += file->weight;
	recording->stats.late += file->n_late;
	recording->stats.single_segments += file->n_samples - file->n_releases == 1;
	if (segment->len > 0 && !gone) /* of a removed file the next one has the counts */
		(void)write_end(recording);
	recording->stats.bytes += segment->len;
	if (segment->len > 0 && !gone &&
	    archive_add(recording->archive, segment->path, segment->dev, segment->ino) < 0)
		recording_report(recording, "keep track of '%s': %s", segment->path,
				 strerrordesc_np(ENOMEM));
	segment_close(segment);
	recording->backlog.on_disk = (struct perf_script_file){0};
	recording->backlog.file = recording->backlog.on_disk;
}

int recording_take_back_held(struct recording *recording)
{
	int r;

	if (recording->backlog.text.len > 0)
		return -EBUSY;
	r = segment_cut(&recording->segment, recording->len_before_held);
	if (r < 0)
		return r;
	recording->backlog.on_disk = recording->file_before_held;
	recording->backlog.file = recording->file_before_held;
	return 0;
}

int recording_rotate(struct recording *recording)
{
	uint64_t segments = recording->stats.segments;
	unsigned number = recording->name.number;
	struct segment next;
	struct err err = {0};
	int r;

	if (recording->options.ending)
		recording->options.ending(recording->options.ending_context);
	if (recording->stats.segments != segments)
		return 0; /* the file could not take those notes: the next one has begun */
	r = recording_flush(recording);
	if (r < 0)
		return r;
	/* the new file first: if there can be none, the old one goes on */
	recording->name.number++;
	r = open_file(recording, &next, &err);
	if (r == 0) {
		r = recording->held_as == HELD_WRITTEN ? recording_take_back_held(recording) : 0;
		if (r < 0)
			segment_close(&next);
	}
	if (r < 0) {
		recording->name.number = number;
		recording->rotate_retry_ns = io_now_ns() + retry_after_ns;
		report_once(recording, -r, err.text, "the file before it goes on");
		return r;
	}
	recording_close_segment(recording);
	begin_segment(recording, &next);
	return 0;
}
