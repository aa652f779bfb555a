/* record_budget.h - what a user and a file are told of the budget and the breaker */
#ifndef RECORD_RECORD_BUDGET_H
#define RECORD_RECORD_BUDGET_H

#include "tools/record/recorder.h"

/**
 * record_budget_tell_price - say what the rate that was asked for costs, where that is much
 *
 * Context: main thread, when the engine has been chosen.
 */
void record_budget_tell_price(const struct recorder *recorder);

/**
 * record_budget_passed - a `# pause` line when the breaker has begun or ended a pause
 *
 * Context: main thread.
 */
void record_budget_passed(struct recorder *recorder, const struct collector_rate *rate);

/**
 * record_budget_tick - no more names when --mem-limit is used, no more samples when --disk-limit is
 *
 * Context: main thread.
 */
void record_budget_tick(struct recorder *recorder);

#endif
