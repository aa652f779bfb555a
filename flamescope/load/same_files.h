/* same_files.h - which paths lead to a file that was given before, by whatever name */
#ifndef LOAD_SAME_FILES_H
#define LOAD_SAME_FILES_H

#include <stdbool.h>
#include <stddef.h>

/**
 * same_files_find - mark the paths whose file or pipe another path before them leads to
 * @paths:     "-": standard input
 * @ret_again: one a path
 *
 * Return:  0; -ENOMEM.
 * Context: any thread.
 */
int same_files_find(const char *const *paths, size_t n, bool *ret_again);

#endif
