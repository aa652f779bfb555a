/* signal_cost.h - what a signal costs on this machine */
#ifndef TARGET_SIGNAL_COST_H
#define TARGET_SIGNAL_COST_H

#include "sampler/collector/collector.h"

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

/**
 * signal_cost_of_event - the prices of a perf event, a few milliseconds of CPU
 * @prices: timer_ns is there already, and stands for what could not be measured
 * @hz:     above the tick a switch costs more: the event is what the processor is to wake for next
 *
 * Context: main thread, before others exist or while SIGURG is nobody's: takes it for a moment.
 */
void signal_cost_of_event(struct collector_prices *prices, uint32_t hz);

#endif
