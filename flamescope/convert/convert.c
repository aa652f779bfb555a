/* convert.c - which format, and the way of its bytes: writer, gzip, sink */
#include "flamescope/convert/convert.h"

#include "flamescope/convert/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

enum { SAMPLE_BYTES = 64 * 1024 * 1024 }; /* of the text of a sample, at most */

struct format {
	const char *end;
	enum convert_format format;
};

static const struct format formats[] = {
	{"folded", CONVERT_FOLDED},        {"pb", CONVERT_PPROF},
	{"pprof", CONVERT_PPROF},          {"speedscope.json", CONVERT_SPEEDSCOPE},
	{"firefox.json", CONVERT_FIREFOX}, {"perf", CONVERT_PERF},
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

static bool ends_in(const char *text, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	if (len < end_len || strncmp(text + len - end_len, end, end_len) != 0)
		return false;
	return len == end_len || text[len - end_len - 1] == '.';
}

int convert_format_of(const char *text, enum convert_format *ret_format, bool *ret_gzip,
		      struct err *err)
{
	size_t len = strlen(text);
	bool gzip = len > 3 && strcmp(text + len - 3, ".gz") == 0;

	for (size_t i = 0; i < N_FORMATS; i++) {
		if (ends_in(text, gzip ? len - 3 : len, formats[i].end)) {
			*ret_format = formats[i].format;
			*ret_gzip = gzip;
			return 0;
		}
	}
	(void)err_set(err, 0,
		      "'%.200s' is no format; there are: folded, pb, speedscope.json, "
		      "firefox.json, perf, each also with .gz appended",
		      text);
	return -ENOENT;
}

static int write_format(struct out *out)
{
	switch (out->options->format) {
	case CONVERT_FOLDED:
		return folded_write(out);
	case CONVERT_PPROF:
		return pprof_write(out);
	case CONVERT_SPEEDSCOPE:
		return speedscope_write(out);
	case CONVERT_FIREFOX:
		return firefox_write(out);
	case CONVERT_PERF:
		return perf_write(out);
	}
	return -EINVAL;
}

static int write_all(struct out *out)
{
	int r;

	buf_init(&out->buf, SAMPLE_BYTES);
	r = write_format(out);
	if (r == 0)
		r = out_flush(out);
	buf_release(&out->buf);
	return r;
}

static int write_gzip(struct out *out)
{
	const struct convert_sink *sink = out->sink;
	struct gzip *gzip;
	int r = gzip_new(sink, &gzip);

	if (r < 0)
		return r;
	out->sink = &gzip->sink;
	r = write_all(out);
	if (r == 0)
		r = gzip_finish(gzip);
	gzip_free(gzip);
	return r;
}

int convert_write(const struct selection *selection, const struct convert_options *options,
		  const struct convert_sink *sink, struct convert_report *ret_report,
		  struct err *err)
{
	struct out out = {.sink = sink, .selection = selection, .options = options};
	int r = options->gzip ? write_gzip(&out) : write_all(&out);

	if (r == -ENOMEM)
		return err_set(err, ENOMEM, "convert %zu samples", selection->n);
	if (r == -EFBIG)
		return err_set(err, EFBIG, "a sample is longer than %d MiB",
			       (int)(SAMPLE_BYTES / 1024 / 1024));
	if (r < 0)
		return err_set(err, -r, "write");
	*ret_report = out.report;
	return 0;
}
