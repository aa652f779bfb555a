/* cmd_symbolize.c - `wick symbolize`: a copy of a recording with the names it could not wait for */
#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/words.h"
#include "flamescope/text/text.h"
#include "output/text/perf_script.h"
#include "tools/cli/terminal.h"
#include "tools/summary/module_list.h"
#include "tools/symbols/frame_namer.h"
#include "tools/view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
	OUT_BYTES = 16 * 1024 * 1024,
	FLUSH_BYTES = 1024 * 1024,
	/* Lines of inlined calls that a sample takes beside all that can be in it before. */
	MAX_INLINED = PERF_SCRIPT_MAX_LINES - SAMPLE_MAX_FRAMES - 16,
};

const struct option_spec symbolize_option_specs[] = {
	VIEW_OUTPUT_SPEC("write to FILE (default: FILE.named.perf for FILE.perf)"),
	{OPT_SYMBOL_DIR, "symbol-dir", "DIR",
	 "look for modules and debug files in DIR, by build-id or name; may be repeated"},
	{OPT_DEBUGINFOD, "debuginfod", NULL,
	 "download debug files from the servers in $DEBUGINFOD_URLS, for at most 5s"},
	{OPT_NO_INLINE, "no-inline", NULL, "leave inlined calls out of the stacks"},
	{OPT_SRCLINE, "srcline", NULL, "write file and line of each frame in a comment line"},
	{OPT_FULL_NAMES, "full-names", NULL, "show C++ and Rust names with their parameters"},
	{OPT_NO_CACHE, "no-cache", NULL, "do not use the symbol cache on disk"},
	{'q', "quiet", NULL, "print only errors"},
	{OPTION_HELP, "help", NULL, "print this help"},
	{'i', "input", "FILE", NULL},
	{0, NULL, NULL, NULL},
};

