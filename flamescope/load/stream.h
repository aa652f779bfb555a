/* stream.h - all of a source to one reader of blocks */
#ifndef LOAD_STREAM_H
#define LOAD_STREAM_H

#include "flamescope/load/blocks.h"
#include "flamescope/load/source.h"
#include "flamescope/load/text/lines.h"

enum {
	STREAM_BYTES = 1024 * 1024,          /* that are read at a time */
	STREAM_MAX_BYTES = 16 * 1024 * 1024, /* without an empty line: then it goes line by line */
};

/* What has been read; DONE is told after every part, and says whether to go on. */
struct stream {
	struct blocks *blocks;
	uint64_t at;         /* of the first byte, of all files */
	uint64_t bytes;      /* so far */
	uint64_t line_bytes; /* of the line that is being read; roughly */
	bool (*done)(void *context, uint64_t bytes);
	void *context;
};

/**
 * stream_read - read a source to its end
 * @given: bytes that have been read of it already, N_GIVEN of them
 *
 * Return:  0; -EIO and what is wrong with it, -EINVAL: a line without an end (what came before has
 *          been read); -ETIMEDOUT: DONE said so; -ENOMEM; -E2BIG.
 * Context: any thread; one user of the blocks.
 */
int stream_read(struct stream *stream, struct source *source, const char *given, size_t n_given,
		struct err *err);

#endif
