/* unit_cache.c - loading units once, by where their header is */
#include "symbolize/dwarf/unit_cache.h"

#include "base/array.h"
#include "base/search.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/dwarf/die.h"

#include <errno.h>
#include <stdlib.h>

/* A walk down from an entry's children. */
struct walk {
	const struct die_unit *unit;
	const struct elf_head *head;
	struct function_index *index; /* NULL: only scopes are wanted */
	struct scope_list *scopes;
	bool everything;
	unsigned depth;
	struct cursor cursor;
	uint64_t function;                /* whose ranges are being added */
	uint64_t ranges_left;             /* entries of lists that may still be read */
	uint32_t scope_at[DIE_MAX_DEPTH]; /* that a level's entries are in */
	bool opened[DIE_MAX_DEPTH];       /* the level is that scope's own */
	uint32_t n_nameless[DIE_MAX_DEPTH];
	uint16_t counted_at[DIE_MAX_DEPTH]; /* the level that counts the nameless of a level */
};

static int add_range(void *context, uint64_t lo, uint64_t hi)
{
	struct walk *walk = context;
	struct function_index *index = walk->index;

	if (lo >= hi || !elf_head_executable(walk->head, lo))
		return 0;
	if (index->n_ranges >= INDEX_MAX_RANGES)
		return -E2BIG;
	if (array_reserve(&index->ranges, index->n_ranges, &index->size_ranges, 64) < 0)
		return -ENOMEM;
	index->ranges[index->n_ranges++] =
		(struct index_range){.lo = lo, .hi = hi, .die = walk->function};
	return 0;
}

/* A function whose ranges cannot be read is left out; the others stay. */
static int add_function(struct walk *walk, const struct abbrev *abbrev, uint64_t die)
{
	struct cursor cursor = walk->cursor;
	struct die_values values;
	int r;

	die_read(&cursor, walk->unit, abbrev, &values);
	if (cursor.failed)
		return -EBADMSG;
	walk->function = die;
	r = die_each_range(walk->unit, &values, &walk->ranges_left, add_range, walk);
	return r == -EBADMSG ? 0 : r;
}

static bool names_inner(const struct abbrev *abbrev)
{
	return abbrev->children && (abbrev->role == ROLE_NAMESPACE || abbrev->role == ROLE_CLASS ||
				    abbrev->role == ROLE_SUBPROGRAM);
}

static int add_scope(struct walk *walk, const struct abbrev *abbrev, uint64_t die)
{
	struct scope_list *list = walk->scopes;
	bool nameless = abbrev->role == ROLE_CLASS && !abbrev->named;

	if (array_reserve(&list->scopes, list->n_scopes, &list->size, 64) < 0)
		return -ENOMEM;
	list->scopes[list->n_scopes++] = (struct scope){
		.die = (uint32_t)(die - walk->unit->unit.offset),
		.end = UINT32_MAX,
		.parent = walk->scope_at[walk->depth - 1],
		.ordinal = nameless ? ++walk->n_nameless[walk->counted_at[walk->depth - 1]] : 0,
	};
	return 0;
}

static uint32_t here(const struct walk *walk)
{
	return (uint32_t)(die_offset(walk->unit, &walk->cursor) - walk->unit->unit.offset);
}

/* Children come next. */
static int descend(struct walk *walk, bool scope)
{
	if (walk->depth >= DIE_MAX_DEPTH)
		return -EBADMSG;
	walk->opened[walk->depth] = scope;
	walk->n_nameless[walk->depth] = 0;
	walk->counted_at[walk->depth] =
		scope ? (uint16_t)walk->depth : walk->counted_at[walk->depth - 1];
	walk->scope_at[walk->depth] =
		scope ? (uint32_t)walk->scopes->n_scopes - 1 : walk->scope_at[walk->depth - 1];
	walk->depth++;
	return 0;
}

static void ascend(struct walk *walk)
{
	walk->depth--;
	if (walk->opened[walk->depth])
		walk->scopes->scopes[walk->scope_at[walk->depth]].end = here(walk);
}

