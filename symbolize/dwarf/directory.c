/* directory.c - two tables, the second made only when the first does not know an address */
#include "symbolize/dwarf/directory.h"

#include "base/search.h"
#include "symbolize/bounds/cursor.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/dwarf/line_header.h"
#include "symbolize/dwarf/lines.h"
#include "symbolize/dwarf/ranges.h"

#include <dwarf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	MAX_CANDIDATES = 16,
	MAX_STEPS = 4096, /* back over ranges that begin before an address and end before it, too */
	SPARE = 64 * 1024,
};

struct span {
	uint64_t lo;
	uint64_t hi;
	uint64_t highest; /* end of all spans up to this one */
	uint64_t unit;
};

/* Never changed once it is made. */
struct table {
	size_t n;
	struct span spans[];
};

struct directory {
	const struct dwarf_source *source;
	const struct elf_head *head;
	pthread_mutex_t lock;           /* while a table is made */
	_Atomic(struct table *) listed; /* by .debug_aranges */
	_Atomic(struct table *) all;    /* by the units themselves */
};

/* A table on its way.  What may still be added or read is bounded by the bytes there are. */
struct maker {
	const struct dwarf_source *source;
	const struct elf_head *head;
	struct table *table;
	size_t room;
	uint64_t unit;
	uint64_t spans_left;
	uint64_t ranges_left;
	uint64_t lines_left; /* bytes of programs */
};

/* Units that an address may be in. */
struct candidates {
	struct span of[MAX_CANDIDATES];
	size_t n;
};

int directory_new(const struct dwarf_source *source, const struct elf_head *head,
		  struct directory **ret_directory)
{
	struct directory *directory = calloc(1, sizeof(*directory));

	if (!directory)
		return -ENOMEM;
	directory->source = source;
	directory->head = head;
	(void)pthread_mutex_init(&directory->lock, NULL);
	*ret_directory = directory;
	return 0;
}

void directory_free(struct directory *directory)
{
	if (!directory)
		return;
	free(atomic_load_explicit(&directory->listed, memory_order_relaxed));
	free(atomic_load_explicit(&directory->all, memory_order_relaxed));
	(void)pthread_mutex_destroy(&directory->lock);
	free(directory);
}

static int grow(struct maker *maker)
{
	size_t room = maker->room * 2;
	struct table *table;

	if (room > SIZE_MAX / 2 / sizeof(struct span))
		return -ENOMEM;
	table = realloc(maker->table, sizeof(*table) + room * sizeof(struct span));
	if (!table)
		return -ENOMEM;
	maker->table = table;
	maker->room = room;
	return 0;
}

/* Code that was thrown away is at no address. */
static int add(void *context, uint64_t lo, uint64_t hi)
{
	struct maker *maker = (struct maker *)context;
	struct table *table = maker->table;
	int r;

	if (loader_is_stopping())
		return -ECANCELED;
	if (lo == 0 || lo >= hi || !elf_head_executable(maker->head, lo))
		return 0;
	if (table->n && table->spans[table->n - 1].unit == maker->unit &&
	    table->spans[table->n - 1].hi == lo) {
		table->spans[table->n - 1].hi = hi;
		return 0;
	}
	if (maker->spans_left == 0)
		return -E2BIG;
	if (table->n == maker->room) {
		r = grow(maker);
		if (r < 0)
			return r;
		table = maker->table;
	}
	maker->spans_left--;
	table->spans[table->n++] = (struct span){.lo = lo, .hi = hi, .unit = maker->unit};
	return 0;
}

/* Tuples of one set of .debug_aranges (6.1.2), aligned to their own size from its start. */
static int read_set(struct cursor *cursor, struct maker *maker)
{
	const uint8_t *start = cursor->at;
	uint8_t offset_size;
	uint64_t length = cursor_initial_length(cursor, &offset_size);
	struct cursor set = *cursor;
	uint8_t address_size;
	size_t misplaced;
	int r = 0;

	(void)cursor_skip(cursor, length);
	set.end = cursor->at;
	if (cursor->failed || cursor_u16(&set) != 2)
		return 0;
	maker->unit = cursor_unsigned(&set, offset_size);
	address_size = cursor_u8(&set);
	if (set.failed || (address_size != 4 && address_size != 8) || cursor_u8(&set) != 0)
		return 0;
	misplaced = (size_t)(set.at - start) % (2U * address_size);
	(void)cursor_skip(&set, misplaced ? 2U * address_size - misplaced : 0);
	while (r == 0 && cursor_left(&set) >= 2U * address_size) {
		uint64_t lo = cursor_unsigned(&set, address_size);
		uint64_t len = cursor_unsigned(&set, address_size);

		r = add(maker, lo, lo + len);
	}
	return r;
}

static void read_aranges(struct maker *maker)
{
	const struct dwarf_bytes *bytes = &maker->source->of[DWARF_ARANGES];
	struct cursor cursor = cursor_over(bytes->data, bytes->len, 0, bytes->len);

	while (!cursor.failed && cursor_left(&cursor)) {
		if (read_set(&cursor, maker) < 0)
			break;
	}
}

