/* attach_signal.h - chooses the sampling signal of a running process */
#ifndef ATTACH_ATTACH_SIGNAL_H
#define ATTACH_ATTACH_SIGNAL_H

#include "base/err.h"
#include "sampler/attach/attach_check.h"

#include <stdbool.h>

/**
 * attach_signal_choose - choose a signal that the process does not use itself
 * @asked: the signal that the user asked for; 0: SIGURG, or the first free one of a few others
 * @agents: the sampling signal of an agent that is already loaded; 0: there is none
 * @ret_why: why it is not SIGURG, in words; "": it is, or was asked for
 *
 * A process uses a signal when it handles or ignores it, waits for it (sigwait, signalfd), or has
 * blocked it in every thread.
 *
 * Return:  0; -EBUSY: the signal that was asked for, or every one, is in use. The reason is in ERR.
 * Context: any thread.
 */
int attach_signal_choose(const struct attach_target *target, int asked, int agents, int *ret_signal,
			 struct err *ret_why, struct err *err);

/**
 * attach_signal_fits - whether a signal may be used for sampling at all
 *
 * Context: any thread.
 */
bool attach_signal_fits(int signal);

/**
 * attach_signal_is_harmless - whether a signal is ignored by default
 *
 * Context: any thread.
 */
bool attach_signal_is_harmless(int signal);

#endif
