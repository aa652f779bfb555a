/*
 * internal.h - what the files of this folder share; other folders include jit.h only
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef JIT_INTERNAL_H
#define JIT_INTERNAL_H

#include "base/buf.h"
#include "base/map.h"
#include "symbolize/bounds/memory_limit.h"
#include "symbolize/elf/symbol_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * ---- jit_code: functions that a program made while it ran: what was at an address, and when
 *
 * Memory of code is reused.  So every function has a time: from when it was written until other
 * code was written over part of it.
 */

enum {
	JIT_MAX_FUNCTIONS = 1024 * 1024,
	JIT_MAX_LINES = 4 * 1024 * 1024,
	JIT_MAX_NAME_BYTES = 256 * 1024 * 1024,
	JIT_MAX_CODE_BYTES = 1024 * 1024, /* of one function */
};

#define JIT_FOREVER UINT64_MAX

struct jit_function {
	uint64_t start;
	uint64_t end;
	uint64_t from_ns;
	uint64_t until_ns;
	uint64_t max_end; /* the largest end up to and including this one; once finished */
	uint32_t name;    /* where in the names */
	uint32_t first_line;
	uint32_t n_lines;
};

/* The line of the code from OFFSET on, in bytes from the start of the function. */
struct jit_line {
	uint32_t offset;
	uint32_t file; /* where in the names */
	uint32_t line;
};

/* Zero is empty. */
struct jit_code {
	struct jit_function *functions;
	size_t n_functions;
	size_t n_room;
	struct jit_line *lines;
	size_t n_lines;
	size_t n_lines_room;
	struct buf names;
	struct map pages; /* the functions of each page now; while functions are added */
	struct jit_page_node *nodes;
	size_t n_nodes;
	size_t n_nodes_room;
	struct memory_claim claim; /* for all of it */
};

/**
 * jit_code_add - code was written; functions that it overwrites end
 * @function: its lines are the last n_lines that were added
 *
 * Return:  0, also for an invalid function, which is not added; -EFBIG; -ENOMEM.
 * Owns:    the code copies the name.
 * Context: any thread.  One owner at a time.
 */
int jit_code_add(struct jit_code *code, const struct jit_function *function, const char *name,
		 size_t name_len);

/**
 * jit_code_add_line - a line of the function that is added next
 * @file: NULL: that of the line before
 *
 * Return:  0; -EFBIG; -ENOMEM.
 * Context: any thread.  One owner at a time.
 */
int jit_code_add_line(struct jit_code *code, uint32_t offset, const char *file, size_t file_len,
		      uint32_t line);

/**
 * jit_code_move - the function that begins at FROM moves to TO at TIME_NS
 *
 * Return:  0; -ENOENT: there is none; -EFBIG; -ENOMEM.
 * Context: any thread.  One owner at a time.
 */
int jit_code_move(struct jit_code *code, uint64_t from, uint64_t to, uint64_t time_ns);

/**
 * jit_code_copy - a finished copy, which is sorted and only read
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; jit_code_release().
 * Context: any thread.  One owner at a time.
 */
int jit_code_copy(const struct jit_code *code, struct jit_code *ret_copy);

/**
 * jit_code_find - what was at ADDR at TIME_NS
 *
 * Return:  NULL: no known function.
 * Owns:    the code.
 * Context: any thread.  The code is a finished copy.
 */
const struct jit_function *jit_code_find(const struct jit_code *code, uint64_t addr,
					 uint64_t time_ns);

/**
 * jit_code_name - a function's name
 *
 * Owns:    the code.
 */
const char *jit_code_name(const struct jit_code *code, const struct jit_function *function);

/**
 * jit_code_line - the source line of an address in a function
 *
 * Return:  the line, and its file; 0: not known.
 * Owns:    the code.
 */
uint32_t jit_code_line(const struct jit_code *code, const struct jit_function *function,
		       uint64_t addr, const char **ret_file);

/**
 * jit_code_release - free the memory; the code is empty and usable again
 *
 * Context: any thread.  One owner at a time.
 */
