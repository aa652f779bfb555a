/* inflate.h - sections that were compressed: zlib, zlib-gnu (.zdebug) and zstd */
#ifndef SECTIONS_INFLATE_H
#define SECTIONS_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum inflate_way { INFLATE_UNKNOWN, INFLATE_ZLIB, INFLATE_ZSTD };

enum {
	INFLATE_ELF_ZSTD = 2,    /* ch_type; libelf 0.188 has no name for it and cannot read it */
	INFLATE_MAX_RATIO = 100, /* bytes for one of the section, and of the file in all */
};

/* One section.  Zero: there is nothing to do. */
struct inflate_job {
	const uint8_t *bytes;
	size_t n_bytes;
	enum inflate_way way;
	size_t n_inflated; /* as its header tells */
	void *inflated;    /* result; NULL: it could not be had */
};

/**
 * inflate_job_gnu - what a .zdebug section holds: "ZLIB", the size in big-endian, the stream
 *
 * Context: any thread.
 */
void inflate_job_gnu(struct inflate_job *job, const void *bytes, size_t n_bytes);

/**
 * inflate_all - do the jobs, the largest first, on a second thread too when they are large
 * @file_bytes: of the file that they come from, without holes: in all at most INFLATE_MAX_RATIO
 *              times as much
 *
 * A section whose stream is damaged, or is not as long as its header tells, has no result.
 *
 * Owns:    the caller, to free() what was inflated.
 * Context: any thread, one that has not blocked SIGBUS.
 */
void inflate_all(struct inflate_job *jobs, size_t n_jobs, size_t file_bytes);

#endif
