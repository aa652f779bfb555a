/* web.h - the files of the page, which are part of the program */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include <stdbool.h>
#include <stddef.h>

struct web_file {
	const char *name; /* "page.html", "heat.js" */
	const unsigned char *bytes;
	size_t n_bytes;
};

/**
 * web_file_at - the file of number I, in the order of CMakeLists.txt
 *
 * Return:  true; false: there are I files.
 * Owns:    the program; the bytes hold for ever, and a zero follows them.
 * Context: any thread.
 */
bool web_file_at(size_t i, struct web_file *ret_file);

/**
 * web_file - the file of a name
 *
 * Return:  true; false: there is none.
 * Owns:    the program.
 * Context: any thread.
 */
bool web_file(const char *name, struct web_file *ret_file);

#endif
