/* base64.h - bytes inside a text (RFC 4648 section 4) */
#ifndef SERVE_BASE64_H
#define SERVE_BASE64_H

#include "base/buf.h"

#include <stddef.h>

/**
 * base64_add - add bytes, padded: all but the last piece of a text have to be a multiple of 3 long
 *
 * Context: any thread.
 */
void base64_add(struct buf *buf, const unsigned char *bytes, size_t len);

#endif
