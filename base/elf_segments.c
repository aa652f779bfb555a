/* elf_segments.c - the program headers of a module, in another process's memory or of a file */
#include "base/elf_segments.h"

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
