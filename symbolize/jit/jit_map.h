/* jit_map.h - following a perf-PID.map: lines "START SIZE NAME" of code that a process made */
#ifndef JIT_JIT_MAP_H
#define JIT_JIT_MAP_H

#include "symbolize/elf/symbol_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JIT_MAP_SEAM = 64, JIT_MAP_MAX_BYTES = 256 * 1024 * 1024 };

/* Zero, with an open descriptor. */
struct jit_map {
	int fd;
	uint64_t at;               /* bytes of it that were taken in, whole lines */
	uint64_t seen;             /* its size when it was last read */
	uint32_t n_lines;          /* a later line wins */
	bool full;                 /* no memory may be taken for more lines */
	bool tail;                 /* a last line without a newline was left for later */
	char seam[JIT_MAP_SEAM];   /* the last bytes before AT, to know the file by */
	char first[JIT_MAP_SEAM];  /* and the first ones */
	struct symbol_table lines; /* never finished: copied first */
};

/**
 * jit_map_read - take in what was appended; a file that was written anew is read anew
 *
 * A last line without a newline counts once the file has stopped growing.  What is appended during
 * the call is left for the next one, and so is the rest when the loader is to stop.
 *
 * Return:  true: something is new.
 * Context: any thread.  One at a time for one map.
 */
bool jit_map_read(struct jit_map *map);

/**
 * jit_map_add - take in lines
 * @whole: the last one also when it has no newline
 *
 * Return:  how many bytes were taken.
 * Context: any thread.  One at a time for one map.
 */
size_t jit_map_add(struct jit_map *map, const char *text, size_t len, bool whole);

/**
 * jit_map_release - forget the lines; the descriptor stays the caller's
 *
 * Context: any thread.
 */
void jit_map_release(struct jit_map *map);

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
