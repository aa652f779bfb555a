/* jit.h - code that a process made itself, named by /tmp/perf-PID.map */
#ifndef SYMBOLIZE_JIT_H
#define SYMBOLIZE_JIT_H

#include "symbolize/loader.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jit;

/* The answer to a lookup. */
struct jit_name {
	const char *symbol; /* NULL: none */
	uint64_t start;
	bool pending;    /* the map may have it once it has been read again */
	uint64_t due_ns; /* when PENDING and not being read: not before then */
};

/**
 * jit_new - for a process; its map is opened when it is first asked for
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
 * jit_find - what the map calls an address
 * @time_ns: when the address was seen: only a map read later can say that it is not in it
 * @wait: the loader works in the caller: read as often as it takes
 *
 * Owns:    the jit; the name is good until the next call.
 * Context: main thread.
 */
struct jit_name jit_find(struct jit *jit, struct loader *loader, uint64_t addr, uint64_t time_ns,
			 bool wait);

/**
 * jit_has_map - was there a map?
 *
 * Context: main thread.
 */
bool jit_has_map(const struct jit *jit);

/**
 * jit_parse_line - read "START SIZE NAME", hexadecimal with or without 0x
 * @line: without its newline
 *
 * Return:  true, and the three.
 * Owns:    RET_NAME points into LINE.
 * Context: any thread.
 */
bool jit_parse_line(const char *line, size_t len, uint64_t *ret_start, uint64_t *ret_size,
		    const char **ret_name);

#endif
