/* lines.h - the lines of a text file, plain, gzip or zstd, however long it is */
#ifndef TEXT_LINES_H
#define TEXT_LINES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum {
	LINES_MAX_BYTES = 1024 * 1024, /* of one line; longer ones are cut, and said so */
	LINES_ENDLESS_MIB = 1024,      /* of one line: /dev/zero, or a bomb in an archive */
};

struct lines;

struct line {
	char *text; /* NUL-terminated, without its newline; may be written to */
	size_t len;
	uint64_t number; /* 1 for the first */
	int cut;         /* it was longer than LINES_MAX_BYTES: the rest is left out */
	int unended;     /* the file ended without a newline */
};

/**
 * lines_open - open a file for reading by lines
 *
 * Return:  0; -errno of open; -EISDIR.
 * Owns:    the caller, to lines_close().
 * Context: any thread; one user at a time, as for all of these.
 */
int lines_open(const char *path, struct lines **ret_lines, struct err *err);

/**
 * lines_next - the next line
 *
 * Return:  1; 0 at the end; -EIO and the reason when the file is damaged or cut short, or has a
 *          line that does not end.
 * Owns:    the lines; good until the next call.
 * Context: any thread.
 */
int lines_next(struct lines *lines, struct line *ret_line, struct err *err);

/**
 * lines_close - forget the file
 *
 * Context: any thread.  NULL is fine.
 */
void lines_close(struct lines *lines);

#endif
