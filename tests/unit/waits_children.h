/* waits_children.h - children that block, each in a call of its own */
#ifndef TESTS_WAITS_CHILDREN_H
#define TESTS_WAITS_CHILDREN_H

#include "base/sample.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What parent and child both see. */
struct waits_shared {
	atomic_int ready; /* nothing but the call is left to do */
	uint32_t futex;
	char object[SAMPLE_OBJECT_SIZE]; /* what the child waits for */
};

struct waits_place {
	struct waits_shared *shared;
	pid_t parent;
	pid_t pid;  /* 0 in the child */
	int fds[4]; /* -1: free, as below */
	int msg;
	int sem;
	char path[64];
};

struct waits_child {
	const char *name;
	const char *word;
	const char *object; /* "": PREPARE or BLOCK know, or there is nothing to know */
	int (*prepare)(struct waits_place *place); /* in the parent; -1 and errno: cannot be had */
	void (*block)(struct waits_place *place);  /* in the child */
};

/**
 * waits_child - the Ith of all
 *
 * Return:  the child; NULL behind the last.
 * Context: any thread.
 */
const struct waits_child *waits_child(size_t i);

/**
 * waits_fd_child - the Ith of those that block on descriptors and paths
 *
 * Return:  the child; NULL behind the last.
 * Context: any thread.
 */
const struct waits_child *waits_fd_child(size_t i);

/**
 * waits_ready - say that nothing but the call is left to do
 *
 * Context: the child.
 */
void waits_ready(struct waits_place *place);

/**
 * waits_expect - say what will be waited for
 *
 * Context: main thread, or the child.
 */
void waits_expect(struct waits_place *place, const char *object);

/**
 * waits_child_start - prepare and fork one of them
 *
 * Return:  0; -1 and errno when this machine does not have what it needs.
 * Owns:    the caller, to waits_child_end().
 * Context: main thread.
 */
int waits_child_start(const struct waits_child *child, struct waits_place *place);

/**
 * waits_child_end - kill it and its children, and remove what was prepared
 *
 * Context: main thread.
 */
void waits_child_end(struct waits_place *place);

#endif
