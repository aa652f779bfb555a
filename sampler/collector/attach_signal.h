/* attach_signal.h - by which signal a running process can be sampled */
#ifndef COLLECTOR_ATTACH_SIGNAL_H
#define COLLECTOR_ATTACH_SIGNAL_H

#include "base/err.h"
#include "sampler/collector/attach_check.h"

/**
 * attach_signal_choose - one that the process does not use itself
 * @asked: the only one that is wanted; 0: SIGPROF, or the first free one of a few others
 * @agents: what an agent that is in it has a handler for; 0: there is none
 * @ret_why: why it is not SIGPROF, in words; "" it is, or was asked for
 *
 * A process uses a signal when it handles or ignores it, waits for it (sigwait, signalfd), or has
 * blocked it in every thread.
 *
 * Return:  0; -EBUSY: what was asked for, or everything, is in use.  The reason is in ERR.
 * Context: any thread.
 */
int attach_signal_choose(const struct attach_target *target, int asked, int agents, int *ret_signal,
			 struct err *ret_why, struct err *err);

#endif
