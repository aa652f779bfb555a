/* elf_ranges.c - the executable segments of an ELF file, which is hostile */
#include "tools/elf_ranges.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

enum { PAGE = 4096, MAX_PHDRS = 256 };

static bool is_ours(const Elf64_Ehdr *head)
{
	return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_phentsize == sizeof(Elf64_Phdr);
}

static bool take_segment(const Elf64_Phdr *segment, struct elf_range *range)
{
	uint64_t before = segment->p_vaddr % PAGE;
	uint64_t end;

	if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || segment->p_memsz == 0 ||
	    segment->p_offset < before ||
	    __builtin_add_overflow(segment->p_vaddr, segment->p_memsz, &end) ||
	    end > UINT64_MAX - PAGE)
		return false;
	range->start = segment->p_vaddr - before;
	range->end = (end + PAGE - 1) / PAGE * PAGE;
	range->offset = segment->p_offset - before;
	return true;
}

int elf_ranges_read(const char *path, struct elf_range *ret_ranges, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf64_Ehdr head;
	int n = 0;

	if (fd < 0)
		return err_set(err, errno, "open '%s'", path);
	if (io_pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) || !is_ours(&head))
		return err_set(err, ENOEXEC, "read '%s'", path);
	for (unsigned i = 0; i < head.e_phnum && i < MAX_PHDRS && n < ELF_RANGES_MAX; i++) {
		uint64_t at = head.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		if (io_pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			break;
		n += take_segment(&segment, &ret_ranges[n]);
	}
	return n;
}
