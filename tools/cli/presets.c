/* presets.c - wick.ini and WICK_* as options */
#include "tools/cli/cmd.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tools/cli/terminal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char blanks[] = " \t\r";

/* TEXT without blanks at its ends; it is cut. */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, blanks);
	len = strlen(text);
	while (len > 0 && strchr(blanks, text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* "a value" keeps the blanks at its ends. */
static char *unquote(char *value)
{
	size_t len = strlen(value);

	if (len < 2 || value[0] != '"' || value[len - 1] != '"')
		return value;
	value[len - 1] = '\0';
	return value + 1;
}

static int read_section(char *line, struct ini_entry *entry, struct err *err)
{
	size_t len = strlen(line);

	if (line[len - 1] != ']')
		return err_set(err, 0, "'%s' has no ] at its end", line);
	line[len - 1] = '\0';
	entry->section = trim(line + 1);
	return 0;
}

static int read_pair(char *line, struct ini_entry *entry, struct err *err)
{
	char *value = strchr(line, '=');

	if (!value) {
		(void)err_set(err, 0, "'%s' has no = and value", line);
		err_hint(err, "%s = VALUE", line);
		return -EINVAL;
	}
	*value++ = '\0';
	entry->key = trim(line);
	entry->value = unquote(trim(value));
	if (!entry->section) {
		(void)err_set(err, 0, "'%s' is outside of any section", entry->key);
		err_hint(err, "[record] above it");
		return -EINVAL;
	}
	return *entry->key ? 0 : err_set(err, 0, "there is no key before the =");
}

static int read_line(char *line, struct ini_entry *entry, ini_take *take, void *context,
		     struct err *err)
{
	int r;

	line = trim(line);
	if (*line == '\0' || *line == '#' || *line == ';')
		return 0;
	if (*line == '[')
		return read_section(line, entry, err);
	r = read_pair(line, entry, err);
	return r < 0 ? r : take(context, entry, err);
}

int ini_read(const char *name, char *text, ini_take *take, void *context, struct err *err)
{
	struct ini_entry entry = {0};
	struct err why = {0};

	while (text) {
		char *line = text;
		int r;

		text = strchr(text, '\n');
		if (text)
			*text++ = '\0';
		entry.line++;
		r = read_line(line, &entry, take, context, &why);
		if (r < 0) {
			(void)err_set(err, 0, "'%s' line %u: %s", name, entry.line, why.text);
			return r;
		}
	}
	return 0;
}

enum { MAX_FILE = 64 * 1024, MAX_NAME = 96, MAX_ARGUMENT = 66 * 1024, MAX_COMMANDS = 64 };

/* Where an option is from; the higher one wins.  TYPED ones are not among the presets. */
enum rank { OF_MACHINE, OF_USER, OF_ENVIRONMENT, TYPED };

struct preset {
	const struct option_spec *spec;
	char *argument; /* "--freq=99"; NULL: the option is switched off */
	char *where;
	enum rank rank;
};

/* Whose arguments presets_origin() knows: those of the one command that runs. */
static const struct presets *current;

static const char *variable(const char *name)
{
	const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe) */

	return value && *value ? value : NULL;
}

/* The main thread alone reads the environment, and no thread writes it. */
static const char *directory(const char *name)
{
	const char *value = getenv(name); /* NOLINT(concurrency-mt-unsafe) */

	return value && *value == '/' ? value : NULL;
}

/* $XDG_CONFIG_HOME/wick/wick.ini or ~/.config/wick/wick.ini, whether or not it exists.
 * Return: false when neither variable names a directory. */
static bool find_user_file(struct buf *path)
{
	const char *config = directory("XDG_CONFIG_HOME");
	const char *home = directory("HOME");

	if (config)
		buf_printf(path, "%s/wick/wick.ini", config);
	else if (home)
		buf_printf(path, "%s/.config/wick/wick.ini", home);
	return (config || home) && !path->failed;
}

/* Why a file is not trusted; NULL: it is. */
static const char *why_not_trusted(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "it belongs to another user";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "its group or other users can write to it, try: chmod go-w FILE";
	return NULL;
}

/* A file that cannot be opened matters if it exists or was requested. */
static int refuse_file(const char *path, bool must_exist, struct err *err)
{
	int code = errno;
	struct stat st;

	if (must_exist)
		return err_set(err, code, "open '%s'", path);
	if (stat(path, &st) == 0)
		say_note("'%s' is not read: %s", path, strerrordesc_np(code));
	return 0;
}

/* A file that another user could have written is not read, and a note says so: its options run
 * commands and name files.
 * Return: 1; 0: there is none, or it is not trusted; -errno and the reason. */
static int read_text(const char *path, bool must_exist, struct buf *text, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *why;
	struct stat st;
	int r;

	if (fd < 0)
		return refuse_file(path, must_exist, err);
	if (fstat(fd, &st) < 0)
		return err_set(err, errno, "stat '%s'", path);
	why = why_not_trusted(&st);
	if (why) {
		say_note("'%s' is not read: %s", path, why);
		return 0;
	}
	r = io_read_fd(fd, text);
	if (r < 0)
		return err_set(err, -r, "read '%s'", path);
	if (memchr(text->data ? text->data : "", '\0', text->len))
		return err_set(err, 0, "'%s' is not a text file", path);
	return 1;
}

static const struct command *find_command(const struct presets *presets, const char *name,
					  struct err *err)
{
	const char *names[MAX_COMMANDS + 1] = {NULL};
	const char *near;
	size_t n = 0;

	for (const struct command *at = presets->commands; at->name && n < MAX_COMMANDS; at++) {
		if (!at->program && !at->options->name)
			continue;
		if (strcmp(at->name, name) == 0)
			return at;
		names[n++] = at->name;
	}
	near = option_nearest(name, names);
	(void)err_set(err, 0, "[%s] is not a command", name);
	err_hint(err, "[%s]", near ? near : "record");
	return NULL;
}

static const struct option_spec *find_option(const struct command *command, const char *key,
					     struct err *err)
{
	const char *names[MAX_NAME + 1] = {NULL};
	const char *near;
	size_t n = 0;

	for (const struct option_spec *at = command->options; at->name && n < MAX_NAME; at++) {
		if (at->id == OPTION_HELP || at->id == OPTION_HEADING)
			continue;
		if (strcmp(at->name, key) == 0)
			return at;
		if (option_is_shown(at))
			names[n++] = at->name;
	}
	near = option_nearest(key, names);
	(void)err_set(err, 0, "'%s' is not an option of wick %s", key, command->name);
	err_hint(err, "%s%s", near ? near : "wick help ", near ? "" : command->name);
	return NULL;
}

static int read_yes_or_no(const char *value, bool *ret_yes, struct err *err)
{
	static const char *const words[] = {"yes", "no", "true", "false", "on", "off", "1", "0"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(value, words[i]) == 0) {
			*ret_yes = i % 2 == 0;
			return 0;
		}
	}
	return err_set(err, 0, "'%s' is neither yes nor no", value);
}

