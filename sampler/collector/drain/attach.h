/* attach.h - attach to running processes, and detach */
#ifndef DRAIN_ATTACH_H
#define DRAIN_ATTACH_H

#include "sampler/collector/types/statistics.h"

struct collector;
struct process;

/**
 * attach_probe - whether collector_attach() would have a thread of a process to hold, and how
 *
 * Nothing is done to it, and @ret_attached has no times.  That another wick records it is not seen.
 *
 * Return:  as collector_attach().
 * Context: any thread.
 */
int attach_probe(pid_t pid, struct collector_attached *ret_attached, struct err *err);

/**
 * attach_process - attach to a running process: collector_attach()
 * @followed: as a child of an attached process: the recording does not wait for its end
 *
 * Context: main thread.
 */
int attach_process(struct collector *collector, pid_t pid, bool followed,
		   struct collector_attached *ret_attached, struct err *err);

/**
 * attach_ended - an attached process has ended, or was detached
 *
 * With the last one the recording ends, unless others may come.
 *
 * Context: collector thread.
 */
void attach_ended(struct collector *collector, const struct process *process);

#endif
