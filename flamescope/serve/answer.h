/* answer.h - what the server says, with the headers that go with everything */
#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include "base/buf.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

/* A header of its own; NULL: none. */
struct answer_header {
	const char *name;
	const char *value;
};

/**
 * answer_text - answer with what is in a buffer, and release it
 * @type: the Content-Type
 * @headers: ended by one without a name; NULL: none
 *
 * Return:  what the access handler has to return, as for all of these.
 * Context: any thread; it is the daemon's, as for all of these.
 */
enum MHD_Result answer_text(struct MHD_Connection *connection, const char *type, struct buf *text,
			    const struct answer_header *headers);

/**
 * answer_bytes - answer with bytes that hold for ever
 *
 * Context: any thread; it is the daemon's.
 */
enum MHD_Result answer_bytes(struct MHD_Connection *connection, const char *type, const void *bytes,
			     size_t len);

/**
 * answer_fd - answer with the first bytes of a file
 *
 * Owns:    FD is closed, also on failure.
 * Context: any thread; it is the daemon's.
 */
enum MHD_Result answer_fd(struct MHD_Connection *connection, int fd, uint64_t bytes,
			  const struct answer_header *headers);

/**
 * answer_error - answer {"error":"MESSAGE"}
 *
 * Context: any thread; it is the daemon's.
 */
enum MHD_Result answer_error(struct MHD_Connection *connection, unsigned status,
			     const char *message);

#endif
