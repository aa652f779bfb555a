/* proto.h - fields of protocol buffers (protobuf.dev/programming-guides/encoding) */
#ifndef CONVERT_PROTO_H
#define CONVERT_PROTO_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/**
 * proto_number - a field of a number; left out when it is 0, as its default is
 *
 * Context: any thread, as for all of these.
 */
void proto_number(struct buf *buf, unsigned field, uint64_t value);

/**
 * proto_bytes - a field of bytes: a text, or a message that is made already
 *
 * Context: any thread.
 */
void proto_bytes(struct buf *buf, unsigned field, const void *bytes, size_t len);

/**
 * proto_message - a field of a message, which is then empty for the next
 *
 * Context: any thread.
 */
void proto_message(struct buf *buf, unsigned field, struct buf *message);

/**
 * proto_text - a field of a text, made UTF-8 where it is none, as decoders insist
 *
 * Context: any thread.
 */
void proto_text(struct buf *buf, unsigned field, const char *text);

/**
 * proto_varint - a number alone, as packed fields are made of
 *
 * Context: any thread.
 */
void proto_varint(struct buf *buf, uint64_t value);

#endif
