/* fde.c - walking the entries of .eh_frame (LSB Core, "Exception Frames") for their bounds */
#include "symbolize/elf/fde.h"

#include "base/search.h"
#include "symbolize/bounds/cursor.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/elf/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static const uint64_t MAX_SECTION_BYTES = 1024 * 1024 * 1024;

/* What is read of a CIE: every FDE may name another one, so each has to be short. */
enum { MAX_CIE_BYTES = 64 };

/* How pointers are written (LSB, "DWARF Exception Header Encoding"). */
enum {
	POINTER_ABSOLUTE = 0x00,
	POINTER_UDATA2 = 0x02,
	POINTER_UDATA4 = 0x03,
	POINTER_UDATA8 = 0x04,
	POINTER_SDATA2 = 0x0a,
	POINTER_SDATA4 = 0x0b,
	POINTER_SDATA8 = 0x0c,
	POINTER_FORM = 0x0f,
	POINTER_PC_RELATIVE = 0x10,
	POINTER_BASE = 0x70,
	POINTER_UNKNOWN = 0xff,
};

/* The section, and the encoding of the CIE that was read last: its FDEs follow it. */
struct frames {
	const uint8_t *bytes;
	size_t n_bytes;
	uint64_t vaddr;
	uint64_t cie;
	uint8_t encoding;
	struct fde_table table;
	size_t n_room;
};

static uint64_t take_form(struct cursor *cursor, unsigned form)
{
	switch (form) {
	case POINTER_ABSOLUTE:
	case POINTER_UDATA8:
	case POINTER_SDATA8:
		return cursor_u64(cursor);
	case POINTER_UDATA4:
		return cursor_u32(cursor);
	case POINTER_SDATA4:
		return (uint64_t)(int32_t)cursor_u32(cursor);
	case POINTER_UDATA2:
		return cursor_u16(cursor);
	case POINTER_SDATA2:
		return (uint64_t)(int16_t)cursor_u16(cursor);
	default:
		cursor_fail(cursor);
		return 0;
	}
}

/* An address; one that is relative to anything but its own place is not known here. */
static uint64_t take_pointer(const struct frames *frames, struct cursor *cursor)
{
	uint64_t here = frames->vaddr + (uint64_t)(cursor->at - frames->bytes);
	unsigned base = frames->encoding & POINTER_BASE;
	uint64_t value = take_form(cursor, frames->encoding & POINTER_FORM);

	if (frames->encoding & ~(POINTER_BASE | POINTER_FORM))
		cursor->failed = true; /* where the address is, not the address */
	if (base == POINTER_PC_RELATIVE)
		return value + here;
	cursor->failed = cursor->failed || base != 0;
	return value;
}

/* The encoding that an augmentation tells; what stands before it is passed over. */
static uint8_t find_encoding(struct cursor *cursor, const char *text)
{
	for (; *text; text++) {
		uint8_t encoding;

		if (*text == 'S' || *text == 'B')
			continue;
		encoding = cursor_u8(cursor);
		if (*text == 'R')
			return cursor->failed ? POINTER_UNKNOWN : encoding;
		if (*text == 'P')
			(void)take_form(cursor, encoding & POINTER_FORM);
		else if (*text != 'L')
			return POINTER_UNKNOWN;
	}
	return cursor->failed ? POINTER_UNKNOWN : POINTER_ABSOLUTE;
}

/* The encoding of a CIE's FDEs: the 'R' of its augmentation. */
static uint8_t encoding_of(struct cursor cursor)
{
	uint8_t version = cursor_u8(&cursor);
	const char *text;

	if (cursor_left(&cursor) > MAX_CIE_BYTES)
		cursor.end = cursor.at + MAX_CIE_BYTES;
	text = cursor_string(&cursor);
	if (!text || (version != 1 && version != 3))
		return POINTER_UNKNOWN;
	cursor_uleb_skip(&cursor); /* code and data alignment */
	cursor_uleb_skip(&cursor);
	if (version == 1)
		(void)cursor_u8(&cursor); /* where return addresses are */
	else
		cursor_uleb_skip(&cursor);
	if (text[0] != 'z')
		return text[0] || cursor.failed ? POINTER_UNKNOWN : POINTER_ABSOLUTE;
	cursor_uleb_skip(&cursor);
	return find_encoding(&cursor, text + 1);
}

