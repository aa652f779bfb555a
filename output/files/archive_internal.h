/* archive_internal.h - the shelf's state, shared by its two files */
#ifndef FILES_ARCHIVE_INTERNAL_H
#define FILES_ARCHIVE_INTERNAL_H

#include "output/files/archive.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SHELF_MAX_CAUSES = 16 };

enum shelf_stage {
	STAGE_CLOSED, /* to be compressed */
	STAGE_READY,  /* to be handed to the hook */
	STAGE_DONE,   /* --keep may remove it */
};

struct shelf_entry {
	struct shelf_entry *next;
	char *path;
	dev_t dev;
	ino_t ino;
	uint64_t bytes;
	uint64_t closed_ns;
	enum shelf_stage stage;
	unsigned n_tries;
	uint64_t retry_ns;
};

struct shelf_message {
	struct shelf_message *next;
	char *text;
};

/* Everything but options and stop is guarded by the lock. */
struct shelf {
	struct shelf_options options;
	atomic_bool stop; /* set by shelf_free(), read by the thread between its steps */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something became DONE */
	pthread_t thread;
	bool has_thread;
	int wake_fd;
	struct shelf_entry *entries; /* oldest first */
	struct shelf_entry **last;
	struct shelf_message *messages;
	struct shelf_stats stats;
	struct shelf_entry *running; /* whose hook runs */
	pid_t pid;
	int pid_fd;
	int causes[SHELF_MAX_CAUSES]; /* of failed hooks, that were told */
	size_t n_causes;
	bool compress_told;
};

/**
 * shelf_run - the thread: compress, hook, keep, until shelf.stop
 *
 * Context: any thread, but only as the start of the shelf's own.
 */
void *shelf_run(void *shelf);

#endif
