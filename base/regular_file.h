/*
 * regular_file.h - opening what somebody else named: a file with bytes, or nothing
 *
 * Opening a device, a pipe or a file that the kernel makes up can do things (a watchdog starts, a
 * tape winds back), and between a look at a name and its opening it can come to mean something
 * else.  So the name is resolved first, without opening, and what it led to is opened.
 */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

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

#endif
