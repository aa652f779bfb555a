/* snapshot.c - a file that is written anew as a whole */
#include "output/snapshot.h"

#include "output/recording_room.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	bool told;
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

/* The name is ours once the file is there; the first state is put into its place. */
static int make_file(struct snapshot *snapshot, struct err *err)
{
	struct stat st;
	struct segment first;
	size_t written;
	int r;

	if (lstat(snapshot->path_of_next, &st) == 0)
		return err_set(err, EEXIST, "create '%s'", snapshot->path_of_next);
	r = segment_open(&first, &segment_real_disk, snapshot->path, err);
	if (r < 0)
		return r;
	/* An empty file would be removed. */
	if (segment_write(&first, "\n", 1, &written) == 0)
		(void)segment_keep(&first, 1);
	segment_close(&first);
	snapshot->told = true; /* the caller says it */
	if (snapshot_begin(snapshot) == 0)
		r = snapshot_end(snapshot, NULL, 0);
	else
		r = snapshot->error;
	snapshot->told = false;
	if (r == 0)
		return 0;
	(void)unlink(snapshot->path);
	return err_set(err, -r, "write '%s'", snapshot->path);
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
	if (r == 0)
		r = make_file(snapshot, err);
	if (r < 0) {
		if (r == -EEXIST)
			err_hint(err, "another name; nothing is ever overwritten");
		snapshot_free(snapshot);
		return r;
	}
	*ret_snapshot = snapshot;
	return 0;
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

static void tell(struct snapshot *snapshot)
{
	char message[PATH_MAX + 128];

	if (snapshot->told || !snapshot->options.tell)
		return;
	snapshot->told = true;
	(void)snprintf(message, sizeof(message), "write '%s': %s; its last state stays",
		       snapshot->path, strerrordesc_np(-snapshot->error));
	snapshot->options.tell(snapshot->options.tell_context, message);
}

int snapshot_end(struct snapshot *snapshot, const struct perf_script_count *counts, size_t n_counts)
{
	if (snapshot->error == 0) {
		perf_script_end(&snapshot->options.text, &snapshot->file, counts, n_counts,
				&snapshot->text);
		write_text(snapshot);
	}
	if (snapshot->error == 0 && rename(snapshot->path_of_next, snapshot->path) < 0)
		give_up(snapshot, -errno);
	segment_close(&snapshot->next); /* its path leads nowhere now: it is not removed */
	if (snapshot->error < 0)
		tell(snapshot);
	return snapshot->error;
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
