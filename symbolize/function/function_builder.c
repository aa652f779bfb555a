/*
 * function_builder.c - a function's ranges, inlined calls and rows, made into a table
 *
 * The builder keeps its memory from function to function: building is most of what is done for an
 * address that the cache does not know.
 */
#include "symbolize/function/function_table.h"

#include "base/buf.h"
#include "symbolize/function/internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_NODES = FUNCTION_MAX_BYTES / sizeof(struct layout_node),
	MAX_RANGES = FUNCTION_MAX_BYTES / sizeof(struct layout_segment),
	MAX_ROWS = FUNCTION_MAX_BYTES / sizeof(struct layout_row),
	FIRST_ROOM = 64,
	FIRST_SLOTS = 256, /* a power of two */
};

/* Room for one more item. */
static int make_room(void *array, size_t *room, size_t n, size_t item, size_t max)
{
	void **items = array;
	size_t wanted = *room ? *room * 2 : FIRST_ROOM;
	void *larger;

	if (n < *room)
		return 0;
	if (n >= max)
		return -E2BIG;
	larger = realloc(*items, wanted * item);
	if (!larger)
		return -ENOMEM;
	*items = larger;
	*room = wanted;
	return 0;
}

int function_builder_new(struct function_builder **ret_builder)
{
	struct function_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return -ENOMEM;
	builder->slots = calloc(FIRST_SLOTS, sizeof(*builder->slots));
	if (!builder->slots) {
		free(builder);
		return -ENOMEM;
	}
	builder->n_slots = FIRST_SLOTS;
	buf_init(&builder->strings, FUNCTION_MAX_BYTES);
	function_builder_reset(builder);
	*ret_builder = builder;
	return 0;
}

void function_builder_reset(struct function_builder *builder)
{
	builder->n_nodes = 0;
	builder->n_ranges = 0;
	builder->n_rows = 0;
	builder->n_files = 0;
	builder->n_strings = 0;
	buf_clear(&builder->strings);
	/* Slots of earlier rounds are empty; when rounds begin anew, none may be left of them. */
	if (++builder->round == 0) {
		memset(builder->slots, 0, builder->n_slots * sizeof(*builder->slots));
		builder->round = 1;
	}
}

void function_builder_free(struct function_builder *builder)
{
	if (!builder)
		return;
	free(builder->nodes);
	free(builder->ranges);
	free(builder->rows);
	free(builder->files);
	free(builder->slots);
	free(builder->string_at);
	function_pack_release(&builder->pack);
	buf_release(&builder->strings);
	function_sweep_release(&builder->sweep);
	free(builder);
}

/* Names are long and alike at both ends: every byte counts, eight at a time. */
static uint32_t hash_of(const char *text, size_t len)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t hash = len * odd;
	uint64_t word;

	for (; len >= sizeof(word); text += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * odd;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, text, len);
	hash = (hash ^ word) * odd;
	return (uint32_t)(hash >> 32);
}

static bool is_string(const struct function_builder *builder, uint32_t string, const char *text,
		      size_t len)
{
	const size_t at = builder->string_at[string];

	return builder->strings.len - at > len &&
	       memcmp(builder->strings.data + at, text, len + 1) == 0;
}

/* Where a string is, or the empty slot where it would be. */
static struct slot *find_slot(const struct function_builder *builder, const char *text, size_t len,
			      uint32_t hash)
{
	for (size_t i = hash;; i++) {
		struct slot *slot = &builder->slots[i & (builder->n_slots - 1)];

		if (slot->round != builder->round)
			return slot;
		if (slot->hash == hash && is_string(builder, slot->string, text, len))
			return slot;
	}
}

static int more_slots(struct function_builder *builder)
{
	const size_t n = builder->n_slots * 2;
	struct slot *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < builder->n_slots; i++) {
		const struct slot *from = &builder->slots[i];
		size_t to = from->hash;

		if (from->round != builder->round)
			continue;
		while (slots[to & (n - 1)].round == builder->round)
			to++;
		slots[to & (n - 1)] = *from;
	}
	free(builder->slots);
	builder->slots = slots;
	builder->n_slots = n;
	return 0;
}

static int add_string(struct function_builder *builder, const char *text, size_t len)
{
	const size_t offset = builder->strings.len;
	int r = make_room(&builder->string_at, &builder->string_room, builder->n_strings,
			  sizeof(*builder->string_at), FUNCTION_MAX_BYTES);

	if (r == 0)
		r = buf_append(&builder->strings, text, len + 1);
	if (r < 0)
		return r == -EFBIG ? -E2BIG : r;
	builder->string_at[builder->n_strings++] = (uint32_t)offset;
	return 0;
}

