/*
 * elf_notes.c - the notes of an ELF file, in memory
 *
 * Each is {namesz, descsz, type}, a name and what it says (ELF-64, "Note Section"); both begin at a
 * multiple of 4 bytes from the first note's beginning, or of 8.
 */
#include "base/elf_notes.h"

#include <elf.h>
#include <string.h>

/* Of 32-bit lengths and an offset in memory: nothing wraps. */
static size_t up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

bool elf_notes_next(struct elf_notes *notes, struct elf_note *ret_note)
{
	size_t name = notes->at + sizeof(Elf64_Nhdr);
	Elf64_Nhdr head;
	size_t desc;

	if (notes->at > notes->len || notes->len - notes->at < sizeof(head))
		return false;
	memcpy(&head, notes->bytes + notes->at, sizeof(head));
	desc = up(name + head.n_namesz, notes->align);
	if (desc > notes->len || head.n_descsz > notes->len - desc)
		return false;
	*ret_note = (struct elf_note){.type = head.n_type,
				      .name = notes->bytes + name,
				      .name_len = head.n_namesz,
				      .desc = notes->bytes + desc,
				      .desc_len = head.n_descsz};
	notes->at = up(desc + head.n_descsz, notes->align);
	return true;
}

bool elf_note_is(const struct elf_note *note, const char *owner, uint32_t type)
{
	size_t len = strlen(owner) + 1;

	return note->type == type && note->name_len == len && memcmp(note->name, owner, len) == 0;
}
