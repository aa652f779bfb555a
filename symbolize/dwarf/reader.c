/* reader.c - one thread's way from an address to a table */
#include "symbolize/dwarf/dwarf.h"

#include "symbolize/dwarf/directory.h"
#include "symbolize/dwarf/file.h"
#include "symbolize/dwarf/inlines.h"
#include "symbolize/dwarf/name.h"
#include "symbolize/dwarf/split.h"
#include "symbolize/dwarf/unit_cache.h"
#include "symbolize/sections/dwarf_fallback.h"

#include <errno.h>
#include <stdlib.h>

enum {
	HOT_UNITS = 256, /* kept with their lines: adjacent functions alternate */
	HOT_MAX_ROWS = 2 * 1024 * 1024,
	HOT_MAX_BYTES = 32 * 1024 * 1024, /* of .debug_info in memory */
	MAX_CANDIDATES = 16,              /* units that claim an address */
};

/* A unit that addresses are looked up in.  Its lines are its skeleton's, if it is split. */
struct hot_unit {
	bool used;
	uint64_t offset; /* in the module's .debug_info */
	uint64_t tick;   /* when it was last used */
	int error;       /* of loading it */
	struct dwarf_unit skeleton;
	struct loaded_unit *unit;
	struct line_table lines;
	bool lines_tried;
	uint64_t n_bytes; /* of .debug_info; 0: it could not be read */
};

/* The units that claim an address, as far as they are known. */
struct candidates {
	uint64_t offsets[MAX_CANDIDATES];
	size_t n;
	bool all;
};

struct dwarf_reader {
	struct dwarf_file *file;
	struct unit_cache units;
	struct name_memo names;
	struct function_reading reading;
	struct hot_unit hot[HOT_UNITS];
	struct hot_unit *last; /* that was used */
	size_t n_rows;         /* of all hot units */
	uint64_t n_bytes;      /* the same, of .debug_info */
	uint64_t tick;
};

int dwarf_reader_new(struct dwarf_file *file, struct dwarf_reader **ret_reader)
{
	struct dwarf_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->file = file;
	reader->units.file = file;
	if (function_builder_new(&reader->reading.builder) < 0) {
		free(reader);
		return -ENOMEM;
	}
	reader->reading.units = &reader->units;
	reader->reading.names = &reader->names;
	*ret_reader = reader;
	return 0;
}

static void cool(struct dwarf_reader *reader, struct hot_unit *hot)
{
	reader->n_rows -= hot->lines.n_rows;
	reader->n_bytes -= hot->n_bytes;
	if (hot->n_bytes)
		dwarf_file_drop(reader->file, &hot->skeleton);
	line_table_release(&hot->lines);
	*hot = (struct hot_unit){.used = false};
}

void dwarf_reader_free(struct dwarf_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < HOT_UNITS; i++)
		cool(reader, &reader->hot[i]);
	unit_cache_release(&reader->units);
	name_memo_release(&reader->names);
	inlines_release(&reader->reading);
	function_builder_free(reader->reading.builder);
	free(reader);
}

/* Between addresses nothing of the caches is in use. */
static void trim(struct dwarf_reader *reader)
{
	if (unit_cache_full(&reader->units)) {
		for (size_t i = 0; i < HOT_UNITS; i++)
			cool(reader, &reader->hot[i]);
		unit_cache_release(&reader->units);
	}
	if (name_memo_full(&reader->names))
		name_memo_release(&reader->names);
}

/* The unit that has the entries: the split one, where there is one and it is to be had. */
static int load(struct dwarf_reader *reader, struct hot_unit *hot)
{
	const struct dwarf_source *source = &reader->file->source;
	uint64_t offset;
	int r = unit_read(source, hot->offset, &hot->skeleton);

	if (r < 0)
		return r;
	if (hot->skeleton.dwo_name[0]) {
		r = split_find(reader->file->split, &hot->skeleton, &source, &offset);
		if (r == 0)
			r = unit_cache_get(&reader->units, source, offset, &hot->skeleton,
					   &hot->unit);
		if (r == 0 || r == -ENOMEM)
			return r;
	}
	return unit_cache_get(&reader->units, &reader->file->source, hot->offset, NULL, &hot->unit);
}

/* Forget the least recently used unit. */
static void cool_oldest(struct dwarf_reader *reader, const struct hot_unit *but)
{
	struct hot_unit *oldest = NULL;

	for (size_t i = 0; i < HOT_UNITS; i++) {
		struct hot_unit *hot = &reader->hot[i];

		if (hot->used && hot != but && (!oldest || hot->tick < oldest->tick))
			oldest = hot;
	}
	if (oldest)
		cool(reader, oldest);
}

static struct hot_unit *warm(struct dwarf_reader *reader, uint64_t offset)
{
	struct hot_unit *hot = &reader->hot[0];

