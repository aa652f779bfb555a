/* backlog.h - text of one segment that is not on disk yet, and where its samples end */
#ifndef FILES_BACKLOG_H
#define FILES_BACKLOG_H

#include "output/text/perf_script.h"

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

/**
 * backlog_release - give back the memory
 *
 * Context: main thread.
 */
void backlog_release(struct backlog *backlog);

/**
 * backlog_start - forget everything and begin a new file with its header
 *
 * Context: main thread.
 */
void backlog_start(struct backlog *backlog, const struct perf_script_options *options,
		   const struct perf_script_header *header);

/**
 * backlog_add - add a sample
 * @now_ns: a sample cannot have been taken later
 *
 * Return:  0; -ENOBUFS when too much is waiting, -ENOMEM; then nothing is added.
 * Context: main thread.
 */
int backlog_add(struct backlog *backlog, const struct perf_script_options *options,
		const struct sample *sample, uint64_t now_ns);

/**
 * backlog_note - add a comment line: `# WORD : JSON`
 *
 * Return:  0; -ENOBUFS when too much is waiting, -ENOMEM; then nothing is added.
 * Context: main thread.
 */
int backlog_note(struct backlog *backlog, const char *word, const char *json);

/**
 * backlog_whole - of the first LEN bytes, how many are whole pieces
 *
 * Context: main thread.
 */
size_t backlog_whole(const struct backlog *backlog, size_t len);

/**
 * backlog_took - the first LEN bytes, whole pieces, are on disk now
 *
 * Context: main thread.
 */
void backlog_took(struct backlog *backlog, size_t len);

/**
 * backlog_drop - forget what is not on disk
 *
 * Return:  how many samples were dropped.
 * Context: main thread.
 */
uint64_t backlog_drop(struct backlog *backlog);

#endif
