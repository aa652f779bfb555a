/* process_start.h - what wick changes about its own process, invisibly to CMD */
#ifndef TARGET_PROCESS_START_H
#define TARGET_PROCESS_START_H

#include "sampler/collector/collector.h"

/**
 * process_start - make descriptors 0-2 and the signals of writing safe for wick itself
 *
 * Closed descriptors 0-2 become /dev/null, close-on-exec: CMD finds them closed as they were.
 * SIGPIPE and SIGXFSZ get a handler that does nothing: exec resets it, so CMD starts with what
 * wick was started with.  Where SIGCHLD is ignored, nobody could wait for a child: its action is
 * the default one then.
 *
 * Context: main thread, first of all.
 */
void process_start(void);

/**
 * process_signals - the signals that CMD is to start with: those of before process_start()
 *
 * Context: main thread.
 */
void process_signals(struct collector_signals *ret_signals);

#endif
