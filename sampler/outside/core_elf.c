/* core_elf.c - the headers of an ELF file, from the file or from a process's memory */
#include "sampler/outside/core_elf.h"

#include "sampler/outside/limits.h"

#include <elf.h>
#include <string.h>

enum { PAGE_BYTES = 4096, NOTE_ALIGN = 4 };

/* User addresses end below, so that sums of two of them do not wrap. */
#define ADDRESS_END (UINT64_C(1) << 56)

static uint64_t align(uint64_t n)
{
	return (n + NOTE_ALIGN - 1) & ~(uint64_t)(NOTE_ALIGN - 1);
}

/* The build-id among the notes at [AT, AT + LEN). */
static void read_notes(const struct core_elf_source *source, uint64_t at, uint64_t len,
		       struct core_elf *elf)
{
	Elf64_Nhdr note;
	char name[4];

	for (int i = 0; i < CORE_MOST_FILE_NOTES && len >= sizeof(note); i++) {
		uint64_t room = len - sizeof(note);

		if (!source->read(source->context, at, &note, sizeof(note)) ||
		    align(note.n_namesz) > room || note.n_descsz > room - align(note.n_namesz))
			return;
		at += sizeof(note);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(name) &&
		    note.n_descsz > 0 && note.n_descsz <= CORE_BUILD_ID_MAX &&
		    source->read(source->context, at, name, sizeof(name)) &&
		    memcmp(name, ELF_NOTE_GNU, sizeof(name)) == 0 &&
		    source->read(source->context, at + sizeof(name), elf->build_id,
				 note.n_descsz)) {
			elf->n_build_id = note.n_descsz;
			return;
		}
		at += align(note.n_namesz) + align(note.n_descsz);
		len = room - align(note.n_namesz);
		len -= align(note.n_descsz) < len ? align(note.n_descsz) : len;
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
	read_notes(headers->source, at, segment->p_filesz, elf);
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