	reader->tick++;
	if (reader->last && reader->last->used && reader->last->offset == offset) {
		reader->last->tick = reader->tick;
		return reader->last;
	}
	for (size_t i = 0; i < HOT_UNITS; i++) {
		if (reader->hot[i].used && reader->hot[i].offset == offset) {
			reader->hot[i].tick = reader->tick;
			reader->last = &reader->hot[i];
			return reader->last;
		}
		if (reader->hot[i].tick < hot->tick)
			hot = &reader->hot[i];
	}
	cool(reader, hot);
	hot->used = true;
	hot->offset = offset;
	hot->tick = reader->tick;
	hot->error = load(reader, hot);
	hot->n_bytes = hot->skeleton.end - hot->skeleton.offset;
	reader->n_bytes += hot->n_bytes;
	for (size_t i = 0; reader->n_bytes > HOT_MAX_BYTES && i < HOT_UNITS; i++)
		cool_oldest(reader, hot);
	reader->last = hot;
	return hot;
}

/* Lines that cannot be read are none. */
static int need_lines(struct dwarf_reader *reader, struct hot_unit *hot)
{
	int r;

	if (hot->lines_tried)
		return 0;
	r = lines_read(&hot->skeleton, reader->file->head, &hot->lines);
	if (r == -ENOMEM)
		return r;
	hot->lines_tried = true;
	reader->n_rows += hot->lines.n_rows;
	for (size_t i = 0; reader->n_rows > HOT_MAX_ROWS && i < HOT_UNITS; i++)
		cool_oldest(reader, hot);
	return 0;
}

/* The function at ADDR in one unit. */
static int read_in(struct dwarf_reader *reader, struct hot_unit *hot, uint64_t addr,
		   bool everything, struct function_table *ret_table)
{
	uint64_t die;
	int r = hot->error;

	if (r == 0)
		r = unit_cache_index(&reader->units, hot->unit, everything);
	if (r < 0)
		return r;
	die = function_index_find(&hot->unit->index, addr);
	if (!die)
		return -ENOENT;
	r = need_lines(reader, hot);
	if (r < 0)
		return r;
	reader->reading.unit = hot->unit;
	reader->reading.lines = &hot->lines;
	return inlines_read(&reader->reading, die, ret_table);
}

/* Where no function is known there may be lines: of assembly, or with -gline-tables-only. */
static int lines_in(struct dwarf_reader *reader, struct hot_unit *hot, uint64_t addr,
		    struct function_table *ret_table)
{
	const struct line_table *lines = &hot->lines;
	uint64_t lo;
	uint64_t hi;
	size_t first;
	size_t last;
	int r = hot->error ? hot->error : need_lines(reader, hot);

	if (r < 0)
		return r;
	first = line_table_find(lines, addr);
	if (first >= lines->n_rows || !lines->rows[first].line)
		return -ENOENT;
	for (last = first + 1; last < lines->n_rows && lines->rows[last].line; last++)
		;
	if (last == lines->n_rows)
		return -ENOENT;
	while (first > 0 && lines->rows[first - 1].line)
		first--;
	lo = lines->rows[first].addr;
	hi = lines->rows[last].addr;
	if (hot->unit->indexed)
		function_index_gap(&hot->unit->index, addr, &lo, &hi);
	reader->reading.unit = hot->unit;
	reader->reading.lines = &hot->lines;
	return inlines_only_lines(&reader->reading, lo, hi, ret_table);
}

/* The NTH unit that claims ADDR, requested only once: a request for one too many makes the
 * directory search all units. */
static bool candidate(struct dwarf_reader *reader, uint64_t addr, size_t nth,
		      struct candidates *candidates)
{
	if (nth < candidates->n)
		return true;
	if (candidates->all || nth >= MAX_CANDIDATES)
		return false;
	candidates->all =
		!directory_find(reader->file->directory, addr, nth, &candidates->offsets[nth]);
	candidates->n += !candidates->all;
	return !candidates->all;
}

/* As units are walked first; then everything in them; then only their lines. */
static int read_pass(struct dwarf_reader *reader, struct hot_unit *hot, uint64_t addr, int pass,
		     struct function_table *ret_table)
{
	if (pass == 2)
		return lines_in(reader, hot, addr, ret_table);
	return read_in(reader, hot, addr, pass == 1, ret_table);
}

int dwarf_read_function(struct dwarf_reader *reader, uint64_t addr,
			struct function_table *ret_table)
{
	struct candidates candidates = {.n = 0};
	int worst = -ENOENT;

	trim(reader);
	for (int pass = 0; pass < 3; pass++) {
		if (pass == 2 && worst == -EBADMSG &&
		    dwarf_fallback_read(reader->file->fallback, addr, ret_table) == 0)
			return 0;
		for (size_t i = 0; candidate(reader, addr, i, &candidates); i++) {
			struct hot_unit *hot = warm(reader, candidates.offsets[i]);
			int r = read_pass(reader, hot, addr, pass, ret_table);

			if (r == 0 || r == -ENOMEM)
				return r;
			if (r == -EBADMSG)
				worst = r;
		}
	}
	return worst;
}
