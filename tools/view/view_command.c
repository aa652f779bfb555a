/* view_command.c - command lines of the commands that read recordings */
#include "tools/view/view.h"

#include "tools/cli/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 128 };

int query_option_take(struct query_words *words, int id, const char *value, struct err *err)
{
	static const char *const names[] = {
		"time",  "every",    "thread",  "comm",  "process", "state",
		"wait",  "event",    "idle",    "where", "only",    "without",
		"focus", "truncate", "flatten", "elide", "group",   "metric",
	};

	_Static_assert(sizeof(names) / sizeof(names[0]) == QUERY_OPT_END - QUERY_OPT_TIME,
		       "one an id, in their order");
	if (id < QUERY_OPT_TIME || id >= QUERY_OPT_END)
		return 0;
	return query_words_take(words, names[id - QUERY_OPT_TIME], value, err);
}

static int take(struct view_command *command, int id, const char *value, struct err *err)
{
	switch (id) {
	case 'o':
		command->output.path = value;
		return 1;
	case 'f':
		command->output.force = true;
		return 1;
	case VIEW_OPT_PREFIX:
		command->input.prefix = value;
		return 1;
	case VIEW_OPT_NO_INDEX:
		command->input.no_index = true;
		return 1;
	case VIEW_OPT_FORMAT:
		command->format = value;
		return 1;
	case VIEW_OPT_TITLE:
		command->title = value;
		return 1;
	default:
		return query_option_take(&command->words, id, value, err);
	}
}

/* Where the files of a command line are: what getopt stops at is noted, and read on after it. */
struct reading {
	struct view_command *command;
	view_own_option *own;
	void *context;
	size_t n_files;
	char **files;
};

/* Up to the next FILE.  Return: 1: there is one; 0: the end; -EINVAL; -ECANCELED: help. */
static int read_options(struct reading *reading, struct option_cursor *cursor, struct err *err)
{
	int id;

	while ((id = option_next(cursor, err)) != 0) {
		int r;

		if (id == OPTION_HELP)
			return -ECANCELED;
		if (id < 0)
			return id;
		if (id == 'i') {
			/* no more files than arguments */
			reading->files[reading->n_files++] = (char *)cursor->value;
			continue;
		}
		r = take(reading->command, id, cursor->value, err);
		if (r == 0)
			r = reading->own(reading->context, id, cursor->value, err);
		if (r < 0)
			return r;
	}
	return cursor->rest < cursor->argc;
}

static int read_line(struct reading *reading, const struct cmd_ctx *ctx, struct err *err)
{
	struct option_cursor cursor = {
		.specs = ctx->command->options, .argc = ctx->argc, .argv = ctx->argv};

	for (;;) {
		int r = read_options(reading, &cursor, err);

		if (r <= 0)
			return r;
		/* after "--" there are only files */
		if (strcmp(cursor.argv[cursor.rest - 1], "--") == 0 && cursor.rest > 1) {
			while (cursor.rest < cursor.argc)
				reading->files[reading->n_files++] = cursor.argv[cursor.rest++];
			return 0;
		}
		reading->files[reading->n_files++] = cursor.argv[cursor.rest];
		cursor = (struct option_cursor){.specs = cursor.specs,
						.argc = cursor.argc - cursor.rest,
						.argv = cursor.argv + cursor.rest};
	}
}

/* Directories are read when --prefix is known, wherever it stood. */
static int add_files(struct reading *reading, const char *name, struct err *err)
{
	struct view_command *command = reading->command;
	int r = 0;

	command->ends = calloc(reading->n_files + 1, sizeof(*command->ends));
	if (!command->ends)
		return err_set(err, ENOMEM, "read the command line");
	if (reading->n_files == 0 && strcmp(name, "diff") == 0)
		return err_set(err, 0, "no file given, try: wick diff BEFORE AFTER");
	if (reading->n_files == 0) {
		command->n_ends = 1;
		command->ends[0] = 1;
		return view_input_add_newest(&command->input, name, true, err);
	}
	for (size_t i = 0; r == 0 && i < reading->n_files; i++) {
		r = view_input_add(&command->input, reading->files[i], err);
		command->ends[command->n_ends++] = command->input.n_paths;
	}
	return r;
}

bool view_command_read(struct view_command *command, struct cmd_ctx *ctx, view_own_option *own,
		       void *context, int *ret_status)
{
	struct reading reading = {.command = command, .own = own, .context = context};
	struct err err = {0};
	int r;

	reading.files = calloc((size_t)ctx->argc + 1, sizeof(*reading.files));
	if (!reading.files) {
		*ret_status = view_fail(err_set(&err, ENOMEM, "read the command line"), &err);
		return false;
	}
	r = read_line(&reading, ctx, &err);
	if (r == 0)
		r = add_files(&reading, ctx->command->name, &err);
	free(reading.files);
	command->output.inputs[0] = &command->input;
	if (r == 0)
		r = view_output_check(&command->output, &err);
	if (r == 0)
		return true;
	*ret_status = r == -ECANCELED ? cmd_help(ctx->command) : view_fail(r, &err);
	return false;
}

static const char *name_of(enum view_format format)
{
	static const char *const names[] = {
		[VIEW_TXT] = "txt",
		[VIEW_CSV] = "csv",
		[VIEW_JSON] = "json",
		[VIEW_MD] = "md",
		[VIEW_SVG] = "svg",
		[VIEW_HTML] = "html",
		[VIEW_FOLDED] = "folded",
		[VIEW_PPROF] = "pb.gz",
		[VIEW_SPEEDSCOPE] = "speedscope.json",
		[VIEW_FIREFOX] = "firefox.json.gz",
		[VIEW_PERF] = "perf",
	};

	return names[format];
}

static int refuse_format(const enum view_format *formats, const char *what, struct err *err)
{
	struct buf list;

	buf_init(&list, LIST_BYTES);
	for (const enum view_format *can = formats; *can != VIEW_NONE; can++)
		buf_printf(&list, "%s%s", can == formats ? "" : ", ", name_of(*can));
	(void)err_set(err, 0, "'%s' is not a format of this command: %s", what, buf_text(&list));
	buf_release(&list);
	return -EINVAL;
}

int view_command_format(const struct view_command *command, const enum view_format *formats,
			enum view_format *ret_format, struct err *err)
{
	const char *named = command->format;
	const char *path = command->output.path;
	enum view_format format;

	if (!named && (!path || strcmp(path, "-") == 0)) {
		*ret_format = VIEW_NONE;
		return 0;
	}
	format = named ? view_format_named(named) : view_format_of(path);
	for (const enum view_format *can = formats; *can != VIEW_NONE; can++) {
		if (*can == format) {
			*ret_format = format;
			return 0;
		}
	}
	return refuse_format(formats, named ? named : path, err);
}

void view_command_release(struct view_command *command)
{
	query_words_release(&command->words);
	view_input_release(&command->input);
	free(command->ends);
	*command = (struct view_command){0};
}

int view_fail(int error, const struct err *err)
{
	say_error("%s", err->text[0] ? err->text : strerrordesc_np(-error));
	return error == -ENOENT && err->code == EINVAL ? WICK_USAGE : cmd_exit_of(error);
}
