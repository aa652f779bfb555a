/* engine.h - samples processes without an agent, by holding threads that run for a moment */
#ifndef EXTERNAL_ENGINE_H
#define EXTERNAL_ENGINE_H

#include "sampler/collector/process/external_sampler.h"

/**
 * external_engine - what collector_options.external_sampler takes
 *
 * At a turn, every thread that has run since the last one and runs now is held once.  Its sample
 * stands for all CPU that the thread has used and no sample has stood for; what threads have used
 * that were never found running goes with the others', so that the process's total is right.
 *
 * Owns:    static.
 * Context: any thread.
 */
const struct collector_external_sampler *external_engine(void);

#endif
