/* process_start.h - what wick changes about its own process, invisibly to CMD */
#ifndef TOOLS_PROCESS_START_H
#define TOOLS_PROCESS_START_H

/**
 * process_start - make descriptors 0-2 and the signals of writing safe for wick itself
 *
 * Closed descriptors 0-2 become /dev/null, close-on-exec: CMD finds them closed as they were.
 * SIGPIPE and SIGXFSZ get a handler that does nothing: exec resets it, so CMD starts with what
 * wick was started with.
 *
 * Context: main thread, first of all.
 */
void process_start(void);

#endif
