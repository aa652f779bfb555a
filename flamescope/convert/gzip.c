/* gzip.c - compressed on the way to the sink */
#include "flamescope/convert/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

struct gzip;

enum { OUT_BYTES_AT_ONCE = 64 * 1024, GZIP_WINDOW = 15 + 16, LEVEL = 6, MEMORY = 8 };

struct gzip {
	struct convert_sink sink;
	const struct convert_sink *output;
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
		r = gzip->output->write(gzip->output->context, gzip->bytes,
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

/* Compress into SINK, as one member: readers in browsers stop after the first. */
static int gzip_new(const struct convert_sink *sink, struct gzip **ret_gzip)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	gzip->sink = (struct convert_sink){on_write, gzip};
	gzip->output = sink;
	if (deflateInit2(&gzip->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return -ENOMEM;
	}
	*ret_gzip = gzip;
	return 0;
}

/* The end of the file. */
static int gzip_finish(struct gzip *gzip)
{
	gzip->stream.next_in = NULL;
	gzip->stream.avail_in = 0;
	return pump(gzip, Z_FINISH);
}

/* Free it. */
static void gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return;
	(void)deflateEnd(&gzip->stream);
	free(gzip);
}

int out_gzip(struct out *out)
{
	const struct convert_sink *sink = out->sink;
	struct gzip *gzip;
	int r = gzip_new(sink, &gzip);

	if (r < 0)
		return r;
	out->sink = &gzip->sink;
	r = out_write(out);
	if (r == 0)
		r = gzip_finish(gzip);
	gzip_free(gzip);
	return r;
}