static char *make_argument(const struct option_spec *spec, const char *value)
{
	char *argument = NULL;
	struct buf text;

	buf_init(&text, MAX_ARGUMENT);
	buf_printf(&text, spec->arg ? "--%s=%s" : "--%s", spec->name, value);
	if (!text.failed)
		argument = strdup(buf_text(&text));
	buf_release(&text);
	return argument;
}

/* WHERE becomes the preset's. */
static int add(struct presets *presets, const struct option_spec *spec, const char *value,
	       char *where, struct err *err)
{
	struct preset preset = {.spec = spec, .where = where, .rank = (enum rank)presets->rank};
	struct preset *more;
	bool yes = true;

	if (!spec->arg && read_yes_or_no(value, &yes, err) < 0) {
		free(where);
		return -EINVAL;
	}
	if (yes)
		preset.argument = make_argument(spec, value);
	more = reallocarray(presets->at, presets->n + 1, sizeof(*more));
	if (more)
		presets->at = more;
	if (!more || !where || (yes && !preset.argument)) {
		free(preset.argument);
		free(where);
		return err_set(err, ENOMEM, "keep an option");
	}
	presets->at[presets->n++] = preset;
	return 0;
}

/*
 * All that is of this program is checked, so that a mistake shows at once; this command's part is
 * kept.
 */
