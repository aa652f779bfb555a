/* elf_segments.h - the program headers of a module, in another process's memory or of a file */
#ifndef BASE_ELF_SEGMENTS_H
#define BASE_ELF_SEGMENTS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ELF_SEGMENTS_MOST = 64 };

struct elf_segments {
	Elf64_Phdr at[ELF_SEGMENTS_MOST];
	size_t n;
	uint64_t bias; /* what to add to the module's addresses */
};

/**
 * elf_segments_read - those of the module whose ELF header stands at BASE
 * @read:    copies LEN bytes that stand at an address, whole or not at all
 * @context: is READ's
 *
 * Return:  false: it cannot be read, or is no 64-bit ELF file.
 * Context: any thread.
 */
bool elf_segments_read(struct elf_segments *ret_segments, uint64_t base,
		       bool (*read)(void *context, uint64_t address, void *to, size_t len),
		       void *context);

#endif
