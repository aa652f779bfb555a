/* totals_files.c - rows of recordings, and of files of --stats-to */
#include "tools/totals/totals.h"

#include "base/io.h"

#include <errno.h>
#include <string.h>

enum { MOST_BYTES = 64 * 1024 * 1024 };

static const char prefix[] = "# req : ";

/* A line of either kind of file; others are passed over. */
static int add_line(struct totals_sum *sum, const char *line, size_t len)
{
	size_t skip = len >= sizeof(prefix) - 1 && memcmp(line, prefix, sizeof(prefix) - 1) == 0
			      ? sizeof(prefix) - 1
			      : 0;

	if (!skip && (len == 0 || line[0] != '{'))
		return 0;
	return totals_sum_add(sum, line + skip, len - skip) == -ENOMEM ? -ENOMEM : 0;
}

static int read_one(const char *path, struct totals_sum *sum, struct err *err)
{
	struct buf text;
	int r;

	buf_init(&text, MOST_BYTES);
	r = io_read_file(path, &text, err);
	for (const char *at = text.data; r == 0 && at < text.data + text.len;) {
		size_t left = text.len - (size_t)(at - text.data);
		const char *end = memchr(at, '\n', left);
		size_t len = end ? (size_t)(end - at) : left;

		r = add_line(sum, at, len);
		at += len + 1;
	}
	buf_release(&text);
	return r;
}

int totals_read_files(char *const *paths, size_t n, struct totals_sum *sum, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_one(paths[i], sum, err);
	return r;
}
