/* elf_segments.c - where the executable segments of a file would be mapped */
#include "sampler/remote/elf_segments.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/procfs/proc_maps.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SEGMENTS = 64, PAGE_BYTES = 4096 };

/* Opening must not hang on a fifo or a device that a path names. */
static int open_regular(const char *path, struct stat *ret_stat)
{
	_cleanup_fd_ int fd = -1;

	if (path[0] != '/')
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, ret_stat) < 0 || !S_ISREG(ret_stat->st_mode))
		return -1;
	return steal_fd(&fd);
}

static int read_segments(int fd, Elf64_Phdr *segments)
{
	Elf64_Ehdr header;
	size_t bytes;

	if (io_pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return 0;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(*segments) ||
	    header.e_phnum > MAX_SEGMENTS)
		return 0;
	bytes = header.e_phnum * sizeof(*segments);
	if (io_pread(fd, segments, bytes, header.e_phoff) != (ssize_t)bytes)
		return 0;
	return header.e_phnum;
}

void elf_segments(const char *path, uint64_t bias,
		  void (*visit)(void *context, const struct elf_segment *segment), void *context)
{
	const uint64_t page = PAGE_BYTES - 1;
	Elf64_Phdr segments[MAX_SEGMENTS];
	struct stat stat;
	_cleanup_fd_ int fd = open_regular(path, &stat);
	int n = fd < 0 ? 0 : read_segments(fd, segments);

	for (int i = 0; i < n; i++) {
		uint64_t start = (bias + segments[i].p_vaddr) & ~page;
		uint64_t end = (bias + segments[i].p_vaddr + segments[i].p_filesz + page) & ~page;
		struct elf_segment segment = {.start = start,
					      .end = end,
					      .pgoff = segments[i].p_offset & ~page,
					      .dev = stat.st_dev,
					      .inode = stat.st_ino,
					      .path = path};

		if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) && start < end &&
		    end <= USER_ADDRESS_END)
			visit(context, &segment);
	}
}
