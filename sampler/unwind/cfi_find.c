/* cfi_find.c - finds the FDE that covers an address, by .eh_frame_hdr or in .eh_frame */
#include "sampler/unwind/cfi.h"
#include "sampler/unwind/cursor.h"

/*
 * Not inlined: the stack that callers use while a callee reads is what counts, and a merged frame
 * is as large as the largest of them.
 */
#define DEEP __attribute__((noinline)) static

enum {
	HDR_VERSION = 1,
	HDR_TABLE_ENCODING = ENCODING_DATAREL | ENCODING_SDATA4,
	TABLE_ENTRY = 8,
	SCAN_ENTRIES = 16384,
	ENTRY_BYTES = 1 << 20, /* a longer one is not believed: a handler reads it */
};

/* False when there is no more (a length of zero, the end of the module) or it is bad. */
DEEP bool read_entry(struct cfi_cursor *cursor, const struct unwind_module *module, uint64_t at,
		     struct cfi_entry *ret_entry)
{
	uint64_t len;

	if (at < module->start || at >= module->end || module->end - at < 8)
		return false;
	cursor_move(cursor, at, module->end);
	len = cursor_fixed(cursor, 4);
	if (len == 0xffffffff)
		len = cursor_fixed(cursor, 8);
	if (cursor->failed || len < 4 || len > module->end - cursor->at || len > ENTRY_BYTES)
		return false;
	ret_entry->id_at = cursor->at;
	ret_entry->end = cursor->at + len;
	cursor->end = ret_entry->end;
	ret_entry->id = (uint32_t)cursor_fixed(cursor, 4);
	return !cursor->failed;
}

static bool read_letters(struct cfi_search *search)
{
	for (unsigned i = 0; i < CFI_LETTERS; i++) {
		search->letters[i] = cursor_byte(&search->cie);
		if (search->letters[i] == 0)
			return true;
	}
	return false;
}

static bool read_augmentation(struct cfi_search *search)
{
	struct cfi_cursor *cursor = &search->cie;
	uint64_t len = cursor_uleb(cursor);

	if (cursor->failed || len > cursor->end - cursor->at)
		return false;
	search->fde->cie_program = cursor->at + len;
	for (const unsigned char *letter = search->letters + 1; *letter; letter++) {
		if (*letter == 'R')
			search->fde->encoding = cursor_byte(cursor);
		else if (*letter == 'P') /* its value is of no use here: step over its bytes */
			(void)cursor_pointer(cursor, cursor_byte(cursor) & ENCODING_FORMAT, 0);
		else if (*letter == 'L')
			(void)cursor_byte(cursor);
		else if (*letter == 'S')
			search->fde->signal = true;
		else
			return false;
	}
	return !cursor->failed;
}

/* What the CIE says goes into the FDE. */
DEEP bool read_cie(struct cfi_search *search, uint64_t at)
{
	struct cfi_cursor *cursor = &search->cie;
	struct cfi_fde *fde = search->fde;
	uint8_t version;

	cursor_init(cursor, search->cursor.reader, search->module->start, search->module->end);
	if (!read_entry(cursor, search->module, at, &search->cie_entry) ||
	    search->cie_entry.id != 0)
		return false;
	version = cursor_byte(cursor);
	if ((version != 1 && version != 3) || !read_letters(search))
		return false;
	fde->code_align = cursor_uleb(cursor);
	fde->data_align = cursor_sleb(cursor);
	if ((version == 1 ? cursor_byte(cursor) : cursor_uleb(cursor)) != ARCH_REG_PC)
		return false;
	fde->encoding = ENCODING_ABSPTR;
	fde->signal = false;
	fde->augmented = search->letters[0] == 'z';
	fde->cie_program = cursor->at;
	fde->cie_end = search->cie_entry.end;
	if (fde->augmented)
		return read_augmentation(search);
	return search->letters[0] == 0 && !cursor->failed;
}

