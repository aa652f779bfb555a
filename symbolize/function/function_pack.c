/*
 * function_pack.c - what a builder has gathered, laid down as a table
 *
 * A third of what compilers call inlined has no code left, by a count over a large C++ program:
 * nodes without a segment, in themselves or in what was inlined into them, are left out, and so
 * are names and files that nothing else has.
 */
#include "symbolize/function/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void function_pack_release(struct function_pack *pack)
{
	free(pack->of);
	*pack = (struct function_pack){0};
}

static int make_room(struct function_pack *pack, const struct function_builder *builder)
{
	const size_t n = builder->n_nodes + builder->n_files + builder->n_strings;

	if (n > pack->room) {
		free(pack->of);
		pack->room = 0;
		pack->of = calloc(n * 2, sizeof(*pack->of));
		if (!pack->of)
			return -ENOMEM;
		pack->room = n * 2;
	}
	memset(pack->of, 0xff, n * sizeof(*pack->of));
	pack->nodes = pack->of;
	pack->files = pack->nodes + builder->n_nodes;
	pack->strings = pack->files + builder->n_files;
	return 0;
}

/* Marks what is used; its place comes later. */
static void use_file(struct function_pack *pack, uint16_t file)
{
	if (file != LAYOUT_NO_FILE)
		pack->files[file] = 0;
}

/* Parents come before their children: backwards, each is marked before its turn. */
static void mark(struct function_builder *builder)
{
	const struct function_sweep *sweep = &builder->sweep;
	struct function_pack *pack = &builder->pack;

	pack->nodes[0] = 0;
	for (size_t i = 0; i < sweep->n_segments; i++)
		pack->nodes[sweep->segments[i].node] = 0;
	for (size_t i = builder->n_nodes; i-- > 0;) {
		const struct layout_node *node = &builder->nodes[i].kept;

		if (pack->nodes[i] == FUNCTION_UNUSED)
			continue;
		pack->nodes[node->parent] = 0;
		pack->strings[node->name] = 0;
		use_file(pack, node->call_file);
	}
	for (size_t i = 0; i < sweep->n_rows; i++)
		use_file(pack, sweep->rows[i].file);
	for (size_t i = 0; i < builder->n_files; i++)
		if (pack->files[i] != FUNCTION_UNUSED)
			pack->strings[builder->files[i]] = 0;
}

static size_t string_bytes(const struct function_builder *builder, size_t string)
{
	const size_t end = string + 1 < builder->n_strings ? builder->string_at[string + 1]
							   : builder->strings.len;

	return end - builder->string_at[string];
}

/* Numbers, or offsets of strings, for what is marked. */
static void number(struct function_builder *builder)
{
	struct function_pack *pack = &builder->pack;

	pack->n_nodes = 0;
	pack->n_files = 0;
	pack->n_string_bytes = 0;
	for (size_t i = 0; i < builder->n_nodes; i++)
		if (pack->nodes[i] != FUNCTION_UNUSED)
			pack->nodes[i] = pack->n_nodes++;
	for (size_t i = 0; i < builder->n_files; i++)
		if (pack->files[i] != FUNCTION_UNUSED)
			pack->files[i] = pack->n_files++;
	for (size_t i = 0; i < builder->n_strings; i++) {
		if (pack->strings[i] == FUNCTION_UNUSED)
			continue;
		pack->strings[i] = pack->n_string_bytes;
		pack->n_string_bytes += (uint32_t)string_bytes(builder, i);
	}
}

static uint16_t packed_file(const struct function_pack *pack, uint16_t file)
{
	return file == LAYOUT_NO_FILE ? file : (uint16_t)pack->files[file];
}

static uint8_t *put(uint8_t *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
	return to + bytes;
}

static uint8_t *put_nodes(uint8_t *to, const struct function_builder *builder)
{
	const struct function_pack *pack = &builder->pack;

	for (size_t i = 0; i < builder->n_nodes; i++) {
		struct layout_node node = builder->nodes[i].kept;

		if (pack->nodes[i] == FUNCTION_UNUSED)
			continue;
		node.parent = pack->nodes[node.parent];
		node.name = pack->strings[node.name];
		node.call_file = packed_file(pack, node.call_file);
		to = put(to, &node, sizeof(node));
	}
	return to;
}

static uint8_t *put_segments(uint8_t *to, const struct function_builder *builder)
{
	const struct function_sweep *sweep = &builder->sweep;

	for (size_t i = 0; i < sweep->n_segments; i++) {
		struct layout_segment segment = sweep->segments[i];

		segment.node = builder->pack.nodes[segment.node];
		to = put(to, &segment, sizeof(segment));
	}
	return to;
}

static uint8_t *put_rows(uint8_t *to, const struct function_builder *builder)
{
	const struct function_sweep *sweep = &builder->sweep;

	for (size_t i = 0; i < sweep->n_rows; i++) {
		struct layout_row row = sweep->rows[i];

		row.file = packed_file(&builder->pack, row.file);
		to = put(to, &row, sizeof(row));
	}
	return to;
}

static uint8_t *put_strings(uint8_t *to, const struct function_builder *builder)
{
	const struct function_pack *pack = &builder->pack;

	for (size_t i = 0; i < builder->n_files; i++)
		if (pack->files[i] != FUNCTION_UNUSED)
			to = put(to, &pack->strings[builder->files[i]], sizeof(uint32_t));
	for (size_t i = 0; i < builder->n_strings; i++)
		if (pack->strings[i] != FUNCTION_UNUSED)
			to = put(to, builder->strings.data + builder->string_at[i],
				 string_bytes(builder, i));
	return to;
}

static int lay_down(struct function_builder *builder, struct function_table *ret_table)
{
	const struct function_sweep *sweep = &builder->sweep;
	const struct function_pack *pack = &builder->pack;
	const struct layout_head head = {
		.magic = LAYOUT_MAGIC,
		.base = sweep->base,
		.n_ranges = (uint32_t)sweep->n_ranges,
		.n_segments = (uint32_t)sweep->n_segments,
		.n_nodes = pack->n_nodes,
		.n_rows = (uint32_t)sweep->n_rows,
		.n_files = pack->n_files,
		.n_string_bytes = pack->n_string_bytes,
	};
	const size_t size = (size_t)layout_size(&head);
	uint8_t *bytes;
	uint8_t *to;

	if (size > FUNCTION_MAX_BYTES)
		return -E2BIG;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	to = put(bytes, &head, sizeof(head));
	to = put(to, sweep->ranges, sweep->n_ranges * sizeof(*sweep->ranges));
	to = put_segments(to, builder);
	to = put_nodes(to, builder);
	to = put_rows(to, builder);
	to = put_strings(to, builder);
	memset(to, 0, (size_t)(bytes + size - to));
	*ret_table = (struct function_table){bytes, size};
	return 0;
}

int function_builder_finish(struct function_builder *builder, struct function_table *ret_table)
{
	int r = function_sweep_run(&builder->sweep, builder->ranges, builder->n_ranges);

	if (r == 0)
		r = function_sweep_rows(&builder->sweep, builder->rows, builder->n_rows);
	if (r == 0)
		r = make_room(&builder->pack, builder);
	if (r < 0)
		return r;
	mark(builder);
	number(builder);
	return lay_down(builder, ret_table);
}
