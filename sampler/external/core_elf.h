/* core_elf.h - the headers of an ELF file, from the file or from a process's memory */
#ifndef EXTERNAL_CORE_ELF_H
#define EXTERNAL_CORE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CORE_BUILD_ID_MAX = 32 };

/* Where the bytes come from: AT is an offset in the file, or of memory one from its base. */
struct core_elf_source {
	bool (*read)(void *context, uint64_t at, void *to, size_t len);
	void *context;
	bool in_memory; /* segments lie where they were loaded */
};

struct core_elf {
	uint64_t first;        /* p_vaddr of the segment with the headers, down to its page */
	uint64_t end;          /* vaddr behind the last segment */
	uint64_t eh_frame_hdr; /* vaddr; 0: none */
	uint8_t build_id[CORE_BUILD_ID_MAX];
	size_t n_build_id; /* 0: none, or it could not be read */
};

/**
 * core_elf_read - take in the program headers and the build-id
 *
 * Return:  false: it is no 64-bit ELF file, or cannot be read, or makes no sense.
 * Context: any thread.
 */
bool core_elf_read(const struct core_elf_source *source, struct core_elf *ret_elf);

#endif
