/* elf_ranges.h - where a module's code stands, by its own addresses */
#ifndef TOOLS_ELF_RANGES_H
#define TOOLS_ELF_RANGES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { ELF_RANGES_MAX = 16 };

struct elf_range {
	uint64_t start; /* ELF virtual addresses, whole pages */
	uint64_t end;
	uint64_t offset; /* of START in the file */
};

/**
 * elf_ranges_read - the executable segments of a file
 *
 * Return:  how many, at most ELF_RANGES_MAX; -errno of open; -ENOEXEC: no 64-bit ELF file.
 * Context: any thread.
 */
int elf_ranges_read(const char *path, struct elf_range *ret_ranges, struct err *err);

#endif
