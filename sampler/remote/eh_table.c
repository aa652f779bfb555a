/* eh_table.c - the search table of a program's .eh_frame, where its linker has made none */
#include "sampler/remote/eh_table.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/procfs/proc_maps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	EH_FRAME_MOST = 64 << 20, /* bytes of an .eh_frame that has no table */
	EH_TABLE_MOST = 1 << 20,  /* entries of the table that is made of it */
};

/* DW_EH_PE_*, as far as compilers use them for addresses of code. */
enum {
	ENCODED_ABSPTR = 0x00,
	ENCODED_UDATA4 = 0x03,
	ENCODED_SDATA4 = 0x0b,
	ENCODED_FORMAT = 0x0f,
	ENCODED_PCREL = 0x10,
	ENCODED_DATAREL_SDATA4 = 0x3b,
	ENCODED_PCREL_SDATA4 = 0x1b,
};

enum { HEAD_BYTES = 12, ENTRY_BYTES = 8, PAGE_BYTES = 4096, AWAY_BYTES = 1 << 28 };

struct entry {
	uint64_t begin;
	uint64_t fde;
};

/* An .eh_frame while it is read through. */
struct scan {
	const unsigned char *bytes;
	size_t n;
	uint64_t vaddr;
	struct entry *entries;
	size_t n_entries;
	size_t size;
};

static uint32_t word_at(const struct scan *scan, size_t at)
{
	uint32_t word;

	memcpy(&word, scan->bytes + at, sizeof(word));
	return word;
}

/* Past a LEB128; AT beyond END when it does not end. */
static size_t skip_leb(const struct scan *scan, size_t at, size_t end)
{
	while (at < end && scan->bytes[at] & 0x80)
		at++;
	return at + 1;
}

/* The encoding of addresses that the CIE at AT says; -1 when it cannot be told. */
static int encoding_of(const struct scan *scan, size_t at)
{
	size_t end;
	size_t letters;

	if (at > scan->n || scan->n - at < 9 || word_at(scan, at) > scan->n - at - 4 ||
	    word_at(scan, at + 4) != 0)
		return -1;
	end = at + 4 + word_at(scan, at);
	letters = at + 9; /* behind the version */
	if (end <= letters || !memchr(scan->bytes + letters, '\0', end - letters))
		return -1;
	if (scan->bytes[letters] == '\0')
		return ENCODED_ABSPTR;
	if (scan->bytes[letters] != 'z')
		return -1;
	at = letters + strlen((const char *)scan->bytes + letters) + 1;
	/* Both alignments, the register of the return address and the length of what follows. */
	for (int i = 0; i < 4; i++)
		at = skip_leb(scan, at, end);
	for (const unsigned char *letter = scan->bytes + letters + 1; *letter; letter++) {
		if (at >= end)
			return -1;
		if (*letter == 'R')
			return scan->bytes[at];
		if (*letter == 'P')
			at += scan->bytes[at] == ENCODED_ABSPTR ? 9 : 5;
		else if (*letter == 'L')
			at++;
	}
	return ENCODED_ABSPTR;
}

/* Where the code of the FDE begins whose id is at AT. */
static bool begin_of(const struct scan *scan, size_t at, size_t end, uint64_t *ret_begin)
{
	uint32_t back = word_at(scan, at);
	int encoding = back <= at && at - back <= scan->n ? encoding_of(scan, at - back) : -1;
	int32_t near;
	uint64_t far;

	at += sizeof(back);
	if (encoding < 0 || end - at < sizeof(far))
		return false;
	memcpy(&near, scan->bytes + at, sizeof(near));
	memcpy(&far, scan->bytes + at, sizeof(far));
	switch (encoding & ENCODED_FORMAT) {
	case ENCODED_ABSPTR:
		*ret_begin = far;
		break;
	case ENCODED_UDATA4:
		*ret_begin = (uint32_t)near;
		break;
	case ENCODED_SDATA4:
		*ret_begin = (uint64_t)(int64_t)near;
		break;
	default:
		return false;
	}
	if (encoding & ENCODED_PCREL)
		*ret_begin += scan->vaddr + at;
	return !(encoding & ~(ENCODED_FORMAT | ENCODED_PCREL));
}

static int add(struct scan *scan, uint64_t begin, uint64_t fde)
{
	struct entry *entries = scan->entries;

	if (scan->n_entries == EH_TABLE_MOST)
		return -ENOEXEC;
	if (scan->n_entries == scan->size) {
		size_t size = scan->size ? scan->size * 2 : 1024;

		entries = realloc(entries, size * sizeof(*entries));
		if (!entries)
			return -ENOMEM;
		scan->entries = entries;
		scan->size = size;
	}
	entries[scan->n_entries++] = (struct entry){begin, fde};
	return 0;
}

