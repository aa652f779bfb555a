/* jit.h - code that a process made itself, named by its perf-PID.map or its jitdump */
#ifndef JIT_JIT_H
#define JIT_JIT_H

#include "symbolize/bounds/loader.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jit;

/* How soon files that have grown are read again. */
enum jit_haste {
	JIT_REST,  /* after a rest, by how long it took */
	JIT_HURRY, /* after a short one: the recording has ended */
	JIT_WAIT,  /* now, as often as it takes: the loader works in the caller */
};

/* The answer to a lookup. */
struct jit_name {
	const char *symbol; /* NULL: none */
	uint64_t start;
	const char *file; /* source file, where a jitdump has lines; NULL: not known */
	uint32_t line;    /* 0: not known */
	const char *from; /* the jitdump that has it; NULL: the map */
	bool pending;     /* it may have it, or another, once it has been read again */
	uint64_t due_ns;  /* when PENDING and not being read: not before then */
};

/**
 * jit_new - for a process; its files are opened when it is first asked for
 *
 * Notes who it is while it lives: owner, start, pid in its own namespace.
 *
 * Return:  NULL when memory ran out.
 * Owns:    the caller, to jit_free().
 * Context: main thread.
 */
struct jit *jit_new(pid_t pid);

/**
 * jit_free - close and forget; NULL is fine
 *
 * Context: main thread.  The loader has ended.
 */
void jit_free(struct jit *jit);

/**
 * jit_find - what was at an address at a time
 * @time_ns: when the address was seen: only what was read later can say that it is not in it,
 *           and, in a jitdump, that nothing else was written there before
 *
 * A jitdump comes before a map: it tells when.  Of a map the last line counts.
 *
 * Owns:    the jit; the strings are good until the next call.
 * Context: main thread.
 */
struct jit_name jit_find(struct jit *jit, struct loader *loader, uint64_t addr, uint64_t time_ns,
			 enum jit_haste haste);

/**
 * jit_has_map - was there a map, or a jitdump?
 *
 * Context: main thread.
 */
bool jit_has_map(const struct jit *jit);

/**
 * jit_is_cut - was there more in them than is read: 256 MB, and what memory for names allows
 *
 * Context: main thread.
 */
bool jit_is_cut(const struct jit *jit);

#endif
