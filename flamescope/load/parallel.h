/* parallel.h - a large plain file to several readers of blocks */
#ifndef LOAD_PARALLEL_H
#define LOAD_PARALLEL_H

#include "flamescope/load/blocks.h"

struct parallel {
	int fd;
	uint64_t bytes;         /* of the file */
	uint64_t at;            /* of its first byte, of all files */
	uint64_t chunk_bytes;   /* 0: what is quickest */
	struct blocks **blocks; /* one a thread; the first is the caller's */
	size_t n_blocks;
	bool (*done)(void *context, uint64_t bytes); /* as stream's; of the caller's thread */
	void *context;
};

/**
 * parallel_read - read a file
 *
 * Return:  0; -EAGAIN: it cannot be read so (hardly an empty line, or it changes), and what the
 *          builders have of it is worth nothing; -ETIMEDOUT: DONE said so, and they have it up to
 *          there; -ENOMEM, -E2BIG.
 * Context: any thread; makes n_blocks - 1 threads and joins them.
 */
int parallel_read(const struct parallel *parallel);

#endif
