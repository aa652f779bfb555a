/*
 * fuzz_dwarf.c - from an ELF file of lies to chains
 *
 * The input is a file; what it wants beside it, an alternate file or the file of a split unit, is
 * the same again.
 */
#include "symbolize/dwarf/dwarf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_ADDRESSES = 24, MAX_BYTES = 1024 * 1024, MAX_OPENED = 8 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(unsigned char *data, size_t size, size_t max_size);

struct input {
	const unsigned char *data;
	size_t size;
	int n_opened;
};

static struct function_chain chain;
static volatile size_t sink;

static int open_again(struct input *input)
{
	int fd;

	if (input->n_opened++ == MAX_OPENED)
		return -ENOENT;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, input->data, input->size) != (ssize_t)input->size) {
		(void)close(fd);
		return -EIO;
	}
	return fd;
}

static int open_alt(void *context, const char *name, const uint8_t *build_id, size_t len)
{
	sink += strlen(name);
	for (size_t i = 0; i < len; i++)
		sink += build_id[i];
	return open_again(context);
}

static int open_dwo(void *context, const char *comp_dir, const char *name, size_t nth)
{
	if (nth > 1)
		return -1;
	sink += (comp_dir ? strlen(comp_dir) : 0) + (name ? strlen(name) : 0);
	return open_again(context);
}

/* A table that the reader made is good, and found in. */
static void look_up(const struct function_table *table, uint64_t addr)
{
	if (function_table_check(table) < 0)
		abort();
	if (function_table_find(table, addr, &chain) < 0)
		return;
	for (size_t i = 0; i < chain.n_levels; i++)
		sink += strlen(chain.levels[i].name) + strlen(chain.levels[i].file);
}

static void read_at(struct dwarf_file *file, struct dwarf_reader *reader, uint64_t addr)
{
	struct function_table table = {NULL, 0};

	sink += dwarf_unit_of(file, addr);
	if (dwarf_read_function(reader, addr, &table) < 0)
		return;
	look_up(&table, addr);
	free((void *)table.bytes);
}

static void read_all(struct dwarf_file *file, const struct elf_head *head)
{
	struct dwarf_reader *reader = NULL;

	if (dwarf_reader_new(file, &reader) < 0)
		return;
	for (size_t i = 0; i < head->n_loads && i < 4; i++) {
		const struct elf_segment *load = &head->loads[i];
		const uint64_t step = load->memsz / N_ADDRESSES + 1;

		for (uint64_t k = 0; load->executable && k < N_ADDRESSES; k++)
			read_at(file, reader, load->vaddr + k * step);
	}
	read_at(file, reader, 0);
	read_at(file, reader, UINT64_MAX);
	dwarf_reader_free(reader);
}

/* Where one of the file's sections is; false: nowhere. */
static bool find_section(const unsigned char *data, size_t size, unsigned which,
			 Elf64_Shdr *ret_section)
{
	Elf64_Ehdr head;
	uint64_t at;

	if (size < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	if (head.e_shnum == 0 || head.e_shoff > size)
		return false;
	at = head.e_shoff + (uint64_t)(which % head.e_shnum) * sizeof(*ret_section);
	if (at > size || size - at < sizeof(*ret_section))
		return false;
	memcpy(ret_section, data + at, sizeof(*ret_section));
	return ret_section->sh_type != SHT_NOBITS && ret_section->sh_size > 0 &&
	       ret_section->sh_offset < size &&
	       ret_section->sh_size <= size - ret_section->sh_offset;
}

/* Mostly within one section, which keeps its size: what the file's headers say stays true. */
size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t max_size, unsigned seed)
{
	Elf64_Shdr section;
	unsigned char *bytes;
	size_t len;

	if (seed % 16 == 0 || !find_section(data, size, seed / 16, &section))
		return LLVMFuzzerMutate(data, size, max_size);
	len = section.sh_size;
	bytes = calloc(1, len);
	if (!bytes)
		return size;
	memcpy(bytes, data + section.sh_offset, len);
	(void)LLVMFuzzerMutate(bytes, len, len);
	memcpy(data + section.sh_offset, bytes, len);
	free(bytes);
	return size;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct input input = {.data = data, .size = size};
	const struct dwarf_finder finder = {
		.context = &input, .open_alt = open_alt, .open_dwo = open_dwo};
	struct elf_source source = {.bytes = (const char *)data, .n_bytes = size, .fd = -1};
	struct elf_head head;
	const struct dwarf_options options = {.head = &head, .finder = &finder};
	struct dwarf_sections sections;
	struct dwarf_file *file = NULL;

	if (size > MAX_BYTES || elf_head_read(&source, &head) < 0 ||
	    dwarf_sections_memory(data, size, &sections) < 0)
		return 0;
	if (dwarf_file_new(&sections, &options, &file) == 0)
		read_all(file, &head);
	dwarf_file_free(file);
	return 0;
}