static int take_entry(void *context, const struct ini_entry *entry, struct err *err)
{
	struct presets *presets = context;
	const struct command *command = find_command(presets, entry->section, err);
	const struct option_spec *spec;
	bool yes;
	struct buf where;
	char *text;

	if (!command)
		return -EINVAL;
	if (command->program)
		return 0;
	spec = find_option(command, entry->key, err);
	if (!spec)
		return -EINVAL;
	if (command != presets->command)
		return spec->arg ? 0 : read_yes_or_no(entry->value, &yes, err);
	buf_init(&where, MAX_FILE);
	buf_printf(&where, "'%s' line %u", presets->path, entry->line);
	text = strdup(buf_text(&where));
	buf_release(&where);
	return add(presets, spec, entry->value, text, err);
}

static int read_file(struct presets *presets, const char *path, enum rank rank, bool must_exist,
		     struct err *err)
{
	struct buf text;
	int r;

	buf_init(&text, MAX_FILE);
	r = read_text(path, must_exist, &text, err);
	(void)buf_text(&text);
	presets->path = path;
	presets->rank = rank;
	if (r > 0 && text.len > 0)
		r = ini_read(path, text.data, take_entry, presets, err);
	presets->path = NULL;
	buf_release(&text);
	return r < 0 ? r : 0;
}

static int read_files(struct presets *presets, struct err *err)
{
	const char *only = getenv("WICK_CONFIG"); /* NOLINT(concurrency-mt-unsafe) */
	struct buf path;
	int r;

	if (only)
		return *only ? read_file(presets, only, OF_USER, true, err) : 0;
	r = read_file(presets, "/etc/wick.ini", OF_MACHINE, false, err);
	buf_init(&path, MAX_FILE);
	if (r == 0 && find_user_file(&path))
		r = read_file(presets, buf_text(&path), OF_USER, false, err);
	buf_release(&path);
	return r;
}

/* WICK_FREQ is short for WICK_RECORD_FREQ, and for WICK_TOP_FREQ: those two sample. */
static bool has_short_names(const struct command *command)
{
	return strcmp(command->name, "record") == 0 || strcmp(command->name, "top") == 0;
}

static char as_variable(char letter)
{
	if (letter == '-')
		return '_';
	return (char)toupper((unsigned char)letter);
}

/* WICK_COMMAND_OPTION, or WICK_OPTION without COMMAND. */
static void name_variable(char name[MAX_NAME], const char *command, const char *option)
{
	size_t n = strlen("WICK_");

	memcpy(name, "WICK_", n);
	for (const char *at = command; at && *at && n < MAX_NAME - 2; at++)
		name[n++] = as_variable(*at);
	if (command)
		name[n++] = '_';
	for (const char *at = option; *at && n < MAX_NAME - 1; at++)
		name[n++] = as_variable(*at);
	name[n] = '\0';
}

static int read_environment(struct presets *presets, struct err *err)
{
	const struct command *command = presets->command;

	presets->rank = OF_ENVIRONMENT;
	for (const struct option_spec *spec = command->options; spec->name; spec++) {
		char name[MAX_NAME];
		const char *value;
		struct err why = {0};

		if (spec->id == OPTION_HELP || spec->id == OPTION_HEADING)
			continue;
		name_variable(name, command->name, spec->name);
		value = variable(name);
		if (!value && has_short_names(command)) {
			name_variable(name, NULL, spec->name);
			value = variable(name);
		}
		if (value && add(presets, spec, value, strdup(name), &why) < 0)
			return err_set(err, 0, "%s: %s", name, why.text);
	}
	return 0;
}

