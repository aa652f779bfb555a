/* quota.h - how much memory the rings of all processes may take */
#ifndef RING_QUOTA_H
#define RING_QUOTA_H

#include "sampler/collector/process/process.h"

#include <stdint.h>

/**
 * room_limit - let an image have as many slots as there is room for; before its descriptor is sent
 * @others: the first of a list: the images that have their slots already
 * @bytes:  for all of them together; 0: any
 *
 * One chunk is never refused.  A thread that finds no slot is counted as lost_noslot.
 *
 * Context: collector thread.
 */
void room_limit(struct process *process, const struct process *others, uint64_t bytes);

#endif