struct symbolize_job {
	const char *in;
	const char *out;
	const struct symbol_options *symbols;
	struct lines *lines;
	struct frame_namer *namer;
	struct buf text;
	struct buf words; /* of the sample's "# l" line */
	struct buf old;   /* those that it had */
	size_t n_old;     /* bytes of them that were used */
	size_t sample;    /* where the sample begins in TEXT */
	size_t n_inlined; /* lines in the sample */
	bool leaf;        /* the next frame is its sample's first */
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

/* What stands before the frame on its line: "# f " in a release of memory; NULL: it is no frame. */
static const char *before_frame(const struct line *line)
{
	static const char release[] = "# f ";
	bool commented = strncmp(line->text, release, sizeof(release) - 1) == 0;
	char first = line->text[commented ? sizeof(release) - 1 : 0];

	if ((first != '\t' && first != ' ') || line->cut)
		return NULL;
	return commented ? release : "";
}

/* "# wick-end : ..." says which builds ran. */
static void take_end(struct frame_namer *namer, const char *text)
{
	struct json_scan scan = {.at = text};
	char path[PATH_MAX] = "";
	struct json_pair pair;
	char build_id[2 * 64 + 1];

	while (json_scan_next(&scan, &pair)) {
		if (!pair.is_string || pair.depth != 3)
			continue;
		if (json_scan_is(&pair, "path"))
			module_list_text(&pair, path, sizeof(path));
		if (!json_scan_is(&pair, "build_id") || pair.value_len >= sizeof(build_id))
			continue;
		memcpy(build_id, pair.value, pair.value_len);
		build_id[pair.value_len] = '\0';
		if (*path)
			frame_namer_build_id(namer, path, build_id);
	}
}

static bool is_end(const struct line *line)
{
	return strncmp(line->text, "# wick-end", 10) == 0;
}

/* The first pass: what is in the file. */
static int gather(struct symbolize_job *job, struct err *err)
{
	struct perf_frame frame;
	struct perf_head head;
	struct line line;
	bool known = false;
	bool leaf = true;
	int r;

	while ((r = lines_next(job->lines, &line, err)) > 0) {
		const char *before = before_frame(&line);

		if (line.cut)
			return err_set(err, 0, "'%s' has a line of more than %d bytes: line %llu",
				       job->in, LINES_MAX_BYTES, (unsigned long long)line.number);
		if (is_end(&line))
			take_end(job->namer, strchr(line.text, '{') ? strchr(line.text, '{') : "");
		known = known || strncmp(line.text, "# wick", 6) == 0 ||
			(!before && perf_line_head(line.text, &head));
		if (!before)
			leaf = true;
		else if (perf_line_frame(line.text + strlen(before), &frame)) {
			frame_namer_ask(job->namer, &frame, leaf);
			leaf = false;
		}
	}
	if (r < 0 || known)
		return r;
	(void)err_set(err, 0, "'%s' is not perf script text", job->in);
	view_error_hint(job->in, err);
	return -EINVAL;
}

/* The word that the sample had for its next frame; "-" without one. */
static const char *next_old(struct symbolize_job *job, size_t *ret_len)
{
	const char *at = buf_text(&job->old) + job->n_old;

	at += strspn(at, " ");
	*ret_len = strcspn(at, " ");
	job->n_old = (size_t)(at + *ret_len - buf_text(&job->old));
	if (*ret_len)
		return at;
	*ret_len = 1;
	return "-";
}

/* Write a frame's line anew, with those of the calls inlined there while there is room. */
static bool write_frames(struct symbolize_job *job, const char *before,
			 const struct perf_frame *frame)
{
	const struct frame *frames;
	size_t n = frame_namer_find(job->namer, frame, job->leaf, &frames);
	size_t first = 0;

	if (n == 0)
		return false;
	if (job->n_inlined + n - 1 > MAX_INLINED)
		first = n - 1;
	job->n_inlined += n - 1 - first;
	for (size_t i = first; i < n; i++) {
		buf_add(&job->text, before);
		perf_script_frame(&frames[i], &job->text);
		buf_add_char(&job->words, ' ');
		perf_script_line(&frames[i], &job->words);
	}
	return true;
}

/* Copy a frame's line, or write it anew; parsing cuts it up, so it is kept first. */
static void take_frame(struct symbolize_job *job, struct line *line, const char *before)
{
	size_t start = job->text.len;
	struct perf_frame frame;
	const char *old;
	size_t n_old;
	size_t end;

	(void)buf_append(&job->text, line->text, line->len);
	if (!line->unended)
		buf_add_char(&job->text, '\n');
	end = job->text.len;
	if (!perf_line_frame(line->text + strlen(before), &frame))
		return;
	old = next_old(job, &n_old);
	if (!write_frames(job, before, &frame)) {
		buf_add_char(&job->words, ' ');
		(void)buf_append(&job->words, old, n_old);
	} else if (!job->text.failed) {
		memmove(job->text.data + start, job->text.data + end, job->text.len - end);
		job->text.len -= end - start;
	}
	job->leaf = false;
}

/* The sample is whole: its "# l" line goes before its header line. */
static void end_sample(struct symbolize_job *job)
{
	struct buf *text = &job->text;
	size_t len = text->len;

	if (job->leaf)
		return;
	if ((job->symbols->srcline || job->old.len) && job->words.len) {
		struct buf line;

		buf_init(&line, OUT_BYTES);
		buf_printf(&line, "# l%s\n", buf_text(&job->words));
		if (buf_append(text, line.data, line.len) == 0) {
			memmove(text->data + job->sample + line.len, text->data + job->sample,
				len - job->sample);
			memcpy(text->data + job->sample, line.data, line.len);
		}
		buf_release(&line);
	}
	buf_clear(&job->words);
	buf_clear(&job->old);
	job->n_old = 0;
	job->n_inlined = 0;
	job->leaf = true;
}

/* The end line says where names came from: now from elsewhere. */
static void take_last(struct symbolize_job *job, const struct line *line)
{
	const char *modules = strstr(line->text, ",\"modules\":[");
	struct module_list list = {0};

	if (!modules) {
		(void)buf_append(&job->text, line->text, line->len);
	} else {
		const struct symbolize_module *found;
		size_t n = frame_namer_modules(job->namer, &found);

		module_list_set(&list, found, n);
		(void)buf_append(&job->text, line->text, (size_t)(modules - line->text));
		perf_script_modules(&list.modules, &job->text);
		buf_add_char(&job->text, '}');
		module_list_release(&list);
	}
	buf_add_char(&job->text, '\n');
}

static void take_line(struct symbolize_job *job, struct line *line)
{
	const char *before = before_frame(line);

	if (before) {
		take_frame(job, line, before);
		return;
	}
	end_sample(job);
	if (strncmp(line->text, "# l ", 4) == 0) {
		(void)buf_append(&job->old, line->text + 4, line->len - 4);
		return;
	}
	job->sample = job->text.len;
	if (is_end(line)) {
		take_last(job, line);
		return;
	}
	(void)buf_append(&job->text, line->text, line->len);
	if (!line->unended)
		buf_add_char(&job->text, '\n');
}

/* The second pass. */
static int copy(struct symbolize_job *job, struct err *err)
{
	struct line line;
	int r;

	job->leaf = true;
	while ((r = lines_next(job->lines, &line, err)) > 0) {
		/* Not after a header line: the sample's "# l" line goes before it. */
		if (job->text.len >= FLUSH_BYTES && !before_frame(&line)) {
			end_sample(job);
			r = flush(job, err);
			if (r < 0)
				return r;
		}
		take_line(job, &line);
	}
	end_sample(job);
	return r < 0 ? r : flush(job, err);
}

/* Both passes read the file from its beginning. */
static int run(void *context, int fd, struct err *err)
{
	struct symbolize_job *job = context;
	int r = gather(job, err);

	if (r < 0)
		return r;
	job->fd = fd;
	lines_close(job->lines);
	job->lines = NULL;
	frame_namer_look_up(job->namer);
	r = lines_open(job->in, &job->lines, err);
	return r < 0 ? r : copy(job, err);
}

static int start(struct symbolize_job *job, struct err *err)
{
	int r = lines_open(job->in, &job->lines, err);

	return r < 0 ? r : frame_namer_new(job->symbols, &job->namer, err);
}

static void report_servers(const struct symbolize_job *job, struct buf *text)
{
	struct symbolize_servers servers;

	frame_namer_servers(job->namer, &servers);
	if (!job->symbols->debuginfod)
		return;
	buf_add(text, "  servers    ");
	servers_print(&servers, text);
}

static void report(const struct symbolize_job *job)
{
	struct frame_namer_stats stats;
	struct buf text;

	frame_namer_stats(job->namer, &stats);
	buf_init(&text, CMD_TEXT_BYTES);
	buf_printf(&text, "wick: %s: ", job->out);
	if (stats.waiting) {
		words_count(&text, stats.named);
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
	report_servers(job, &text);
	say_text(&text);
	buf_release(&text);
}

static int symbolize(const char *in, const struct view_output *output,
		     const struct symbol_options *symbols)
{
	struct symbolize_job job = {.in = in, .out = output->path, .symbols = symbols};
	struct err err = {0};
	int r;

	buf_init(&job.text, OUT_BYTES);
	buf_init(&job.words, OUT_BYTES / 2);
	buf_init(&job.old, LINES_MAX_BYTES);
	r = view_output_check(output, &err);
	if (r == 0)
		r = start(&job, &err);
	if (r < 0)
		view_error_hint(in, &err);
	if (r == 0)
		r = view_output_make(output, run, &job, &err);
	if (r == 0)
		report(&job);
	symbol_options_tell_mangled();
	frame_namer_free(job.namer);
	lines_close(job.lines);
	buf_release(&job.text);
	buf_release(&job.words);
	buf_release(&job.old);
	if (r == 0)
		return WICK_OK;
	say_error("%s", err.text);
	return r == -EINVAL ? WICK_IO : cmd_exit_of(r);
}

/* The command line. */
struct asked {
	struct symbol_options symbols;
	struct view_input input;
	struct view_output output;
	bool help;
};

static int take(void *context, int id, const char *value, struct err *err)
{
	struct asked *asked = context;

	if (id == OPTION_HELP)
		asked->help = true;
	else if (id == 'i')
		return view_input_add(&asked->input, value, err);
	else if (id == 'o')
		asked->output.path = value;
	else if (id == 'f')
		asked->output.force = true;
	else if (id == 'q')
		say_quiet();
	return symbol_options_take(id, value, &asked->symbols, err);
}

static int parse(int argc, char **argv, struct asked *asked, struct err *err)
{
	int rest = option_read(symbolize_option_specs, argc, argv, take, asked, err);
	int r = rest < 0 ? rest : 0;

	for (; r == 0 && rest < argc; rest++)
		r = view_input_add(&asked->input, argv[rest], err);
	if (r < 0 || asked->help)
		return r;
	if (asked->input.n_paths == 0)
		r = view_input_add_newest(&asked->input, "symbolize", false, err);
	if (asked->input.n_paths > 1) {
		(void)err_set(err, 0, "one file at a time");
		err_hint(err, "wick symbolize FILE");
		return -EINVAL;
	}
	asked->output.inputs[0] = &asked->input;
	return r;
}

static int run_asked(struct asked *asked)
{
	const char *in = asked->input.paths[0];
	char name[PATH_MAX];

	if (!asked->output.path) {
		default_name(in, name, sizeof(name));
		asked->output.path = name;
	}
	return symbolize(in, &asked->output, &asked->symbols);
}

int cmd_symbolize(struct cmd_ctx *ctx)
{
	struct asked asked = {.help = false};
	struct err err = {0};
	int r = parse(ctx->argc, ctx->argv, &asked, &err);
	int status;

	if (r < 0)
		status = view_fail(r, &err);
	else
		status = asked.help ? cmd_help(ctx->command) : run_asked(&asked);
	view_input_release(&asked.input);
	return status;
}
