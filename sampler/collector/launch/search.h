/* search.h - which file a command is, and why it could not be run */
#ifndef LAUNCH_SEARCH_H
#define LAUNCH_SEARCH_H

#include "base/err.h"
#include "sampler/program/program.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * search_program - the file that a command stands for, searched in PATH without a slash
 * @size: of RET_PATH
 *
 * Return:  0; -ENOENT: there is none; -EACCES: it is a directory or not executable.
 * Context: main thread.
 */
int search_program(const char *command, char *ret_path, size_t size, struct err *err);

/**
 * search_examine - program_examine() with libc's calls
 *
 * Context: any thread.
 */
void search_examine(const char *path, struct program *ret_program);

/**
 * search_is_text - whether a file starts like a text, not like a program that does not fit
 *
 * Context: any thread.
 */
bool search_is_text(const char *path);

/**
 * search_explain - the message for an exec that failed
 * @code: its errno
 *
 * Return:  -errno for collector_launch().
 * Context: main thread.
 */
int search_explain(const char *command, const char *path, int code, struct err *err);

#endif
