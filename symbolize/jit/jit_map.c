/* jit_map.c - lines that are appended while they are read, in a file that may begin again */
#include "symbolize/jit/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "symbolize/bounds/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { READ_STEP = 256 * 1024, MAX_LINE = 64 * 1024 };

static bool parse_hex(const char **at, const char *end, uint64_t *ret_number)
{
	const char *p = *at;
	uint64_t number = 0;
	int n_digits = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (; p < end && n_digits < 17; p++, n_digits++) {
		char c = (char)(*p | 0x20);

		if (*p >= '0' && *p <= '9')
			number = number << 4 | (uint64_t)(*p - '0');
		else if (c >= 'a' && c <= 'f')
			number = number << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	if (n_digits == 0 || n_digits > 16 || p == end || (*p != ' ' && *p != '\t'))
		return false;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	*at = p;
	*ret_number = number;
	return true;
}

bool jit_parse_line(const char *line, size_t len, uint64_t *ret_start, uint64_t *ret_size,
		    const char **ret_name)
{
	const char *end = line + len;
	const char *at = line;

	return parse_hex(&at, end, ret_start) && parse_hex(&at, end, ret_size) && at < end &&
	       (*ret_name = at);
}

static void add_line(struct jit_map *map, const char *line, size_t len)
{
	struct symbol_entry entry = {.rank = map->n_lines};
	int r;

	if (len && line[len - 1] == '\r')
		len--;
	if (!jit_parse_line(line, len, &entry.addr, &entry.size, &entry.name))
		return;
	/* A size of 0 is not "unknown" in a map: give it the one address. */
	entry.limit = entry.addr + 1;
	entry.name_len = (size_t)(line + len - entry.name);
	if (entry.name_len > MAX_LINE)
		return;
	r = symbol_table_add(&map->lines, &entry);
	map->n_lines += r == 0;
	map->full = map->full || r == -EFBIG;
}

size_t jit_map_add(struct jit_map *map, const char *text, size_t len, bool whole)
{
	size_t at = 0;

	while (at < len) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t line = newline ? (size_t)(newline - (text + at)) : len - at;

		if (!newline && !whole && line < MAX_LINE)
			break;
		add_line(map, text + at, line);
		at += line + (newline != NULL);
	}
	return at;
}

/* How many bytes tell a file with AT bytes taken in from another. */
static size_t seam_len(uint64_t at)
{
	return at < JIT_MAP_SEAM ? (size_t)at : JIT_MAP_SEAM;
}

static void note_seam(struct jit_map *map)
{
	size_t len = seam_len(map->at);

	if (io_pread(map->fd, map->seam, len, map->at - len) != (ssize_t)len ||
	    io_pread(map->fd, map->first, len, 0) != (ssize_t)len)
		map->seen = 0;
}

/* Some write the file anew, to the same length or a greater one: its bytes tell. */
static bool begins_anew(const struct jit_map *map, uint64_t size)
{
	size_t len = seam_len(map->at);
	char seam[JIT_MAP_SEAM];
	char first[JIT_MAP_SEAM];

	if (size < map->at)
		return true;
	return len && (io_pread(map->fd, seam, len, map->at - len) != (ssize_t)len ||
		       io_pread(map->fd, first, len, 0) != (ssize_t)len ||
		       memcmp(seam, map->seam, len) != 0 || memcmp(first, map->first, len) != 0);
}

void jit_map_release(struct jit_map *map)
{
	symbol_table_release(&map->lines);
	*map = (struct jit_map){.fd = map->fd, .lines = map->lines};
}

bool jit_map_read(struct jit_map *map)
{
	_cleanup_free_ char *text = malloc(READ_STEP);
	uint64_t before = map->at;
	bool anew = false;
	struct stat st;
	uint64_t end; /* what is appended meanwhile is the next call's */

	if (!text || fstat(map->fd, &st) < 0)
		return false; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
	if (begins_anew(map, (uint64_t)st.st_size)) {
		jit_map_release(map);
		anew = true;
	}
	map->tail = false;
	end = (uint64_t)st.st_size < JIT_MAP_MAX_BYTES ? (uint64_t)st.st_size : JIT_MAP_MAX_BYTES;
	while (map->at < end && !map->full && !loader_is_stopping()) {
		size_t len = end - map->at < READ_STEP ? (size_t)(end - map->at) : READ_STEP;
		ssize_t n = io_pread(map->fd, text, len, map->at);
		bool last = n >= 0 && map->at + (size_t)n >= end;
		size_t used;

		if (n <= 0)
			break;
		used = jit_map_add(map, text, (size_t)n, last && map->seen == map->at + (size_t)n);
		if (last)
			map->seen = map->at + (size_t)n;
		map->at += used;
		map->tail = used < (size_t)n;
		if (last || used == 0)
			break;
	}
	if (map->at != before || anew)
		note_seam(map);
	return map->at != before || anew;
}
