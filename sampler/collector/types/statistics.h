/* statistics.h - what a recording reports of itself */
#ifndef TYPES_STATISTICS_H
#define TYPES_STATISTICS_H

#include "base/err.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Why sampling is paused: bits. */
enum collector_pause {
	PAUSE_ASKED = 1,   /* collector_pause() */
	PAUSE_BREAKER = 2, /* the collector lags */
};

/* How often samples are taken, from time_ns on. */
struct collector_rate {
	uint64_t time_ns;
	uint32_t hz;           /* weights are in periods of it */
	uint32_t effective_hz; /* signals a second of CPU: less than hz for a budget or the tick */
	uint32_t pauses;       /* enum collector_pause */
	uint64_t barrier;      /* of the last call that changed it */
	uint64_t charged_ns;   /* as in the counters, at that moment */
	uint64_t paused_ns;
	uint32_t cost_ppm; /* what sampling costs of the CPU sampled, as last measured */
	bool full;         /* the cause of the pause: a full ring; else lag */
};

enum { COLLECTOR_PSI_SOME, COLLECTOR_PSI_FULL, COLLECTOR_PSI_WORDS, COLLECTOR_PSI_FILES = 3 };

struct collector_usage {
	uint64_t time_ns; /* 0: nothing has been read yet */
	uint32_t known;   /* 1 << enum collector_usage_of */
	uint64_t cpu_ns;  /* counters only grow */
	uint64_t rss_kib;
	uint64_t faults;
	uint64_t majfaults;
	uint64_t run_delay_ns;
	uint32_t psi[COLLECTOR_PSI_FILES][COLLECTOR_PSI_WORDS]; /* avg10, percent * 100 */
	uint32_t gauges_known;                                  /* bit i: of options.gauges */
	int64_t gauges[SAMPLE_MAX_METRICS];                     /* the largest of any process */
};

/* A program that was executed and not sampled. */
struct collector_unsupported {
	pid_t pid;
	const char *path;
	const char *why; /* "static", "setuid", "32-bit" */
	uint64_t count;  /* how often this path was executed, for this reason */
};

/* Memory allocated and freed, waits for locks. */
enum { HOOK_STATS_TAKEN, HOOK_STATS_FREED, HOOK_STATS_WAITED, HOOK_STATS };

