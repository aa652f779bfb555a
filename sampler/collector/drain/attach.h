/* attach.h - running processes join the recording, and leave it */
#ifndef DRAIN_ATTACH_H
#define DRAIN_ATTACH_H

#include "sampler/collector/collector.h"

struct process;

/**
 * attach_look - whether collector_attach() would have a thread of a process to hold, and how
 *
 * Nothing is done to it, and @ret_attached has no times.  That another wick records it is not seen.
 *
 * Return:  as collector_attach().
 * Context: any thread.
 */
int attach_look(pid_t pid, struct collector_attached *ret_attached, struct err *err);

/**
 * attach_ended - one that had joined has ended, or was let go
 *
 * With the last one the recording ends, unless others may come.
 *
 * Context: collector thread.
 */
void attach_ended(struct collector *collector, const struct process *process);

#endif
