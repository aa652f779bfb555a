/* symbol_table.c - sorted {address, end, name} */
#include "symbolize/elf/symbol_table.h"

#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Overlapping symbols that a lookup checks: real files nest two or three deep. */
enum { MAX_STEPS = 256 };

static int claim(struct symbol_table *table, size_t n_room, size_t name_bytes)
{
	return memory_claim(&table->claim, n_room * sizeof(*table->symbols) + name_bytes);
}

static int make_room(struct symbol_table *table)
{
	size_t n_room = table->n_room ? table->n_room * 2 : 1024;
	struct symbol *symbols;

	if (table->n_symbols < table->n_room)
		return 0;
	if (table->n_symbols >= SYMBOL_TABLE_MAX)
		return -EFBIG;
	if (claim(table, n_room, table->names.size) < 0)
		return -EFBIG;
	symbols = realloc(table->symbols, n_room * sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	table->symbols = symbols;
	table->n_room = n_room;
	return 0;
}

/* Add a string to the names; where it is goes to RET_AT. */
static int add_text(struct symbol_table *table, const char *text, size_t len, uint32_t *ret_at)
{
	size_t at = table->names.len;
	size_t n_bytes = at + len + 1; /* a buffer doubles */
	int r = 0;

	if (!table->names.limit)
		buf_init(&table->names, SYMBOL_TABLE_MAX_NAME_BYTES);
	if (n_bytes > table->names.size)
		r = claim(table, table->n_room, 2 * n_bytes);
	if (r < 0)
		return r;
	r = buf_append(&table->names, text, len);
	if (r == 0)
		r = buf_append(&table->names, "", 1);
	if (r == 0)
		*ret_at = (uint32_t)at;
	return r;
}

/* The number of a file, the last one's or a new one's. */
static int add_file(struct symbol_table *table, const char *file, uint32_t *ret_file)
{
	uint32_t at;
	int r;

	*ret_file = table->last_file;
	if (!file) {
		*ret_file = 0;
		return 0;
	}
	if (table->last_file && strcmp(table->names.data + table->last_file - 1, file) == 0)
		return 0;
	r = add_text(table, file, strlen(file), &at);
	if (r == 0)
		*ret_file = table->last_file = at + 1;
	return r;
}

int symbol_table_add(struct symbol_table *table, const struct symbol_entry *entry)
{
	uint64_t end = entry->size ? entry->addr + entry->size : entry->limit;
	uint32_t file = 0;
	uint32_t name = 0;
	int r;

	if (end <= entry->addr || entry->name_len == 0 || entry->name_len > SYMBOL_MAX_NAME)
		return 0;
	r = make_room(table);
	if (r < 0)
		return r;
	r = add_text(table, entry->name, entry->name_len, &name);
	if (r == 0)
		r = add_file(table, entry->file, &file);
	if (r < 0)
		return r;
	table->symbols[table->n_symbols++] = (struct symbol){
		.addr = entry->addr,
		.end = end,
		.name = name,
		.rank = entry->rank,
		.file = file,
		.open = entry->size == 0,
	};
	return 0;
}

/* By address; at one address the best last.  The name only makes the choice stable. */
static int compare(const void *left, const void *right, void *names)
{
	const struct symbol *a = left;
	const struct symbol *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->open != b->open)
		return a->open ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp((const char *)names + b->name, (const char *)names + a->name);
}

/*
 * Of the symbols at one address, keep the best and those that reach further.  Goes backwards
 * and packs towards the end of the array.
 */
static void drop_aliases(struct symbol_table *table)
{
	size_t to = table->n_symbols;
	uint64_t reach = 0;

	for (size_t i = table->n_symbols; i-- > 0;) {
		const struct symbol symbol = table->symbols[i];

		if (to < table->n_symbols && table->symbols[to].addr == symbol.addr &&
		    symbol.end <= reach)
			continue;
		if (to == table->n_symbols || table->symbols[to].addr != symbol.addr)
			reach = 0;
		reach = symbol.end > reach ? symbol.end : reach;
		table->symbols[--to] = symbol;
	}
	table->n_symbols -= to;
	if (to)
		memmove(table->symbols, table->symbols + to,
			table->n_symbols * sizeof(*table->symbols));
}

