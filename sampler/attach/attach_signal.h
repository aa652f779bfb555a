/* attach_signal.h - by which signal a running process can be sampled */
#ifndef ATTACH_ATTACH_SIGNAL_H
#define ATTACH_ATTACH_SIGNAL_H

#include "base/err.h"
#include "sampler/attach/attach_check.h"

#include <stdbool.h>

/**
 * attach_signal_choose - one that the process does not use itself
 * @asked: the only one that is wanted; 0: SIGURG, or the first free one of a few others
 * @agents: what an agent that is in it has a handler for; 0: there is none
 * @ret_why: why it is not SIGURG, in words; "" it is, or was asked for
 *
 * A process uses a signal when it handles or ignores it, waits for it (sigwait, signalfd), or has
 * blocked it in every thread.
 *
 * Return:  0; -EBUSY: what was asked for, or everything, is in use.  The reason is in ERR.
 * Context: any thread.
 */
int attach_signal_choose(const struct attach_target *target, int asked, int agents, int *ret_signal,
			 struct err *ret_why, struct err *err);

/**
 * attach_signal_fits - one of those that a process may be sampled by at all
 *
 * Context: any thread.
 */
bool attach_signal_fits(int signal);

/**
 * attach_signal_is_harmless - one that ends nobody who has no handler for it
 *
 * Context: any thread.
 */
bool attach_signal_is_harmless(int signal);

#endif
