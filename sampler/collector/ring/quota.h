/* quota.h - how much memory the rings of all processes may take */
#ifndef RING_QUOTA_H
#define RING_QUOTA_H

#include "sampler/wire/ring.h"

#include <stdint.h>

/**
 * room_bytes - what the rings of so many slots take
 *
 * Context: any thread.
 */
uint64_t room_bytes(uint32_t n_slots);

/**
 * room_slots - how many slots another process may have
 * @limit_bytes: for all processes together; 0: any
 * @used_bytes:  by the others
 *
 * One chunk is never refused.  A thread that finds no slot is counted as lost_noslot.
 *
 * Return:  RING_CHUNK_SLOTS .. RING_MAX_SLOTS.
 * Context: any thread.
 */
uint32_t room_slots(uint64_t limit_bytes, uint64_t used_bytes);

#endif
