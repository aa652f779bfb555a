/*
 * handshake.h - replies to agents that connect
 *
 * Context: collector thread.
 */
#ifndef DRAIN_HANDSHAKE_H
#define DRAIN_HANDSHAKE_H

#include "sampler/collector/drain/state.h"

/** handshake_accept - take new connections, and what those say that speak at once */
void handshake_accept(struct collector *collector);

/** handshake_receive - a connection can be read or has been closed */
void handshake_receive(struct collector *collector, uint32_t index);

/** handshake_expire - close connections that have said nothing for too long */
void handshake_expire(struct collector *collector, uint64_t now_ns);

/** handshake_close - close all connections */
void handshake_close(struct collector *collector);

#endif
