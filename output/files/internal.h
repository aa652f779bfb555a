/*
 * internal.h - the state of a recording and the parts that it is made of
 *
 * Context: main thread, unless a function says another.
 */
#ifndef FILES_INTERNAL_H
#define FILES_INTERNAL_H

#include "base/err.h"
#include "output/files/recording.h"
#include "output/text/perf_script.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* segment: one file of a recording: made new, and always ending on whole text */

/* How bytes reach a disk; the tests put faults here. */
struct segment_disk {
	ssize_t (*write)(int fd, const void *bytes, size_t len, off_t offset);
	int (*truncate)(int fd, off_t len);
};

extern const struct segment_disk segment_real_disk;

struct segment {
	const struct segment_disk *disk;
	int fd; /* -1: none */
	char *path;
	uint64_t len; /* of whole text; the file is as long but inside segment_write() */
	bool ragged;  /* it could not be cut: bytes after len wait to be overwritten */
	dev_t dev;
	ino_t ino;
	uint64_t opened_ns;
};

/**
 * segment_make_way - remove the regular file that has a segment's name, if there is one
 *
 * Context: any thread.
 */
void segment_make_way(const char *path);

/**
 * segment_open - make a file that did not exist
 *
 * Return:  0; -EEXIST when the name is taken, by a link too; -errno of open.
 * Owns:    the caller, to segment_close().
 */
int segment_open(struct segment *segment, const struct segment_disk *disk, const char *path,
		 struct err *err);

/**
 * segment_write - try to add bytes at the end
 * @ret_written: how many the disk took, also on failure
 *
 * Nothing is added to segment.len: say how much of it is whole text by segment_keep().
 *
 * Return:  0 when all were taken; -errno of write (-ENOSPC when it took none).
 */
int segment_write(struct segment *segment, const void *bytes, size_t len, size_t *ret_written);

/**
 * segment_keep - of the bytes written last the first LEN are whole text; cut the file after them
 *
 * Return:  0; -errno of ftruncate.
 */
int segment_keep(struct segment *segment, size_t len);

/**
 * segment_cut - shorten the file to LEN bytes of whole text
 *
 * Return:  0; -errno of ftruncate, and the file is as it was.
 */
int segment_cut(struct segment *segment, uint64_t len);

/** segment_is_gone - whether the file was removed */
bool segment_is_gone(const struct segment *segment);

/** segment_close - close the file, remove it if it is empty, give back the memory */
void segment_close(struct segment *segment);

/* file_name: the names of a recording's files, from a template */

struct file_name {
	const char *pattern; /* %p pid, %c comm, %h host, %t UTC time, %n number, %% */
	const char *comm;    /* only [A-Za-z0-9._-] of it are kept */
	const char *host;    /* NULL: this machine's */
	pid_t pid;
	uint64_t time_ns; /* CLOCK_REALTIME */
	unsigned number;  /* 1 and on; where the pattern has no %n it comes before the ending;
			     0: there are no numbers */
	unsigned copy;    /* -1, -2 before number and ending; 0: nothing */
};

/**
 * file_name_make - a path from a template
 *
 * "x.perf" with number 1 is "x.0001.perf".
 *
 * Return:  0; -EINVAL for a letter that is not one of the five; -ENAMETOOLONG.
 * Context: any thread.
 */
int file_name_make(const struct file_name *name, char path[static PATH_MAX], struct err *err);

/* backlog: text of one segment that is not on disk yet, and where its samples end */

enum {
	BACKLOG_MAX_BYTES = 32 * 1024 * 1024, /* one sample of the longest names fits */
	BACKLOG_MAX_WAITING = 1024 * 1024,    /* more than this is not kept for a full disk */
};

/* The end of a whole piece of text (the header, a sample), and the file's state there. */
struct backlog_mark {
	size_t end;
	struct perf_script_file file;
};

struct backlog {
	struct buf text;
	struct backlog_mark *marks;
	size_t n_marks;
	size_t size;
	struct perf_script_file file;    /* with everything in the backlog */
	struct perf_script_file on_disk; /* without */
	uint64_t oldest_ns;              /* when the first sample in it was taken; 0: none */
	size_t last_len;                 /* of the last sample, to guess the next one's */
};

/**
 * backlog_init - empty
 *
 * Context: main thread, as all of these.
 */
void backlog_init(struct backlog *backlog);

/** backlog_release - give back the memory */
void backlog_release(struct backlog *backlog);

/** backlog_start - drop everything and begin a new file with its header */
void backlog_start(struct backlog *backlog, const struct perf_script_options *options,
		   const struct perf_script_header *header);

/**
 * backlog_add - add a sample
 * @now_ns: a sample cannot have been taken later
 *
 * Return:  0; -ENOBUFS when too much is waiting, -ENOMEM; then nothing is added.
 */
int backlog_add(struct backlog *backlog, const struct perf_script_options *options,
		const struct sample *sample, uint64_t now_ns);

/**
 * backlog_note - add a comment line: `# WORD : JSON`
 *
 * Return:  0; -ENOBUFS when too much is waiting, -ENOMEM; then nothing is added.
 */
int backlog_note(struct backlog *backlog, const char *word, const char *json);

/** backlog_whole - of the first LEN bytes, how many are whole pieces */
size_t backlog_whole(const struct backlog *backlog, size_t len);

/** backlog_took - the first LEN bytes, whole pieces, are on disk now */
void backlog_took(struct backlog *backlog, size_t len);

/**
 * backlog_drop - drop what is not on disk
 *
 * Return:  how many samples were dropped.
 */
uint64_t backlog_drop(struct backlog *backlog);

/* compress: a closed file to one gzip member or zstd frame, never over another file */

