/*
 * elf_segments.c - program headers and notes of a module
 *
 * A note is {namesz, descsz, type}, a name and what it says (ELF-64, "Note Section"); both begin at
 * a multiple of 4 bytes from the first note's beginning, or of 8.
 */
#include "base/elf_segments.h"

#include <elf.h>
#include <string.h>

bool elf_segments_read(struct elf_segments *ret_segments, uint64_t base,
		       bool (*read)(void *context, uint64_t address, void *to, size_t len),
		       void *context)
{
	struct elf_segments segments = {.bias = base};
	Elf64_Ehdr head;

	if (!read(context, base, &head, sizeof(head)) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(segments.at[0]) || head.e_phoff > UINT32_MAX)
		return false;
	segments.n = head.e_phnum < ELF_SEGMENTS_MOST ? head.e_phnum : ELF_SEGMENTS_MOST;
	if (!read(context, base + head.e_phoff, segments.at, segments.n * sizeof(segments.at[0])))
		return false;
	for (size_t i = 0; i < segments.n; i++) {
		if (segments.at[i].p_type == PT_LOAD && segments.at[i].p_offset == 0) {
			segments.bias = base - segments.at[i].p_vaddr;
			break;
		}
	}
	*ret_segments = segments;
	return true;
}

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
