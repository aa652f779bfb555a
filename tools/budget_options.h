/* budget_options.h - what a recording may cost, and what is done when it costs more */
#ifndef TOOLS_BUDGET_OPTIONS_H
#define TOOLS_BUDGET_OPTIONS_H

#include "base/err.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids of the options, beside the command's own. */
enum {
	OPT_MAX_OVERHEAD = 1400,
	OPT_MEM_LIMIT,
	OPT_BREAKER,
};

/* Rows of an option table. */
#define MAX_OVERHEAD_OPTION_SPEC                                                                   \
	{                                                                                          \
		OPT_MAX_OVERHEAD, "max-overhead", "PCT",                                           \
			"sampling costs no more of CMD's CPU: the rate is halved above; or off "   \
			"(1%)"                                                                     \
	}
#define BUDGET_OPTION_SPECS                                                                        \
	{OPT_MEM_LIMIT, "mem-limit", "SIZE",                                                       \
	 "memory of wick's own: waiting samples, rings and names (not limited)"},                  \
	{                                                                                          \
		OPT_BREAKER, "breaker", "LATE:PAUSE",                                              \
			"when wick stays behind by LATE, take no samples for PAUSE; or off "       \
			"(5s:5s)"                                                                  \
	}

struct budget_options {
	uint32_t max_overhead_ppm; /* 0: it may cost any */
	uint64_t mem_limit;        /* bytes; 0: none */
	uint64_t breaker_late_ns;  /* 0: no breaker */
	uint64_t breaker_pause_ns;
};

/**
 * budget_options_init - what holds unless something else is asked for
 *
 * Context: any thread.
 */
void budget_options_init(struct budget_options *ret_options);

/**
 * budget_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Context: main thread.
 */
int budget_options_take(int id, const char *value, struct budget_options *options, struct err *err);

/**
 * budget_options_pass - the same for the collector
 *
 * Context: main thread.
 */
void budget_options_pass(const struct budget_options *options, struct collector_options *to);

#endif
