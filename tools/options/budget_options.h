/* budget_options.h - what a recording may cost, and what is done when it costs more */
#ifndef OPTIONS_BUDGET_OPTIONS_H
#define OPTIONS_BUDGET_OPTIONS_H

#include "base/err.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids of the options, beside the command's own. */
enum {
	OPT_MAX_OVERHEAD = 1400,
	OPT_MAX_COLLECTOR_CPU,
	OPT_MEM_LIMIT,
	OPT_BREAKER,
};

/* Rows of an option table; OTHERWISE is what holds where the option is not given. */
#define MAX_OVERHEAD_OPTION_SPEC(otherwise)                                                        \
	{                                                                                          \
		OPT_MAX_OVERHEAD, "max-overhead", "PCT",                                           \
			"lower the rate when sampling costs the program more than PCT of its "     \
			"CPU; or off (default: " otherwise ")"                                     \
	}
#define BUDGET_OPTION_SPECS                                                                        \
	{OPT_MAX_COLLECTOR_CPU, "max-collector-cpu", "PCT",                                        \
	 "lower the rate when wick itself uses more than PCT of one CPU; or off (default: off)"},  \
		{OPT_MEM_LIMIT, "mem-limit", "SIZE",                                               \
		 "limit wick's own memory: queued samples, ring buffers and names (default: 512M " \
		 "for names)"},                                                                    \
	{                                                                                          \
		OPT_BREAKER, "breaker", "LATE:PAUSE",                                              \
			"when wick lags behind by LATE, take no samples for PAUSE; or off "        \
			"(default: 5s:5s)"                                                         \
	}

struct budget_options {
	bool given;                 /* a limit of the program's cost, or off */
	uint32_t max_overhead_ppm;  /* of the program's CPU; 0: it may cost any */
	uint32_t max_collector_ppm; /* of one processor; 0: wick may use any */
	uint64_t mem_limit;         /* bytes; 0: none */
	uint64_t breaker_late_ns;   /* 0: no breaker */
	uint64_t breaker_pause_ns;
};

/**
 * budget_options_init - what holds unless something else is asked for
 *
 * Context: any thread.
 */
void budget_options_init(struct budget_options *ret_options);

/**
 * budget_options_leave_on - what holds for a recording that is left on, unless one was given
 *
 * Context: any thread.
 */
void budget_options_leave_on(struct budget_options *options);

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