/* A unit without any address of its own has those of its line program. */
static void add_sequences(struct maker *maker, const struct dwarf_unit *unit)
{
	struct line_table lines = {0};
	struct line_header header;
	uint64_t start = 0;

	if (line_header_read(unit, &header, NULL) < 0 ||
	    cursor_left(&header.program) > maker->lines_left)
		return;
	maker->lines_left -= cursor_left(&header.program);
	if (lines_read(unit, maker->head, &lines) < 0)
		return;
	for (size_t i = 0; i < lines.n_rows; i++) {
		if (start == 0)
			start = lines.rows[i].addr;
		if (lines.rows[i].ends) {
			(void)add(maker, start, lines.rows[i].addr);
			start = 0;
		}
	}
	line_table_release(&lines);
}

static void add_unit(struct maker *maker, const struct dwarf_unit *unit)
{
	if (unit->type != UNIT_COMPILE && unit->type != UNIT_SKELETON)
		return;
	if (unit->tag != DW_TAG_compile_unit && unit->tag != DW_TAG_skeleton_unit)
		return;
	maker->unit = unit->offset;
	if (unit->ranges.class != FORM_NONE)
		(void)ranges_each_of(unit, &unit->ranges, &maker->ranges_left, add, maker);
	else if (unit->high_pc > unit->low_pc)
		(void)add(maker, unit->low_pc, unit->high_pc);
	else
		add_sequences(maker, unit);
}

static void read_units(struct maker *maker)
{
	const struct dwarf_source *source = maker->source;
	uint64_t offset = 0;

	for (int n = 0; n < UNIT_MAX_COUNT && offset < source->of[DWARF_INFO].len; n++) {
		struct dwarf_unit unit;
		uint64_t next = unit_next(source, offset);

		if (next <= offset || loader_is_stopping())
			break;
		if (unit_read(source, offset, &unit) == 0)
			add_unit(maker, &unit);
		offset = next;
	}
}

static int compare(const void *left, const void *right)
{
	const struct span *a = (const struct span *)left;
	const struct span *b = (const struct span *)right;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static struct table *make(const struct directory *directory, void (*read)(struct maker *maker))
{
	const struct dwarf_bytes *of = directory->source->of;
	struct maker maker = {
		.source = directory->source,
		.head = directory->head,
		.room = 64,
		.spans_left =
			SPARE + (of[DWARF_INFO].len + of[DWARF_ARANGES].len + of[DWARF_RANGES].len +
				 of[DWARF_RNGLISTS].len + of[DWARF_LINE].len) /
					2,
		.ranges_left = SPARE + of[DWARF_RANGES].len + of[DWARF_RNGLISTS].len,
		.lines_left = SPARE + 2 * of[DWARF_LINE].len,
	};
	uint64_t highest = 0;

	maker.table = malloc(sizeof(struct table) + maker.room * sizeof(struct span));
	if (!maker.table)
		return NULL;
	maker.table->n = 0;
	read(&maker);
	qsort(maker.table->spans, maker.table->n, sizeof(struct span), compare);
	for (size_t i = 0; i < maker.table->n; i++) {
		struct span *span = &maker.table->spans[i];

		highest = span->hi > highest ? span->hi : highest;
		span->highest = highest;
	}
	return maker.table;
}

/* The table, made on first use.  NULL: out of memory. */
static const struct table *get(struct directory *directory, _Atomic(struct table *) *table,
			       void (*read)(struct maker *maker))
{
	struct table *made = atomic_load_explicit(table, memory_order_acquire);

	if (made)
		return made;
	(void)pthread_mutex_lock(&directory->lock);
	made = atomic_load_explicit(table, memory_order_relaxed);
	if (!made) {
		made = make(directory, read);
		atomic_store_explicit(table, made, memory_order_release);
	}
	(void)pthread_mutex_unlock(&directory->lock);
	return made;
}

/* The narrower first; of two as wide the first of the file: of functions that several units have
 * and one kept, linkers keep the first. */
static bool goes_before(const struct span *a, const struct span *b)
{
	uint64_t a_width = a->hi - a->lo;
	uint64_t b_width = b->hi - b->lo;

	return a_width != b_width ? a_width < b_width : a->unit < b->unit;
}

/* Sorted in from FIRST on; a unit that is among them already is left where it is.  When there is
 * no room the last has to go. */
static void offer(struct candidates *candidates, size_t first, const struct span *span)
{
	size_t i;

	for (i = 0; i < candidates->n; i++) {
		if (candidates->of[i].unit == span->unit)
			return;
	}
	if (i == MAX_CANDIDATES) {
		if (i == first || !goes_before(span, &candidates->of[i - 1]))
			return;
		i--;
	} else {
		candidates->n++;
	}
	for (; i > first && goes_before(span, &candidates->of[i - 1]); i--)
		candidates->of[i] = candidates->of[i - 1];
	candidates->of[i] = *span;
}

static void find_in(const struct table *table, uint64_t addr, struct candidates *candidates)
{
	size_t first = candidates->n;
	size_t i = table ? search_up_to(table->spans, table->n, sizeof(struct span), addr) : 0;

	for (size_t steps = 0; i-- > 0 && steps < MAX_STEPS; steps++) {
		if (table->spans[i].highest <= addr)
			break;
		if (table->spans[i].hi > addr)
			offer(candidates, first, &table->spans[i]);
	}
}

bool directory_find(struct directory *directory, uint64_t addr, size_t nth, uint64_t *ret_offset)
{
	struct candidates candidates = {.n = 0};

	find_in(get(directory, &directory->listed, read_aranges), addr, &candidates);
	if (nth >= candidates.n)
		find_in(get(directory, &directory->all, read_units), addr, &candidates);
	if (nth >= candidates.n)
		return false;
	*ret_offset = candidates.of[nth].unit;
	return true;
}
