/*
 * elf_head.h - the small part of an ELF image that says what it is: segments and build-id
 *
 * Context: any thread.
 */
#ifndef ELF_ELF_HEAD_H
#define ELF_ELF_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { ELF_MAX_LOADS = 32, BUILD_ID_MAX = 64 };

/* Where the bytes come from: a file, its bytes, or an image in the memory of a process. */
struct elf_source {
	const char *bytes; /* a file's; NULL: none */
	size_t n_bytes;
	int fd;        /* a file; -1: memory */
	pid_t pid;     /* memory: whose */
	uint64_t base; /* memory: where the image starts */
};

struct elf_segment {
	uint64_t offset;
	uint64_t filesz;
	uint64_t vaddr;
	uint64_t memsz;
	bool executable;
};

struct elf_head {
	struct elf_segment loads[ELF_MAX_LOADS];
	size_t n_loads;
	uint64_t dynamic; /* PT_DYNAMIC: virtual address and bytes; 0 if there is none */
	uint64_t dynamic_bytes;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len;
};

/**
 * elf_source_read - LEN bytes, all of them
 * @at: offset in the file, or from the start of the image in memory
 *
 * Return:  0; -errno; -EIO when there are fewer.
 */
int elf_source_read(const struct elf_source *source, void *to, size_t len, uint64_t at);

/**
 * elf_head_read - read and check the headers of an image
 *
 * Return:  0; -ENOEXEC: not an ELF; -ENOTSUP: not 64-bit little-endian; -EINVAL: its headers
 *          are invalid; -errno of the read.
 */
int elf_head_read(const struct elf_source *source, struct elf_head *ret_head);

/** elf_head_why - what a negative errno of elf_head_read() means, for people */
const char *elf_head_why(int error);

/**
 * elf_head_vaddr - from an address in a mapping of the file to the ELF's own
 * @offset: address minus the mapping's start
 * @pgoff:  the mapping's offset in the file
 * @bytes:  the mapping's length: one as long as the whole image is the whole image
 *
 * Return:  true, and *RET_VADDR; false when no segment holds it.
 */
bool elf_head_vaddr(const struct elf_head *head, uint64_t offset, uint64_t pgoff, uint64_t bytes,
		    uint64_t *ret_vaddr);

/** elf_head_executable - may this ELF virtual address hold code? */
bool elf_head_executable(const struct elf_head *head, uint64_t vaddr);

/** elf_head_start - the first page of the image, as an ELF virtual address (0 for most) */
uint64_t elf_head_start(const struct elf_head *head);

/** elf_head_span - bytes from the first to the last page of the loaded image */
uint64_t elf_head_span(const struct elf_head *head);

/** elf_head_same_build - do both have a build-id, and the same? */
bool elf_head_same_build(const struct elf_head *a, const struct elf_head *b);

/**
 * elf_head_same_code - do both have executable segments at the same addresses, of the same size?
 *
 * A debug file has its module's segments, with nothing in them.
 */
bool elf_head_same_code(const struct elf_head *a, const struct elf_head *b);

#endif
