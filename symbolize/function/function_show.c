/* function_show.c - a table once more, with symbols and readable names before its strings */
#include "symbolize/function/function_table.h"

#include "symbolize/function/function_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_READABLE = 1024 }; /* names; others are made readable each time */

static void begin(struct buf *buf)
{
	if (!buf->limit)
		buf_init(buf, FUNCTION_MAX_BYTES);
	buf_clear(buf);
}

void function_show_begin(struct function_show *show, const struct function_table *table)
{
	show->table = *table;
	begin(&show->symbols);
	begin(&show->readable);
	begin(&show->strings);
}

static const struct layout_head *head_of(const struct function_show *show)
{
	return (const void *)show->table.bytes;
}

static uint32_t add_string(struct function_show *show, const char *text)
{
	const size_t at = head_of(show)->n_string_bytes + show->strings.len;

	(void)buf_append(&show->strings, text, strlen(text) + 1);
	return (uint32_t)at;
}

static void add_readable(struct function_show *show, uint32_t name, const char *text,
			 const char *readable)
{
	const struct layout_readable *known = (const void *)show->readable.data;
	struct layout_readable added = {.name = name, .text = name};

	const size_t n = show->readable.len / sizeof(*known);

	for (size_t i = 0; i < n; i++)
		if (known[i].name == name)
			return;
	if (n >= MAX_READABLE)
		return;
	if (strcmp(text, readable) != 0)
		added.text = add_string(show, readable);
	(void)buf_append(&show->readable, &added, sizeof(added));
}

void function_show_symbol(struct function_show *show, uint64_t addr,
			  const struct function_symbol *symbol)
{
	const uint64_t back = addr - symbol->start;
	struct layout_symbol added = {
		.lo = (uint32_t)(addr - head_of(show)->base),
		.name = LAYOUT_NO_NAME,
	};

	if (symbol->name && back < UINT32_MAX) {
		added.back = (uint32_t)back;
		added.name = add_string(show, symbol->name);
		if (symbol->readable)
			add_readable(show, added.name, symbol->name, symbol->readable);
	}
	(void)buf_append(&show->symbols, &added, sizeof(added));
}

void function_show_readable(struct function_show *show, const char *name, const char *readable)
{
	const struct layout_head *head = head_of(show);
	const char *strings = (const char *)show->table.bytes + layout_strings(head);

	add_readable(show, (uint32_t)(name - strings), name, readable);
}

static int compare(const void *left, const void *right)
{
	const struct layout_readable *a = left;
	const struct layout_readable *b = right;

	return (a->name > b->name) - (a->name < b->name);
}

static uint8_t *put(uint8_t *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
	return to + len;
}

static void lay_down(const struct function_show *show, const struct layout_head *head, uint8_t *to,
		     size_t size)
{
	const uint8_t *end = to + size;
	const size_t strings = (size_t)layout_strings(head_of(show));

	to = put(to, head, sizeof(*head));
	to = put(to, show->table.bytes + sizeof(*head), strings - sizeof(*head));
	to = put(to, show->symbols.data, show->symbols.len);
	to = put(to, show->readable.data, show->readable.len);
	to = put(to, show->table.bytes + strings, head_of(show)->n_string_bytes);
	to = put(to, show->strings.data, show->strings.len);
	memset(to, 0, (size_t)(end - to));
}

int function_show_finish(struct function_show *show, struct function_table *ret_table)
{
	struct layout_head head = *head_of(show);
	uint64_t size;
	uint8_t *bytes;

	if (show->symbols.failed || show->readable.failed || show->strings.failed)
		return -E2BIG;
	head.n_symbols = (uint32_t)(show->symbols.len / sizeof(struct layout_symbol));
	head.n_readable = (uint32_t)(show->readable.len / sizeof(struct layout_readable));
	head.n_string_bytes += (uint32_t)show->strings.len;
	size = layout_size(&head);
	if (!head.n_symbols && !head.n_readable)
		return -ENODATA;
	if (size > FUNCTION_MAX_BYTES)
		return -E2BIG;
	bytes = malloc((size_t)size);
	if (!bytes)
		return -ENOMEM;
	if (head.n_readable)
		qsort(show->readable.data, head.n_readable, sizeof(struct layout_readable),
		      compare);
	lay_down(show, &head, bytes, (size_t)size);
	*ret_table = (struct function_table){bytes, (size_t)size};
	return 0;
}

void function_show_release(struct function_show *show)
{
	buf_release(&show->symbols);
	buf_release(&show->readable);
	buf_release(&show->strings);
}
