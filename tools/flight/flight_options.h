/* flight_options.h - what `wick record` is told about the flight recorder and its triggers */
#ifndef FLIGHT_FLIGHT_OPTIONS_H
#define FLIGHT_FLIGHT_OPTIONS_H

#include "base/err.h"
#include "tools/flight/flight.h"
#include "tools/flight/trigger.h"
#include "tools/options/metric_list.h"

#include <stdbool.h>
#include <stdint.h>

/* Ids of the options, beside the command's own. */
enum {
	OPT_FLIGHT = 2048,
	OPT_TRIGGER,
	OPT_FOR,
	OPT_COOLDOWN,
	OPT_PRE,
	OPT_POST,
	OPT_LIMIT,
};

/* Their rows of the table. */
#define FLIGHT_OPTION_SPECS                                                                        \
	{OPT_FLIGHT, "flight", "DUR",                                                              \
	 "keep only the last DUR, in memory (128M, or 256M with 60s:256M); write it when the "     \
	 "program crashes, on SIGUSR2 or on wick flush"},                                          \
		{OPT_TRIGGER, "trigger", "EXPR",                                                   \
		 "also write it when EXPR becomes true, for example 'cpu>80% for 2s'; may be "     \
		 "repeated"},                                                                      \
		{OPT_FOR, "trigger-for", "DUR",                                                    \
		 "how long EXPR must be true, unless it says so itself (default: 0)"},             \
		{OPT_COOLDOWN, "trigger-cooldown", "DUR",                                          \
		 "how long EXPR must be false before it can fire again (default: 30s)"},           \
		{OPT_PRE, "trigger-pre", "DUR",                                                    \
		 "how much time before the trigger its file covers (default: 10s)"},               \
		{OPT_POST, "trigger-post", "DUR",                                                  \
		 "how much time after the trigger its file covers (default: 10s)"},                \
		{OPT_LIMIT, "trigger-limit", "N",                                                  \
		 "write at most N trigger files in an hour (default: 12)"},                        \
		{OPT_FOR, "for", "DUR", NULL}, {OPT_COOLDOWN, "cooldown", "DUR", NULL},            \
		{OPT_PRE, "pre", "DUR", NULL}, {OPT_POST, "post", "DUR", NULL},                    \
	{                                                                                          \
		OPT_LIMIT, "limit", "N", NULL                                                      \
	}

/* Zero it, then flight_options_init(). */
struct flight_choice {
	uint64_t window_ns; /* of --flight; 0: it was not given */
	uint64_t bytes;
	struct trigger_condition conditions[TRIGGER_MOST];
	size_t n_conditions;
	uint64_t for_ns;
	uint64_t cooldown_ns;
	uint64_t pre_ns;
	uint64_t post_ns;
	unsigned hourly;
	bool tuned; /* one of the options that only triggers have was given */
};

/**
 * flight_options_init - the defaults
 *
 * Context: any thread, as for all of these.
 */
void flight_options_init(struct flight_choice *choice);

/**
 * flight_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Owns:    VALUE outlives the choice.
 * Context: any thread.
 */
int flight_options_take(int id, const char *value, struct flight_choice *choice, struct err *err);

/**
 * flight_options_on - whether samples go to memory first
 *
 * Context: any thread.
 */
bool flight_options_on(const struct flight_choice *choice);

/**
 * flight_options_pass - the same for the flight recorder, but for the columns to keep
 *
 * Context: any thread.
 */
void flight_options_pass(const struct flight_choice *choice, struct flight_options *to);

/**
 * flight_options_gauges - have the gauges of triggers recorded, and find their columns
 *
 * Return:  0; -EINVAL and the reason: there are too many.
 * Context: any thread.
 */
int flight_options_gauges(struct flight_choice *choice, struct metric_list *metrics,
			  struct err *err);

/**
 * flight_options_check - what the options ask of each other
 * @rotated: --rotate was given
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int flight_options_check(const struct flight_choice *choice, bool rotated, struct err *err);

#endif
