/* period.h - what a sample stands for, in a unit that people know */
#ifndef QUERY_PERIOD_H
#define QUERY_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

/* weight * MULTIPLY / DIVIDE is in UNIT. */
struct period {
	const char *unit; /* "ns", "us", "B", "samples", "periods", the event's name; "": several */
	const char
		*noun;   /* behind the amount of all: "of CPU", "allocated", the event's name; "" */
	bool is_default; /* what views count unless told otherwise; else they count samples */
	uint64_t multiply;
	uint64_t divide;
};

/* What a recording says of its weights. */
struct period_kind {
	bool is_wick;   /* all of it has wick's header */
	bool has_times; /* false: folded stacks */
	uint64_t hz;    /* of wick's clocks; 0: not said */
	uint64_t least; /* weight of any sample; 0: there is none */
	size_t n_events;
	const char *const *events;
};

/**
 * period_of_kind - what the weights of a recording are
 *
 * wick's are periods of a clock, bytes, microseconds or occurrences (docs/perf-script.md); perf's
 * are nanoseconds of its two clocks, and occurrences of everything else.
 *
 * Owns:    the names of the events have to outlive the words.
 * Context: any thread.
 */
struct period period_of_kind(const struct period_kind *kind);

/**
 * period_of - the same of a profile, which has to outlive the words
 * @event: whose samples are counted, of the profile's; SELECTION_EVERY_EVENT: all of them
 *
 * Context: any thread.
 */
struct period period_of(const struct profile *profile, uint32_t event);

/**
 * period_value - a weight in the period's unit; what does not fit becomes the most that does
 *
 * Context: any thread.
 */
int64_t period_value(const struct period *period, uint64_t weight);

/**
 * period_can_be - whether the samples of a recording can stand for so much CPU time
 * @length_ns: from its first sample to the last
 *
 * No machine has more than PROFILE_CPU_UNKNOWN CPUs; a minute is for what was before and after.
 *
 * Context: any thread.
 */
bool period_can_be(double seconds, uint64_t length_ns);

/**
 * period_is_to_come - whether a recording says that its last sample is more than a day ahead
 * @epoch_offset_ns: of its clock from the time since 1970
 *
 * Context: any thread.
 */
bool period_is_to_come(int64_t epoch_offset_ns, uint64_t last_ns);

#endif
