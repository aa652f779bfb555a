/* cfi_find.c - .eh_frame_hdr and .eh_frame: which FDE covers an address */
#include "sampler/unwind/cfi.h"
#include "sampler/unwind/cursor.h"

enum {
	HDR_VERSION = 1,
	HDR_TABLE_ENCODING = ENCODING_DATAREL | ENCODING_SDATA4,
	TABLE_ENTRY = 8,
	SCAN_ENTRIES = 16384,
	AUGMENTATION_LETTERS = 8,
	ENTRY_BYTES = 1 << 20, /* a longer one is not believed: a handler reads it */
};

/* One entry of .eh_frame: its content begins at the id, and the id says CIE or FDE. */
struct entry {
	uint64_t id_at;
	uint64_t end;
	uint32_t id;
};

struct cie {
	uint64_t program;
	uint64_t end;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;
	bool augmented;
	bool signal;
};

/* False when there is no more (a length of zero, the end of the module) or it is bad. */
static bool read_entry(struct cursor *cursor, const struct unwind_module *module, uint64_t at,
		       struct entry *ret_entry)
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

static bool read_augmentation(struct cursor *cursor, const unsigned char *letters, struct cie *cie)
{
	uint64_t len = cursor_uleb(cursor);
	uint64_t end;

	if (cursor->failed || len > cursor->end - cursor->at)
		return false;
	end = cursor->at + len;
	for (unsigned i = 1; letters[i]; i++) {
		if (letters[i] == 'R') {
			cie->encoding = cursor_byte(cursor);
		} else if (letters[i] == 'P') {
			uint8_t encoding = cursor_byte(cursor);

			/* The personality's value is of no use here: step over its bytes. */
			(void)cursor_pointer(cursor, encoding & ENCODING_FORMAT, 0);
		} else if (letters[i] == 'L') {
			(void)cursor_byte(cursor);
		} else if (letters[i] == 'S') {
			cie->signal = true;
		} else {
			return false;
		}
	}
	cursor_move(cursor, end, cursor->end);
	return !cursor->failed;
}

/* With a cursor of its own: the FDE's window stays where it is. */
static bool read_cie(struct unwind_reader *reader, const struct unwind_module *module, uint64_t at,
		     struct cie *cie)
{
	struct cursor own;
	struct cursor *cursor = &own;
	unsigned char letters[AUGMENTATION_LETTERS] = {0};
	struct entry entry;
	unsigned n = 0;
	uint8_t version;

	cursor_init(cursor, reader, module->start, module->end);
	if (!read_entry(cursor, module, at, &entry) || entry.id != 0)
		return false;
	version = cursor_byte(cursor);
	if (version != 1 && version != 3)
		return false;
	while ((letters[n] = cursor_byte(cursor)) != 0)
		if (++n == AUGMENTATION_LETTERS)
			return false;
	cie->code_align = cursor_uleb(cursor);
	cie->data_align = cursor_sleb(cursor);
	if ((version == 1 ? cursor_byte(cursor) : cursor_uleb(cursor)) != ARCH_REG_PC)
		return false;
	cie->encoding = ENCODING_ABSPTR;
	cie->signal = false;
	cie->augmented = letters[0] == 'z';
	if (n && !cie->augmented)
		return false;
	if (cie->augmented && !read_augmentation(cursor, letters, cie))
		return false;
	cie->program = cursor->at;
	cie->end = entry.end;
	return !cursor->failed;
}

static enum cfi_status read_fde(struct cursor *cursor, const struct unwind_module *module,
				uint64_t at, struct cfi_fde *fde)
{
	struct entry entry;
	struct cie cie;
	uint64_t body;

	if (!read_entry(cursor, module, at, &entry) || entry.id == 0)
		return CFI_BAD;
	body = cursor->at;
	if (entry.id > entry.id_at - module->start ||
	    !read_cie(cursor->reader, module, entry.id_at - entry.id, &cie))
		return CFI_BAD;
	cursor_move(cursor, body, entry.end);
	fde->begin = cursor_pointer(cursor, cie.encoding, 0);
	fde->size = cursor_pointer(cursor, cie.encoding & ENCODING_FORMAT, 0);
	if (cie.augmented)
		cursor_skip(cursor, cursor_uleb(cursor));
	if (cursor->failed)
		return CFI_BAD;
	fde->program = cursor->at;
	fde->end = entry.end;
	fde->cie_program = cie.program;
	fde->cie_end = cie.end;
	fde->code_align = cie.code_align;
	fde->data_align = cie.data_align;
	fde->encoding = cie.encoding;
	fde->augmented = cie.augmented;
	fde->signal = cie.signal;
	return CFI_FOUND;
}

static bool covers(const struct cfi_fde *fde, uint64_t pc)
{
	return pc >= fde->begin && pc - fde->begin < fde->size;
}

/* The last entry that starts at or below the pc, by its distance from the table's header. */
static enum cfi_status search_table(struct unwind_reader *reader,
				    const struct unwind_module *module, uint64_t table, uint64_t n,
				    uint64_t pc, uint64_t *ret_fde_at)
{
	int64_t wanted = (int64_t)(pc - module->eh_frame_hdr);
	uint64_t below = 0;
	uint64_t above = n;
	int32_t found = 0;

	if (n > (module->end - table) / TABLE_ENTRY)
		return CFI_BAD;
	while (below < above) {
		uint64_t middle = below + (above - below) / 2;
		int32_t entry[2];

		if (!reader->read(reader, table + middle * TABLE_ENTRY, entry, sizeof(entry)))
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

static enum cfi_status scan_entries(struct cursor *cursor, const struct unwind_module *module,
				    uint64_t at, uint64_t pc, struct cfi_fde *fde)
{
	struct entry entry;

	for (unsigned i = 0; i < SCAN_ENTRIES; i++) {
		if (!read_entry(cursor, module, at, &entry))
			return CFI_NONE;
		if (entry.id != 0 && read_fde(cursor, module, at, fde) == CFI_FOUND &&
		    covers(fde, pc))
			return CFI_FOUND;
		cursor->failed = false;
		at = entry.end;
	}
	return CFI_NONE;
}

enum cfi_status cfi_find(struct unwind_reader *reader, const struct unwind_module *module,
			 uint64_t pc, struct cfi_fde *ret_fde)
{
	uint64_t hdr = module->eh_frame_hdr;
	struct cursor cursor;
	uint64_t eh_frame;
	uint64_t fde_at = 0;
	uint64_t n = 0;
	uint8_t encodings[4];
	enum cfi_status status;

	if (hdr < module->start || hdr >= module->end)
		return CFI_NONE;
	cursor_init(&cursor, reader, hdr, module->end);
	for (unsigned i = 0; i < 4; i++)
		encodings[i] = cursor_byte(&cursor);
	if (cursor.failed || encodings[0] != HDR_VERSION)
		return CFI_BAD;
	eh_frame = cursor_pointer(&cursor, encodings[1], hdr);
	if (encodings[2] != ENCODING_OMIT)
		n = cursor_pointer(&cursor, encodings[2], hdr);
	if (cursor.failed)
		return CFI_BAD;
	if (encodings[2] == ENCODING_OMIT || encodings[3] != HDR_TABLE_ENCODING)
		return scan_entries(&cursor, module, eh_frame, pc, ret_fde);
	status = search_table(reader, module, cursor.at, n, pc, &fde_at);
	if (status == CFI_FOUND)
		status = read_fde(&cursor, module, fde_at, ret_fde);
	if (status == CFI_FOUND && !covers(ret_fde, pc))
		status = CFI_NONE;
	return status;
}