/* Counters for the summary.  Weights are in periods and include filtered samples. */
struct collector_stats {
	uint64_t as_of_ns; /* the time of the counters */
	uint64_t samples;
	uint64_t weight;
	uint64_t own_samples; /* in wick's own code: left out */
	uint64_t own_weight;  /* of these; in no other counter */
	double squares;       /* of the weights, summed: words_precision() */
	uint64_t folded;      /* samples of less than a period, added to the next */
	uint64_t overruns;    /* weight beyond one a sample */
	uint64_t merged;      /* periods whose signal the kernel merged with a later one */
	struct filtered filtered[N_SERIES]; /* what collector_options.filter left out */
	uint64_t threads;                   /* that gave at least one sample */
	uint64_t processes;                 /* images that sent a handshake */
	uint64_t counting; /* images that keep exact counts by wick.h: collector_totals() */
	uint64_t unsupported_processes;
	uint64_t followed;            /* children of attached processes that wick attached to */
	uint64_t children_missed_ns;  /* CPU of children before wick attached, or that ended: not in
					 charged_ns */
	uint64_t external;            /* images sampled without an agent, */
	char external_path[128];      /* the path of one ("": none), */
	const char *external_why;     /* and why it cannot load the agent */
	uint64_t external_stops;      /* how often one of their threads was stopped, */
	uint64_t external_stopped_ns; /* for how long in total, */
	uint64_t external_longest_ns; /* and at most */
	uint64_t lost_full;
	uint64_t lost_nested;
	uint64_t lost_noslot;
	uint64_t lost_queue;   /* the collector's own queue was full */
	uint64_t lost_corrupt; /* invalid records */
	uint64_t lost_forged;  /* weight of samples beyond the CPU that the kernel charged */
	uint64_t lost_pause;   /* CPU, in periods, that passed in pauses of the breaker */
	uint64_t breaks;       /* these pauses */
	uint64_t starved;      /* how often the rings were not drained for 5 s, */
	uint64_t starved_ns;   /* and so long at most */
	uint64_t given_up;     /* images that stopped sampling because of that */
	uint64_t lowered_ns;   /* how long the rate was lower than requested, for its cost, */
	uint32_t lowest_hz;    /* and the lowest rate; 0: always as requested */
	uint64_t spurious;
	uint64_t lost_events; /* of hooks: the ring was full or busy, or there was no slot */
	uint64_t hook_samples[HOOK_STATS]; /* not among samples and weight */
	uint64_t hook_weight[HOOK_STATS];  /* bytes, bytes, microseconds */
	uint64_t live_full;                /* allocations whose release could not be tracked */
	uint64_t signals;                  /* every SIGPROF of ours, with or without a sample */
	uint64_t event_signals;            /* of them, from perf events and with a sample */
	uint32_t dear_ppm; /* cost of context switches for which perf events were closed; 0: they
			      were not */
	uint64_t event_switches;  /* context switches of threads with an event */
	uint64_t kernel_periods;  /* periods of events that ended in the kernel, without a signal */
	uint64_t program_ns;      /* CPU that sampling has cost programs: spending.h */
	uint64_t handler_ns;      /* inside the agent's handler */
	uint64_t first_ns;        /* rings prepared by first samples; not in handler_ns */
	uint64_t hooks_ns;        /* inside the agent for events of memory and locks */
	uint64_t charged_ns;      /* CPU that the kernel charged to the sampled processes */
	uint64_t paused_ns;       /* the same during pauses; not in charged_ns */
	uint64_t starting_ns;     /* of it, before the agent was loaded: exec and the loader */
	uint64_t stood_ns;        /* what samples of a clock stand for, */
	uint64_t running_ns;      /* and of them those of running threads */
	uint64_t agentless;       /* agents that could not start (no timer or memory) */
	uint64_t agentless_errno; /* why the last one could not */
	uint64_t flooded;         /* how often a user who connected too often was refused */
	uint64_t flooded_uid;     /* the last one */
	uint64_t seccomp;         /* images that stopped sampling because of seccomp */
	uint64_t handlers_replaced; /* attached processes that replaced our handler, */
	uint64_t no_signals;        /* or that use CPU and get no signal of ours, */
	int failed_signal;          /* and the signal of the last one */
	uint64_t late_threads;      /* threads that got a timer because the collector posted them */
	uint64_t unmasked_threads;  /* threads that had SIGPROF blocked by a raw system call */
	uint64_t aliased;           /* processes in step with the tick: tick_aliasing.h, */
	uint64_t switched;          /* of them, those that got perf events, */
	pid_t aliased_pid;          /* and the last one */
	bool timers_took_over;      /* timers replaced perf events, which cost too much */
	uint64_t perf_threads;      /* RING_ENGINE_PERF: threads with an event, */
	uint64_t perf_refused;      /* threads that kept their timers, */
	uint64_t perf_refused_errno;
	uint64_t perf_ringless; /* or whose kernel frames could not be recorded */
	uint64_t still_running; /* processes alive when the recording ended */
	uint32_t gauges;        /* bit i: a process has registered options.gauges[i] */
	uint64_t stops[8];      /* samples by enum unwind_stop */
	uint64_t states[8];     /* weight by enum sample_state */
	uint64_t thread_reads;  /* wall mode: how often a thread was read */
	uint64_t walks;         /* of blocked threads' stacks */
	uint64_t outrun;        /* of these, failed because the thread ran on */
	uint64_t unreadable;    /* reads of threads that were refused */
	const struct collector_unsupported *unsupported;
	size_t n_unsupported;
};

/* How wick attached to a process. */
struct collector_attached {
	uint64_t stopped_ns; /* how long one of its threads was stopped */
	uint64_t longest_ns; /* the same for a failed try, if that was longer */
	unsigned tries;
	pid_t namespace_pid; /* its pid in its own pid namespace */
	int signal;          /* its sampling signal */
	bool again;          /* the agent was loaded already */
	struct err why;      /* why the signal is not SIGPROF; empty if it is, or was requested */
};

#endif
