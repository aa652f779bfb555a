/* output_check.h - whether a recording can be written, before a program is started */
#ifndef RECORD_OUTPUT_CHECK_H
#define RECORD_OUTPUT_CHECK_H

#include "base/err.h"

#include <stdbool.h>

/**
 * output_check - try the directory of -o FILE, and whether FILE is free
 * @path:    as -o gave it, with its %; NULL: the default name in the current directory
 * @rotated: the first file is called x.0001.perf
 * @force:   a file of that name will be replaced
 *
 * Writes a page to a file without a name, so that a full or read-only disk is reported now.
 *
 * Return:  0; -EEXIST, -ENOSPC, -EACCES and others, with the reason and what to do.
 * Context: main thread.
 */
int output_check(const char *path, bool rotated, bool force, struct err *err);

/**
 * output_check_name - whether a file can be made by that name
 * @force: a regular file of that name will be replaced
 *
 * What is no regular file is never written to, nor replaced: another process may read from a pipe,
 * or have wick wait for a reader, and a link leads where its owner likes.
 *
 * Return:  0; -EEXIST, -EISDIR, with the reason and what to do.
 * Context: any thread.
 */
int output_check_name(const char *path, bool force, struct err *err);

/**
 * output_check_hint - part of a message: what to do where a file cannot be written
 * @error: a positive errno
 *
 * Context: any thread.
 */
void output_check_hint(int error, struct err *err);

#endif
