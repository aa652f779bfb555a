/* signal_cost.h - what a signal costs on this machine */
#ifndef TOOLS_SIGNAL_COST_H
#define TOOLS_SIGNAL_COST_H

#include <stdint.h>

/**
 * signal_cost_ns - CPU ns of one signal sent to oneself and returned from, median of 101
 *
 * What a SIGPROF costs a program beside the work of its handler.
 *
 * Return:  ns; 0 when it could not be measured.
 * Context: main thread, before others exist: takes SIGURG for a moment.
 */
uint64_t signal_cost_ns(void);

#endif