/* A label without a size inside a sized symbol is not a function: drop it. */
static void drop_labels(struct symbol_table *table)
{
	uint64_t sized_end = 0;
	size_t to = 0;

	for (size_t i = 0; i < table->n_symbols; i++) {
		const struct symbol symbol = table->symbols[i];
		bool twin = i + 1 < table->n_symbols && !table->symbols[i + 1].open &&
			    table->symbols[i + 1].addr == symbol.addr;

		if (symbol.open && (symbol.addr < sized_end || twin))
			continue;
		if (!symbol.open && symbol.end > sized_end)
			sized_end = symbol.end;
		table->symbols[to++] = symbol;
	}
	table->n_symbols = to;
}

static void close_ends(struct symbol_table *table)
{
	uint64_t next = UINT64_MAX;
	uint64_t max_end = 0;

	for (size_t i = table->n_symbols; i-- > 0;) {
		struct symbol *symbol = &table->symbols[i];

		if (i + 1 < table->n_symbols && table->symbols[i + 1].addr > symbol->addr)
			next = table->symbols[i + 1].addr;
		if (symbol->open && symbol->end > next)
			symbol->end = next;
	}
	for (size_t i = 0; i < table->n_symbols; i++) {
		if (table->symbols[i].end > max_end)
			max_end = table->symbols[i].end;
		table->symbols[i].max_end = max_end;
	}
}

void symbol_table_finish(struct symbol_table *table)
{
	if (!table->n_symbols)
		return;
	qsort_r(table->symbols, table->n_symbols, sizeof(*table->symbols), compare,
		table->names.data);
	drop_labels(table);
	drop_aliases(table);
	close_ends(table);
}

const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t addr)
{
	size_t i = search_up_to(table->symbols, table->n_symbols, sizeof(*table->symbols), addr);

	for (int steps = 0; i-- > 0 && steps < MAX_STEPS; steps++) {
		const struct symbol *symbol = &table->symbols[i];

		if (addr < symbol->end)
			return symbol;
		if (addr >= symbol->max_end)
			return NULL;
	}
	return NULL;
}

uint64_t symbol_table_limit(const struct symbol_table *table, uint64_t addr)
{
	const struct symbol *found = symbol_table_find(table, addr);
	size_t i = search_up_to(table->symbols, table->n_symbols, sizeof(*table->symbols), addr);
	uint64_t next = i < table->n_symbols ? table->symbols[i].addr : UINT64_MAX;

	return found && found->end < next ? found->end : next;
}

const struct symbol *symbol_table_find_latest(const struct symbol_table *table, uint64_t addr)
{
	const struct symbol *best = NULL;
	size_t i = search_up_to(table->symbols, table->n_symbols, sizeof(*table->symbols), addr);

	for (int steps = 0; i-- > 0 && steps < MAX_STEPS; steps++) {
		const struct symbol *symbol = &table->symbols[i];

		if (addr < symbol->end && (!best || symbol->rank > best->rank))
			best = symbol;
		if (addr >= symbol->max_end)
			break;
	}
	return best;
}

const char *symbol_table_name(const struct symbol_table *table, const struct symbol *symbol)
{
	return table->names.data + symbol->name;
}

const char *symbol_table_file(const struct symbol_table *table, const struct symbol *symbol)
{
	return symbol->file ? table->names.data + symbol->file - 1 : NULL;
}

int symbol_table_copy(const struct symbol_table *table, struct symbol_table *ret_copy)
{
	struct symbol_table copy = {.n_symbols = table->n_symbols,
				    .n_room = table->n_symbols,
				    .claim.use = table->claim.use};
	int r;

	if (!table->n_symbols) {
		*ret_copy = copy;
		return 0;
	}
	r = claim(&copy, copy.n_room, table->names.len);
	if (r < 0)
		return r;
	buf_init(&copy.names, SYMBOL_TABLE_MAX_NAME_BYTES);
	copy.symbols = malloc(table->n_symbols * sizeof(*copy.symbols));
	if (!copy.symbols || buf_append(&copy.names, table->names.data, table->names.len) < 0) {
		symbol_table_release(&copy);
		return -ENOMEM;
	}
	memcpy(copy.symbols, table->symbols, table->n_symbols * sizeof(*copy.symbols));
	*ret_copy = copy;
	return 0;
}

void symbol_table_release(struct symbol_table *table)
{
	free(table->symbols);
	buf_release(&table->names);
	(void)memory_claim(&table->claim, 0);
	*table = (struct symbol_table){.claim.use = table->claim.use};
}
