/*
 * wall_thread.h - one thread as wall mode sees it, running or blocked
 *
 * Context: collector thread.
 */
#ifndef PROCESS_WALL_THREAD_H
#define PROCESS_WALL_THREAD_H

#include "sampler/collector/event/event.h"
#include "sampler/collector/process/wall_account.h"
#include "sampler/remote/blocked.h"

enum {
	WALL_CLOCK_MS = 10, /* how coarsely the kernel gives the start of a thread */
};

struct process;

/* A stack that may be used again. */
struct wall_stack {
	uint64_t *pcs;
	struct labels *labels; /* NULL: none */
	int64_t bytes;         /* the outermost CFA minus sp; 0: not known */
	uint16_t n;
	uint8_t stop;
};

/* What the threads of one process share during a scan. */
struct wall_scan {
	struct process *process;
	struct event_order *sink;
	struct remote *remote;
	int tasks_fd;        /* /proc/PID/task */
	int most_fd;         /* descriptors from there on are not kept */
	uint32_t *n_kept_at; /* syscall_fds that are open */
	uint64_t now_ns;
	uint64_t tick;
};

struct wall_thread {
	/* What a scan reads of a thread that has not run comes first, for the cache. */
	struct wall_thread *next;  /* among those that are due at one tick */
	struct wall_thread **link; /* what points to it; NULL: it is not due */
	uint32_t tid;
	int schedstat_fd; /* -1: opened for every scan */
	int syscall_fd;   /* kept while it runs again and again, of a few threads; -1: not now */
	bool ended;       /* only its tid is kept: late samples are no others' */
	bool runs;        /* at the last scan, or waited for a CPU */
	bool unsure;      /* its state was not read: it is in the same call as before */
	uint64_t changed_tick;   /* when it was last seen to have run */
	enum sample_state state; /* what it is blocked in */
	uint32_t n_cpu_samples;
	struct event *cpu_samples; /* CPU samples whose stacks are not used yet, oldest first */
	struct wall_account account;
	/* The rest. */
	uint32_t listed; /* the list that had it last */
	uint32_t cpu;
	uint64_t comm_ns; /* when its name is read again */
	uint64_t object_ns;
	uint64_t ended_ns;
	uint64_t thread_pointer; /* 0: not known */
	uint32_t n_sought;       /* how often it was searched */
	struct blocked_at at;
	char letter; /* of its stat file */
	const char *wait;
	char object[SAMPLE_OBJECT_SIZE];
	struct wall_stack blocked;
	struct wall_stack ran;
};

/**
 * wall_thread_new - begin with a thread
 * @since_ns: what it does from there on is accounted for; 0: from now on
 *
 * Return:  0; -ESRCH: it is gone; -ENOMEM; -errno.
 * Owns:    the caller; wall_thread_free().
 */
int wall_thread_new(struct wall_thread **ret_thread, const struct wall_scan *scan, uint32_t tid,
		    uint64_t since_ns);

/** wall_thread_free - forget it; NULL is fine */
void wall_thread_free(struct wall_thread *thread);

/**
 * wall_thread_add_sample - add a CPU sample, whose stack the next running period will use
 *
 * Owns:    the thread has the node.
 */
void wall_thread_add_sample(struct wall_thread *thread, struct event *node);

/**
 * wall_thread_update - read what it has done and make the samples of it
 *
 * One pread when it has not run since the last scan.
 *
 * Return:  0; -ESRCH: it is gone, wall_thread_end() it.
 */
int wall_thread_update(struct wall_thread *thread, const struct wall_scan *scan);

/** wall_thread_end - make its last samples, and release all but its tid */
void wall_thread_end(struct wall_thread *thread, const struct wall_scan *scan,
		     int64_t *residual_ns);

#endif