/* Up to its end, or what makes no sense. */
static int scan_all(struct scan *scan)
{
	size_t at = 0;
	int r = 0;

	while (r == 0 && scan->n - at >= 8) {
		uint32_t len = word_at(scan, at);
		uint64_t begin;

		if (len < 4 || len > scan->n - at - 4)
			break;
		if (word_at(scan, at + 4) != 0 && begin_of(scan, at + 4, at + 4 + len, &begin))
			r = add(scan, begin, scan->vaddr + at);
		at += 4 + (size_t)len;
	}
	return r;
}

static int by_begin(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool fits(int64_t distance)
{
	return distance == (int32_t)distance;
}

static void put_word(unsigned char *to, int64_t value)
{
	int32_t word = (int32_t)value;

	memcpy(to, &word, sizeof(word));
}

static int write_table(const struct scan *scan, uint64_t end, struct eh_table *ret_table)
{
	struct eh_table table = {.at = ((end + PAGE_BYTES) & ~(uint64_t)(PAGE_BYTES - 1)) +
				       AWAY_BYTES,
				 .n = HEAD_BYTES + scan->n_entries * ENTRY_BYTES};
	static const unsigned char encodings[] = {1, ENCODED_PCREL_SDATA4, ENCODED_UDATA4,
						  ENCODED_DATAREL_SDATA4};
	size_t n = 0;

	if (table.at >= USER_ADDRESS_END || !fits((int64_t)(scan->vaddr - table.at)))
		return -ENOEXEC;
	table.bytes = calloc(1, table.n);
	if (!table.bytes)
		return -ENOMEM;
	for (size_t i = 0; i < scan->n_entries; i++) {
		int64_t begin = (int64_t)(scan->entries[i].begin - table.at);
		unsigned char *to = table.bytes + HEAD_BYTES + n * ENTRY_BYTES;

		/* What is no address would be near by wrapping, and out of order. */
		if (scan->entries[i].begin >= USER_ADDRESS_END || !fits(begin))
			continue;
		put_word(to, begin);
		put_word(to + 4, (int64_t)(scan->entries[i].fde - table.at));
		n++;
	}
	memcpy(table.bytes, encodings, sizeof(encodings));
	put_word(table.bytes + 4, (int64_t)(scan->vaddr - (table.at + 4)));
	put_word(table.bytes + 8, (int64_t)n);
	*ret_table = table;
	return 0;
}

int eh_table_from(const unsigned char *bytes, size_t n, uint64_t vaddr, uint64_t end,
		  struct eh_table *ret_table)
{
	struct scan scan = {.bytes = bytes, .n = n, .vaddr = vaddr};
	int r = scan_all(&scan);

	if (r == 0 && scan.n_entries == 0)
		r = -ENOEXEC;
	if (r == 0) {
		qsort(scan.entries, scan.n_entries, sizeof(scan.entries[0]), by_begin);
		r = write_table(&scan, end, ret_table);
	}
	free(scan.entries);
	return r;
}

static bool read_all(int fd, uint64_t at, void *to, size_t len)
{
	return io_pread(fd, to, len, at) == (ssize_t)len;
}

static bool is_eh_frame(int fd, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
	static const char wanted[] = ".eh_frame";
	char name[sizeof(wanted)];

	return section->sh_type != SHT_NOBITS && section->sh_name < names->sh_size &&
	       names->sh_offset <= UINT64_MAX - section->sh_name &&
	       read_all(fd, names->sh_offset + section->sh_name, name, sizeof(name)) &&
	       memcmp(name, wanted, sizeof(wanted)) == 0;
}

/* The section, by the headers of the file. */
static bool find_section(int fd, const Elf64_Ehdr *header, Elf64_Shdr *ret_section)
{
	Elf64_Shdr names;
	uint64_t size = sizeof(names);

	if (header->e_shentsize != size || header->e_shoff > INT64_MAX ||
	    header->e_shstrndx >= header->e_shnum ||
	    !read_all(fd, header->e_shoff + header->e_shstrndx * size, &names, sizeof(names)))
		return false;
	for (unsigned i = 0; i < header->e_shnum; i++)
		if (read_all(fd, header->e_shoff + i * size, ret_section, sizeof(*ret_section)) &&
		    is_eh_frame(fd, &names, ret_section))
			return ret_section->sh_size <= EH_FRAME_MOST;
	return false;
}

int eh_table_make(pid_t pid, const void *headers, uint64_t bias, uint64_t end,
		  struct eh_table *ret_table)
{
	_cleanup_free_ unsigned char *bytes = NULL;
	_cleanup_fd_ int fd = -1;
	Elf64_Shdr section;
	Elf64_Ehdr header;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (!read_all(fd, 0, &header, sizeof(header)) ||
	    memcmp(&header, headers, sizeof(header)) != 0 || !find_section(fd, &header, &section))
		return -ENOEXEC;
	bytes = malloc(section.sh_size + 1);
	if (!bytes)
		return -ENOMEM;
	if (!read_all(fd, section.sh_offset, bytes, section.sh_size))
		return -ENOEXEC;
	return eh_table_from(bytes, section.sh_size, bias + section.sh_addr, end, ret_table);
}

void eh_table_release(struct eh_table *table)
{
	free(table->bytes);
	*table = (struct eh_table){0};
}