static int add(struct frames *frames, uint64_t start, uint64_t bytes)
{
	struct fde_table *table = &frames->table;

	if (start == 0 || bytes == 0 || start + bytes < start || table->n_fdes >= FDE_MAX)
		return 0;
	if (table->n_fdes == frames->n_room) {
		size_t n_room = frames->n_room ? frames->n_room * 2 : 1024;
		struct fde *fdes;

		if (memory_claim(&table->claim, n_room * sizeof(*fdes)) < 0)
			return -EFBIG;
		fdes = realloc(table->fdes, n_room * sizeof(*fdes));
		if (!fdes)
			return -ENOMEM;
		table->fdes = fdes;
		frames->n_room = n_room;
	}
	table->fdes[table->n_fdes++] = (struct fde){.start = start, .end = start + bytes};
	return 0;
}

/* An entry of the CIE at CIE, an offset in the section. */
static int read_fde(struct frames *frames, uint64_t cie, struct cursor cursor)
{
	uint64_t start;
	uint64_t bytes;

	if (cie != frames->cie) {
		struct cursor at =
			cursor_over(frames->bytes, frames->n_bytes, cie, frames->n_bytes);
		uint32_t len = cursor_u32(&at);

		if (cursor_u32(&at) != 0 || at.failed || len < 4 || len - 4 > cursor_left(&at))
			return 0;
		at.end = at.at + (len - 4);
		frames->encoding = encoding_of(at);
		frames->cie = cie;
	}
	start = take_pointer(frames, &cursor);
	bytes = take_form(&cursor, frames->encoding & POINTER_FORM);
	return cursor.failed ? 0 : add(frames, start, bytes);
}

static int read_entries(struct frames *frames)
{
	struct cursor cursor = cursor_over(frames->bytes, frames->n_bytes, 0, frames->n_bytes);

	while (cursor_left(&cursor) && !loader_is_stopping()) {
		uint32_t len = cursor_u32(&cursor);
		uint64_t id_at = (uint64_t)(cursor.at - frames->bytes);
		struct cursor entry = cursor;
		uint32_t id;
		int r;

		/* 0 ends what one object brought: crt1.o's end comes before others' entries. */
		if (cursor.failed || len == UINT32_MAX || len > cursor_left(&cursor))
			return 0;
		entry.end = cursor.at + len;
		cursor.at += len;
		if (len < 4)
			continue;
		id = cursor_u32(&entry);
		if (id == 0 || id > id_at)
			continue;
		r = read_fde(frames, id_at - id, entry);
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct fde *a = left;
	const struct fde *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static void find_section(Elf *elf, struct frames *frames)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_section_named(elf, ".eh_frame", &header);
	const Elf_Data *data = elf_section_data(section, MAX_SECTION_BYTES);

	if (!data || !(header.sh_flags & SHF_ALLOC))
		return;
	frames->bytes = data->d_buf;
	frames->n_bytes = data->d_size;
	frames->vaddr = header.sh_addr;
}

int fde_table_read(Elf *elf, struct fde_table *ret_table)
{
	struct frames frames = {.cie = UINT64_MAX, .encoding = POINTER_UNKNOWN};
	int r;

	find_section(elf, &frames);
	r = read_entries(&frames);
	if (r < 0) {
		fde_table_release(&frames.table);
		return r;
	}
	if (frames.table.n_fdes)
		qsort(frames.table.fdes, frames.table.n_fdes, sizeof(*frames.table.fdes), compare);
	*ret_table = frames.table;
	return 0;
}

static const struct fde *find(const struct fde_table *table, uint64_t vaddr)
{
	size_t n = search_up_to(table->fdes, table->n_fdes, sizeof(*table->fdes), vaddr);

	return n && vaddr < table->fdes[n - 1].end ? &table->fdes[n - 1] : NULL;
}

uint64_t fde_start(const struct fde_table *table, uint64_t vaddr)
{
	const struct fde *fde = find(table, vaddr);

	return fde ? fde->start : FDE_NONE;
}

uint64_t fde_end(const struct fde_table *table, uint64_t vaddr)
{
	const struct fde *fde = find(table, vaddr);

	return fde ? fde->end : 0;
}

uint64_t fde_limit(const struct fde_table *table, uint64_t vaddr)
{
	size_t n = search_up_to(table->fdes, table->n_fdes, sizeof(*table->fdes), vaddr);

	if (n && vaddr < table->fdes[n - 1].end)
		return table->fdes[n - 1].end;
	return n < table->n_fdes ? table->fdes[n].start : 0;
}

void fde_table_release(struct fde_table *table)
{
	free(table->fdes);
	(void)memory_claim(&table->claim, 0);
	*table = (struct fde_table){0};
}
