/* handshake.h - answers agents that connect */
#ifndef DRAIN_HANDSHAKE_H
#define DRAIN_HANDSHAKE_H

#include "sampler/collector/drain/state.h"

/**
 * hello_accept - take new connections, and what those say that speak at once
 *
 * Context: collector thread.
 */
void hello_accept(struct collector *collector);

/**
 * hello_receive - a connection can be read or has been closed
 *
 * Context: collector thread.
 */
void hello_receive(struct collector *collector, uint32_t index);

/**
 * hello_expire - close connections that have said nothing for too long
 *
 * Context: collector thread.
 */
void hello_expire(struct collector *collector, uint64_t now_ns);

/**
 * hello_close - close all connections
 *
 * Context: collector thread.
 */
void hello_close(struct collector *collector);

#endif
