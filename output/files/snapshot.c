/* snapshot.c - a file that is written anew as a whole */
#include "output/files/recording.h"

#include "output/files/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 * 1024 };

struct snapshot {
	struct recording_options options;
	struct perf_script_header header;
	char path[PATH_MAX];
	char path_of_next[PATH_MAX];
	struct segment next; /* fd -1: none is being written */
	struct buf text;
	struct perf_script_file file;
	int error; /* of the next state */
	bool reported;
};

static int make_names(struct snapshot *snapshot, struct err *err)
{
	const struct recording_options *options = &snapshot->options;
	const struct file_name name = {
		.pattern = options->path,
		.comm = options->comm,
		.pid = options->header.pid,
		.time_ns = snapshot->header.captured_ns,
	};
	int r = file_name_make(&name, snapshot->path, err);
	int n;

	if (r < 0)
		return r;
	n = snprintf(snapshot->path_of_next, PATH_MAX, "%s.new", snapshot->path);
	return n < PATH_MAX ? 0
			    : err_set(err, ENAMETOOLONG, "file name '%.64s...'", snapshot->path);
}

/* The name must be free, and a reader never finds anything but a whole state there. */
static int put_first(const struct snapshot *snapshot)
{
	const char *from = snapshot->path_of_next;

	if (renameat2(AT_FDCWD, from, AT_FDCWD, snapshot->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A file system that knows no such flag. */
	if (link(from, snapshot->path) < 0)
		return -errno;
	return unlink(from) < 0 ? -errno : 0;
}

static int put_next(const struct snapshot *snapshot)
{
	return rename(snapshot->path_of_next, snapshot->path) < 0 ? -errno : 0;
}

/* What is not in place goes. */
static void give_up(struct snapshot *snapshot, int error)
{
	snapshot->error = error;
	if (snapshot->next.fd < 0)
		return;
	(void)segment_cut(&snapshot->next, 0);
	segment_close(&snapshot->next);
}

static void write_text(struct snapshot *snapshot)
{
	size_t written = 0;
	int r = snapshot->text.failed ? -ENOMEM : 0;

	if (r == 0 && snapshot->text.len)
		r = segment_write(&snapshot->next, snapshot->text.data, snapshot->text.len,
				  &written);
	if (r == 0)
		snapshot->next.len += written;
	else
		give_up(snapshot, r);
	buf_clear(&snapshot->text);
}

int snapshot_begin(struct snapshot *snapshot)
{
	struct err err = {0};

	give_up(snapshot, 0);
	snapshot->error =
		segment_open(&snapshot->next, &segment_real_disk, snapshot->path_of_next, &err);
	if (snapshot->error < 0) {
		snapshot->next.fd = -1;
		return snapshot->error;
	}
	recording_measure_clocks(&snapshot->header);
	snapshot->file = (struct perf_script_file){.event = snapshot->header.event};
	buf_clear(&snapshot->text);
	perf_script_header(&snapshot->options.text, &snapshot->header, &snapshot->text);
	return 0;
}

void snapshot_add(struct snapshot *snapshot, const struct sample *sample)
{
	if (snapshot->error < 0)
		return;
	perf_script_sample(&snapshot->options.text, &snapshot->file, sample, &snapshot->text);
	if (snapshot->text.failed || snapshot->text.len >= CHUNK_BYTES)
		write_text(snapshot);
}

static void report(struct snapshot *snapshot)
{
	char message[PATH_MAX + 128];

	if (snapshot->reported || !snapshot->options.report)
		return;
	snapshot->reported = true;
	(void)snprintf(message, sizeof(message), "write '%s': %s; its last state stays",
		       snapshot->path, strerrordesc_np(-snapshot->error));
	snapshot->options.report(snapshot->options.report_context, message);
}

static void end(struct snapshot *snapshot, const struct perf_script_count *counts, size_t n_counts,
		int (*put)(const struct snapshot *snapshot))
{
	if (snapshot->error == 0) {
		perf_script_end(&snapshot->options.text, &snapshot->file, counts, n_counts,
				&snapshot->text);
		write_text(snapshot);
	}
	if (snapshot->error == 0) {
		int r = put(snapshot);

		if (r < 0)
			give_up(snapshot, r);
	}
	segment_close(&snapshot->next); /* its path leads nowhere now: it is not removed */
}

int snapshot_end(struct snapshot *snapshot, const struct perf_script_count *counts, size_t n_counts)
{
	end(snapshot, counts, n_counts, put_next);
	if (snapshot->error < 0)
		report(snapshot);
	return snapshot->error;
}

static int make_first(struct snapshot *snapshot, struct err *err)
{
	const char *path = snapshot->path_of_next;

	if (snapshot_begin(snapshot) == 0) {
		path = snapshot->path;
		end(snapshot, NULL, 0, put_first);
	}
	return snapshot->error < 0 ? err_set(err, -snapshot->error, "create '%s'", path) : 0;
}

int snapshot_new(const struct recording_options *options, struct snapshot **ret_snapshot,
		 struct err *err)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int r;

	if (!snapshot)
		return err_set(err, ENOMEM, "record");
	snapshot->options = *options;
	snapshot->header = options->header;
	snapshot->next.fd = -1;
	buf_init(&snapshot->text, BACKLOG_MAX_BYTES);
	recording_measure_clocks(&snapshot->header);
	r = make_names(snapshot, err);
	if (r == 0 && options->replace) {
		segment_make_way(snapshot->path);
		segment_make_way(snapshot->path_of_next);
	}
	if (r == 0)
		r = make_first(snapshot, err);
	if (r < 0) {
		if (r == -EEXIST)
			err_hint(err, "another name, or --force to replace it");
		snapshot_free(snapshot);
		return r;
	}
	*ret_snapshot = snapshot;
	return 0;
}

const char *snapshot_path(const struct snapshot *snapshot)
{
	return snapshot->path;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	give_up(snapshot, 0);
	buf_release(&snapshot->text);
	free(snapshot);
}
