/*
 * options.h - what a recording is to sample, and how
 *
 * Context: any thread.
 */
#ifndef TYPES_OPTIONS_H
#define TYPES_OPTIONS_H

#include "base/sample.h"
#include "sampler/collector/perf/perf_open.h"
#include "sampler/wire/ring.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collector_external_sampler;

/* What is sampled: bits of 1 << enum sample_event.  WALL includes what CPU would show. */
enum {
	COLLECT_CPU = 1 << EVENT_CPU,
	COLLECT_WALL = 1 << EVENT_WALL,
	COLLECT_ALLOC = 1 << EVENT_ALLOC,
	COLLECT_LOCK = 1 << EVENT_LOCK,
	COLLECT_COUNT = 1 << EVENT_COUNT, /* one of the kernel's events; neither CPU nor WALL */
};

enum { COLLECTOR_MAX_HZ = 10000 };

#define COLLECT_ALLOC_BYTES UINT64_C(524288) /* default */
#define COLLECT_LOCK_NS     UINT64_C(10000)

/* What makes a thread heavy. */
enum collector_by {
	BY_CPU,       /* ns on a processor */
	BY_RSS,       /* KiB resident, of its process */
	BY_FAULTS,    /* page faults, minor and major */
	BY_RUN_DELAY, /* ns waiting for a processor */
	BY_IO,        /* bytes read from and written to storage */
	BY_GAUGE,     /* a number that its process registered */
};

/* The N heaviest threads of the recording, chosen anew every interval.  Zero chooses all. */
struct collector_top {
	uint32_t n;
	enum collector_by by;
	size_t gauge; /* BY_GAUGE: its column */
	uint64_t interval_ns;
};

/*
 * Which samples are given; the others are counted as filtered.  Zero passes all.  With a top,
 * threads that match by name pass in addition to it; without one, only they pass.
 */
struct collector_filter {
	uint32_t states; /* bits of 1 << enum sample_state; 0: all */
	bool profiled;   /* only inside wick.h's WICK_PROFILE_FN or wick_profile_start() */
	struct collector_top top;
	bool (*names)(void *context, const char *comm, size_t len); /* drain thread's; or NULL */
	void *context;
};

/* What all processes of the recording use together, for collector_usage(). */
enum collector_usage_of {
	USAGE_CPU,
	USAGE_RSS,
	USAGE_FAULTS, /* minor and major */
	USAGE_RUN_DELAY,
	USAGE_PSI_CPU, /* of the machine */
	USAGE_PSI_MEMORY,
	USAGE_PSI_IO,
	USAGE_GAUGES,
};

/* CPU time that sampling costs a program on this machine, besides the handlers. */
struct collector_prices {
	uint64_t timer_ns;  /* a timer's signal, */
	uint64_t event_ns;  /* a perf event's; 0: not measured yet */
	uint64_t switch_ns; /* what an event adds to each context switch of its thread */
};

struct collector_options {
	const char *agent_path;        /* the agent's .so, absolute */
	uint32_t hz;                   /* 1 .. COLLECTOR_MAX_HZ */
	enum ring_discovery discovery; /* collector_auto_discovery() for the default */
	bool paused;                   /* start paused, as by collector_pause() */
	uint32_t events;               /* COLLECT_*; 0: COLLECT_CPU */
	uint32_t metrics;              /* 1 << enum metric_id: the ones to read */
	uint32_t usage;                /* 1 << enum collector_usage_of: the same */
	const char *const
		*gauges; /* names, in the columns after the metrics; they outlive the collector */
	size_t n_gauges; /* at most METRIC_MAX_GAUGES */
	struct collector_filter filter;
	uint64_t alloc_bytes; /* COLLECT_ALLOC: mean bytes between two samples; 0:
				 COLLECT_ALLOC_BYTES */
	uint64_t lock_ns;     /* COLLECT_LOCK: the shortest wait told; 0: COLLECT_LOCK_NS */
	uint64_t lag_ns;      /* give samples at most so long after they were taken; 0: when it is
				 cheapest */
	size_t queue_bytes;   /* samples waiting for collector_next(); 0: 256 MiB */
	int signal;           /* sampling signal; 0: SIGPROF, or another if that is in use */
	bool follows;         /* attach to children of attached processes: collector_follow() */
	bool alone;           /* do not follow children of CMD and of attached processes */
	bool stay;            /* without CMD: continue after the last attached process */
	enum ring_engine engine; /* what sends the signals; 0: RING_ENGINE_CTIMER */
	struct perf_how perf;    /* RING_ENGINE_PERF; COLLECT_COUNT needs it */
	const struct collector_external_sampler
		*external_sampler;  /* for programs that cannot load the agent; NULL: none */
	bool external_only;         /* use it for all programs; none gets an agent */
	uint64_t ring_bytes;        /* for the rings of all processes together; 0: no limit */
	uint32_t max_overhead_ppm;  /* the overhead budget, of the program's CPU; 0: none */
	uint32_t max_collector_ppm; /* and that of wick itself, of one processor; 0: none */
	bool engine_is_auto;   /* timers may replace events if the budget gives more samples so */
	bool events_permitted; /* perf events may replace timers of processes with tick aliasing */
	struct collector_prices prices;
	uint64_t breaker_late_ns;  /* a lag that causes a pause; 0: none does */
	uint64_t breaker_pause_ns; /* so long */
};

/* Signal state for CMD, as wick itself started with. */
struct collector_signals {
	sigset_t mask;
	bool ends_ignored; /* SIGCHLD is */
};

/** collector_auto_discovery - the discovery that fits the running kernel (6.4 or later: timer) */
enum ring_discovery collector_auto_discovery(void);

/** collector_kernel_hz - the kernel's timer tick (CLOCK_MONOTONIC_COARSE's resolution) */
uint32_t collector_kernel_hz(void);

#endif
