/* elf_head.c - segments and build-id of an image; every field may be wrong */
#include "symbolize/elf/elf_head.h"

#include "base/elf_segments.h"
#include "base/io.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum { MAX_PHDRS = 128, MAX_NOTE_BYTES = 16 * 1024 };

static const uint64_t PAGE = 4096;

int elf_source_read(const struct elf_source *source, void *to, size_t len, uint64_t at)
{
	ssize_t n;

	if (source->bytes) {
		if (at > source->n_bytes || len > source->n_bytes - at)
			return -EIO;
		memcpy(to, source->bytes + at, len);
		return 0;
	}
	if (source->fd >= 0) {
		if (at > INT64_MAX - len)
			return -EINVAL;
		n = io_pread(source->fd, to, len, at);
	} else {
		struct iovec local = {.iov_base = to, .iov_len = len};
		/* An address of another process, never followed here. */
		struct iovec remote = {.iov_base = (void *)(uintptr_t)(source->base + at),
				       .iov_len = len};

		n = process_vm_readv(source->pid, &local, 1, &remote, 1, 0);
		if (n < 0)
			n = -errno;
	}
	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EIO;
}

static int check_header(const Elf64_Ehdr *header)
{
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
	    header->e_phnum > MAX_PHDRS)
		return -EINVAL;
	return 0;
}

static void add_load(struct elf_head *head, const Elf64_Phdr *phdr)
{
	if (head->n_loads == ELF_MAX_LOADS || phdr->p_vaddr + phdr->p_memsz < phdr->p_vaddr ||
	    phdr->p_offset + phdr->p_filesz < phdr->p_offset)
		return;
	head->loads[head->n_loads++] = (struct elf_segment){
		.offset = phdr->p_offset,
		.filesz = phdr->p_filesz,
		.vaddr = phdr->p_vaddr,
		.memsz = phdr->p_memsz,
		.executable = (phdr->p_flags & PF_X) != 0,
	};
}

static void find_build_id(struct elf_head *head, struct elf_notes notes)
{
	struct elf_note note;

	while (elf_notes_next(&notes, &note)) {
		if (!elf_note_is(&note, ELF_NOTE_GNU, NT_GNU_BUILD_ID) || note.desc_len == 0 ||
		    note.desc_len > BUILD_ID_MAX)
			continue;
		memcpy(head->build_id, note.desc, note.desc_len);
		head->build_id_len = note.desc_len;
		return;
	}
}

uint64_t elf_head_start(const struct elf_head *head)
{
	uint64_t low = UINT64_MAX;

	for (size_t i = 0; i < head->n_loads; i++)
		if (head->loads[i].vaddr < low)
			low = head->loads[i].vaddr;
	return low & ~(PAGE - 1);
}

static void read_notes(const struct elf_source *source, struct elf_head *head,
		       const Elf64_Phdr *phdr)
{
	bool is_file = source->bytes || source->fd >= 0;
	uint8_t notes[MAX_NOTE_BYTES];
	size_t len = phdr->p_filesz < sizeof(notes) ? phdr->p_filesz : sizeof(notes);

	if (head->build_id_len || len == 0)
		return;
	if (elf_source_read(source, notes, len,
			    is_file ? phdr->p_offset : phdr->p_vaddr - elf_head_start(head)) == 0)
		find_build_id(head, (struct elf_notes){.bytes = notes,
						       .len = len,
						       .align = phdr->p_align == 8 ? 8 : 4});
}

int elf_head_read(const struct elf_source *source, struct elf_head *ret_head)
{
	struct elf_head head = {0};
	Elf64_Phdr phdrs[MAX_PHDRS];
	Elf64_Ehdr header;
	int r;

	r = elf_source_read(source, &header, sizeof(header), 0);
	if (r < 0)
		return r == -EIO ? -ENOEXEC : r;
	r = check_header(&header);
	if (r < 0)
		return r;
	r = elf_source_read(source, phdrs, header.e_phnum * sizeof(*phdrs), header.e_phoff);
	if (r < 0)
		return r == -EIO ? -EINVAL : r;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (phdrs[i].p_type == PT_LOAD)
			add_load(&head, &phdrs[i]);
	}
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (phdrs[i].p_type == PT_NOTE)
			read_notes(source, &head, &phdrs[i]);
		if (phdrs[i].p_type == PT_DYNAMIC) {
			head.dynamic = phdrs[i].p_vaddr;
			head.dynamic_bytes = phdrs[i].p_memsz;
		}
	}
	if (!head.n_loads)
		return -EINVAL;
	*ret_head = head;
	return 0;
}

const char *elf_head_why(int error)
{
	switch (error) {
	case -ENOEXEC:
		return "not an ELF file";
	case -ENOTSUP:
		return "a 32-bit or big-endian file";
	case -EINVAL:
		return "its headers are damaged";
	default:
		return strerrordesc_np(-error);
	}
}

uint64_t elf_head_span(const struct elf_head *head)
{
	uint64_t high = 0;

	for (size_t i = 0; i < head->n_loads; i++)
		if (head->loads[i].vaddr + head->loads[i].memsz > high)
			high = head->loads[i].vaddr + head->loads[i].memsz;
	return (high - elf_head_start(head) + PAGE - 1) & ~(PAGE - 1);
}

/*
 * Two segments may share a page of the file, mapped twice: the one with code wins, as only
 * code is requested.
 */
static const struct elf_segment *segment_of(const struct elf_head *head, uint64_t offset)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < head->n_loads; i++) {
		const struct elf_segment *load = &head->loads[i];

		if (offset < load->offset || offset - load->offset >= load->filesz)
			continue;
		if (!found || (load->executable && !found->executable))
			found = load;
	}
	return found;
}

bool elf_head_vaddr(const struct elf_head *head, uint64_t offset, uint64_t pgoff, uint64_t bytes,
		    uint64_t *ret_vaddr)
{
	const struct elf_segment *segment;

	if (pgoff == 0 && ((bytes + PAGE - 1) & ~(PAGE - 1)) == elf_head_span(head)) {
		*ret_vaddr = offset + elf_head_start(head);
		return true;
	}
	segment = segment_of(head, offset + pgoff);
	if (!segment)
		return false;
	*ret_vaddr = offset + pgoff - segment->offset + segment->vaddr;
	return true;
}

bool elf_head_executable(const struct elf_head *head, uint64_t vaddr)
{
	for (size_t i = 0; i < head->n_loads; i++)
		if (head->loads[i].executable && vaddr >= head->loads[i].vaddr &&
		    vaddr - head->loads[i].vaddr < head->loads[i].memsz)
			return true;
	return false;
}

bool elf_head_same_build(const struct elf_head *a, const struct elf_head *b)
{
	return a->build_id_len && a->build_id_len == b->build_id_len &&
	       memcmp(a->build_id, b->build_id, a->build_id_len) == 0;
}

/* The next executable segment from *AT on. */
static const struct elf_segment *next_code(const struct elf_head *head, size_t *at)
{
	while (*at < head->n_loads) {
		const struct elf_segment *load = &head->loads[(*at)++];

		if (load->executable)
			return load;
	}
	return NULL;
}

bool elf_head_same_code(const struct elf_head *a, const struct elf_head *b)
{
	size_t at_a = 0;
	size_t at_b = 0;

	for (;;) {
		const struct elf_segment *load = next_code(a, &at_a);
		const struct elf_segment *other = next_code(b, &at_b);

		if (!load || !other)
			return !load && !other;
		if (load->vaddr != other->vaddr || load->memsz != other->memsz)
			return false;
	}
}
