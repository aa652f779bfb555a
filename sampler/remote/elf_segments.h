/* elf_segments.h - where the executable segments of a file would be mapped */
#ifndef REMOTE_ELF_SEGMENTS_H
#define REMOTE_ELF_SEGMENTS_H

#include <stdint.h>

struct elf_segment {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint64_t dev;
	uint64_t inode;
	const char *path;
};

/**
 * elf_segments - call VISIT for each executable PT_LOAD of a 64-bit ELF file
 * @bias: what is added to its virtual addresses
 *
 * A path that is no regular ELF file has none.  Reads two small pieces of the file.
 *
 * Owns:    the segment's path is PATH.
 * Context: collector thread.
 */
void elf_segments(const char *path, uint64_t bias,
		  void (*visit)(void *context, const struct elf_segment *segment), void *context);

#endif
