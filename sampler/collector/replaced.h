/* replaced.h - a program that has joined executes another, and no hook of ours says so */
#ifndef COLLECTOR_REPLACED_H
#define COLLECTOR_REPLACED_H

#include "sampler/collector/state.h"

/**
 * replaced_look - see, when it is due, which of those without hooks run another image now
 *
 * The agent went with the old one.  The new one is sampled from outside where that may be, and is
 * let go where not; either way the summary names it.
 *
 * Context: collector thread.
 */
void replaced_look(struct collector *collector, uint64_t now_ns);

#endif
