/* source.c - plain, gzip and zstd bytes, distinguished by their first bytes */
#include "flamescope/text/text.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

enum { INPUT_BYTES = 256 * 1024 };

enum source_kind { SOURCE_PLAIN, SOURCE_GZIP, SOURCE_ZSTD };

struct source {
	const char *path; /* after the struct */
	int fd;
	enum source_kind kind;
	bool regular;
	uint64_t bytes;
	bool inside; /* a member or frame has begun and not ended */
	bool ended;  /* no more input */
	z_stream gzip;
	ZSTD_DCtx *zstd;
	size_t at, len; /* of what is in INPUT */
	uint64_t n_in, n_out;
	unsigned char input[INPUT_BYTES];
};

static int open_path(const char *path, struct err *err)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? err_set(err, errno, "open '%s'", path) : fd;
}

static ssize_t read_fd(struct source *source, void *to, size_t len, struct err *err)
{
	ssize_t n;

	do
		n = read(source->fd, to, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? err_set(err, errno, "read '%s'", source->path) : n;
}

/* More input, after what is there; 0 at the end. */
static ssize_t fill(struct source *source, struct err *err)
{
	ssize_t n;

	if (source->at) {
		memmove(source->input, source->input + source->at, source->len - source->at);
		source->len -= source->at;
		source->at = 0;
	}
	n = read_fd(source, source->input + source->len, INPUT_BYTES - source->len, err);
	if (n > 0)
		source->len += (size_t)n;
	source->n_in += n > 0 ? (uint64_t)n : 0;
	source->ended |= n == 0;
	return n;
}

/* A frame of zstd, or one that is passed over, as pzstd begins with (RFC 8878, 3.1). */
static bool is_zstd(const unsigned char *bytes)
{
	return memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0 ||
	       ((bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0);
}

static int recognise(struct source *source, struct err *err)
{
	static const unsigned char gzip[] = {0x1f, 0x8b};
	enum { MAGIC_BYTES = 4 };

	while (source->len < MAGIC_BYTES && !source->ended) {
		ssize_t n = fill(source, err);

		if (n < 0)
			return (int)n;
	}
	if (source->len >= sizeof(gzip) && memcmp(source->input, gzip, sizeof(gzip)) == 0) {
		source->kind = SOURCE_GZIP;
		/* 15: the largest window; 16: gzip's header and nothing else */
		return inflateInit2(&source->gzip, 15 + 16) == Z_OK ? 0 : -ENOMEM;
	}
	if (source->len >= MAGIC_BYTES && is_zstd(source->input)) {
		source->kind = SOURCE_ZSTD;
		source->zstd = ZSTD_createDCtx();
		return source->zstd ? 0 : -ENOMEM;
	}
	return 0;
}

int source_open(const char *path, struct source **ret_source, struct err *err)
{
	_cleanup_fd_ int fd = open_path(path, err);
	size_t size = strlen(path) + 1;
	struct source *source;
	struct stat st;
	int r;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return err_set(err, errno, "stat '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, EISDIR, "open '%s'", path);
	source = calloc(1, sizeof(*source) + size);
	if (!source)
		return err_set(err, ENOMEM, "open '%s'", path);
	source->path = memcpy(source + 1, path, size);
	source->fd = steal_fd(&fd);
	source->regular = S_ISREG(st.st_mode) && lseek(source->fd, 0, SEEK_CUR) == 0;
	source->bytes = (uint64_t)st.st_size;
	r = recognise(source, err);
	if (r < 0) {
		source_close(source);
		return r == -ENOMEM ? err_set(err, ENOMEM, "open '%s'", path) : r;
	}
	*ret_source = source;
	return 0;
}

int source_plain(const struct source *source, uint64_t *ret_bytes)
{
	*ret_bytes = source->bytes;
	return source->kind == SOURCE_PLAIN && source->regular ? source->fd : -1;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	if (source->kind == SOURCE_GZIP)
		(void)inflateEnd(&source->gzip);
	(void)ZSTD_freeDCtx(source->zstd);
	(void)close(source->fd);
	free(source);
}

/* How many bytes of LEN are there after a step; -EIO. */
static ssize_t step_gzip(struct source *source, void *to, size_t len, struct err *err)
{
	z_stream *gzip = &source->gzip;
	int code;

	if (!source->inside && inflateReset(gzip) != Z_OK)
		return err_set(err, EIO, "read '%s'", source->path);
	gzip->next_in = source->input + source->at;
	gzip->avail_in = (uInt)(source->len - source->at);
	gzip->next_out = to;
	gzip->avail_out = len > INT_MAX ? INT_MAX : (uInt)len;
	len = gzip->avail_out;
	code = inflate(gzip, Z_NO_FLUSH);
	source->at = source->len - gzip->avail_in;
	source->inside = code != Z_STREAM_END;
	if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
		return err_set(err, EIO, "read '%s' (%s)", source->path,
			       gzip->msg ? gzip->msg : "it is damaged");
	return (ssize_t)(len - gzip->avail_out);
}

static ssize_t step_zstd(struct source *source, void *to, size_t len, struct err *err)
{
	ZSTD_outBuffer out = {.dst = to, .size = len};
	ZSTD_inBuffer in = {.src = source->input, .size = source->len, .pos = source->at};
	size_t r = ZSTD_decompressStream(source->zstd, &out, &in);

	source->at = in.pos;
	if (ZSTD_isError(r))
		return err_set(err, EIO, "read '%s' (%s)", source->path, ZSTD_getErrorName(r));
	source->inside = r != 0;
	return (ssize_t)out.pos;
}

static ssize_t read_plain(struct source *source, void *to, size_t len, struct err *err)
{
	size_t n = source->len - source->at;

	if (n == 0)
		return read_fd(source, to, len, err);
	if (n > len)
		n = len;
	memcpy(to, source->input + source->at, n);
	source->at += n;
	return (ssize_t)n;
}

/* Zeros after a member fill up a tape's or a device's last block, as gzip(1) has it. */
static void skip_padding(struct source *source)
{
	if (source->kind != SOURCE_GZIP || source->inside)
		return;
	while (source->at < source->len && source->input[source->at] == 0)
		source->at++;
}

/* N more bytes have come out: N; -EINVAL: no recording is that uniform. */
static ssize_t watch_size(struct source *source, ssize_t n, struct err *err)
{
	const uint64_t free_bytes = (uint64_t)SOURCE_FREE_MIB << 20;

	source->n_out += n > 0 ? (uint64_t)n : 0;
	if (n <= 0 || source->n_out <= free_bytes + SOURCE_MOST_TIMES * source->n_in)
		return n;
	(void)err_set(err, 0,
		      "it is more than %d times as large as it is compressed, which no "
		      "recording is",
		      SOURCE_MOST_TIMES);
	err_hint(err, "%s -d FILE, and read what that writes",
		 source->kind == SOURCE_GZIP ? "gzip" : "zstd");
	return -EINVAL;
}

ssize_t source_read(struct source *source, void *to, size_t len, struct err *err)
{
	ssize_t n = 0;

	if (source->kind == SOURCE_PLAIN)
		return read_plain(source, to, len, err);
	for (;;) {
		skip_padding(source);
		/* what went in may still have to come out */
		if (source->at < source->len || source->inside)
			n = source->kind == SOURCE_GZIP ? step_gzip(source, to, len, err)
							: step_zstd(source, to, len, err);
		if (n != 0 || (source->ended && !source->inside))
			return watch_size(source, n, err);
		if (source->ended)
			return err_set(err, EIO, "read '%s' (it ends in the middle)", source->path);
		if (source->at == source->len && (n = fill(source, err)) < 0)
			return n;
		n = 0;
	}
}