static int visit(struct walk *walk, const struct abbrev *abbrev, uint64_t die)
{
	bool scope = names_inner(abbrev);
	int r = 0;

	if (walk->index && abbrev->role == ROLE_SUBPROGRAM && abbrev->has_code)
		r = add_function(walk, abbrev, die);
	if (r == 0 && scope)
		r = add_scope(walk, abbrev, die);
	if (r < 0)
		return r;
	if (walk->everything || abbrev->role == ROLE_NAMESPACE) {
		die_skip(&walk->cursor, walk->unit, abbrev);
		return abbrev->children ? descend(walk, scope) : 0;
	}
	if (die_jump(&walk->cursor, walk->unit, abbrev))
		return descend(walk, scope);
	if (scope) {
		walk->scopes->scopes[walk->scopes->n_scopes - 1].end = here(walk);
		walk->scopes->scopes[walk->scopes->n_scopes - 1].closed = true;
	}
	return 0;
}

/* The levels' arrays are large, and no level's is read before it is written. */
static void begin_walk(struct walk *walk, const struct die_unit *unit, uint64_t die,
		       struct scope_list *scopes)
{
	walk->unit = unit;
	walk->head = NULL;
	walk->index = NULL;
	walk->scopes = scopes;
	walk->everything = false;
	walk->cursor = die_cursor(unit, die);
}

/* Entries until the level that it began at ends; the unit's may end without a null entry. */
static int walk_children(struct walk *walk)
{
	const struct die_unit *unit = walk->unit;
	const struct abbrev *abbrev;
	uint64_t die;
	int r;

	walk->depth = 1;
	walk->scope_at[0] = SCOPE_NONE;
	walk->opened[0] = false;
	walk->n_nameless[0] = 0;
	walk->counted_at[0] = 0;
	walk->ranges_left = INDEX_MAX_RANGES;
	while (walk->depth && cursor_left(&walk->cursor) && !loader_is_stopping()) {
		die = die_offset(unit, &walk->cursor);
		abbrev = die_begin(unit, &walk->cursor);
		if (abbrev && abbrev->role == ROLE_OTHER) {
			bool down = walk->everything ? abbrev->children : false;

			if (walk->everything)
				die_skip(&walk->cursor, unit, abbrev);
			else
				down = die_jump(&walk->cursor, unit, abbrev);
			r = down ? descend(walk, false) : 0;
		} else if (abbrev) {
			r = visit(walk, abbrev, die);
		} else {
			ascend(walk);
			r = 0;
		}
		if (r < 0 || walk->cursor.failed)
			return r < 0 ? r : -EBADMSG;
	}
	return 0;
}

static int by_lo(const void *left, const void *right)
{
	const struct index_range *a = left;
	const struct index_range *b = right;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi > b->hi ? -1 : 1;
	return (a->die < b->die) - (a->die > b->die); /* of the same ranges the first is found */
}

static void finish(struct function_index *index)
{
	uint64_t max_hi = 0;

	if (index->n_ranges)
		qsort(index->ranges, index->n_ranges, sizeof(*index->ranges), by_lo);
	for (size_t i = 0; i < index->n_ranges; i++) {
		if (index->ranges[i].hi > max_hi)
			max_hi = index->ranges[i].hi;
		index->ranges[i].max_hi = max_hi;
	}
}

int function_index_read(const struct die_unit *unit, const struct elf_head *head, bool everything,
			struct function_index *ret_index)
{
	struct function_index index = {.complete = everything};
	const struct abbrev *abbrev;
	struct walk walk;
	int r = 0;

	begin_walk(&walk, unit, unit->unit.root, &index.scopes);
	walk.head = head;
	walk.index = head ? &index : NULL;
	walk.everything = everything;
	abbrev = die_begin(unit, &walk.cursor);
	if (unit->unit.end - unit->unit.offset >= UINT32_MAX)
		return -E2BIG;
	if (abbrev) {
		die_skip(&walk.cursor, unit, abbrev);
		r = walk.cursor.failed ? -EBADMSG : 0;
		if (r == 0 && abbrev->children)
			r = walk_children(&walk);
	}
	if (r < 0) {
		function_index_release(&index);
		return r;
	}
	finish(&index);
	*ret_index = index;
	return 0;
}

