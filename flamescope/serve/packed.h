/* packed.h - a profile as a page takes it: its pack, compressed, in memory that has no name */
#ifndef SERVE_PACKED_H
#define SERVE_PACKED_H

#include "base/err.h"
#include "flamescope/profile.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A pack in two members: what its heatmap needs, and the rest behind it. */
struct packed {
	int fd; /* read with pread */
	uint64_t first_bytes;
	uint64_t bytes; /* of both */
};

/**
 * packed_make - gzip a profile's pack (one member)
 * @stop: once it is true, -ECANCELED soon
 *
 * Return:  0, a descriptor that is read with pread and how many bytes it holds; -errno.
 * Owns:    the caller: close(*ret_fd).
 * Context: any thread.
 */
int packed_make(const struct profile *profile, const _Atomic bool *stop, int *ret_fd,
		uint64_t *ret_bytes, struct err *err);

/**
 * packed_make_two - the same in two members, so that a page may begin with the first
 *
 * Return:  0; -errno.
 * Owns:    the caller: close(ret_packed->fd).
 * Context: any thread.
 */
int packed_make_two(const struct profile *profile, struct packed *ret_packed, struct err *err);

#endif
