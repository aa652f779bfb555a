/* attach.h - running processes join the recording, and leave it */
#ifndef COLLECTOR_ATTACH_H
#define COLLECTOR_ATTACH_H

struct collector;
struct process;

/**
 * attach_ended - one that had joined has ended, or was let go
 *
 * With the last one the recording ends, unless others may come.
 *
 * Context: collector thread.
 */
void attach_ended(struct collector *collector, const struct process *process);

#endif
