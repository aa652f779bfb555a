/* kernel.c - /proc/kallsyms: addresses without sizes, and zeros for users without permission */
#include "symbolize/kernel/kernel.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "symbolize/elf/symbol_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/*
 * A copy of kallsyms for users that may not read it: FOLDER/kallsyms-BOOT has "wick-kallsyms 1
 * STEXT", then lines with addresses relative to STEXT, because the kernel lies elsewhere in every
 * boot.  A copy is of one boot only: modules are loaded elsewhere too.
 */
static const char PREFIX[] = "kallsyms-";
static const char MAGIC[] = "wick-kallsyms 1 ";

enum { BOOT_ID_LEN = 36 };

static bool copy_name(char name[64])
{
	struct buf boot;
	bool good;

	buf_init(&boot, 4096);
	good = io_read_file("/proc/sys/kernel/random/boot_id", &boot, NULL) == 0 &&
	       boot.len >= BOOT_ID_LEN &&
	       strspn(buf_text(&boot), "0123456789abcdef-") == BOOT_ID_LEN;
	if (good)
		(void)snprintf(name, 64, "%s%.*s", PREFIX, BOOT_ID_LEN, buf_text(&boot));
	buf_release(&boot);
	return good;
}

/* The lines of code, each address minus STEXT, all else as it is. */
static void add_lines(struct buf *to, const struct buf *kallsyms, uint64_t stext)
{
	const char *end = kallsyms->data + kallsyms->len;
	const char *at = kallsyms->data;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		char *rest = NULL;
		uint64_t addr;

		if (!newline)
			break; /* strtoull() needs an end */
		addr = strtoull(at, &rest, 16);
		if (rest && rest + 2 < line_end && rest[0] == ' ' && strchr("tTwW", rest[1])) {
			buf_add_hex(to, addr - stext, 0);
			(void)buf_append(to, rest, (size_t)(line_end - rest));
			buf_add_char(to, '\n');
		}
		at = line_end + 1;
	}
}

static void remove_others(int folder, const char *keep)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!entries) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while ((entry = readdir(entries)))
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    strcmp(entry->d_name, keep) != 0)
			(void)unlinkat(folder, entry->d_name, 0);
	(void)closedir(entries);
}

/* Keeps the lines of functions for users that may not see kallsyms; copies of other boots go. */
static void kernel_copy_write(const char *folder, const struct buf *kallsyms, uint64_t stext)
{
	_cleanup_fd_ int at = -1;
	_cleanup_fd_ int fd = -1;
	char name[64];
	char made[96];
	struct buf text;
	int r;

	if (!folder || !stext || !copy_name(name))
		return;
	(void)mkdir(folder, 0700);
	at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(made, sizeof(made), "%s.%d", name, (int)getpid());
	fd = at >= 0 ? openat(at, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	buf_init(&text, MAX_BYTES);
	buf_printf(&text, "%s%" PRIx64 "\n", MAGIC, stext);
	add_lines(&text, kallsyms, stext);
	r = text.failed ? -EFBIG : io_write_all(fd, text.data, text.len, NULL);
	buf_release(&text);
	if (r < 0 || renameat(at, made, at, name) < 0)
		(void)unlinkat(at, made, 0);
	else
		remove_others(at, name);
}

/* Lines with addresses as they are in this boot. */
static int restore(const struct buf *copy, struct buf *ret_text)
{
	const char *end = copy->data + copy->len;
	const char *at = copy->data + strlen(MAGIC);
	uint64_t stext;
	char *rest = NULL;

	if (copy->len < strlen(MAGIC) + 2 || memcmp(copy->data, MAGIC, strlen(MAGIC)) != 0 ||
	    end[-1] != '\n')
		return -EBADMSG;
	stext = strtoull(at, &rest, 16);
	if (*rest != '\n')
		return -EBADMSG;
	buf_clear(ret_text);
	for (at = rest + 1; at < end;) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		uint64_t addr = strtoull(at, &rest, 16);

		if (rest > line_end)
			return -EBADMSG;
		buf_add_hex(ret_text, addr + stext, 16);
		(void)buf_append(ret_text, rest, (size_t)(line_end + 1 - rest));
		at = line_end + 1;
	}
	return ret_text->failed ? -EFBIG : 0;
}

/* The copy of this boot, as lines of kallsyms, if only this user could have written it. */
static int kernel_copy_read(const char *folder, struct buf *ret_text)
{
	char path[PATH_MAX];
	_cleanup_fd_ int fd = -1;
	struct stat st;
	struct buf copy;
	char name[64];
	int r;

	if (!folder || !copy_name(name))
		return -ENOENT;
	r = snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (r < 0 || (size_t)r >= sizeof(path))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022))
		return -EPERM;
	buf_init(&copy, MAX_BYTES);
	r = io_read_fd(fd, &copy);
	if (r == 0)
		r = restore(&copy, ret_text);
	buf_release(&copy);
	return r;
}

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

static int note_mark(struct kernel_symbols *symbols, const struct line *line)
{
	if (line->name[0] != '_')
		return 0;
	if (is_named(line, "_stext"))
		symbols->text.start = line->addr;
	else if (is_named(line, "_etext"))
		symbols->text.end = line->addr;
	else if (is_named(line, "_sinittext"))
		symbols->init_text.start = line->addr;
	else if (is_named(line, "_einittext"))
		symbols->init_text.end = line->addr;
	return 0;
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

static int parse(struct kernel_symbols *symbols, const struct buf *text)
{
	size_t n_seen[2];
	int r;

	(void)each_line(symbols, text, note_mark, n_seen);
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
		r = 0; /* a user with permission has left a copy in this boot */
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