/* Which options were typed.  Return: false when the command will only print its help. */
static bool read_typed(const struct cmd_ctx *ctx, bool typed[MAX_NAME])
{
	struct option_cursor cursor = {
		.specs = ctx->command->options, .argc = ctx->argc, .argv = ctx->argv};

	for (;;) {
		struct err ignored = {0}; /* the command itself will say it */
		int id = option_next(&cursor, &ignored);

		if (id == OPTION_HELP)
			return false;
		for (size_t i = 0; id > 0 && i < MAX_NAME && cursor.specs[i].name; i++)
			typed[i] |= cursor.specs[i].id == id;
		if (id > 0)
			continue;
		/* after a FILE options go on; after a CMD they are CMD's */
		if (id < 0 || cursor.rest >= cursor.argc ||
		    strcmp(cursor.argv[cursor.rest - 1], "--") == 0 ||
		    strstr(ctx->command->synopsis, "CMD"))
			return true;
		cursor = (struct option_cursor){.specs = cursor.specs,
						.argc = cursor.argc - cursor.rest,
						.argv = cursor.argv + cursor.rest};
	}
}

/* Whether a preset counts: no better source gives the option, and no later line a yes or no. */
static bool holds(const struct presets *presets, const struct preset *preset,
		  const bool typed[MAX_NAME])
{
	size_t index = (size_t)(preset->spec - presets->command->options);

	if (!preset->argument || (index < MAX_NAME && typed[index]))
		return false;
	for (size_t i = 0; i < presets->n; i++) {
		const struct preset *other = &presets->at[i];

		if (other->spec != preset->spec)
			continue;
		if (other->rank > preset->rank)
			return false;
		if (other->rank == preset->rank && other > preset && !preset->spec->arg)
			return false;
	}
	return true;
}

static int make_argv(struct presets *presets, struct cmd_ctx *ctx, const bool typed[MAX_NAME],
		     struct err *err)
{
	size_t n = 0;

	presets->argv = calloc((size_t)ctx->argc + presets->n + 1, sizeof(*presets->argv));
	if (!presets->argv)
		return err_set(err, ENOMEM, "read the command line");
	presets->argv[n++] = ctx->argv[0];
	for (size_t i = 0; i < presets->n; i++)
		if (holds(presets, &presets->at[i], typed))
			presets->argv[n++] = presets->at[i].argument;
	for (int i = 1; i < ctx->argc; i++)
		presets->argv[n++] = ctx->argv[i];
	ctx->argc = (int)n;
	ctx->argv = presets->argv;
	current = presets;
	return 0;
}

int presets_add(struct presets *presets, const struct command *commands, struct cmd_ctx *ctx,
		struct err *err)
{
	bool typed[MAX_NAME] = {false};
	int r;

	presets->commands = commands;
	presets->command = ctx->command;
	if (!ctx->command->options->name || !read_typed(ctx, typed))
		return 0;
	r = read_files(presets, err);
	if (r == 0)
		r = read_environment(presets, err);
	return r < 0 ? r : make_argv(presets, ctx, typed, err);
}

void presets_release(struct presets *presets)
{
	if (current == presets)
		current = NULL;
	for (size_t i = 0; i < presets->n; i++) {
		free(presets->at[i].argument);
		free(presets->at[i].where);
	}
	free(presets->at);
	free(presets->argv);
	*presets = (struct presets){0};
}

const char *presets_origin(const char *arg)
{
	for (size_t i = 0; current && i < current->n; i++)
		if (current->at[i].argument && current->at[i].argument == arg)
			return current->at[i].where;
	return NULL;
}
