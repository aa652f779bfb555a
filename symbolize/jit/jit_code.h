/*
 * jit_code.h - functions that a program made while it ran: what was at an address, and when
 *
 * Memory of code is reused.  So every function has a time: from when it was written until other
 * code was written over part of it.
 */
#ifndef JIT_JIT_CODE_H
#define JIT_JIT_CODE_H

#include "base/buf.h"
#include "base/map.h"
#include "symbolize/bounds/memory.h"

#include <stddef.h>
#include <stdint.h>

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
 * Context: any thread.
 */
const char *jit_code_name(const struct jit_code *code, const struct jit_function *function);

/**
 * jit_code_line - the source line of an address in a function
 *
 * Return:  the line, and its file; 0: not known.
 * Owns:    the code.
 * Context: any thread.
 */
uint32_t jit_code_line(const struct jit_code *code, const struct jit_function *function,
		       uint64_t addr, const char **ret_file);

/**
 * jit_code_release - free the memory; the code is empty and usable again
 *
 * Context: any thread.  One owner at a time.
 */
void jit_code_release(struct jit_code *code);

#endif
