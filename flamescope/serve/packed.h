/* packed.h - a profile as a page takes it: its pack, compressed, in memory that has no name */
#ifndef SERVE_PACKED_H
#define SERVE_PACKED_H

#include "base/err.h"
#include "flamescope/profile.h"

#include <stdint.h>

/**
 * packed_make - gzip a profile's pack (one member)
 *
 * Return:  0, a descriptor that is read with pread and how many bytes it holds; -errno.
 * Owns:    the caller: close(*ret_fd).
 * Context: any thread.
 */
int packed_make(const struct profile *profile, int *ret_fd, uint64_t *ret_bytes, struct err *err);

#endif
