/* gzip.c - a sink that compresses, in front of another one (RFC 1952, one member) */
#include "flamescope/convert/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

enum { OUT_BYTES_AT_ONCE = 64 * 1024, GZIP_WINDOW = 15 + 16, LEVEL = 6, MEMORY = 8 };

struct gzip {
	struct convert_sink sink;
	const struct convert_sink *behind;
	z_stream stream;
	unsigned char bytes[OUT_BYTES_AT_ONCE];
};

/* Until the input is taken, or with Z_FINISH the output is complete. */
static int pump(struct gzip *gzip, int flush)
{
	int status;

	do {
		int r;

		gzip->stream.next_out = gzip->bytes;
		gzip->stream.avail_out = sizeof(gzip->bytes);
		status = deflate(&gzip->stream, flush);
		if (status == Z_STREAM_ERROR)
			return -EINVAL;
		if (gzip->stream.avail_out == sizeof(gzip->bytes))
			continue;
		r = gzip->behind->write(gzip->behind->context, gzip->bytes,
					sizeof(gzip->bytes) - gzip->stream.avail_out);
		if (r < 0)
			return r;
	} while (flush == Z_FINISH ? status != Z_STREAM_END : gzip->stream.avail_out == 0);
	return 0;
}

static int on_write(void *context, const void *bytes, size_t len)
{
	struct gzip *gzip = context;

	while (len) {
		uInt part = len > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)len;
		int r;

		gzip->stream.next_in = (z_const Bytef *)bytes;
		gzip->stream.avail_in = part;
		r = pump(gzip, Z_NO_FLUSH);
		if (r < 0)
			return r;
		bytes = (const char *)bytes + part;
		len -= part;
	}
	return 0;
}

int gzip_new(const struct convert_sink *sink, struct gzip **ret_gzip)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	gzip->sink = (struct convert_sink){on_write, gzip};
	gzip->behind = sink;
	if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return -ENOMEM;
	}
	*ret_gzip = gzip;
	return 0;
}

const struct convert_sink *gzip_sink(const struct gzip *gzip)
{
	return &gzip->sink;
}

int gzip_finish(struct gzip *gzip)
{
	gzip->stream.next_in = NULL;
	gzip->stream.avail_in = 0;
	return pump(gzip, Z_FINISH);
}

void gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return;
	(void)deflateEnd(&gzip->stream);
	free(gzip);
}
