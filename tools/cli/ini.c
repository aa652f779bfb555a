/* ini.c - sections, keys and values, a line each */
#include "tools/cli/ini.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

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
