/*
 * jit.h - code that a process made at run time, named by its perf-PID.map or its jitdump
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef JIT_JIT_H
#define JIT_JIT_H

#include "symbolize/bounds/loader.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jit;

/* How soon files that have grown are read again. */
enum jit_reread {
	JIT_REREAD_LATER, /* after a pause that depends on how long reading took */
	JIT_REREAD_SOON,  /* after a short pause: the recording has ended */
	JIT_REREAD_NOW,   /* at once, and until it is complete: the loader has no threads */
};

/* The result of a lookup. */
struct jit_name {
	const char *symbol; /* NULL: none */
	uint64_t start;
	const char *file; /* source file, where a jitdump has lines; NULL: not known */
	uint32_t line;    /* 0: not known */
	const char *from; /* the jitdump with the name; NULL: the map */
	bool pending;    /* the files may name it, or name it otherwise, once they are read again */
	uint64_t due_ns; /* when PENDING and not being read: the earliest time of that */
};

/**
 * jit_new - names of a process; jit_find() opens its files
 *
 * Stores the owner, start time and namespace pid of the process while it exists.
 *
 * Return:  NULL when memory ran out.
 * Owns:    the caller, to jit_free().
 */
struct jit *jit_new(pid_t pid);

/**
 * jit_free - close the files and free everything; NULL is fine
 *
 * Context: main thread.  The loader has ended.
 */
void jit_free(struct jit *jit);

/**
 * jit_find - what was at an address at a time
 * @time_ns: when the address was sampled.  Only files that were read after that time can tell that
 *           they do not name it, and jitdumps also that no other code was there before
 *
 * A jitdump is preferred to a map, because it has times.  Of a map the last line counts.
 *
 * Owns:    the jit; the strings are valid until the next call.
 */
struct jit_name jit_find(struct jit *jit, struct loader *loader, uint64_t addr, uint64_t time_ns,
			 enum jit_reread reread);

/** jit_has_map - was a map or a jitdump found? */
bool jit_has_map(const struct jit *jit);

/** jit_is_partial - was part of a file not read? The limits are 256 MB and the memory for names */
bool jit_is_partial(const struct jit *jit);

#endif
