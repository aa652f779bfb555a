/* lines.c - lines out of plain, gzip and zstd files, in bounded memory */
#include "flamescope/text/text.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

enum { CHUNK_BYTES = 256 * 1024 };

struct lines {
	char path[PATH_MAX];
	gzFile gz; /* plain or gzip; NULL: zstd */
	int fd;    /* of zstd */
	ZSTD_DCtx *zstd;
	bool zstd_inside; /* a frame has begun and not ended */
	ZSTD_inBuffer in;
	unsigned char in_bytes[CHUNK_BYTES];
	char out[CHUNK_BYTES];
	size_t out_len;
	size_t out_at;
	bool ended;
	uint64_t line_bytes; /* of the line that is being read, the cut ones too */
	struct buf line;
	uint64_t number;
};

static bool is_zstd(int fd)
{
	static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	unsigned char head[sizeof(magic)];

	return io_pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	       memcmp(head, magic, sizeof(magic)) == 0;
}

static int open_file(const char *path, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_set(err, errno, "open '%s'", path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, EISDIR, "open '%s'", path);
	return steal_fd(&fd);
}

int lines_open(const char *path, struct lines **ret_lines, struct err *err)
{
	_cleanup_fd_ int fd = open_file(path, err);
	struct lines *lines;

	if (fd < 0)
		return fd;
	lines = calloc(1, sizeof(*lines));
	if (!lines)
		return err_set(err, ENOMEM, "open '%s'", path);
	lines->fd = -1;
	(void)strncpy(lines->path, path, sizeof(lines->path) - 1);
	buf_init(&lines->line, LINES_MAX_BYTES + 1);
	if (is_zstd(fd)) {
		lines->zstd = ZSTD_createDCtx();
		lines->fd = steal_fd(&fd);
	} else {
		lines->gz = gzdopen(fd, "rb");
		if (lines->gz)
			(void)steal_fd(&fd);
	}
	if (!lines->zstd && !lines->gz) {
		lines_close(lines);
		return err_set(err, ENOMEM, "open '%s'", path);
	}
	*ret_lines = lines;
	return 0;
}

void lines_close(struct lines *lines)
{
	if (!lines)
		return;
	if (lines->gz)
		(void)gzclose(lines->gz);
	if (lines->fd >= 0)
		(void)close(lines->fd);
	(void)ZSTD_freeDCtx(lines->zstd);
	buf_release(&lines->line);
	free(lines);
}

static int fill_gz(struct lines *lines, struct err *err)
{
	int n = gzread(lines->gz, lines->out, sizeof(lines->out));
	const char *message;
	int code;

	message = gzerror(lines->gz, &code);
	if (n < 0 || code == Z_BUF_ERROR)
		return err_set(err, EIO, "read '%s' (%s)", lines->path,
			       code == Z_BUF_ERROR ? "it ends in the middle" : message);
	lines->out_len = (size_t)n;
	lines->ended = n == 0;
	return 0;
}

static int fill_zstd(struct lines *lines, struct err *err)
{
	ZSTD_outBuffer out = {.dst = lines->out, .size = sizeof(lines->out)};

	while (out.pos == 0) {
		size_t r;

		if (lines->in.pos == lines->in.size) {
			ssize_t n = read(lines->fd, lines->in_bytes, sizeof(lines->in_bytes));

			if (n < 0)
				return err_set(err, errno, "read '%s'", lines->path);
			if (n == 0 && lines->zstd_inside)
				return err_set(err, EIO, "read '%s' (it ends in the middle)",
					       lines->path);
			if (n == 0)
				break;
			lines->in = (ZSTD_inBuffer){.src = lines->in_bytes, .size = (size_t)n};
		}
		r = ZSTD_decompressStream(lines->zstd, &out, &lines->in);
		if (ZSTD_isError(r))
			return err_set(err, EIO, "read '%s' (%s)", lines->path,
				       ZSTD_getErrorName(r));
		lines->zstd_inside = r != 0;
	}
	lines->out_len = out.pos;
	lines->ended = out.pos == 0;
	return 0;
}

/* Take up to a newline out of what is there; true when it was found. */
static bool take_part(struct lines *lines, struct line *line)
{
	const char *from = lines->out + lines->out_at;
	size_t left = lines->out_len - lines->out_at;
	const char *newline = memchr(from, '\n', left);
	size_t len = newline ? (size_t)(newline - from) : left;
	size_t max = LINES_MAX_BYTES - lines->line.len;

	lines->out_at += len + (newline != NULL);
	lines->line_bytes += len;
	if (len > max) {
		line->cut = 1;
		len = max;
	}
	(void)buf_append(&lines->line, from, len);
	return newline != NULL;
}

int lines_next(struct lines *lines, struct line *ret_line, struct err *err)
{
	struct line line = {.number = lines->number + 1};
	bool whole = false;
	bool any = false;
	int r;

	buf_clear(&lines->line);
	lines->line_bytes = 0;
	while (!whole) {
		if (lines->out_at == lines->out_len) {
			lines->out_at = lines->out_len = 0;
			r = lines->ended
				    ? 0
				    : (lines->gz ? fill_gz(lines, err) : fill_zstd(lines, err));
			if (r < 0)
				return r;
			if (lines->ended)
				break;
			continue;
		}
		any = true;
		whole = take_part(lines, &line);
		if (lines->line_bytes >> 20 >= LINES_ENDLESS_MIB) {
			(void)err_set(err, 0, "read '%s' (it has a line of more than %d MiB)",
				      lines->path, LINES_ENDLESS_MIB);
			return -EIO;
		}
	}
	if (!any)
		return 0;
	line.len = lines->line.len;
	buf_add_char(&lines->line, '\0');
	if (lines->line.failed)
		return err_set(err, ENOMEM, "read '%s'", lines->path);
	line.unended = !whole;
	line.text = lines->line.data;
	lines->number++;
	*ret_line = line;
	return 1;
}
