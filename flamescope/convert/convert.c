/* convert.c - which format, and its writer */
#include "flamescope/convert/convert.h"

#include "flamescope/convert/internal.h"

#include <errno.h>
#include <string.h>

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

int out_write(struct out *out)
{
	int r;

	buf_init(&out->buf, SAMPLE_BYTES);
	r = write_format(out);
	if (r == 0)
		r = out_flush(out);
	buf_release(&out->buf);
	return r;
}

int convert_write(const struct selection *selection, const struct convert_options *options,
		  const struct convert_sink *sink, struct convert_report *ret_report,
		  struct err *err)
{
	struct out out = {.sink = sink, .selection = selection, .options = options};
	int r = options->gzip ? out_gzip(&out) : out_write(&out);

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
