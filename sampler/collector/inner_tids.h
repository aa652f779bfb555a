/* inner_tids.h - the threads of a process in another pid namespace, as they are numbered here */
#ifndef COLLECTOR_INNER_TIDS_H
#define COLLECTOR_INNER_TIDS_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zero is an empty one. */
struct inner_tids {
	struct map outer; /* by the number that the thread has inside */
	uint64_t next_ns; /* when they may be read again */
};

/**
 * inner_tids_find - which of the threads of PID calls itself INNER
 *
 * Asks the kernel for all of them when it is not known, but no more than 20 times a second, and in
 * a twentieth of the time.
 *
 * Return:  its tid here; 0 when it is not to be found.
 * Context: collector thread.
 */
uint32_t inner_tids_find(struct inner_tids *tids, pid_t pid, uint32_t inner);

/**
 * inner_tids_release - forget them
 *
 * Context: collector thread.
 */
void inner_tids_release(struct inner_tids *tids);

#endif
