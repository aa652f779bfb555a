/* elide_rules.c - INI files of frames that say nothing: wrappers, dispatchers, executors */
#include "flamescope/query/query.h"

#include "base/buf.h"
#include "base/io.h"
#include "flamescope/query/internal.h"
#include "flamescope/query/wrappers_ini.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 64 * 1024, MAX_PATTERN = 60 * 1024 };

static const char blanks[] = " \t\r";

/* Rules while they are read. */
struct reading {
	const char *name; /* of the file, for messages */
	unsigned line;
	struct buf pattern;
};

static int bad_line(const struct reading *reading, const char *what, struct err *err)
{
	(void)err_set(err, 0, "'%s' line %u is %s", reading->name, reading->line, what);
	err_hint(err, "frame = ^std::function<");
	return -EINVAL;
}

static int check(const char *text, struct err *err)
{
	struct matcher *matcher = NULL;
	int r = matcher_new(text, &matcher, err);

	matcher_free(matcher);
	return r;
}

/*
 * Each is compiled on its own: one that only makes sense beside its neighbours is a mistake.  So is
 * one that swallows what is after it: an open \Q, a comment of (?x).
 */
static int add_pattern(struct reading *reading, const char *text, struct err *err)
{
	struct buf alone;
	struct err why = {0};
	int r = check(text, &why);

	buf_init(&alone, MAX_PATTERN);
	buf_printf(&alone, "(?:%s)", text);
	if (r == 0)
		r = alone.failed ? err_set(&why, EFBIG, "a pattern")
				 : check(buf_text(&alone), &why);
	if (r < 0) {
		(void)err_set(err, 0, "'%s' line %u: %s", reading->name, reading->line, why.text);
	} else {
		buf_add(&reading->pattern, reading->pattern.len > 0 ? "|" : "");
		buf_add(&reading->pattern, buf_text(&alone));
	}
	buf_release(&alone);
	return r;
}

/* LINE is the reader's own, and cut. */
static int read_line(struct reading *reading, char *line, struct err *err)
{
	size_t len = strlen(line);
	char *value;

	while (len > 0 && strchr(blanks, line[len - 1]))
		line[--len] = '\0';
	line += strspn(line, blanks);
	if (*line == '\0' || *line == ';' || *line == '#')
		return 0;
	if (*line == '[')
		return line[strlen(line) - 1] == ']' ? 0 : bad_line(reading, "no [section]", err);
	value = line + strcspn(line, " \t=");
	if (value - line != 5 || strncmp(line, "frame", 5) != 0)
		return bad_line(reading, "no rule", err);
	value += strspn(value, blanks);
	if (*value != '=')
		return bad_line(reading, "no rule", err);
	value++;
	value += strspn(value, blanks);
	return *value ? add_pattern(reading, value, err) : bad_line(reading, "empty", err);
}

static int join(struct reading *reading, char **ret_pattern, struct err *err)
{
	struct err why = {0};
	char *pattern = strdup(buf_text(&reading->pattern));
	int r;

	if (!pattern)
		return err_set(err, ENOMEM, "the rules of '%s'", reading->name);
	r = check(pattern, &why);
	if (r < 0) {
		free(pattern);
		(void)err_set(err, 0, "the rules of '%s' do not go together: %s", reading->name,
			      why.text);
		return r;
	}
	*ret_pattern = pattern;
	return 0;
}

/* TEXT is cut into its lines. */
static int read_rules(struct reading *reading, char *text, char **ret_pattern, struct err *err)
{
	int r = 0;

	while (r == 0 && text && *text) {
		char *line = text;

		text = strchr(text, '\n');
		if (text)
			*text++ = '\0';
		reading->line++;
		r = read_line(reading, line, err);
	}
	if (r < 0)
		return r;
	if (reading->pattern.failed)
		return err_set(err, EFBIG, "the rules of '%s'", reading->name);
	if (reading->pattern.len == 0) {
		(void)err_set(err, 0, "'%s' has no rule", reading->name);
		err_hint(err, "frame = ^std::function<");
		return -EINVAL;
	}
	return join(reading, ret_pattern, err);
}

static int read_text(const char *name, struct buf *text, struct err *err)
{
	bool shipped = strcmp(name, "wrappers") == 0;
	int r = 0;

	if (shipped)
		r = buf_append(text, wrappers_ini, sizeof(wrappers_ini));
	else
		r = io_read_file(name, text, err);
	if (r < 0 && shipped)
		return err_set(err, -r, "the rules that come with wick");
	if (r < 0) {
		err_hint(err, "@wrappers, or the name of a file with rules");
		return r;
	}
	if (memchr(text->data ? text->data : "", '\0', text->len)) {
		(void)err_set(err, 0, "'%s' is no text", name);
		return -EINVAL;
	}
	return 0;
}

int elide_rules_read(const char *name, char **ret_pattern, struct err *err)
{
	struct reading reading = {.name = name};
	struct buf text;
	int r;

	buf_init(&text, MAX_FILE);
	buf_init(&reading.pattern, MAX_PATTERN);
	r = read_text(name, &text, err);
	(void)buf_text(&text);
	if (r == 0)
		r = read_rules(&reading, text.data, ret_pattern, err);
	buf_release(&text);
	buf_release(&reading.pattern);
	return r;
}
