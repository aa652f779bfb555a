/* jit_place.h - the files in which a process names the code that it makes */
#ifndef JIT_JIT_PLACE_H
#define JIT_JIT_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The identity of a process, read while it exists. */
struct jit_place {
	pid_t pid;
	pid_t inner_pid; /* in the innermost pid namespace */
	uid_t uid;
	uint64_t started_ns;      /* CLOCK_REALTIME; 0: not known */
	uint64_t started_mono_ns; /* CLOCK_MONOTONIC; 0: not known */
	bool other_time;          /* it is in another time namespace */
};

/**
 * jit_place_init - read the identity of a process
 *
 * Context: any thread.
 */
void jit_place_init(struct jit_place *place, pid_t pid);

/**
 * jit_place_map - open its perf-PID.map: in its own /tmp by its own pid, else in ours
 *
 * Every user can create files in /tmp: the owner has to be the process's or root, and the file must
 * not be older than the process.
 *
 * Return:  a descriptor; -ENOENT.
 * Owns:    the caller, to close().
 * Context: any thread.
 */
int jit_place_map(const struct jit_place *place);

/**
 * jit_place_dump - open the jit-*.dump that it has mapped executable
 *
 * Writers announce the file by that mapping.
 *
 * Return:  a descriptor, and its path as the process sees it; -ENOENT.
 * Owns:    the caller, to close() and free().
 * Context: any thread.
 */
int jit_place_dump(const struct jit_place *place, char **ret_path);

#endif