void jit_code_release(struct jit_code *code);

/*
 * ---- jit_dump: reading the records of a jitdump file as it grows
 *
 * The format is that of "JITDUMP specification version 2" in the kernel's tools/perf
 * documentation: a header, then records of a type, a size and a time.
 */

enum {
	JIT_DUMP_MAX_PENDING = 16,
	JIT_DUMP_MAX_BYTES = 4 * 1024 * 1024, /* with so many at once every record is whole */
};

/* A record of lines, which comes before the record of its code. */
struct jit_dump_lines {
	uint64_t addr;
	uint8_t *record; /* owned; NULL: free */
	size_t len;
};

/* Zero it, then set the first four. */
struct jit_dump {
	uint32_t pid;        /* of the writer, in the innermost namespace; 0: any */
	uint32_t outer_pid;  /* in our namespace */
	uint64_t started_ns; /* its start: earlier records of its parent count too */
	bool other_clock;    /* times cannot be compared with ours */

	struct jit_code code;
	uint64_t at;  /* bytes read */
	bool started; /* the header was read */
	bool full;    /* memory ran out at least once */
	bool ended;   /* by CLOSE, or by a record that is not valid */
	struct jit_dump_lines pending[JIT_DUMP_MAX_PENDING];
	size_t next_pending;
};

/**
 * jit_dump_read - read whole records
 * @bytes: of the file, from dump->at on
 * @now_ns: CLOCK_MONOTONIC: records of a later time use another clock
 *
 * When memory for the code runs out, all earlier code is dropped.  Bytes of code are skipped and
 * need not be in BYTES.
 *
 * Return:  0: dump->at has moved, possibly beyond BYTES; -EAGAIN: the first record is not complete;
 *          -EBADMSG: not a jitdump, or not one any more; -ENOMEM.
 * Context: any thread.  One owner at a time.
 */
int jit_dump_read(struct jit_dump *dump, const uint8_t *bytes, size_t len, uint64_t now_ns);

/** jit_dump_release - free the memory */
void jit_dump_release(struct jit_dump *dump);

/* ---- jit_map: following a perf-PID.map: lines "START SIZE NAME" of code that a process made */

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

/** jit_map_release - forget the lines; the descriptor stays the caller's */
void jit_map_release(struct jit_map *map);

/**
 * jit_parse_line - read "START SIZE NAME", hexadecimal with or without 0x
 * @line: without its newline
 *
 * Return:  true, and the three.
 * Owns:    RET_NAME points into LINE.
 */
bool jit_parse_line(const char *line, size_t len, uint64_t *ret_start, uint64_t *ret_size,
		    const char **ret_name);

/* ---- jit_place: the files in which a process names the code that it makes */

/* The identity of a process, read while it exists. */
struct jit_place {
	pid_t pid;
	pid_t namespace_pid; /* in the innermost pid namespace */
	uid_t uid;
	uint64_t started_ns;      /* CLOCK_REALTIME; 0: not known */
	uint64_t started_mono_ns; /* CLOCK_MONOTONIC; 0: not known */
	bool other_time;          /* it is in another time namespace */
};

/** jit_place_init - read the identity of a process */
void jit_place_init(struct jit_place *place, pid_t pid);

/**
 * jit_place_map - open its perf-PID.map: in its own /tmp by its own pid, else in ours
 *
 * Every user can create files in /tmp: the owner has to be the process's or root, and the file must
 * not be older than the process.
 *
 * Return:  a descriptor; -ENOENT.
 * Owns:    the caller, to close().
 */
int jit_place_map(const struct jit_place *place);

/**
 * jit_place_dump - open the jit-*.dump that it has mapped executable
 *
 * Writers announce the file by that mapping.
 *
 * Return:  a descriptor, and its path as the process sees it; -ENOENT.
 * Owns:    the caller, to close() and free().
 */
int jit_place_dump(const struct jit_place *place, char **ret_path);

#endif