void function_index_release(struct function_index *index)
{
	for (size_t i = 0; i < index->n_opened; i++)
		free(index->opened[i].scopes);
	free(index->opened);
	free(index->scopes.scopes);
	free(index->ranges);
	*index = (struct function_index){.ranges = NULL};
}

uint64_t function_index_find(const struct function_index *index, uint64_t addr)
{
	size_t i = search_up_to(index->ranges, index->n_ranges, sizeof(*index->ranges), addr);

	for (size_t n = 0; i > 0 && n < INDEX_MAX_OVERLAP; n++) {
		const struct index_range *range = &index->ranges[--i];

		if (range->hi > addr)
			return range->die;
		if (range->max_hi <= addr)
			return 0;
	}
	return 0;
}

void function_index_gap(const struct function_index *index, uint64_t addr, uint64_t *lo,
			uint64_t *hi)
{
	size_t i = search_up_to(index->ranges, index->n_ranges, sizeof(*index->ranges), addr);

	if (i > 0 && index->ranges[i - 1].max_hi <= addr && index->ranges[i - 1].max_hi > *lo)
		*lo = index->ranges[i - 1].max_hi;
	if (i < index->n_ranges && index->ranges[i].lo < *hi)
		*hi = index->ranges[i].lo;
}

/* The first scope of a list that begins at or after an entry. */
static size_t first_from(const struct scope_list *list, uint32_t die)
{
	size_t lo = 0;
	size_t hi = list->n_scopes;

	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;

		if (list->scopes[middle].die < die)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/* The innermost scope of a list around an entry; NULL: none. */
static struct scope *innermost(const struct scope_list *list, uint32_t die)
{
	size_t after = first_from(list, die);

	for (uint32_t at = after ? (uint32_t)after - 1 : SCOPE_NONE; at != SCOPE_NONE;
	     at = list->scopes[at].parent) {
		if (list->scopes[at].end > die)
			return &list->scopes[at];
	}
	return NULL;
}

/* What is in a scope that was jumped over, walked on the first question. */
static const struct scope_list *open_scope(struct function_index *index,
					   const struct die_unit *unit, struct scope *scope)
{
	struct scope_list list = {.n_scopes = 0};
	const struct abbrev *abbrev;
	struct walk walk;

	begin_walk(&walk, unit, unit->unit.offset + scope->die, &list);
	walk.everything = true;
	abbrev = die_begin(unit, &walk.cursor);
	if (!abbrev || array_reserve(&index->opened, index->n_opened, &index->size_opened, 64) < 0)
		return NULL;
	die_skip(&walk.cursor, unit, abbrev);
	if (walk.cursor.failed || walk_children(&walk) < 0)
		list.n_scopes = 0;
	index->opened[index->n_opened++] = list;
	scope->opened = (uint32_t)index->n_opened;
	return &index->opened[index->n_opened - 1];
}

/* The list that an entry is in, opened for it where that is needed. */
static const struct scope_list *list_around(struct function_index *index,
					    const struct die_unit *unit, uint32_t die)
{
	struct scope *scope = innermost(&index->scopes, die);
	const struct scope_list *inner = NULL;

	if (scope && scope->opened)
		return &index->opened[scope->opened - 1];
	if (scope && scope->closed)
		inner = open_scope(index, unit, scope);
	return inner ? inner : &index->scopes;
}

uint64_t function_index_scope(struct function_index *index, const struct die_unit *unit,
			      uint64_t die)
{
	uint32_t at = (uint32_t)(die - unit->unit.offset);
	const struct scope *scope = innermost(list_around(index, unit, at), at);

	if (!scope)
		scope = innermost(&index->scopes, at);
	return scope ? unit->unit.offset + scope->die : 0;
}

unsigned function_index_ordinal(struct function_index *index, const struct die_unit *unit,
				uint64_t die)
{
	uint32_t at = (uint32_t)(die - unit->unit.offset);
	const struct scope_list *list = list_around(index, unit, at);
	size_t i = first_from(list, at);
	unsigned ordinal =
		i < list->n_scopes && list->scopes[i].die == at ? list->scopes[i].ordinal : 0;

	return ordinal ? ordinal : 1;
}

static struct loaded_unit **bucket_of(struct unit_cache *cache, uint64_t offset)
{
	return &cache->buckets[(offset * 0x9e3779b97f4a7c15ULL) >> 56];
}

int unit_cache_get(struct unit_cache *cache, const struct dwarf_source *source, uint64_t offset,
		   const struct dwarf_unit *skeleton, struct loaded_unit **ret_unit)
{
	struct loaded_unit **bucket = bucket_of(cache, offset);
	struct loaded_unit *unit;
	int r;

	for (unit = *bucket; unit; unit = unit->next) {
		if (unit->die.unit.source == source && unit->die.unit.offset == offset) {
			*ret_unit = unit;
			return 0;
		}
	}
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	r = unit_read(source, offset, &unit->die.unit);
	if (r == 0 && skeleton)
		unit_take_skeleton(&unit->die.unit, skeleton);
	if (r == 0)
		r = abbrevs_get(&cache->abbrevs, &unit->die.unit, &unit->die.abbrevs);
	if (r < 0) {
		free(unit);
		return r;
	}
	unit->next = *bucket;
	*bucket = unit;
	cache->n_units++;
	*ret_unit = unit;
	return 0;
}

bool unit_cache_target(const struct loaded_unit *from, const struct form_value *value,
		       const struct dwarf_source **ret_source, uint64_t *ret_offset)
{
	const struct dwarf_unit *unit = &from->die.unit;

	switch (value->class) {
	case FORM_REF_UNIT:
		*ret_source = unit->source;
		return !__builtin_add_overflow(unit->offset, value->number, ret_offset) &&
		       *ret_offset < unit->end;
	case FORM_REF_INFO:
		*ret_source = unit->source;
		*ret_offset = value->number;
		return true;
	case FORM_REF_ALT:
		*ret_source = unit->source->alt;
		*ret_offset = value->number;
		return *ret_source;
	default:
		return false;
	}
}

int unit_cache_around(struct unit_cache *cache, struct loaded_unit *near,
		      const struct dwarf_source *source, uint64_t offset,
		      struct loaded_unit **ret_unit)
{
	const struct dwarf_unit *unit = &near->die.unit;
	uint64_t header;
	int r;

	if (unit->source == source && offset >= unit->offset && offset < unit->end) {
		*ret_unit = near;
		return 0;
	}
	r = dwarf_file_unit_around(cache->file, source, offset, &header);
	return r < 0 ? r : unit_cache_get(cache, source, header, NULL, ret_unit);
}

static size_t index_bytes(const struct function_index *index)
{
	return index->size_ranges * sizeof(*index->ranges) +
	       index->scopes.size * sizeof(*index->scopes.scopes);
}

int unit_cache_index(struct unit_cache *cache, struct loaded_unit *unit, bool everything)
{
	struct function_index index;
	int r;

	if (unit->refused)
		return -EBADMSG;
	if (unit->indexed && (unit->index.complete || !everything))
		return 0;
	r = function_index_read(&unit->die, cache->file->head, everything, &index);
	if (r < 0) {
		unit->refused = r != -ENOMEM;
		return r == -ENOMEM ? r : -EBADMSG;
	}
	cache->n_bytes += index_bytes(&index);
	cache->n_bytes -= index_bytes(&unit->index);
	function_index_release(&unit->index);
	unit->index = index;
	unit->indexed = true;
	return 0;
}

bool unit_cache_full(const struct unit_cache *cache)
{
	return cache->n_units > UNIT_CACHE_MAX_UNITS || cache->n_bytes > UNIT_CACHE_MAX_BYTES ||
	       abbrevs_full(&cache->abbrevs);
}

void unit_cache_release(struct unit_cache *cache)
{
	for (size_t i = 0; i < UNIT_CACHE_BUCKETS; i++) {
		while (cache->buckets[i]) {
			struct loaded_unit *unit = cache->buckets[i];

			cache->buckets[i] = unit->next;
			function_index_release(&unit->index);
			free(unit);
		}
	}
	abbrevs_release(&cache->abbrevs);
	cache->n_units = 0;
	cache->n_bytes = 0;
}
