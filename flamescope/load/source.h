/* source.h - the bytes of a file or of standard input, without their compression */
#ifndef LOAD_SOURCE_H
#define LOAD_SOURCE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source;

/**
 * source_open - open a file by its path, "-" being standard input
 *
 * gzip (any number of members, and zeros behind them) and zstd (any number of frames) are known by
 * their first bytes.
 *
 * Return:  0; -errno of open; -EISDIR; -ENOMEM.
 * Owns:    the caller, to source_close().
 * Context: any thread; one user at a time, as for all of these.
 */
int source_open(const char *path, struct source **ret_source, struct err *err);

/**
 * source_plain - whether any thread may pread() it, being an uncompressed regular file
 *
 * Return:  its descriptor, which is the source's, and *RET_BYTES; -1: it is none.
 * Context: any thread.
 */
int source_plain(const struct source *source, uint64_t *ret_bytes);

/**
 * source_read - the next bytes
 *
 * Return:  how many, 0 at the end; -EIO and the reason when the file is damaged or cut short.
 * Context: any thread.
 */
ssize_t source_read(struct source *source, void *to, size_t len, struct err *err);

/**
 * source_close - forget it
 *
 * Context: any thread.  NULL is fine.
 */
void source_close(struct source *source);

#endif
