/* wall_turn.h - when wall mode looks at the threads of all processes */
#ifndef DRAIN_WALL_TURN_H
#define DRAIN_WALL_TURN_H

#include "sampler/collector/drain/state.h"

/**
 * wall_turn_begin - account for the threads of a new process, if that is wanted
 *
 * Context: collector thread.
 */
void wall_turn_begin(struct collector *collector, struct process *process);

/**
 * wall_turn_all - look at all threads that are due, if a turn is
 *
 * Context: collector thread.
 */
void wall_turn_all(struct collector *collector);

#endif
