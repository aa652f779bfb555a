/* option.c - option tables: parsing with getopt_long(3), and their help text */
#include "tools/cli/cmd.h"

#include "tools/cli/terminal.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_OPTIONS = 120, HELP_COLUMN = 26, HELP_WIDTH = 96, MAX_WORD = 32, MAX_DISTANCE = 2 };

/* What getopt_long() wants, made from a table. */
struct getopt_table {
	struct option options[MAX_OPTIONS + 1];
	const char *names[MAX_OPTIONS + 1];
	char letters[2 * MAX_OPTIONS + 4];
};

/* The first row of that name: of another letter the option itself. */
static const struct option_spec *find_name(const struct option_spec *specs, const char *name)
{
	while (strcmp(specs->name, name) != 0)
		specs++;
	return specs;
}

bool option_is_shown(const struct option_spec *spec)
{
	return spec->help && spec->id != OPTION_HEADING;
}

static void make_table(const struct option_spec *specs, struct getopt_table *table)
{
	const struct option_spec *first = specs;
	char *letter = table->letters;
	size_t n = 0;

	*table = (struct getopt_table){0};
	/* "+": stop at the first non-option; ":": tell a missing argument from a bad option */
	*letter++ = '+';
	*letter++ = ':';
	for (; specs->name && n < MAX_OPTIONS; specs++) {
		if (specs->id == OPTION_HEADING)
			continue;
		if (find_name(first, specs->name) == specs) {
			table->options[n] = (struct option){
				.name = specs->name,
				.has_arg = specs->arg ? required_argument : no_argument,
				.val = specs->id,
			};
			table->names[n++] = specs->name;
		}
		if (specs->id >= OPTION_LONG_ONLY)
			continue;
		*letter++ = (char)specs->id;
		if (specs->arg)
			*letter++ = ':';
	}
}

static const struct option_spec *find_spec(const struct option_spec *specs, int id)
{
	for (; specs->name; specs++)
		if (specs->id == id)
			return specs;
	return NULL;
}

/* After getopt_long() said '?': optopt is the letter, 0 for a long option that it does not know. */
static int refuse_unknown(const struct option_cursor *cursor, const char *const *names,
			  struct err *err)
{
	const struct option_spec *spec = optopt ? find_spec(cursor->specs, optopt) : NULL;
	char name[MAX_WORD * 2];
	const char *word;
	const char *near;
	size_t len;

	if (spec) {
		(void)err_set(err, 0, "option '--%s' takes no value", spec->name);
		err_hint(err, "--%s", spec->name);
		return -EINVAL;
	}
	if (optopt) {
		(void)err_set(err, 0, "'-%c' is not an option", optopt);
		err_hint(err, "--help");
		return -EINVAL;
	}
	word = cursor->argv[cursor->rest - 1] + 2;
	len = strcspn(word, "=");
	if (len >= sizeof(name))
		len = sizeof(name) - 1;
	memcpy(name, word, len);
	name[len] = '\0';
	(void)err_set(err, 0, "'--%s' is not an option", name);
	near = option_nearest(name, names);
	err_hint(err, "%s%s", near ? "--" : "", near ? near : "--help");
	return -EINVAL;
}

int option_next(struct option_cursor *cursor, struct err *err)
{
	struct getopt_table table;
	const struct option_spec *spec;
	int id;

	make_table(cursor->specs, &table);
	if (cursor->rest == 0) {
		optind = 0; /* glibc's and musl's way to start anew */
		opterr = 0;
		cursor->rest = 1;
	}
	/* the main thread alone reads options */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe) */
	id = getopt_long(cursor->argc, cursor->argv, table.letters, table.options, NULL);
	cursor->rest = optind;
	cursor->value = optarg;
	say_about(id == -1 ? NULL : presets_origin(cursor->argv[cursor->rest - 1]));
	if (id == -1)
		return 0;
	if (id == ':') {
		spec = find_spec(cursor->specs, optopt);
		return err_set(err, 0, "option '%s' needs a value: %s",
			       cursor->argv[cursor->rest - 1], spec ? spec->arg : "VALUE");
	}
	if (id == '?')
		return refuse_unknown(cursor, table.names, err);
	spec = find_spec(cursor->specs, id);
	return spec ? find_name(cursor->specs, spec->name)->id : id;
}

int option_blame(const struct option_spec *specs, int id, struct err *err)
{
	const struct option_spec *spec = find_spec(specs, id);
	struct err whole = {0};

	if (id < OPTION_LONG_ONLY)
		(void)err_set(&whole, 0, "-%c: %s", id, err->text);
	else
		(void)err_set(&whole, 0, "--%s: %s", spec ? spec->name : "", err->text);
	*err = whole;
	return -EINVAL;
}

int option_read(const struct option_spec *specs, int argc, char **argv, option_take *take,
		void *context, struct err *err)
{
	struct option_cursor cursor = {.specs = specs, .argc = argc, .argv = argv};
	int id;

	while ((id = option_next(&cursor, err)) != 0) {
		if (id < 0)
			return id;
		if (take(context, id, cursor.value, err) < 0)
			return option_blame(specs, id, err);
	}
	return cursor.rest;
}

/* TEXT in lines of HELP_WIDTH, every line but the first indented to HELP_COLUMN. */
static void add_wrapped(struct buf *buf, const char *text)
{
	size_t width = HELP_WIDTH - HELP_COLUMN;

	while (strlen(text) > width) {
		size_t len = width;

		while (len > 0 && text[len] != ' ')
			len--;
		if (len == 0)
			len = width;
		(void)buf_append(buf, text, len);
		buf_printf(buf, "\n%*s", HELP_COLUMN, "");
		text += len + (text[len] == ' ');
	}
	buf_printf(buf, "%s\n", text);
}

void option_print(const struct option_spec *specs, struct buf *buf)
{
	for (; specs->name; specs++) {
		size_t start = buf->len;
		size_t used;

		if (specs->id == OPTION_HEADING)
			buf_printf(buf, "\n%s:\n", specs->help);
		if (!option_is_shown(specs))
			continue;
		if (specs->id < OPTION_LONG_ONLY)
			buf_printf(buf, "  -%c, --%s", specs->id, specs->name);
		else
			buf_printf(buf, "      --%s", specs->name);
		if (specs->arg)
			buf_printf(buf, " %s", specs->arg);
		used = buf->len - start;
		if (used + 2 > HELP_COLUMN)
			buf_printf(buf, "\n%*s", HELP_COLUMN, "");
		else
			buf_printf(buf, "%*s", (int)(HELP_COLUMN - used), "");
		add_wrapped(buf, specs->help);
	}
}

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* How many letters have to be added, removed or changed; both words are short. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[MAX_WORD + 1];
	size_t n = strlen(b);

	if (n > MAX_WORD || strlen(a) > MAX_WORD)
		return MAX_WORD;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned above = row[j];

			row[j] = smallest(above + 1, row[j - 1] + 1,
					  diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[n];
}

static bool is_beginning(const char *part, const char *word, size_t least)
{
	size_t len = strlen(part);

	return len >= least && strncmp(part, word, len) == 0;
}

const char *option_nearest(const char *word, const char *const *words)
{
	const char *nearest = NULL;
	unsigned least = MAX_DISTANCE + 1;

	for (; *words; words++) {
		unsigned d = distance(word, *words);

		/* a word cut short, or with an end that it has not, is near however much it is */
		if (is_beginning(word, *words, 3) || is_beginning(*words, word, 4))
			d = 1;
		if (d < least && d < strlen(*words)) {
			least = d;
			nearest = *words;
		}
	}
	return nearest;
}
