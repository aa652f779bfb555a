/*
 * function_table.c - checking a table's bytes, and looking addresses up in them
 *
 * Lookups bound what they read once more: pages of a mapped table turn into zeros when its file
 * shrinks after the check (file_guard.h).
 */
#include "symbolize/function/function_table.h"

#include "symbolize/function/function_layout.h"

#include <errno.h>

/* The arrays of a table, as views of its bytes. */
struct view {
	const struct layout_head *head;
	const struct layout_range *ranges;
	const struct layout_segment *segments;
	const struct layout_node *nodes;
	const struct layout_row *rows;
	const uint32_t *files;
	const struct layout_symbol *symbols;
	const struct layout_readable *readable;
	const char *strings;
};

/* Sizes were checked, or the table was made here. */
static struct view view_of(const struct function_table *table)
{
	struct view view;

	view.head = (const void *)table->bytes;
	view.ranges = (const void *)(view.head + 1);
	view.segments = (const void *)(view.ranges + view.head->n_ranges);
	view.nodes = (const void *)(view.segments + view.head->n_segments);
	view.rows = (const void *)(view.nodes + view.head->n_nodes);
	view.files = (const void *)(view.rows + view.head->n_rows);
	view.symbols = (const void *)(view.files + view.head->n_files);
	view.readable = (const void *)(view.symbols + view.head->n_symbols);
	view.strings = (const void *)(view.readable + view.head->n_readable);
	return view;
}

static bool good_head(const struct function_table *table)
{
	const struct layout_head *head = (const void *)table->bytes;

	if (!table->bytes || (uintptr_t)table->bytes % LAYOUT_ALIGN != 0)
		return false;
	if (table->n_bytes < sizeof(*head) || table->n_bytes > FUNCTION_MAX_BYTES)
		return false;
	return head->magic == LAYOUT_MAGIC && head->zero == 0 && head->n_ranges > 0 &&
	       head->n_segments > 0 && head->n_nodes > 0 && head->n_string_bytes > 0 &&
	       head->n_files <= LAYOUT_MAX_FILES && layout_size(head) == table->n_bytes;
}

static bool good_ranges(const struct view *view)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < view->head->n_ranges; i++) {
		const struct layout_range *range = &view->ranges[i];

		if (range->lo >= range->hi || (i == 0 ? range->lo != 0 : range->lo <= end))
			return false;
		end = range->hi;
	}
	return view->head->base <= UINT64_MAX - end;
}

static bool good_segments(const struct view *view)
{
	for (uint32_t i = 0; i < view->head->n_segments; i++) {
		const struct layout_segment *segment = &view->segments[i];

		if (segment->node >= view->head->n_nodes)
			return false;
		if (i == 0 ? segment->lo != 0 : segment->lo <= segment[-1].lo)
			return false;
	}
	return true;
}

static bool good_file(const struct view *view, uint16_t file)
{
	return file == LAYOUT_NO_FILE || file < view->head->n_files;
}

static bool good_nodes(const struct view *view)
{
	for (uint32_t i = 0; i < view->head->n_nodes; i++) {
		const struct layout_node *node = &view->nodes[i];

		if (node->name >= view->head->n_string_bytes || !good_file(view, node->call_file))
			return false;
		if (i == 0 ? node->parent != 0 : node->parent >= i)
			return false;
	}
	return true;
}

static bool good_rows(const struct view *view)
{
	for (uint32_t i = 0; i < view->head->n_rows; i++) {
		const struct layout_row *row = &view->rows[i];

		if (!good_file(view, row->file))
			return false;
		if (i == 0 ? row->lo != 0 : row->lo <= row[-1].lo)
			return false;
	}
	return true;
}

static bool good_strings(const struct view *view)
{
	for (uint32_t i = 0; i < view->head->n_files; i++) {
		if (view->files[i] >= view->head->n_string_bytes)
			return false;
	}
	return view->strings[view->head->n_string_bytes - 1] == '\0';
}

static bool good_symbols(const struct view *view)
{
	const uint32_t n_bytes = view->head->n_string_bytes;

	for (uint32_t i = 0; i < view->head->n_symbols; i++) {
		const struct layout_symbol *symbol = &view->symbols[i];

		if (symbol->name >= n_bytes && symbol->name != LAYOUT_NO_NAME)
			return false;
		if (i == 0 ? symbol->lo != 0 : symbol->lo <= symbol[-1].lo)
			return false;
	}
	for (uint32_t i = 0; i < view->head->n_readable; i++) {
		const struct layout_readable *readable = &view->readable[i];

		if (readable->name >= n_bytes || readable->text >= n_bytes ||
		    (i > 0 && readable->name <= readable[-1].name))
			return false;
	}
	return true;
}

