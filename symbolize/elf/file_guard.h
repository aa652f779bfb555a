/*
 * file_guard.h - a file that shrinks while it is mapped reads as zeros
 *
 * Reading a mapped page that the file no longer has raises SIGBUS.  Within guarded ranges the
 * handler maps zeros there and after it, and the reader goes on and finds its data invalid.
 *
 * Context: any thread.
 */
#ifndef ELF_FILE_GUARD_H
#define ELF_FILE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/**
 * file_guard_map - map the first BYTES of a file for reading, guarded
 *
 * Return:  0; -ENOSPC: too many ranges; -errno.
 * Owns:    the caller, to file_guard_unmap().
 */
int file_guard_map(int fd, size_t bytes, void **ret_start);

/** file_guard_unmap - the end of it; NULL is fine */
void file_guard_unmap(void *start, size_t bytes);

/**
 * file_guard_add - guard a range from now on; installs the handler the first time
 *
 * SIGBUS anywhere else is what it was before: another's handler, or the end.
 *
 * Return:  0; -ENOSPC: too many ranges; -errno.
 */
int file_guard_add(const void *start, size_t bytes);

/**
 * file_guard_remove - before it is unmapped
 *
 * Return:  true: the file had shrunk, and some of it was read as zeros.
 */
bool file_guard_remove(const void *start);

#endif
