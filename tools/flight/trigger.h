/*
 * trigger.h - conditions on what a program uses, and the moments when they have come true
 *
 * A model over readings: it reads nothing itself and knows only their clock.  A condition fires
 * once for one episode: it is ready again when it has been untrue for a while.
 */
#ifndef FLIGHT_TRIGGER_H
#define FLIGHT_TRIGGER_H

#include "base/err.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is read, of all processes of the recording together. */
enum trigger_of {
	TRIGGER_CPU,       /* hundredths of a percent of one CPU */
	TRIGGER_RSS,       /* KiB */
	TRIGGER_FAULTS,    /* a second */
	TRIGGER_MAJFAULTS, /* a second */
	TRIGGER_RUN_DELAY, /* hundredths of a percent of the time, threads added up */
	TRIGGER_PSI_CPU,   /* hundredths of a percent, of the last 10 s */
	TRIGGER_PSI_MEMORY,
	TRIGGER_PSI_IO,
	TRIGGER_GAUGE, /* the largest of any process */
	TRIGGER_KINDS,
};

enum { PSI_SOME, PSI_FULL, PSI_WORDS };
enum { PSI_CPU, PSI_MEMORY, PSI_IO, PSI_FILES };

enum trigger_how {
	TRIGGER_ABOVE,
	TRIGGER_BELOW,
	TRIGGER_GROWN_PCT, /* hundredths of a percent above the least since the program has settled,
			      or since it fired last */
	TRIGGER_GROWN_BY,
};

enum {
	TRIGGER_MOST = 16,   /* conditions */
	TRIGGER_RECENT = 64, /* readings that a rate is made of */
	TRIGGER_HOURLY = 100,
	TRIGGER_TEXT = 128,
};

struct trigger_condition {
	const char *text; /* as it was given */
	enum trigger_of of;
	unsigned psi_word;
	char gauge[METRIC_NAME_SIZE];
	size_t gauge_column; /* among the recording's gauges; the caller's to set */
	enum trigger_how how;
	int64_t limit;
	uint64_t for_ns; /* 0: as long as the options say */
};

struct trigger_options {
	const struct trigger_condition *at;
	size_t n;
	uint64_t for_ns;      /* how long a condition is true before it fires */
	uint64_t cooldown_ns; /* how long it is untrue before it is ready again */
	uint64_t settle_ns;   /* growth is measured from so long after the first reading */
	unsigned hourly;      /* how many fire in an hour, all together; at most TRIGGER_HOURLY */
};

/* What is known at a moment.  Counters only grow. */
struct trigger_reading {
	uint64_t time_ns;
	uint32_t known; /* 1 << enum trigger_of; gauges have a mask of their own */
	uint64_t cpu_ns;
	uint64_t rss_kib;
	uint64_t faults;
	uint64_t majfaults;
	uint64_t run_delay_ns;
	uint32_t psi[PSI_FILES][PSI_WORDS]; /* avg10, hundredths of a percent */
	uint32_t gauges_known;
	int64_t gauges[SAMPLE_MAX_METRICS];
};

/* Of one condition. */
struct trigger_state {
	bool is_true;
	bool fired;             /* and is not ready yet */
	uint64_t true_since_ns; /* while it is */
	uint64_t true_last_ns;
	bool has_base;
	int64_t base; /* of growth */
	uint64_t n_fired;
	uint64_t n_limited; /* times that the limit of the hour kept it from firing */
	bool seen;          /* its value was known at least once */
	int64_t most;       /* that it was; of TRIGGER_BELOW the least, of growth the growth */
};

/* Zero it but for options. */
struct trigger_set {
	struct trigger_options options;
	struct trigger_state states[TRIGGER_MOST];
	struct trigger_reading recent[TRIGGER_RECENT];
	size_t n_recent;                 /* ever */
	uint64_t first_ns;               /* of the readings */
	uint64_t hourly[TRIGGER_HOURLY]; /* when the last ones fired */
	size_t n_hourly;                 /* ever */
};

struct trigger_fired {
	size_t condition;
	uint64_t time_ns;
	int64_t value;
};

/**
 * trigger_parse - "cpu>80% for 2s", "rss>1G", "rss+10%", "faults>1000/s", "gauge queue_len>100"
 *
 * Return:  0; -EINVAL and the reason, with the place in TEXT.
 * Owns:    TEXT outlives the condition.
 * Context: any thread, as for all of these.
 */
int trigger_parse(const char *text, struct trigger_condition *ret_condition, struct err *err);

/**
 * trigger_evaluate - take a reading, later than the one before
 *
 * Return:  how many conditions fired by it.
 * Context: any thread.  One at a time with a set.
 */
size_t trigger_evaluate(struct trigger_set *set, const struct trigger_reading *reading,
			struct trigger_fired ret_fired[TRIGGER_MOST]);

/**
 * trigger_value - a value of a condition, in words: "93%", "1.2G", "1500/s"
 *
 * Context: any thread.
 */
void trigger_value(const struct trigger_condition *condition, int64_t value,
		   char text[TRIGGER_TEXT]);

/**
 * trigger_unit - what a value of it is counted in, for files: "percent_100", "KiB", "1/s", "1"
 *
 * Owns:    static.
 * Context: any thread.
 */
const char *trigger_unit(const struct trigger_condition *condition);

#endif
