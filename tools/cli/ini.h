/* ini.h - the text of wick.ini: [sections] of `key = value`, each with its line */
#ifndef CLI_INI_H
#define CLI_INI_H

#include "base/err.h"

/* One `key = value`.  Views of the text. */
struct ini_entry {
	const char *section;
	const char *key;
	const char *value; /* without blanks around it, and without the quotes around it */
	unsigned line;
};

/* What is done with an entry: 0; -EINVAL and what is wrong, without file and line. */
typedef int ini_take(void *context, const struct ini_entry *entry, struct err *err);

/**
 * ini_read - every entry of a text, in order
 * @name: of the file, for messages
 * @text: NUL-terminated; is cut into its lines
 *
 * Lines that begin with # or ; say nothing; within a line they are part of the value.
 *
 * Return:  0; -EINVAL and the reason with its line: no section, no `key = value`, or TAKE's.
 * Context: any thread.
 */
int ini_read(const char *name, char *text, ini_take *take, void *context, struct err *err);

#endif
