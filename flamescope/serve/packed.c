/* packed.c - pack and gzip; both live in memfds, so that neither is ever in the heap as a whole */
#include "flamescope/serve/packed.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/pack/pack.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

enum {
	CHUNK = 256 * 1024,
	GZIP_BITS = 15 + 16, /* zlib's word for "a gzip header" */
	/* A step more makes a file a tenth smaller and takes twice as long: a person waits. */
	LEVEL = 3,
};

struct deflating {
	z_stream stream;
	unsigned char in[CHUNK];
	unsigned char out[CHUNK];
};

/* What deflate has to say about the bytes in `in`, until it wants more (or has ended). */
static int drain(struct deflating *deflating, int flush, int to, uint64_t *total)
{
	z_stream *stream = &deflating->stream;
	int r;

	do {
		size_t len;

		stream->next_out = deflating->out;
		stream->avail_out = CHUNK;
		if (deflate(stream, flush) == Z_STREAM_ERROR)
			return -EIO;
		len = CHUNK - stream->avail_out;
		r = io_write_all(to, deflating->out, len, NULL);
		if (r < 0)
			return r;
		*total += len;
	} while (stream->avail_out == 0);
	return 0;
}

static int deflate_all(struct deflating *deflating, int from, int to, uint64_t *ret_bytes)
{
	uint64_t total = 0;
	uint64_t at = 0;
	ssize_t n;
	int r;

	do {
		n = io_pread(from, deflating->in, CHUNK, at);
		if (n < 0)
			return (int)n;
		at += (uint64_t)n;
		deflating->stream.next_in = deflating->in;
		deflating->stream.avail_in = (uInt)n;
		r = drain(deflating, n < CHUNK ? Z_FINISH : Z_NO_FLUSH, to, &total);
		if (r < 0)
			return r;
	} while (n == CHUNK);
	*ret_bytes = total;
	return 0;
}

static int gzip(int from, int to, uint64_t *ret_bytes)
{
	_cleanup_free_ struct deflating *deflating = calloc(1, sizeof(*deflating));
	int r;

	if (!deflating)
		return -ENOMEM;
	if (deflateInit2(&deflating->stream, LEVEL, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	r = deflate_all(deflating, from, to, ret_bytes);
	(void)deflateEnd(&deflating->stream);
	return r;
}

int packed_make(const struct profile *profile, int *ret_fd, uint64_t *ret_bytes, struct err *err)
{
	_cleanup_fd_ int plain = memfd_create("wick-pack", MFD_CLOEXEC);
	_cleanup_fd_ int zipped = memfd_create("wick-pack-gz", MFD_CLOEXEC);
	int r;

	if (plain < 0 || zipped < 0)
		return err_set(err, errno, "no memory for a pack");
	r = pack_write(profile, plain, err);
	if (r < 0)
		return r;
	r = gzip(plain, zipped, ret_bytes);
	if (r < 0)
		return err_set(err, -r, "cannot compress a pack");
	*ret_fd = steal_fd(&zipped);
	return 0;
}
