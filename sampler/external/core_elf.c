/* core_elf.c - the headers of an ELF file, from the file or from a process's memory */
#include "sampler/external/core_elf.h"

#include "base/elf_notes.h"
#include "sampler/external/limits.h"

#include <elf.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

/* User addresses end below, so that sums of two of them do not wrap. */
#define ADDRESS_END (UINT64_C(1) << 56)

/* The build-id among the segment's notes, which begin AT. */
static void read_notes(const struct core_elf_source *source, const Elf64_Phdr *segment, uint64_t at,
		       struct core_elf *elf)
{
	unsigned char bytes[CORE_MOST_FILE_NOTES];
	struct elf_notes notes = {
		.bytes = bytes, .len = sizeof(bytes), .align = segment->p_align == 8 ? 8 : 4};
	struct elf_note note;

	if (segment->p_filesz < notes.len)
		notes.len = (size_t)segment->p_filesz;
	if (!source->read(source->context, at, bytes, notes.len))
		return;
	while (elf_notes_next(&notes, &note)) {
		if (!elf_note_is(&note, ELF_NOTE_GNU, NT_GNU_BUILD_ID) || note.desc_len == 0 ||
		    note.desc_len > sizeof(elf->build_id))
			continue;
		memcpy(elf->build_id, note.desc, note.desc_len);
		elf->n_build_id = note.desc_len;
		return;
	}
}

static bool read_header(const struct core_elf_source *source, Elf64_Ehdr *ret_header)
{
	return source->read(source->context, 0, ret_header, sizeof(*ret_header)) &&
	       memcmp(ret_header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       ret_header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ret_header->e_phentsize == sizeof(Elf64_Phdr) &&
	       ret_header->e_phnum <= CORE_MOST_FILE_SEGMENTS && ret_header->e_phoff < ADDRESS_END;
}

static bool is_sane(const Elf64_Phdr *segment)
{
	return segment->p_vaddr < ADDRESS_END && segment->p_memsz < ADDRESS_END &&
	       segment->p_filesz < ADDRESS_END && segment->p_offset < ADDRESS_END;
}

/* Program headers of one file while they are looked through. */
struct headers {
	const struct core_elf_source *source;
	struct core_elf elf;
	bool loaded; /* the segment with the headers was there */
};

static void take_segment(struct headers *headers, const Elf64_Phdr *segment)
{
	struct core_elf *elf = &headers->elf;

	if (segment->p_type == PT_LOAD && segment->p_offset < PAGE_BYTES && !headers->loaded) {
		elf->first = segment->p_vaddr & ~(uint64_t)(PAGE_BYTES - 1);
		headers->loaded = true;
	}
	if (segment->p_type == PT_LOAD && segment->p_vaddr + segment->p_memsz > elf->end)
		elf->end = segment->p_vaddr + segment->p_memsz;
	if (segment->p_type == PT_GNU_EH_FRAME)
		elf->eh_frame_hdr = segment->p_vaddr;
}

/* Once it is known where segments lie. */
static void take_notes(struct headers *headers, const Elf64_Phdr *segment)
{
	struct core_elf *elf = &headers->elf;
	uint64_t at = segment->p_offset;

	if (segment->p_type != PT_NOTE || elf->n_build_id)
		return;
	if (headers->source->in_memory) {
		if (segment->p_vaddr < elf->first)
			return;
		at = segment->p_vaddr - elf->first;
	}
	read_notes(headers->source, segment, at, elf);
}

static bool each_segment(struct headers *headers, const Elf64_Ehdr *header,
			 void (*take)(struct headers *, const Elf64_Phdr *))
{
	const struct core_elf_source *source = headers->source;
	Elf64_Phdr segment;

	for (unsigned i = 0; i < header->e_phnum; i++) {
		uint64_t at = header->e_phoff + i * sizeof(segment);

		if (!source->read(source->context, at, &segment, sizeof(segment)))
			return false;
		if (is_sane(&segment))
			take(headers, &segment);
	}
	return true;
}

bool core_elf_read(const struct core_elf_source *source, struct core_elf *ret_elf)
{
	struct headers headers = {.source = source};
	Elf64_Ehdr header;

	if (!read_header(source, &header) || !each_segment(&headers, &header, take_segment) ||
	    !headers.loaded || headers.elf.end <= headers.elf.first)
		return false;
	(void)each_segment(&headers, &header, take_notes);
	*ret_elf = headers.elf;
	return true;
}
