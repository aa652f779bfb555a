/* recording_facts.h - whose recording it is and of when, without reading all of it */
#ifndef SERVE_RECORDING_FACTS_H
#define SERVE_RECORDING_FACTS_H

#include <stdint.h>

enum { RECORDING_HOST = 256 };

/* ns since 1970; 0: not known. */
struct recording_facts {
	char host[RECORDING_HOST]; /* "": the file does not say */
	int64_t from_ns;
	int64_t to_ns;
};

/**
 * recording_facts_read - look at the head of a file, and at its tail where it is not compressed
 * @mtime_ns: taken for the end of a recording that does not say it
 *
 * Whatever cannot be read or understood is left unknown.
 *
 * Context: any thread.
 */
void recording_facts_read(int fd, uint64_t bytes, int64_t mtime_ns,
			  struct recording_facts *ret_facts);

#endif
