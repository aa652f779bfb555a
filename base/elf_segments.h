/*
 * elf_segments.h - program headers and notes of a module, in another process's memory or of a file:
 * all lengths in them are checked
 *
 * Context: any thread.
 */
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
 */
bool elf_segments_read(struct elf_segments *ret_segments, uint64_t base,
		       bool (*read)(void *context, uint64_t address, void *to, size_t len),
		       void *context);

/* A segment of notes being read; AT begins as 0. */
struct elf_notes {
	const unsigned char *bytes;
	size_t len;
	size_t align; /* of names and what they say: 4, or 8 where the segment says so */
	size_t at;
};

/* Views of the segment. */
struct elf_note {
	uint32_t type;
	const unsigned char *name;
	size_t name_len; /* with its NUL */
	const unsigned char *desc;
	size_t desc_len;
};

/**
 * elf_notes_next - the next note that is within the segment
 *
 * Return:  false at the end, or at one that does not.
 */
bool elf_notes_next(struct elf_notes *notes, struct elf_note *ret_note);

/** elf_note_is - whether a note is OWNER's, of this type */
bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type);

#endif
