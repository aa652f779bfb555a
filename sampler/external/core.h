/*
 * core.h - the threads, memory and files of a process that has dumped core
 *
 * A core file may come from anywhere: every length, offset and count in it is checked before it
 * is used, and a file that lies gets wrong stacks of itself, no more.
 */
#ifndef EXTERNAL_CORE_H
#define EXTERNAL_CORE_H

#include "base/err.h"
#include "sampler/external/stacks.h"

#include <stddef.h>

struct core;

/* A file that the process had mapped. */
struct core_module {
	const char *path; /* where it is looked for: what --exe names, or as it was mapped */
	const char
		*build_id; /* hexadecimal, of the process's memory or else the file; "" not known */
	const char *why;   /* the file is not used: the reason; "" it is, or was not needed */
};

/**
 * core_open - take in the headers and notes of a core file
 * @exe: the program's file, where it is no longer at its path; NULL: it is
 *
 * Return:  0; -EINVAL: it is no core file, or not of a program that we can read; -errno; the reason
 *          in ERR.
 * Owns:    the caller; core_free().
 * Context: main thread, as for all of these.
 */
int core_open(const char *path, const char *exe, struct core **ret_core, struct err *err);

/**
 * core_stacks - the stack of every thread, in the order of the file: who crashed comes first
 *
 * Frames have module (a core_module's path, by pointer) and module_offset where they are known.
 *
 * Return:  0; -errno and the reason.
 * Owns:    the caller; stacks_release().  What frames point to is the core's.
 * Context: main thread.
 */
int core_stacks(struct core *core, struct stacks *ret_stacks, struct err *err);

/**
 * core_modules - the files that frames of core_stacks() are in
 *
 * Return:  how many.
 * Owns:    the core.
 * Context: main thread.
 */
size_t core_modules(const struct core *core, const struct core_module **ret_modules);

/**
 * core_pid - whose core it is
 *
 * Return:  its pid; 0 when the file does not say.
 * Context: main thread.
 */
pid_t core_pid(const struct core *core);

/**
 * core_free - close it; NULL is fine
 *
 * Context: main thread.
 */
void core_free(struct core *core);

#endif
