/* cmd_symbolize.c - `wick symbolize`: a copy of a recording with the names it could not wait for */
#include "base/cleanup.h"
#include "base/io.h"
#include "flamescope/load/lines.h"
#include "tools/cmd.h"
#include "tools/frame_namer.h"
#include "tools/say.h"
#include "tools/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { OUT_BYTES = 8 * 1024 * 1024, FLUSH_BYTES = 1024 * 1024 };

const struct option_spec symbolize_option_specs[] = {
	{'o', "output", "FILE", "write to FILE (FILE.named.perf for FILE.perf)"},
	{'q', "quiet", NULL, "write nothing but errors"},
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

struct symbolize_job {
	const char *in;
	const char *out;
	struct lines *lines;
	struct frame_namer *namer;
	struct buf text;
	int fd;
};

/* x.perf, x.perf.gz and x.perf.zst become x.named.perf; anything else gets .named.perf. */
static void default_name(const char *in, char *to, size_t size)
{
	static const char *const endings[] = {".perf", ".perf.gz", ".perf.zst"};
	size_t len = strlen(in);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t ending = strlen(endings[i]);

		if (len > ending && strcmp(in + len - ending, endings[i]) == 0) {
			len -= ending;
			break;
		}
	}
	(void)snprintf(to, size, "%.*s.named.perf", (int)len, in);
}

static int flush(struct symbolize_job *job, struct err *err)
{
	int r;

	if (job->text.failed)
		return err_set(err, ENOMEM, "write '%s'", job->out);
	r = io_write_all(job->fd, job->text.data, job->text.len, NULL);
	buf_clear(&job->text);
	return r < 0 ? err_set(err, -r, "write '%s'", job->out) : 0;
}

/* Copy a line, or write it anew; parsing cuts it up, so it is kept first. */
static void take_line(struct symbolize_job *job, struct line *line, bool *leaf)
{
	size_t start = job->text.len;
	struct perf_frame frame;
	bool indented = line->text[0] == '\t' || line->text[0] == ' ';

	(void)buf_append(&job->text, line->text, line->len);
	if (!line->unended)
		buf_add_char(&job->text, '\n');
	if (!indented) {
		*leaf = true;
		return;
	}
	if (line->cut || !perf_line_frame(line->text, &frame))
		return;
	if (!job->text.failed) {
		size_t end = job->text.len;

		if (frame_namer_try(job->namer, &frame, *leaf, &job->text) && !job->text.failed) {
			memmove(job->text.data + start, job->text.data + end, job->text.len - end);
			job->text.len -= end - start;
		}
	}
	*leaf = false;
}

static int copy(struct symbolize_job *job, struct err *err)
{
	struct line line;
	bool leaf = true;
	int r;

	while ((r = lines_next(job->lines, &line, err)) > 0) {
		if (line.cut)
			return err_set(err, 0, "'%s' has a line of more than %d bytes: line %llu",
				       job->in, LINES_MAX_BYTES, (unsigned long long)line.number);
		take_line(job, &line, &leaf);
		if (job->text.len >= FLUSH_BYTES) {
			r = flush(job, err);
			if (r < 0)
				return r;
		}
	}
	return r < 0 ? r : flush(job, err);
}

static int start(struct symbolize_job *job, struct err *err)
{
	int r = lines_open(job->in, &job->lines, err);

	if (r == 0)
		r = frame_namer_new(&job->namer, err);
	if (r < 0)
		return r;
	job->fd = open(job->out, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (job->fd >= 0)
		return 0;
	r = err_set(err, errno, "write '%s'", job->out);
	if (r == -EEXIST)
		err_hint(err, "-o with another name; wick never overwrites");
	return r;
}

static void report(const struct symbolize_job *job)
{
	struct frame_namer_stats stats;
	struct buf text;

	frame_namer_stats(job->namer, &stats);
	buf_init(&text, CMD_TEXT_BYTES);
	buf_printf(&text, "wick: %s: ", job->out);
	if (stats.waiting) {
		text_count(&text, stats.named);
		buf_add(&text, " of ");
		text_of(&text, stats.waiting, "frame");
		buf_add(&text, " without a name have one now\n");
	} else {
		buf_add(&text, "a copy; no frame lacked a name\n");
	}
	if (stats.named < stats.waiting && !stats.missing)
		buf_add(&text, "  try        install the debug symbols of their modules first\n");
	if (stats.missing) {
		buf_add(&text, "  not read   ");
		text_of(&text, stats.missing, "module");
		buf_printf(&text, ": %s\n", stats.missing_why);
	}
	say_text(&text);
	buf_release(&text);
}

static int symbolize(const char *in, const char *out)
{
	struct symbolize_job job = {.in = in, .out = out, .fd = -1};
	struct err err = {0};
	int r;

	buf_init(&job.text, OUT_BYTES);
	r = start(&job, &err);
	if (r == 0)
		r = copy(&job, &err);
	if (r == 0)
		report(&job);
	if (job.fd >= 0) {
		if (close(job.fd) < 0 && r == 0)
			r = err_set(&err, errno, "write '%s'", out);
		if (r < 0) /* half a copy helps nobody */
			(void)unlink(out);
	}
	frame_namer_free(job.namer);
	lines_close(job.lines);
	buf_release(&job.text);
	if (r == 0)
		return WICK_OK;
	say_error("%s", err.text);
	return r == -EINVAL ? WICK_IO : cmd_exit_of(r);
}

int cmd_symbolize(struct cmd_ctx *ctx)
{
	struct option_cursor cursor = {
		.specs = symbolize_option_specs, .argc = ctx->argc, .argv = ctx->argv};
	struct err err = {0};
	const char *out = NULL;
	char name[PATH_MAX];
	int id;

	while ((id = option_next(&cursor, &err)) != 0) {
		if (id == OPTION_HELP)
			return cmd_help(ctx->command);
		if (id < 0) {
			say_error("%s", err.text);
			return WICK_USAGE;
		}
		if (id == 'o')
			out = cursor.value;
		else
			say_quiet();
	}
	if (ctx->argc - cursor.rest != 1) {
		say_error("%s, try: wick symbolize FILE",
			  cursor.rest == ctx->argc ? "no file given" : "one file at a time");
		return WICK_USAGE;
	}
	if (!out) {
		default_name(ctx->argv[cursor.rest], name, sizeof(name));
		out = name;
	}
	return symbolize(ctx->argv[cursor.rest], out);
}
