/*
 * remote_modules.h - what is mapped in another process, and the unwind tables of its files
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef REMOTE_REMOTE_MODULES_H
#define REMOTE_REMOTE_MODULES_H

#include "sampler/unwind/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An .eh_frame_hdr of our own, as if it lay at an address where nothing is.  Zero is none. */
struct eh_table {
	uint64_t at;
	unsigned char *bytes;
	size_t n;
};

/**
 * eh_table_make - from the file that a process runs
 * @headers: the first 64 bytes of the module in memory: of the same file, or nothing is made
 * @bias:    from its addresses to those in memory
 * @end:     of the module in memory
 *
 * Return:  0; -ENOEXEC: it is another file, or has no .eh_frame that can be read; -ENOMEM; -errno.
 * Owns:    the caller; eh_table_release().
 */
int eh_table_make(pid_t pid, const void *headers, uint64_t bias, uint64_t end,
		  struct eh_table *ret_table);

/**
 * eh_table_from - the same from the bytes of an .eh_frame
 * @vaddr: where it lies in memory
 *
 * Return:  0; -ENOEXEC; -ENOMEM.
 * Owns:    the caller; eh_table_release().
 * Context: any thread.
 */
int eh_table_from(const unsigned char *bytes, size_t n, uint64_t vaddr, uint64_t end,
		  struct eh_table *ret_table);

/**
 * eh_table_release - give the memory back
 *
 * Context: any thread.
 */
void eh_table_release(struct eh_table *table);

/* A line of its maps file. */
struct remote_range {
	uint64_t start;
	uint64_t end;
	uint32_t image; /* index; REMOTE_NO_IMAGE: no file's */
	bool writable;
	bool executable;
};

#define REMOTE_NO_IMAGE UINT32_MAX

/* A file that is mapped from its first byte on, or the vdso; its headers are read when needed. */
struct remote_image {
	uint64_t base;
	bool examined;
	bool good; /* it is a module */
	struct unwind_module module;
	struct eh_table table; /* what its own file lacks */
};

/* Ranges are sorted and do not overlap.  Zero is an empty one. */
struct remote_modules {
	pid_t pid;
	struct remote_range *ranges;
	size_t n_ranges;
	size_t size;
	struct remote_image *images;
	size_t n_images;
	size_t images_size;
	uint64_t signature; /* of the ranges that are images' or code */
	uint64_t read_ns;   /* when they were last read; 0: never */
	uint64_t cost_ns;   /* what that took */
};

/**
 * remote_modules_read - read the maps file
 * @ret_changed: whether images or code have changed: what was read of them no longer counts
 *
 * Return:  0; -ENOMEM; -errno of the file: what was known stays.
 */
int remote_modules_read(struct remote_modules *modules, pid_t pid, bool *ret_changed);

/**
 * remote_modules_range - the range that covers an address
 *
 * Return:  NULL when none does.
 * Owns:    the modules; good until they are read again.
 */
const struct remote_range *remote_modules_range(const struct remote_modules *modules,
						uint64_t address);

/**
 * remote_modules_stack_end - the end of the memory that a stack with this sp can reach to
 *
 * The stack of a process may have grown since the maps file was read.
 *
 * Return:  the end of the first range above SP that is written to; SP when it is a file's.
 */
uint64_t remote_modules_stack_end(const struct remote_modules *modules, uint64_t sp);

/**
 * remote_modules_find - the module of a range that can be executed
 * @reader: reads the headers of its file, the first time
 *
 * Return:  false when the range is no module's code.
 */
bool remote_modules_find(struct remote_modules *modules, struct unwind_reader *reader,
			 const struct remote_range *range, struct unwind_module *ret_module);

/**
 * remote_modules_table - bytes of a table that stands for one that a file lacks
 *
 * Return:  false when there is none at ADDRESS.
 */
bool remote_modules_table(const struct remote_modules *modules, uint64_t address, void *to,
			  size_t len);

/** remote_modules_release - forget all */
void remote_modules_release(struct remote_modules *modules);

#endif
