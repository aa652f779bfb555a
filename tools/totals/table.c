/* table.c - a table as text, in the columns that fit a width */
#include "tools/totals/totals.h"

#include "base/utf8.h"
#include "base/words.h"

#include <string.h>

enum { GAP = 2, LAST_LEAST = 16, TEXT_MOST = 16 * 1024 * 1024 };

void table_init(struct table *table, const struct table_column *columns, size_t n)
{
	*table = (struct table){.n_columns = n};
	memcpy(table->columns, columns, n * sizeof(*columns));
	buf_init(&table->text, TEXT_MOST);
}

void table_cell(struct table *table, bool counts)
{
	buf_add_char(&table->text, '\0');
	if (counts)
		table->columns[table->at].empty = false;
	table->n_cells++;
	table->at = table->at + 1 < table->n_columns ? table->at + 1 : 0;
}

static void widths_of(struct table *table, size_t widths[static TABLE_COLUMNS])
{
	const char *at = table->text.data;

	for (size_t i = 0; i < table->n_columns; i++)
		widths[i] = table->columns[i].empty ? 0 : words_width(table->columns[i].title);
	for (size_t i = 0, column = 0; i < table->n_cells; i++, at += strlen(at) + 1) {
		size_t width = words_width(at);

		if (!table->columns[column].empty && width > widths[column])
			widths[column] = width;
		column = column + 1 < table->n_columns ? column + 1 : 0;
	}
}

/* Of all but the last column. */
static size_t sum(const size_t *widths, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i + 1 < n; i++)
		width += widths[i] ? widths[i] + GAP : 0;
	return width;
}

/* Leave columns out until the rest fits. */
static void fit(const struct table *table, size_t widths[static TABLE_COLUMNS], uint32_t width)
{
	while (sum(widths, table->n_columns) + LAST_LEAST > width) {
		size_t most = table->n_columns;

		for (size_t i = 0; i < table->n_columns; i++)
			if (widths[i] && table->columns[i].spare &&
			    (most == table->n_columns ||
			     table->columns[i].spare > table->columns[most].spare))
				most = i;
		if (most == table->n_columns)
			return;
		widths[most] = 0;
	}
}

static void pad(struct buf *buf, size_t n)
{
	while (n--)
		buf_add_char(buf, ' ');
}

/* At most WIDTH code points of it. */
static void add_cut(struct buf *buf, const char *text, size_t width)
{
	if (words_width(text) <= width) {
		words_plain(buf, text);
		return;
	}
	for (size_t n = 0; *text && n + 2 < width; n++) {
		char one[UTF8_MAX_BYTES + 1] = {0};
		uint32_t code;
		size_t len = utf8_next(text, strnlen(text, UTF8_MAX_BYTES), &code);

		len = len ? len : 1;
		memcpy(one, text, len);
		words_plain(buf, one);
		text += len;
	}
	buf_add(buf, "..");
}

/* END: the last column that has a width. */
static void print_cell(const struct table *table, const char *text, size_t column, size_t width,
		       size_t end, struct buf *buf)
{
	size_t shown = words_width(text);
	bool last = column == end;

	if (!width)
		return;
	if (!table->columns[column].left && shown < width)
		pad(buf, width - shown);
	add_cut(buf, text, width);
	if (!last && table->columns[column].left && shown < width)
		pad(buf, width - shown);
	if (last)
		buf_add_char(buf, '\n');
	else
		pad(buf, GAP);
}

void table_print(struct table *table, uint32_t width, struct buf *buf)
{
	size_t widths[TABLE_COLUMNS] = {0};
	size_t last = table->n_columns - 1;
	size_t end = last;
	const char *at = table->text.data;

	if (table->text.failed) {
		buf->failed = true;
		return;
	}
	widths_of(table, widths);
	if (width)
		fit(table, widths, width);
	if (width && sum(widths, table->n_columns) + widths[last] > width) {
		size_t taken = sum(widths, table->n_columns);

		widths[last] = width > taken + LAST_LEAST ? width - taken : LAST_LEAST;
	}
	while (end && !widths[end])
		end--;
	for (size_t i = 0; i <= last; i++)
		print_cell(table, table->columns[i].title, i, widths[i], end, buf);
	for (size_t i = 0, column = 0; i < table->n_cells; i++, at += strlen(at) + 1) {
		print_cell(table, at, column, widths[column], end, buf);
		column = column < last ? column + 1 : 0;
	}
}

void table_release(struct table *table)
{
	buf_release(&table->text);
}