/* The slot of a string, which is taken in if it is new. */
static int intern(struct function_builder *builder, const char *text, struct slot **ret_slot)
{
	const size_t len = strlen(text);
	const uint32_t hash = hash_of(text, len);
	struct slot *slot;

	if (builder->n_strings * 2 >= builder->n_slots) {
		int r = more_slots(builder);

		if (r < 0)
			return r;
	}
	slot = find_slot(builder, text, len, hash);
	if (slot->round != builder->round) {
		int r = add_string(builder, text, len);

		if (r < 0)
			return r;
		*slot = (struct slot){builder->round, hash, (uint32_t)(builder->n_strings - 1),
				      FUNCTION_NO_FILE};
	}
	*ret_slot = slot;
	return 0;
}

uint32_t function_builder_file(struct function_builder *builder, const char *path)
{
	struct slot *slot;

	if (intern(builder, path, &slot) < 0)
		return FUNCTION_NO_FILE;
	if (slot->file != FUNCTION_NO_FILE)
		return slot->file;
	if (make_room(&builder->files, &builder->file_room, builder->n_files, sizeof(uint32_t),
		      LAYOUT_MAX_FILES) < 0)
		return FUNCTION_NO_FILE;
	builder->files[builder->n_files] = slot->string;
	slot->file = (uint32_t)builder->n_files;
	return (uint32_t)builder->n_files++;
}

/* What was never made by function_builder_file() is no file. */
static uint16_t short_file(const struct function_builder *builder, uint32_t file)
{
	return file < builder->n_files ? (uint16_t)file : (uint16_t)LAYOUT_NO_FILE;
}

static uint16_t short_column(uint32_t column)
{
	return column <= UINT16_MAX ? (uint16_t)column : 0;
}

int function_builder_name(struct function_builder *builder, const char *name)
{
	struct slot *slot;
	int r = intern(builder, name, &slot);

	return r < 0 ? r : (int)slot->string;
}

int function_builder_node(struct function_builder *builder, uint32_t parent, const char *name,
			  uint32_t call_file, uint32_t call_line, uint32_t call_column)
{
	int number = function_builder_name(builder, name);

	return number < 0 ? number
			  : function_builder_named(builder, parent, (uint32_t)number, call_file,
						   call_line, call_column);
}

int function_builder_named(struct function_builder *builder, uint32_t parent, uint32_t name,
			   uint32_t call_file, uint32_t call_line, uint32_t call_column)
{
	struct function_node *node;
	uint32_t depth = 0;
	int r;

	if (name >= builder->n_strings)
		return -EINVAL;
	if (builder->n_nodes > 0) {
		if (parent >= builder->n_nodes)
			return -EINVAL;
		depth = builder->nodes[parent].depth + 1;
	}
	if (depth >= FUNCTION_MAX_DEPTH)
		return -E2BIG;
	r = make_room(&builder->nodes, &builder->node_room, builder->n_nodes, sizeof(*node),
		      MAX_NODES);
	if (r < 0)
		return r;
	node = &builder->nodes[builder->n_nodes];
	node->depth = depth;
	node->kept = (struct layout_node){
		.parent = builder->n_nodes ? parent : 0,
		.name = name,
		.call_line = call_line,
		.call_file = short_file(builder, call_file),
		.call_column = short_column(call_column),
	};
	return (int)builder->n_nodes++;
}

int function_builder_range(struct function_builder *builder, uint32_t node, uint64_t lo,
			   uint64_t hi)
{
	int r;

	if (node >= builder->n_nodes)
		return -EINVAL;
	if (lo >= hi)
		return 0;
	r = make_room(&builder->ranges, &builder->range_room, builder->n_ranges,
		      sizeof(*builder->ranges), MAX_RANGES);
	if (r < 0)
		return r;
	builder->ranges[builder->n_ranges] = (struct function_range){
		.lo = lo,
		.hi = hi,
		.node = node,
		.depth = builder->nodes[node].depth,
	};
	builder->n_ranges++;
	return 0;
}

int function_builder_row(struct function_builder *builder, uint64_t addr, uint32_t file,
			 uint32_t line, uint32_t column)
{
	int r = make_room(&builder->rows, &builder->row_room, builder->n_rows,
			  sizeof(*builder->rows), MAX_ROWS);

	if (r < 0)
		return r;
	builder->rows[builder->n_rows] = (struct function_row){
		.addr = addr,
		.line = line,
		.order = (uint32_t)builder->n_rows,
		.file = short_file(builder, file),
		.column = short_column(column),
	};
	builder->n_rows++;
	return 0;
}
