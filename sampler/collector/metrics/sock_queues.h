/*
 * sock_queues.h - the bytes that wait in a process's sockets
 *
 * Links of /proc/PID/fd are read, never followed; no descriptor of the process is opened or
 * duplicated, since the program could notice (docs/decisions/0030).
 */
#ifndef METRICS_SOCK_QUEUES_H
#define METRICS_SOCK_QUEUES_H

#include "sampler/collector/metrics/sock_table.h"

#include <sys/types.h>

struct sock_queues;

/**
 * sock_queues_new - begin with a process
 * @table: counts this process as a user until sock_queues_free()
 *
 * Return:  0; -EACCES, -ENOENT: its descriptors cannot be listed; -ENOMEM.
 * Owns:    the caller, to sock_queues_free(); the table has to outlive it.
 * Context: collector thread.
 */
int sock_queues_new(struct sock_queues **ret_queues, struct sock_table *table, pid_t pid);

/**
 * sock_queues_free - forget it; NULL is fine
 *
 * Context: collector thread.
 */
void sock_queues_free(struct sock_queues *queues);

/**
 * sock_queues_read - what waits in all of its sockets, each counted once
 *
 * Descriptors are listed in steps, so that a process with many costs no more: see SOCK_PART.
 *
 * Return:  the sums; zeros until all descriptors have been listed once.
 * Context: collector thread.
 */
struct sock_bytes sock_queues_read(struct sock_queues *queues, uint64_t now_ns);

#endif
