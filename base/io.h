/*
 * io.h - whole reads and whole writes, repeated after EINTR
 *
 * Context: any thread.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * io_read_file - the whole of a file, however short its reads are (/proc)
 * @buf: is cleared first; its limit bounds the read
 *
 * Return:  0; -EFBIG when the file is larger than the buffer's limit; -errno of open or read.
 */
int io_read_file(const char *path, struct buf *buf, struct err *err);

/**
 * io_read_fd - the same from an open descriptor, by pread from offset 0
 *
 * Return:  0; -EFBIG; -errno of pread.
 */
int io_read_fd(int fd, struct buf *buf);

/**
 * io_pread - LEN bytes at OFFSET, fewer only at the end of the file
 *
 * Return:  bytes read; -errno.
 */
ssize_t io_pread(int fd, void *to, size_t len, uint64_t offset);

/**
 * io_read_text - what a small file says (/proc), as a string; what is longer is cut
 *
 * @fd: -1: there is none
 *
 * Return:  0; -ESRCH: it says nothing, as files of processes that are gone; -EBADF; -errno.
 */
int io_read_text(int fd, char *text, size_t size);

/**
 * io_write_all - write all of LEN bytes
 * @ret_written: how many bytes went out, also on failure; NULL is fine
 *
 * Return:  0; -errno of write (-ENOSPC when the disk took none).
 */
int io_write_all(int fd, const void *bytes, size_t len, size_t *ret_written);

/** io_now_ns - CLOCK_MONOTONIC, ns */
uint64_t io_now_ns(void);

/** io_thread_ns - CPU time of the calling thread, ns */
uint64_t io_thread_ns(void);

/** io_realtime_ns - CLOCK_REALTIME, ns since 1970 */
uint64_t io_realtime_ns(void);

#endif
