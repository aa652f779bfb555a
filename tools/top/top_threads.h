/* top_threads.h - threads of processes as /proc has them: names, states, CPU */
#ifndef TOP_TOP_THREADS_H
#define TOP_TOP_THREADS_H

#include "base/map.h"
#include "tools/top/top_view.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	TOP_THREADS_READ = 4096, /* a reading; more are not shown */
	TOP_PROCESSES_READ = 256,
};

/* Zero it; top_threads_release() takes any state. */
struct top_threads {
	pid_t pids[TOP_PROCESSES_READ];
	size_t n_pids;
	struct top_thread *at; /* of the last reading */
	size_t n;
	struct map before; /* tid -> CPU at the reading before, in a struct of this file */
	uint64_t read_ns;
	uint64_t readings;
};

/**
 * top_threads_watch - from now on this process's threads are read too
 *
 * Context: main thread, as for all of these.
 */
void top_threads_watch(struct top_threads *threads, pid_t pid);

/**
 * top_threads_read - read all threads of all processes that are watched and still live
 *
 * Return:  how many; a thread that is read for the first time has used 0 % of late.
 * Owns:    threads->at holds until the next call.
 * Context: main thread.
 */
size_t top_threads_read(struct top_threads *threads, uint64_t now_ns);

/**
 * top_threads_parse - what a line of /proc/PID/task/TID/stat says
 * @ret_thread: tid, comm, state and cpu_ns are set
 *
 * Return:  0; -EINVAL: it is no such line.
 * Context: any thread.
 */
int top_threads_parse(const char *stat, struct top_thread *ret_thread);

/**
 * top_threads_release - forget everything
 *
 * Context: main thread.
 */
void top_threads_release(struct top_threads *threads);

#endif
