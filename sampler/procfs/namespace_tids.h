/*
 * namespace_tids.h - the threads of a process in another pid namespace, as they are numbered here
 *
 * Context: collector thread.
 */
#ifndef PROCFS_NAMESPACE_TIDS_H
#define PROCFS_NAMESPACE_TIDS_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct namespace_tids {
	pid_t pid;
	int ns_fd;        /* the namespace, if the kernel translates its thread ids; else -1, */
	struct map outer; /* and this has the ids here by the ids in the namespace */
	uint64_t next_ns; /* when they may be read again */
	uint64_t n_reads;
};

/* One thread of it, by its id here. */
struct namespace_tid {
	uint32_t outer;   /* 0: not known, */
	uint64_t n_reads; /* and they had been read so often when it was first searched */
};

/**
 * namespace_tids_init - the threads of PID, of which none is known
 *
 * Reads nothing yet, and owns nothing before namespace_tids_open().
 */
void namespace_tids_init(struct namespace_tids *tids, pid_t pid);

/**
 * namespace_tids_open - PID is in another namespace: from now on the kernel translates ids
 * (Linux 6.11)
 *
 * Where it cannot, all threads are read when one is not known, but no more than 20 times a second,
 * and in a twentieth of the time.
 *
 * Owns:    the caller, to namespace_tids_release().
 */
void namespace_tids_open(struct namespace_tids *tids);

/**
 * namespace_tids_find - which of the threads calls itself INNER
 *
 * Return:  its tid here; 0 when it is not to be found.
 */
uint32_t namespace_tids_find(struct namespace_tids *tids, uint32_t inner);

/** namespace_tid_begin - a thread has come that calls itself INNER */
void namespace_tid_begin(struct namespace_tid *tid, struct namespace_tids *tids, uint32_t inner);

/**
 * namespace_tid_gone - whether it has ended; its id may be known from now on
 * @inner: as it began
 *
 * Return:  false also while that is unknown.
 */
bool namespace_tid_gone(struct namespace_tid *tid, struct namespace_tids *tids, uint32_t inner);

/** namespace_tids_release - forget them */
void namespace_tids_release(struct namespace_tids *tids);

#endif
