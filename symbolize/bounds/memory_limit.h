/*
 * memory_limit.h - one budget for the memory that names take
 *
 * The budget is one for the whole process.  Large allocations claim their bytes first.  A refused
 * claim costs names (module+offset instead), never the recording.  One file gets at most half of
 * the budget, code made at run time a quarter for each process and three quarters in all, modules
 * before they are read an eighth.  So one target cannot use up the memory for the names of the
 * others.
 */
#ifndef BOUNDS_MEMORY_LIMIT_H
#define BOUNDS_MEMORY_LIMIT_H

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
 * memory_set_limit - set the limit for the sum of all claims; 0: MEMORY_DEFAULT_BYTES
 *
 * Context: any thread.
 */
void memory_set_limit(uint64_t bytes);

/**
 * memory_claim - grow or shrink a claim to BYTES
 *
 * Return:  0, always when it shrinks; -EFBIG: the limit is reached, and the claim is unchanged.
 * Owns:    the caller, to shrink it to 0 when the memory is freed.
 * Context: any thread; one at a time for one claim.
 */
int memory_claim(struct memory_claim *claim, size_t bytes);

#endif