/**
 * compress_file - replace PATH by PATH.gz or PATH.zst
 * @stop:    when it turns true the work is given up
 * @ret_st:  what the new file is
 * @ret_path: its name
 *
 * Written under a hidden temporary name in the same directory, then renamed; PATH is removed
 * last, and only if it still is the file that was read.
 *
 * Return:  0; -EEXIST when the name is taken; -ECANCELED; -errno.  Then PATH is as it was.
 * Owns:    the caller, to free() *RET_PATH.
 * Context: any thread.
 */
int compress_file(const char *path, enum recording_compress how, const atomic_bool *stop,
		  char **ret_path, struct stat *ret_st, struct err *err);

/* archive: closed segments: compressed, handed to a hook, kept or removed, in the background */

enum { ARCHIVE_HOOK_TRIES = 5 };

struct archive;

struct archive_options {
	enum recording_compress compress;
	const char *on_rotate; /* NULL: none */
	struct recording_limit keep;
	uint64_t backoff_ns; /* before the second try of a hook, then twice as long each time */
};

struct archive_stats {
	uint64_t hook_failures;  /* tries that failed */
	uint64_t n_given_up;     /* segments whose hook never succeeded */
	uint64_t n_waiting;      /* segments that are not through yet, */
	uint64_t n_uncompressed; /* of these, that are still to be compressed */
};

/**
 * archive_new - an empty archive, with its thread if there is anything to do in the background
 *
 * Return:  0; -errno.
 * Owns:    the caller, to archive_free().  The strings of OPTIONS must outlive it.
 */
int archive_new(const struct archive_options *options, struct archive **ret_archive,
		struct err *err);

/**
 * archive_add - take over a closed segment
 *
 * Return:  0; -ENOMEM, and the file just stays as it is.
 */
int archive_add(struct archive *archive, const char *path, dev_t dev, ino_t ino);

/**
 * archive_message - the next line for the user
 *
 * Return:  the line, NULL when there is none.
 * Owns:    the caller, to free().
 */
char *archive_message(struct archive *archive);

/**
 * archive_drain - wait until everything is through, at most WAIT_NS for the hooks
 *
 * Return:  0; -ETIMEDOUT when hooks are left.
 */
int archive_drain(struct archive *archive, uint64_t wait_ns);

/** archive_each - VISIT the path of every segment that is still there, oldest first */
void archive_each(struct archive *archive, void (*visit)(void *context, const char *path),
		  void *context);

/** archive_stats - the counters so far */
void archive_stats(struct archive *archive, struct archive_stats *ret_stats);

/**
 * archive_free - stop the thread and give back the memory; a hook that runs is left alone
 *
 * Context: main thread.  NULL is fine.
 */
void archive_free(struct archive *archive);

enum {
	RECORDING_MAX_COUNTS = 32,
	RECORDING_OWN_COUNTS = 2,     /* "dropped", and "dropped_lines" if there are any */
	RECORDING_FIRST_SAMPLES = 16, /* so many go to disk one by one, for impatient readers */
};

/* A sample that came when the segment was full: it starts the next one, if a second follows. */
enum recording_held {
	HELD_NONE,
	HELD_IN_MEMORY,
	HELD_WRITTEN, /* in the old segment meanwhile, so that no crash loses it */
};

struct recording {
	struct recording_options options;
	struct perf_script_header header;
	const struct segment_disk *disk;
	struct file_name name;
	struct segment segment;
	struct backlog backlog;
	struct archive *archive;

	enum recording_held held_as;
	struct sample held;
	struct frame *held_frames;
	void *held_labels;
	uint64_t len_before_held; /* of the segment, when HELD_WRITTEN */
	struct perf_script_file file_before_held;

	bool write_failed; /* the last write or open failed */
	uint64_t retry_ns; /* not before */
	uint64_t rotate_retry_ns;
	uint64_t reported; /* a bit for each cause that was reported */

	struct perf_script_count counts[RECORDING_MAX_COUNTS + RECORDING_OWN_COUNTS];
	uint64_t counts_written[RECORDING_MAX_COUNTS + RECORDING_OWN_COUNTS];
	size_t n_counts;

	unsigned n_first;             /* samples written one by one */
	struct recording_stats stats; /* of closed segments, and dropped */
	char **paths;
	size_t n_paths;
	bool finished;
};

/** recording_report - one line for the user */
void recording_report(struct recording *recording, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * recording_measure_clocks - what time it is, by the quickest of a few readings
 *
 * Context: any thread.
 */
void recording_measure_clocks(struct perf_script_header *header);

/**
 * recording_open_segment - make the next file, trying further names when one is taken
 *
 * Return:  0; -EEXIST for the first file of a name that was requested; -errno.
 */
int recording_open_segment(struct recording *recording, struct err *err);

/**
 * recording_reopen - the same in the middle of a run: reports why it failed
 *
 * Return:  0; -errno, and it is tried again later.
 */
int recording_reopen(struct recording *recording);

/**
 * recording_flush - write the backlog to disk, or report why not
 *
 * Return:  0; -errno, and it is tried again later.
 */
int recording_flush(struct recording *recording);

/** recording_release_held - the sample that waits for a second one goes into its old segment */
void recording_release_held(struct recording *recording);

/** recording_hold_again - put the held sample back before a line that stays in this segment */
void recording_hold_again(struct recording *recording);

/**
 * recording_take_back_held - remove the held sample, which starts the next one, from the segment
 *
 * Return:  0; -EBUSY when something waits to be written after it; -errno.
 */
int recording_take_back_held(struct recording *recording);

/**
 * recording_rotate - end the segment and begin the next
 *
 * Return:  0; -errno, and the old segment goes on.
 */
int recording_rotate(struct recording *recording);

/** recording_close_segment - drop what the disk does not take, write the end line, close */
void recording_close_segment(struct recording *recording);

#endif
