/*
 * file_guard.h - a file that shrinks while it is mapped reads as zeros
 *
 * Reading a mapped page that the file no longer has raises SIGBUS.  Within guarded ranges the
 * handler puts an empty page there and the reader goes on, to find its data bad.
 */
#ifndef SYMBOLIZE_FILE_GUARD_H
#define SYMBOLIZE_FILE_GUARD_H

#include <stddef.h>

/**
 * file_guard_add - guard a range from now on; installs the handler the first time
 *
 * SIGBUS anywhere else is what it was before: another's handler, or the end.
 *
 * Return:  0; -ENOSPC: too many ranges; -errno.
 * Context: any thread.
 */
int file_guard_add(const void *start, size_t bytes);

/**
 * file_guard_remove - before it is unmapped
 *
 * Return:  how many pages read as zeros: more than 0: the file had shrunk.
 * Context: any thread.
 */
size_t file_guard_remove(const void *start);

#endif
