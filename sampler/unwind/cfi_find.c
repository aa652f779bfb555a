/* cfi_find.c - .eh_frame_hdr and .eh_frame: which FDE covers an address */
#include "sampler/unwind/cfi.h"
#include "sampler/unwind/cursor.h"

/*
 * Not inlined: what a caller has on the stack while a callee reads is what counts, and frames
 * that are merged are as large as the largest of them.
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
static bool read_entry(struct cfi_cursor *cursor, const struct unwind_module *module, uint64_t at,
		       struct cfi_entry *ret_entry)
{
	uint64_t len;

	if (at < module->start || at >= module->end || module->end - at < 8)
		return false;
	cursor_move(cursor, at, module->end);
	len = cursor_fixed(cursor, 4);
	if (len == 0xffffffff) {
		if (module->end - at < 16)
			return false;
		cursor_move(cursor, at + 4, module->end);
		len = cursor_fixed(cursor, 8);
	}
	if (cursor->failed || len < 4 || len > module->end - cursor->at || len > ENTRY_BYTES)
		return false;
	ret_entry->id_at = cursor->at;
	ret_entry->end = cursor->at + len;
	cursor_move(cursor, ret_entry->id_at, ret_entry->end);
	ret_entry->id = (uint32_t)cursor_fixed(cursor, 4);
	return !cursor->failed;
}

DEEP bool read_augmentation(struct cfi_cursor *cursor, const unsigned char *letters,
			      struct cfi_fde *fde)
{
	uint64_t len = cursor_uleb(cursor);
	uint64_t end;

	if (cursor->failed || len > cursor->end - cursor->at)
		return false;
	end = cursor->at + len;
	for (unsigned i = 1; letters[i]; i++) {
		if (letters[i] == 'R') {
			fde->encoding = cursor_byte(cursor);
		} else if (letters[i] == 'P') {
			uint8_t encoding = cursor_byte(cursor);

			/* The personality's value is of no use here: step over its bytes. */
			(void)cursor_pointer(cursor, encoding & ENCODING_FORMAT, 0);
		} else if (letters[i] == 'L') {
			(void)cursor_byte(cursor);
		} else if (letters[i] == 'S') {
			fde->signal = true;
		} else {
			return false;
		}
	}
	cursor_move(cursor, end, cursor->end);
	return !cursor->failed;
}

/* What the CIE says goes into the FDE. */
DEEP bool read_cie(struct cfi_search *search, const struct unwind_module *module, uint64_t at,
		     struct cfi_fde *fde)
{
	struct cfi_cursor *cursor = &search->cie;
	unsigned char *letters = search->letters;
	unsigned n = 0;
	uint8_t version;

	cursor_init(cursor, search->cursor.reader, module->start, module->end);
	if (!read_entry(cursor, module, at, &search->cie_entry) || search->cie_entry.id != 0)
		return false;
	version = cursor_byte(cursor);
	if (version != 1 && version != 3)
		return false;
	while ((letters[n] = cursor_byte(cursor)) != 0)
		if (++n == CFI_LETTERS)
			return false;
	fde->code_align = cursor_uleb(cursor);
	fde->data_align = cursor_sleb(cursor);
	if ((version == 1 ? cursor_byte(cursor) : cursor_uleb(cursor)) != ARCH_REG_PC)
		return false;
	fde->encoding = ENCODING_ABSPTR;
	fde->signal = false;
	fde->augmented = letters[0] == 'z';
	if (n && !fde->augmented)
		return false;
	if (fde->augmented && !read_augmentation(cursor, letters, fde))
		return false;
	fde->cie_program = cursor->at;
	fde->cie_end = search->cie_entry.end;
	return !cursor->failed;
}

DEEP enum cfi_status read_fde(struct cfi_search *search, const struct unwind_module *module,
				uint64_t at, struct cfi_fde *fde)
{
	struct cfi_cursor *cursor = &search->cursor;
	const struct cfi_entry *entry = &search->entry;
	uint64_t body;

	if (!read_entry(cursor, module, at, &search->entry) || entry->id == 0)
		return CFI_BAD;
	body = cursor->at;
	if (entry->id > entry->id_at - module->start ||
	    !read_cie(search, module, entry->id_at - entry->id, fde))
		return CFI_BAD;
	cursor_move(cursor, body, entry->end);
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
DEEP enum cfi_status search_table(struct cfi_search *search, const struct unwind_module *module,
				    uint64_t pc, uint64_t *ret_fde_at)
{
	struct unwind_reader *reader = search->cursor.reader;
	int64_t wanted = (int64_t)(pc - module->eh_frame_hdr);
	uint64_t below = 0;
	uint64_t above = search->n_table;
	int32_t found = 0;

	if (above > (module->end - search->table) / TABLE_ENTRY)
		return CFI_BAD;
	while (below < above) {
		uint64_t middle = below + (above - below) / 2;
		int32_t entry[2];

		if (!reader->read(reader, search->table + middle * TABLE_ENTRY, entry,
				  sizeof(entry)))
			return CFI_BAD;
		if (entry[0] <= wanted) {
			below = middle + 1;
			found = entry[1];
		} else {
			above = middle;
		}
	}
	if (below == 0)
		return CFI_NONE;
	*ret_fde_at = module->eh_frame_hdr + (uint64_t)(int64_t)found;
	return CFI_FOUND;
}

DEEP enum cfi_status scan_entries(struct cfi_search *search, const struct unwind_module *module,
				    uint64_t pc, struct cfi_fde *fde)
{
	uint64_t at = search->eh_frame;

	for (unsigned i = 0; i < SCAN_ENTRIES; i++) {
		if (!read_entry(&search->cursor, module, at, &search->entry))
			return CFI_NONE;
		if (search->entry.id != 0 && read_fde(search, module, at, fde) == CFI_FOUND &&
		    covers(fde, pc))
			return CFI_FOUND;
		search->cursor.failed = false;
		at = search->entry.end;
	}
	return CFI_NONE;
}

DEEP enum cfi_status read_header(struct cfi_search *search, struct unwind_reader *reader,
				   const struct unwind_module *module)
{
	uint64_t hdr = module->eh_frame_hdr;
	struct cfi_cursor *cursor = &search->cursor;
	uint8_t encodings[4];

	if (hdr < module->start || hdr >= module->end)
		return CFI_NONE;
	cursor_init(cursor, reader, hdr, module->end);
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

enum cfi_status cfi_find(struct unwind_reader *reader, const struct unwind_module *module,
			 uint64_t pc, struct cfi_fde *ret_fde)
{
	struct cfi_search *search = &reader->scratch.search;
	enum cfi_status status = read_header(search, reader, module);
	uint64_t fde_at = 0;

	if (status != CFI_FOUND)
		return status;
	if (!search->table)
		return scan_entries(search, module, pc, ret_fde);
	status = search_table(search, module, pc, &fde_at);
	if (status == CFI_FOUND)
		status = read_fde(search, module, fde_at, ret_fde);
	if (status == CFI_FOUND && !covers(ret_fde, pc))
		status = CFI_NONE;
	return status;
}