DEEP enum cfi_status read_fde(struct cfi_search *search, uint64_t at)
{
	struct cfi_cursor *cursor = &search->cursor;
	const struct cfi_entry *entry = &search->entry;
	struct cfi_fde *fde = search->fde;

	if (!read_entry(cursor, search->module, at, &search->entry) || entry->id == 0)
		return CFI_BAD;
	if (entry->id > entry->id_at - search->module->start ||
	    !read_cie(search, entry->id_at - entry->id))
		return CFI_BAD;
	fde->begin = cursor_pointer(cursor, fde->encoding, 0);
	fde->size = cursor_pointer(cursor, fde->encoding & ENCODING_FORMAT, 0);
	if (fde->augmented)
		cursor_skip(cursor, cursor_uleb(cursor));
	if (cursor->failed)
		return CFI_BAD;
	fde->program = cursor->at;
	fde->end = entry->end;
	return CFI_FOUND;
}

static bool covers(const struct cfi_fde *fde, uint64_t pc)
{
	return pc >= fde->begin && pc - fde->begin < fde->size;
}

/* The last entry that starts at or below the pc, by its distance from the table's header. */
DEEP enum cfi_status search_table(struct cfi_search *search, uint64_t *ret_fde_at)
{
	struct unwind_reader *reader = search->cursor.reader;
	int64_t wanted = (int64_t)(search->pc - search->module->eh_frame_hdr);
	uint64_t below = 0;
	uint64_t above = search->n_table;
	int32_t entry[2];

	if (above > (search->module->end - search->table) / TABLE_ENTRY)
		return CFI_BAD;
	while (below < above) {
		uint64_t middle = below + (above - below) / 2;

		if (!reader->read(reader, search->table + middle * TABLE_ENTRY, entry,
				  sizeof(entry)))
			return CFI_BAD;
		if (entry[0] <= wanted) {
			below = middle + 1;
			*ret_fde_at = search->module->eh_frame_hdr + (uint64_t)(int64_t)entry[1];
		} else {
			above = middle;
		}
	}
	return below ? CFI_FOUND : CFI_NONE;
}

DEEP enum cfi_status scan_entries(struct cfi_search *search)
{
	uint64_t at = search->eh_frame;

	for (unsigned i = 0; i < SCAN_ENTRIES; i++) {
		if (!read_entry(&search->cursor, search->module, at, &search->entry))
			return CFI_NONE;
		if (search->entry.id != 0 && read_fde(search, at) == CFI_FOUND &&
		    covers(search->fde, search->pc))
			return CFI_FOUND;
		search->cursor.failed = false;
		at = search->entry.end;
	}
	return CFI_NONE;
}

DEEP enum cfi_status read_header(struct cfi_search *search)
{
	uint64_t hdr = search->module->eh_frame_hdr;
	struct cfi_cursor *cursor = &search->cursor;
	uint8_t encodings[4];

	for (unsigned i = 0; i < 4; i++)
		encodings[i] = cursor_byte(cursor);
	if (cursor->failed || encodings[0] != HDR_VERSION)
		return CFI_BAD;
	search->eh_frame = cursor_pointer(cursor, encodings[1], hdr);
	search->n_table = 0;
	if (encodings[2] != ENCODING_OMIT)
		search->n_table = cursor_pointer(cursor, encodings[2], hdr);
	search->table = cursor->at;
	if (encodings[2] == ENCODING_OMIT || encodings[3] != HDR_TABLE_ENCODING)
		search->table = 0;
	return cursor->failed ? CFI_BAD : CFI_FOUND;
}

static enum cfi_status find(struct cfi_search *search)
{
	enum cfi_status status = read_header(search);
	uint64_t fde_at = 0;

	if (status != CFI_FOUND)
		return status;
	if (!search->table)
		return scan_entries(search);
	status = search_table(search, &fde_at);
	if (status == CFI_FOUND)
		status = read_fde(search, fde_at);
	if (status == CFI_FOUND && !covers(search->fde, search->pc))
		status = CFI_NONE;
	return status;
}

enum cfi_status cfi_find(struct unwind_reader *reader, const struct unwind_module *module,
			 uint64_t pc, struct cfi_fde *ret_fde)
{
	struct cfi_search *search = &reader->scratch.search;

	if (module->eh_frame_hdr < module->start || module->eh_frame_hdr >= module->end)
		return CFI_NONE;
	search->module = module;
	search->pc = pc;
	search->fde = ret_fde;
	cursor_init(&search->cursor, reader, module->eh_frame_hdr, module->end);
	return find(search);
}
