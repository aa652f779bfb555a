/* kernel.c - /proc/kallsyms: addresses without sizes, hidden from those who may not see them */
#include "symbolize/kernel/kernel.h"

#include "base/io.h"
#include "symbolize/elf/symbol_table.h"
#include "symbolize/kernel/kernel_copy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_BYTES = 256 * 1024 * 1024,
	MAX_NAME = 1024,
	/* Code of modules and bpf is not all in one piece: no function reaches further. */
	MAX_FUNCTION = 64 * 1024,
};

/* Between these marks the kernel's own code has no holes. */
struct region {
	uint64_t start;
	uint64_t end;
};

struct kernel_symbols {
	struct symbol_table table; /* the module of a symbol is its "file" */
	struct region text;
	struct region init_text;
};

/* One line: "ffffffff81000000 T name\t[module]". */
struct line {
	uint64_t addr;
	char type;
	const char *name;
	size_t name_len;
	char module[MAX_NAME]; /* "[module]"; "" the kernel itself */
};

static bool parse_addr(const char **at, const char *end, uint64_t *ret_addr)
{
	const char *p = *at;
	uint64_t addr = 0;

	for (; p < end && p - *at < 17; p++) {
		char c = (char)(*p | 0x20);

		if (*p >= '0' && *p <= '9')
			addr = addr << 4 | (uint64_t)(*p - '0');
		else if (c >= 'a' && c <= 'f')
			addr = addr << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	if (p == *at || p - *at > 16 || p == end || *p != ' ')
		return false;
	*at = p + 1;
	*ret_addr = addr;
	return true;
}

static bool parse_line(const char *at, const char *end, struct line *ret_line)
{
	const char *name;
	const char *tab;
	size_t len = 0;

	if (!parse_addr(&at, end, &ret_line->addr) || end - at < 3 || at[1] != ' ')
		return false;
	ret_line->type = *at;
	name = at + 2;
	tab = memchr(name, '\t', (size_t)(end - name));
	ret_line->name = name;
	ret_line->name_len = (size_t)((tab ? tab : end) - name);
	if (tab && tab[1] == '[' && end[-1] == ']' && end - tab - 1 < MAX_NAME) {
		len = (size_t)(end - tab - 1);
		memcpy(ret_line->module, tab + 1, len);
	}
	ret_line->module[len] = '\0';
	return ret_line->name_len > 0 && ret_line->name_len < MAX_NAME;
}

static bool is_text(const struct line *line)
{
	return strchr("tTwW", line->type) != NULL && line->type;
}

static bool is_named(const struct line *line, const char *name)
{
	return line->name_len == strlen(name) && memcmp(line->name, name, line->name_len) == 0;
}

static void note_mark(struct kernel_symbols *symbols, const struct line *line)
{
	if (line->name[0] != '_')
		return;
	if (is_named(line, "_stext"))
		symbols->text.start = line->addr;
	else if (is_named(line, "_etext"))
		symbols->text.end = line->addr;
	else if (is_named(line, "_sinittext"))
		symbols->init_text.start = line->addr;
	else if (is_named(line, "_einittext"))
		symbols->init_text.end = line->addr;
}

static bool is_in(const struct region *region, uint64_t addr)
{
	return addr >= region->start && addr < region->end;
}

/* Names of places and not of functions; they stand for an address only when it has no other. */
static bool is_mark(const struct line *line)
{
	static const char *const MARKS[] = {"_text", "_stext", "_etext", "_sinittext",
					    "_einittext"};

	for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++)
		if (is_named(line, MARKS[i]))
			return true;
	return line->name_len > 6 && memcmp(line->name, "__", 2) == 0 &&
	       (memcmp(line->name + line->name_len - 6, "_start", 6) == 0 ||
		memcmp(line->name + line->name_len - 4, "_end", 4) == 0);
}

static uint32_t rank_of(const struct line *line)
{
	uint32_t underscores = 0;

	if (is_mark(line))
		return 0;
	while (underscores < 7 && underscores < line->name_len && line->name[underscores] == '_')
		underscores++;
	return 1 + (7 - underscores) + (line->type == 'T' ? 8 : 0);
}

static int add_line(struct kernel_symbols *symbols, const struct line *line)
{
	struct symbol_entry entry = {
		.addr = line->addr,
		.limit = line->addr + MAX_FUNCTION,
		.rank = rank_of(line),
		.name = line->name,
		.name_len = line->name_len,
		.file = line->module[0] ? line->module : NULL,
	};

	if (is_in(&symbols->text, line->addr))
		entry.limit = symbols->text.end;
	else if (is_in(&symbols->init_text, line->addr))
		entry.limit = symbols->init_text.end;
	else if (line->addr == symbols->text.end || line->addr == symbols->init_text.end)
		entry.limit = line->addr + 1;
	return symbol_table_add(&symbols->table, &entry);
}

/* Call VISIT with every line of code; how many lines there were, and how many had an address. */
static int each_line(struct kernel_symbols *symbols, const struct buf *text,
		     int (*visit)(struct kernel_symbols *, const struct line *), size_t n_seen[2])
{
	const char *at = text->data;
	const char *end;

	n_seen[0] = n_seen[1] = 0;
	if (!text->len)
		return 0;
	end = at + text->len;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		struct line line;
		int r = 0;

		if (parse_line(at, line_end, &line) && is_text(&line)) {
			n_seen[0]++;
			n_seen[1] += line.addr != 0;
			r = line.addr ? visit(symbols, &line) : 0;
		}
		if (r < 0)
			return r;
		at = line_end + 1;
	}
	return 0;
}

static int visit_mark(struct kernel_symbols *symbols, const struct line *line)
{
	note_mark(symbols, line);
	return 0;
}

static int parse(struct kernel_symbols *symbols, const struct buf *text)
{
	size_t n_seen[2];
	int r;

	(void)each_line(symbols, text, visit_mark, n_seen);
	if (n_seen[0] == 0)
		return -EBADMSG;
	if (n_seen[1] == 0)
		return -EPERM;
	r = each_line(symbols, text, add_line, n_seen);
	if (r == 0)
		symbol_table_finish(&symbols->table);
	return r;
}

int kernel_symbols_new(const char *path, const char *cache_folder,
		       struct kernel_symbols **ret_symbols)
{
	struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	struct buf text;
	int r;

	if (!symbols)
		return -ENOMEM;
	buf_init(&text, MAX_BYTES);
	r = io_read_file(path ? path : "/proc/kallsyms", &text, NULL);
	if (r == 0)
		r = parse(symbols, &text);
	if (r == 0)
		kernel_copy_write(cache_folder, &text, symbols->text.start);
	else if (kernel_copy_read(cache_folder, &text) == 0 && parse(symbols, &text) == 0)
		r = 0; /* Somebody who may see them has kept them in this boot. */
	buf_release(&text);
	if (r < 0) {
		kernel_symbols_free(symbols);
		return r;
	}
	*ret_symbols = symbols;
	return 0;
}

void kernel_symbols_free(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	symbol_table_release(&symbols->table);
	free(symbols);
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t addr,
				uint64_t *ret_start, const char **ret_module)
{
	const struct symbol *symbol = symbol_table_find(&symbols->table, addr);
	const char *module;

	if (!symbol)
		return NULL;
	module = symbol_table_file(&symbols->table, symbol);
	*ret_start = symbol->addr;
	*ret_module = module ? module : "[kernel.kallsyms]";
	return symbol_table_name(&symbols->table, symbol);
}
