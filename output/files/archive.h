/* archive.h - closed segments: compressed, handed to a hook, kept or removed, in the background */
#ifndef FILES_ARCHIVE_H
#define FILES_ARCHIVE_H

#include "base/err.h"
#include "output/files/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SHELF_HOOK_TRIES = 5 };

struct shelf;

struct shelf_options {
	enum recording_compress compress;
	const char *on_rotate; /* NULL: none */
	struct recording_limit keep;
	uint64_t backoff_ns; /* before the second try of a hook, then twice as long each time */
};

struct shelf_stats {
	uint64_t hook_failures;  /* tries that failed */
	uint64_t n_given_up;     /* segments whose hook never succeeded */
	uint64_t n_waiting;      /* segments that are not through yet, */
	uint64_t n_uncompressed; /* of these, that are still to be compressed */
};

/**
 * shelf_new - an empty shelf, with its thread if there is anything to do in the background
 *
 * Return:  0; -errno.
 * Owns:    the caller, to shelf_free().  The strings of OPTIONS must outlive it.
 * Context: main thread.
 */
int shelf_new(const struct shelf_options *options, struct shelf **ret_shelf, struct err *err);

/**
 * shelf_add - take over a closed segment
 *
 * Return:  0; -ENOMEM, and the file just stays as it is.
 * Context: main thread.
 */
int shelf_add(struct shelf *shelf, const char *path, dev_t dev, ino_t ino);

/**
 * shelf_message - the next line for the person
 *
 * Return:  the line, NULL when there is none.
 * Owns:    the caller, to free().
 * Context: main thread.
 */
char *shelf_message(struct shelf *shelf);

/**
 * shelf_drain - wait until everything is through, at most WAIT_NS for the hooks
 *
 * Return:  0; -ETIMEDOUT when hooks are left.
 * Context: main thread.
 */
int shelf_drain(struct shelf *shelf, uint64_t wait_ns);

/**
 * shelf_each - VISIT the path of every segment that is still there, oldest first
 *
 * Context: main thread.
 */
void shelf_each(struct shelf *shelf, void (*visit)(void *context, const char *path), void *context);

/**
 * shelf_stats - the counters so far
 *
 * Context: main thread.
 */
void shelf_stats(struct shelf *shelf, struct shelf_stats *ret_stats);

/**
 * shelf_free - stop the thread and give back the memory; a hook that runs is left alone
 *
 * Context: main thread.  NULL is fine.
 */
void shelf_free(struct shelf *shelf);

#endif