int function_table_check(const struct function_table *table)
{
	struct view view;

	if (!good_head(table))
		return -EBADMSG;
	view = view_of(table);
	if (!good_ranges(&view) || !good_segments(&view) || !good_nodes(&view) ||
	    !good_rows(&view) || !good_strings(&view) || !good_symbols(&view))
		return -EBADMSG;
	return 0;
}

bool function_table_range(const struct function_table *table, size_t nth, uint64_t *ret_lo,
			  uint64_t *ret_hi)
{
	const struct view view = view_of(table);

	if (nth >= view.head->n_ranges)
		return false;
	*ret_lo = view.head->base + view.ranges[nth].lo;
	*ret_hi = view.head->base + view.ranges[nth].hi;
	return true;
}

/* The last of N entries (of SIZE bytes, whose first four are their offset) at or before an offset;
 * the first one is at 0. */
static size_t last_up_to(const void *entries, size_t size, uint32_t n, uint32_t offset)
{
	size_t low = 0;
	size_t high = n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		const uint32_t *lo = (const void *)((const char *)entries + middle * size);

		if (*lo <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static const char *string_at(const struct view *view, uint32_t offset)
{
	return offset < view->head->n_string_bytes ? view->strings + offset : "";
}

/* How a name is shown, where that is kept. */
static const char *readable_of(const struct view *view, uint32_t name)
{
	const size_t n = view->head->n_readable;
	const struct layout_readable *readable;

	if (!n)
		return NULL;
	readable =
		&view->readable[last_up_to(view->readable, sizeof(*readable), (uint32_t)n, name)];
	return readable->name == name ? string_at(view, readable->text) : NULL;
}

static const char *file_name(const struct view *view, uint16_t file)
{
	return file < view->head->n_files ? string_at(view, view->files[file]) : "";
}

/* The line that the innermost level is at. */
static void leaf_line(const struct view *view, uint32_t offset, struct function_level *level)
{
	const struct layout_row *row;

	*level = (struct function_level){.file = ""};
	if (!view->head->n_rows)
		return;
	row = &view->rows[last_up_to(view->rows, sizeof(*row), view->head->n_rows, offset)];
	level->file = file_name(view, row->file);
	level->line = row->line;
	level->column = row->column;
}

/* A level a node, from the innermost to the function: each but the innermost is at the line of the
 * call of the one before it. */
static void fill_levels(const struct view *view, uint32_t at, struct function_chain *chain)
{
	const struct layout_node *node = &view->nodes[at];
	size_t n = 0;

	chain->levels[n].readable = readable_of(view, node->name);
	chain->levels[n++].name = string_at(view, node->name);
	while (at != 0 && n < FUNCTION_MAX_DEPTH) {
		struct function_level *level = &chain->levels[n++];

		at = node->parent;
		level->name = string_at(view, view->nodes[at].name);
		level->readable = readable_of(view, view->nodes[at].name);
		level->file = file_name(view, node->call_file);
		level->line = node->call_line;
		level->column = node->call_column;
		node = &view->nodes[at];
	}
	chain->n_levels = n;
}

static void fill_symbol(const struct view *view, uint32_t offset, struct function_chain *chain)
{
	const struct layout_symbol *symbol;

	chain->symbol = (struct function_symbol){0};
	if (!view->head->n_symbols)
		return;
	symbol = &view->symbols[last_up_to(view->symbols, sizeof(*symbol), view->head->n_symbols,
					   offset)];
	if (symbol->name == LAYOUT_NO_NAME)
		return;
	chain->symbol = (struct function_symbol){
		.name = string_at(view, symbol->name),
		.readable = readable_of(view, symbol->name),
		.start = view->head->base + symbol->lo - symbol->back,
	};
}

int function_table_find(const struct function_table *table, uint64_t addr,
			struct function_chain *ret_chain)
{
	const struct view view = view_of(table);
	const uint64_t distance = addr - view.head->base;
	const struct layout_range *range;
	size_t segment;

	if (distance >= UINT32_MAX || !view.head->n_ranges || !view.head->n_segments)
		return -ENOENT;
	range = &view.ranges[last_up_to(view.ranges, sizeof(*range), view.head->n_ranges,
					(uint32_t)distance)];
	if (distance < range->lo || distance >= range->hi)
		return -ENOENT;
	segment = last_up_to(view.segments, sizeof(*view.segments), view.head->n_segments,
			     (uint32_t)distance);
	if (view.segments[segment].node >= view.head->n_nodes)
		return -ENOENT;
	ret_chain->start = view.head->base + range->lo;
	leaf_line(&view, (uint32_t)distance, &ret_chain->levels[0]);
	fill_levels(&view, view.segments[segment].node, ret_chain);
	fill_symbol(&view, (uint32_t)distance, ret_chain);
	return 0;
}
