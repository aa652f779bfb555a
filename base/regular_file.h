/*
 * regular_file.h - opens a path from outside: a regular file, or nothing
 *
 * To open a device, a pipe or a file of the kernel can have effects: a watchdog starts, a tape
 * rewinds.  A check of the path does not help, because the path may change before the open.  So the
 * path is opened with O_PATH first, checked, and then opened for reading.
 */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/**
 * regular_file_open - open a file for reading, without waiting for anybody
 * @at: a folder, for a relative path; AT_FDCWD
 * @flags: O_NOFOLLOW or 0
 *
 * Return:  a descriptor; -EISDIR or -ENODEV: it is no regular file; -errno.
 * Owns:    the caller, to close().
 * Context: any thread.
 */
int regular_file_open(int at, const char *path, int flags);

/**
 * regular_file_reopen - the same for what an O_PATH descriptor stands for
 *
 * Return:  another descriptor; -EISDIR, -ENODEV; -errno.
 * Owns:    the caller, to close() both.
 * Context: any thread.
 */
int regular_file_reopen(int place);

/**
 * regular_file_is_hollow - whether a file says that it is far longer than what is on disk of it
 *
 * A sparse file of terabytes costs nothing to make, and is slow to read.  File systems that
 * compress make files of zeros 32 times smaller, at most.
 *
 * Return:  true from 64 times on, where it is longer than 1 MiB.
 * Context: any thread.
 */
bool regular_file_is_hollow(const struct stat *st);

#endif
