/*
 * memory.h - one budget for the memory that names take
 *
 * It is the process's, as memory is.  What holds much claims it first; a claim that is refused
 * costs names (module+offset instead), never the recording.  One file gets half of it at most, one
 * process's code made at run time a quarter and all of them three, modules before they are read an
 * eighth: one target's files cannot take the names of all others.
 */
#ifndef BOUNDS_MEMORY_H
#define BOUNDS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define MEMORY_DEFAULT_BYTES (UINT64_C(512) << 20)

enum memory_use {
	MEMORY_FILES,   /* tables and sections of files */
	MEMORY_JIT,     /* perf-PID.map and jitdump */
	MEMORY_MODULES, /* what is known of a module before it is read */
	N_MEMORY_USES,
};

/* Zero is no claim on memory for files. */
struct memory_claim {
	enum memory_use use;
	size_t bytes;
};

/**
 * memory_set_limit - how much all claims may come to; 0: MEMORY_DEFAULT_BYTES
 *
 * Context: any thread.
 */
void memory_set_limit(uint64_t bytes);

/**
 * memory_claim - have a claim grow or shrink to BYTES
 *
 * Return:  0; -EFBIG: there is no room, and the claim is what it was.  Never when it shrinks.
 * Owns:    the caller, to shrink it to 0 when the memory is given back.
 * Context: any thread; one at a time for one claim.
 */
int memory_claim(struct memory_claim *claim, size_t bytes);

#endif
