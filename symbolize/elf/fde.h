/*
 * fde.h - where functions begin and end, from .eh_frame: bounds for code that has no symbol
 *
 * Unwinding needs every function's bounds, so they outlive strip.  An address in code without a
 * name is shown as the start of its function, so that samples of one function stay together, and
 * a symbol without a size never reaches into the next function.
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef ELF_FDE_H
#define ELF_FDE_H

#include "symbolize/bounds/memory_limit.h"

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

enum { FDE_MAX = 4 * 1024 * 1024 };

#define FDE_NONE UINT64_MAX

struct fde {
	uint64_t start;
	uint64_t end; /* one past the last address */
};

/* Zero is an empty table.  Once read it does not change: any thread may read it. */
struct fde_table {
	struct fde *fdes; /* by start */
	size_t n_fdes;
	struct memory_claim claim;
};

/**
 * fde_table_read - the bounds of an ELF file's .eh_frame
 *
 * What cannot be read is left out.
 *
 * Return:  0, also when there is none; -ENOMEM.
 * Owns:    the caller; fde_table_release().
 * Context: any thread, one at a time for one ELF.
 */
int fde_table_read(Elf *elf, struct fde_table *ret_table);

/**
 * fde_start - where the function around an address begins
 *
 * Return:  its ELF virtual address; FDE_NONE.
 */
uint64_t fde_start(const struct fde_table *table, uint64_t vaddr);

/**
 * fde_end - where the function around an address ends
 *
 * Return:  one past its last address; 0: not known.
 */
uint64_t fde_end(const struct fde_table *table, uint64_t vaddr);

/**
 * fde_limit - how far code that begins at an address can reach without being another function's
 *
 * Return:  where the function around it ends; without one, where the next one begins; 0: not
 *          known.
 */
uint64_t fde_limit(const struct fde_table *table, uint64_t vaddr);

/** fde_table_release - give back the memory; the table is empty and usable again */
void fde_table_release(struct fde_table *table);

#endif
