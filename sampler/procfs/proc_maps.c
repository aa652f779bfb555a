/* proc_maps.c - the lines of /proc/PID/maps */
#include "sampler/procfs/proc_maps.h"

#include "base/io.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

/* What is left of a line. */
struct cursor {
	const char *at;
	const char *end;
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return 99;
}

/* Digits and the one byte that has to follow them. */
static bool take_number(struct cursor *cursor, int base, char then, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t n = 0;

	for (; cursor->at < cursor->end && digit_of(*cursor->at) < base; cursor->at++, n++) {
		if (value > (UINT64_MAX - 15) / (uint64_t)base)
			return false;
		value = value * (uint64_t)base + (uint64_t)digit_of(*cursor->at);
	}
	if (n == 0 || cursor->at == cursor->end || *cursor->at != then)
		return false;
	cursor->at++;
	*ret_value = value;
	return true;
}

/* "r-xp " */
static bool take_permissions(struct cursor *cursor, struct maps_line *line)
{
	static const char allowed[4][3] = {"r-", "w-", "x-", "ps"};

	if (cursor->end - cursor->at < 5 || cursor->at[4] != ' ')
		return false;
	for (int i = 0; i < 4; i++)
		if (cursor->at[i] != allowed[i][0] && cursor->at[i] != allowed[i][1])
			return false;
	line->writable = cursor->at[1] == 'w';
	line->executable = cursor->at[2] == 'x';
	cursor->at += 5;
	return true;
}

/* The inode ends in a blank where a path follows, and some kernels end it so without one. */
static bool take_inode(struct cursor *cursor, uint64_t *ret_inode)
{
	uint64_t inode = 0;
	size_t n = 0;

	for (; cursor->at < cursor->end && digit_of(*cursor->at) < 10; cursor->at++, n++)
		inode = inode * 10 + (uint64_t)digit_of(*cursor->at);
	if (n == 0 || n > 20 || (cursor->at < cursor->end && *cursor->at != ' '))
		return false;
	*ret_inode = inode;
	return true;
}

static void take_path(struct cursor *cursor, struct maps_line *line)
{
	static const char suffix[] = " (deleted)";
	const size_t suffix_len = sizeof(suffix) - 1;

	while (cursor->at < cursor->end && *cursor->at == ' ')
		cursor->at++;
	line->path = cursor->at;
	line->path_len = (size_t)(cursor->end - cursor->at);
	line->deleted = line->path_len > suffix_len &&
			memcmp(cursor->end - suffix_len, suffix, suffix_len) == 0;
	if (line->deleted)
		line->path_len -= suffix_len;
}

bool proc_maps_line(const char *text, size_t len, struct maps_line *ret_line)
{
	struct cursor cursor = {.at = text, .end = text + len};
	struct maps_line line;
	uint64_t major_number;
	uint64_t minor_number;

	if (!take_number(&cursor, 16, '-', &line.start) ||
	    !take_number(&cursor, 16, ' ', &line.end) || !take_permissions(&cursor, &line) ||
	    !take_number(&cursor, 16, ' ', &line.pgoff) ||
	    !take_number(&cursor, 16, ':', &major_number) ||
	    !take_number(&cursor, 16, ' ', &minor_number) || !take_inode(&cursor, &line.inode))
		return false;
	if (line.start >= line.end)
		return false;
	line.dev = makedev((unsigned)major_number, (unsigned)minor_number);
	take_path(&cursor, &line);
	*ret_line = line;
	return true;
}

size_t proc_maps_path(const struct maps_line *line, char *to)
{
	size_t n = 0;

	for (size_t i = 0; i < line->path_len; i++) {
		if (line->path_len - i >= 4 && memcmp(line->path + i, "\\012", 4) == 0) {
			to[n++] = '\n';
			i += 3;
		} else {
			to[n++] = line->path[i];
		}
	}
	return n;
}

void proc_maps_each(const char *text, size_t len,
		    bool (*visit)(void *context, const struct maps_line *line), void *context)
{
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct maps_line line;

		if (!newline)
			return;
		if (proc_maps_line(text, (size_t)(newline - text), &line) && !visit(context, &line))
			return;
		text = newline + 1;
	}
}

int proc_maps_of(pid_t pid, bool (*visit)(void *context, const struct maps_line *line),
		 void *context)
{
	struct buf text;
	char path[32];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	buf_init(&text, MAPS_MAX_BYTES);
	r = io_read_file(path, &text, NULL);
	if (r == 0)
		proc_maps_each(text.data, text.len, visit, context);
	buf_release(&text);
	return r;
}
