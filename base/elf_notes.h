/* elf_notes.h - the notes of an ELF file, in memory: all lengths in them are checked */
#ifndef BASE_ELF_NOTES_H
#define BASE_ELF_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * Context: any thread.
 */
bool elf_notes_next(struct elf_notes *notes, struct elf_note *ret_note);

/**
 * elf_note_is - whether a note is OWNER's, of this type
 *
 * Context: any thread.
 */
bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type);

#endif
