/*
 * engine_internal.h - what the files of the engine share
 *
 * Context: collector thread.
 */
#ifndef EXTERNAL_ENGINE_INTERNAL_H
#define EXTERNAL_ENGINE_INTERNAL_H

#include "sampler/collector/process/external_sampler.h"
#include "sampler/procfs/task.h"
#include "sampler/remote/remote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Time in which a thread neither ran nor waited for a processor, since a moment in a stop.  If
 * only our stops have switched it off of its own accord, that is what they took: with the time that
 * processors need to wake up, which is in no stop.
 */
struct engine_rest {
	uint64_t since_ns;
	struct schedstat then;
	uint64_t switches;
	uint64_t stops;      /* since */
	uint64_t held_ns;    /* in them: not yet counted */
	int64_t residual_ns; /* below 0: counted too much before */
};

/* The last stack of a thread: it also stands for what the thread used between stops. */
struct engine_last {
	uint8_t stop;
	uint16_t n_pcs;
	int64_t stack_bytes;
	uint64_t pcs[SAMPLE_MAX_FRAMES];
};

struct engine_thread {
	uint32_t tid;
	uint32_t listed; /* the list that had it last */
	uint32_t cpu;    /* where it was seen last */
	int schedstat_fd;
	int syscall_fd;
	struct schedstat seen;
	uint64_t residual_ns; /* CPU that no sample has stood for */
	uint64_t calls_ns;    /* that samples at the end of a system call have stood for, */
	uint64_t start_ns;    /* beside what calls had used when it was seen first */
	uint64_t comm_ns;     /* when its name is read again */
	struct engine_rest rest;
	struct engine_last *last; /* NULL: it was not found yet */
	bool ran;                 /* at the last turn */
	bool unsure;              /* it was found in a place that says little */
};

struct engine {
	struct external_process external; /* first: it is what the collector holds */
	struct remote *remote;
	int tasks_fd;
	struct engine_thread *threads;
	size_t n_threads;
	size_t size;
	size_t next; /* the thread that is first in the next turn */
	uint32_t list;
	uint64_t listed_ns;
	uint64_t base_ns;     /* CPU of the process before it was sampled, and in pauses */
	uint64_t residual_ns; /* by all threads together */
	uint64_t turned_ns;   /* when the last turn was */
	uint64_t pcs[SAMPLE_MAX_FRAMES]; /* of the stack that is read */
};

/** engine_calls_ns - CPU that a thread has used in system calls, to the tick */
uint64_t engine_calls_ns(const struct task_stat *stat);

/**
 * engine_settle - a sample of what a thread has used since its last, when it is sampled no more
 * @more_ns: and what no stop has seen
 *
 * Without a stack, where it was never found running.
 */
void engine_settle(struct engine *engine, const struct external_turn *turn,
		   struct engine_thread *thread, uint64_t more_ns);

/** engine_list - bring the list of threads up to date, if it is time */
void engine_list(struct engine *engine, const struct external_turn *turn);

/** engine_forget - close what is open of all threads */
void engine_forget(struct engine *engine);

#endif
