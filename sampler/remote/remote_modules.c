/* remote_modules.c - what is mapped in another process, and the unwind tables of its files */
#include "sampler/remote/remote_modules.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/search.h"
#include "sampler/procfs/proc_maps.h"
#include "sampler/remote/ranges.h"

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

/* The encoding of addresses that the CIE at AT says; -1 when it is unknown. */
static int encoding_of(const struct scan *scan, size_t at)
{
	size_t end;
	size_t letters;

	if (at > scan->n || scan->n - at < 9 || word_at(scan, at) > scan->n - at - 4 ||
	    word_at(scan, at + 4) != 0)
		return -1;
	end = at + 4 + word_at(scan, at);
	letters = at + 9; /* after the version */
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
	if (scan->n_entries == EH_TABLE_MOST)
		return -ENOEXEC;
	if (array_reserve(&scan->entries, scan->n_entries, &scan->size, 1024) < 0)
		return -ENOMEM;
	scan->entries[scan->n_entries++] = (struct entry){begin, fde};
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

enum {
	REMOTE_HEADERS = 64, /* program headers of one module */
};

/* A maps file on its way to ranges; a file's lines follow that of its first byte. */
struct reading {
	struct remote_modules modules;
	uint64_t dev;
	uint64_t inode;
	bool in_image;
	bool failed;
};

static bool is_vdso(const struct maps_line *line)
{
	static const char name[] = "[vdso]";

	return line->path_len == sizeof(name) - 1 && memcmp(line->path, name, line->path_len) == 0;
}

static bool add_image(struct reading *reading, const struct maps_line *line)
{
	struct remote_modules *modules = &reading->modules;

	if (array_reserve(&modules->images, modules->n_images, &modules->images_size, 64) < 0)
		return false;
	modules->images[modules->n_images++] = (struct remote_image){.base = line->start};
	reading->in_image = true;
	reading->dev = line->dev;
	reading->inode = line->inode;
	return true;
}

/* FNV-1a over what makes a difference to code that was read before. */
static void sign(struct remote_modules *modules, const struct maps_line *line)
{
	const uint64_t words[] = {line->start, line->end,   line->pgoff,
				  line->dev,   line->inode, line->executable};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		modules->signature = (modules->signature ^ words[i]) * UINT64_C(0x100000001b3);
}

static bool add_range(struct reading *reading, const struct maps_line *line, uint32_t image)
{
	struct remote_modules *modules = &reading->modules;

	if (array_reserve(&modules->ranges, modules->n_ranges, &modules->size, 64) < 0)
		return false;
	modules->ranges[modules->n_ranges++] =
		(struct remote_range){.start = line->start,
				      .end = line->end,
				      .image = image,
				      .writable = line->writable,
				      .executable = line->executable};
	if (image != REMOTE_NO_IMAGE || line->executable)
		sign(modules, line);
	return true;
}

static bool visit(void *context, const struct maps_line *line)
{
	struct reading *reading = context;
	struct remote_modules *modules = &reading->modules;
	bool file = line->inode != 0;
	uint32_t image = REMOTE_NO_IMAGE;

	if (line->end > USER_ADDRESS_END || modules->n_ranges == MAPS_MAX_RANGES)
		return false;
	if (modules->n_ranges && line->start < modules->ranges[modules->n_ranges - 1].end)
		return true;
	if ((file && line->pgoff == 0) || is_vdso(line))
		reading->failed = !add_image(reading, line);
	/* Between a file's lines lie its zeroed pages; another file's line ends it. */
	else if (file && (line->dev != reading->dev || line->inode != reading->inode))
		reading->in_image = false;
	if (reading->in_image && (file || is_vdso(line)))
		image = (uint32_t)modules->n_images - 1;
	reading->failed = reading->failed || !add_range(reading, line, image);
	return !reading->failed;
}

int remote_modules_read(struct remote_modules *modules, pid_t pid, bool *ret_changed)
{
	struct reading reading = {.modules.pid = pid};
	uint64_t before_ns = io_now_ns();
	int r = proc_maps_of(pid, visit, &reading);

	/* A process that has just ended has an empty one. */
	if (r == 0 && (reading.failed || reading.modules.n_ranges == 0))
		r = reading.failed ? -ENOMEM : -ESRCH;
	if (r < 0) {
		remote_modules_release(&reading.modules);
		return r;
	}
	*ret_changed = reading.modules.signature != modules->signature;
	reading.modules.read_ns = io_now_ns();
	reading.modules.cost_ns = reading.modules.read_ns - before_ns;
	remote_modules_release(modules);
	*modules = reading.modules;
	return 0;
}

/* Index of the first range that ends above an address. */
static size_t first_above(const struct remote_modules *modules, uint64_t address)
{
	size_t n =
		search_up_to(modules->ranges, modules->n_ranges, sizeof(*modules->ranges), address);

	return n > 0 && modules->ranges[n - 1].end > address ? n - 1 : n;
}

const struct remote_range *remote_modules_range(const struct remote_modules *modules,
						uint64_t address)
{
	size_t at = first_above(modules, address);

	if (at == modules->n_ranges || address < modules->ranges[at].start)
		return NULL;
	return &modules->ranges[at];
}

uint64_t remote_modules_stack_end(const struct remote_modules *modules, uint64_t sp)
{
	size_t at = first_above(modules, sp);

	if (at == modules->n_ranges || !modules->ranges[at].writable ||
	    modules->ranges[at].image != REMOTE_NO_IMAGE)
		return sp;
	return modules->ranges[at].end;
}

static bool read_header(struct unwind_reader *reader, uint64_t base, Elf64_Ehdr *ret_header)
{
	return reader->read(reader, base, ret_header, sizeof(*ret_header)) &&
	       memcmp(ret_header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       ret_header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       ret_header->e_phentsize == sizeof(Elf64_Phdr) &&
	       ret_header->e_phnum <= REMOTE_HEADERS &&
	       ret_header->e_phoff < USER_ADDRESS_END - base;
}

/* A static program's table is made here; it seems to lie beyond the module's end. */
static void make_table(pid_t pid, struct remote_image *image, const Elf64_Ehdr *header,
		       uint64_t bias)
{
	struct unwind_module *module = &image->module;

	if (!image->good || module->eh_frame_hdr ||
	    eh_table_make(pid, header, bias, module->end, &image->table) < 0)
		return;
	module->eh_frame_hdr = image->table.at;
	module->end = image->table.at + image->table.n;
}

/* What its program headers say; they may say anything. */
static void examine(pid_t pid, struct remote_image *image, struct unwind_reader *reader)
{
	uint64_t eh_frame_hdr = 0;
	bool loaded = false;
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	uint64_t bias = 0;
	uint64_t end = 0;

	image->examined = true;
	if (!read_header(reader, image->base, &header))
		return;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		uint64_t at = image->base + header.e_phoff + i * sizeof(segment);

		if (!reader->read(reader, at, &segment, sizeof(segment)))
			return;
		if (segment.p_type == PT_LOAD && segment.p_offset < PAGE_BYTES && !loaded) {
			bias = image->base - (segment.p_vaddr & ~(uint64_t)(PAGE_BYTES - 1));
			loaded = true;
		}
		if (segment.p_type == PT_LOAD && segment.p_vaddr + segment.p_memsz > end)
			end = segment.p_vaddr + segment.p_memsz;
		if (segment.p_type == PT_GNU_EH_FRAME)
			eh_frame_hdr = segment.p_vaddr;
	}
	image->module.start = image->base;
	image->module.end = bias + end;
	image->module.eh_frame_hdr = eh_frame_hdr ? bias + eh_frame_hdr : 0;
	image->good =
		loaded && image->module.end > image->base && image->module.end <= USER_ADDRESS_END;
	make_table(pid, image, &header, bias);
}

bool remote_modules_find(struct remote_modules *modules, struct unwind_reader *reader,
			 const struct remote_range *range, struct unwind_module *ret_module)
{
	struct remote_image *image;

	if (!range->executable || range->image == REMOTE_NO_IMAGE)
		return false;
	image = &modules->images[range->image];
	if (!image->examined)
		examine(modules->pid, image, reader);
	if (!image->good || range->start >= image->module.end)
		return false;
	*ret_module = image->module;
	return true;
}

bool remote_modules_table(const struct remote_modules *modules, uint64_t address, void *to,
			  size_t len)
{
	for (size_t i = 0; i < modules->n_images; i++) {
		const struct eh_table *table = &modules->images[i].table;

		if (table->n == 0 || address < table->at || address - table->at > table->n ||
		    len > table->n - (address - table->at))
			continue;
		memcpy(to, table->bytes + (address - table->at), len);
		return true;
	}
	return false;
}

void remote_modules_release(struct remote_modules *modules)
{
	for (size_t i = 0; i < modules->n_images; i++)
		eh_table_release(&modules->images[i].table);
	free(modules->ranges);
	free(modules->images);
	*modules = (struct remote_modules){0};
}
