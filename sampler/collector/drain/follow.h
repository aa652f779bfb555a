/*
 * follow.h - children of processes that have joined, which have no agent: they join, too
 *
 * By fork alone a child has the agent already.  One that has executed a program since, or was made
 * by vfork, posix_spawn, system or popen, is found in the kernel's lists.  A child that still runs
 * its parent's image is left alone: after a vfork it has its parent's memory.
 */
#ifndef DRAIN_FOLLOW_H
#define DRAIN_FOLLOW_H

#include "base/map.h"

#include <stdint.h>
#include <sys/types.h>

enum {
	FOLLOW_MS = 50, /* between two looks for children of attached processes */
};

struct collector;

/* The main thread's.  Zero is the beginning. */
struct follow {
	struct map children; /* of struct follow_child, by pid: not recorded when last looked at */
	uint64_t look;       /* counts looks */
	uint64_t next_ns;    /* when the next one is due */
};

/* What a look does with a child. */
struct follow_hands {
	int (*join)(void *context, pid_t pid); /* 0; -errno, as collector_attach() */
	void *context;
};

/**
 * follow_look - when it is due, have children join that ran the same image at the look before
 *
 * Who does not join for what passes (-EAGAIN, -EBUSY) is asked again later, others once an image.
 *
 * Context: main thread.
 */
void follow_look(struct follow *follow, struct collector *collector,
		 const struct follow_hands *hands, uint64_t now_ns);

/**
 * follow_release - forget all children
 *
 * Context: main thread.
 */
void follow_release(struct follow *follow);

#endif
