/* collector.h - starts programs under the agent and gives their samples, merged by time */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include "base/err.h"
#include "base/sample.h"
#include "sampler/collector/perf/perf_open.h"
#include "sampler/wire/ring.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;
struct collector_outsider;

/* What is sampled: bits of 1 << enum sample_event.  WALL includes what CPU would show. */
enum {
	COLLECT_CPU = 1 << EVENT_CPU,
	COLLECT_WALL = 1 << EVENT_WALL,
	COLLECT_ALLOC = 1 << EVENT_ALLOC,
	COLLECT_LOCK = 1 << EVENT_LOCK,
	COLLECT_COUNT = 1 << EVENT_COUNT, /* one of the kernel's events; neither CPU nor WALL */
};

enum { COLLECTOR_MAX_HZ = 10000 };

#define COLLECT_ALLOC_BYTES UINT64_C(524288) /* unless asked otherwise */
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
 * Which samples are given; the others are counted as filtered.  Zero keeps all.  With a top, the
 * threads that are named are kept beside it; without one, only they are.
 */
struct collector_keep {
	uint32_t states; /* bits of 1 << enum sample_state; 0: all */
	struct collector_top top;
	bool (*names)(void *context, const char *comm, size_t len); /* drain thread's; or NULL */
	void *context;
};

/* What all processes of the recording use together: what collector_usage() is to know. */
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

enum { COLLECTOR_PSI_SOME, COLLECTOR_PSI_FULL, COLLECTOR_PSI_WORDS, COLLECTOR_PSI_FILES = 3 };

struct collector_usage {
	uint64_t time_ns; /* 0: nothing was looked at yet */
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

/* CPU that sampling takes from a program on this machine, besides what handlers take. */
struct collector_prices {
	uint64_t timer_ns;  /* a timer's signal, */
	uint64_t event_ns;  /* a perf event's; 0: not measured, since none was wanted yet */
	uint64_t switch_ns; /* what an event makes each context switch of its thread take longer */
};

struct collector_options {
	const char *agent_path;        /* the agent's .so, absolute */
	uint32_t hz;                   /* 1 .. COLLECTOR_MAX_HZ */
	enum ring_discovery discovery; /* collector_auto_discovery() for the default */
	bool paused;                   /* begin as collector_pause() would */
	uint32_t events;               /* COLLECT_*; 0: COLLECT_CPU */
	uint32_t metrics;              /* 1 << enum metric_id: the ones to read */
	uint32_t usage;                /* 1 << enum collector_usage_of: the same */
	const char *const *gauges; /* names, in the columns behind; they outlive the collector */
	size_t n_gauges;           /* at most METRIC_MAX_GAUGES */
	struct collector_keep keep;
	uint64_t alloc_bytes; /* COLLECT_ALLOC: mean bytes between two samples; 0:
				 COLLECT_ALLOC_BYTES */
	uint64_t lock_ns;     /* COLLECT_LOCK: the shortest wait told; 0: COLLECT_LOCK_NS */
	uint64_t lag_ns;      /* samples are given so soon after they were taken; 0: when it is
				 cheapest */
	size_t queue_bytes;   /* samples waiting for collector_next(); 0: 256 MiB */
	int signal;           /* that samples come by; 0: SIGPROF, or another where it is taken */
	bool follows;         /* children of those that have joined join, too: collector_follow() */
	bool alone;           /* children of CMD, and of those that have joined, are left out */
	bool stay;            /* without CMD: do not end with the last process that had joined */
	enum ring_engine engine; /* what sends the signals; 0: RING_ENGINE_CTIMER */
	struct perf_how perf;    /* RING_ENGINE_PERF; COLLECT_COUNT needs it */
	const struct collector_outsider *outsider; /* samples who takes no agent; NULL: nobody */
	bool outside;               /* all are sampled by it, and none gets an agent */
	uint64_t ring_bytes;        /* for the rings of all processes together; 0: any */
	uint32_t max_overhead_ppm;  /* what a program may pay, of its CPU; 0: any: budget.h */
	uint32_t max_collector_ppm; /* and what wick may use, of one processor; 0: any */
	bool engine_is_auto;        /* timers may take over where they give more for the budget */
	bool events_permitted;      /* perf events may, of processes in step with the tick */
	struct collector_prices prices;
	uint64_t breaker_late_ns;  /* being so far behind makes a pause; 0: nothing does */
	uint64_t breaker_pause_ns; /* so long */
};

enum collector_event_kind {
	COLLECTOR_IDLE,    /* the time out passed, or collector_nudge() was called */
	COLLECTOR_SAMPLE,  /* frames have addr and exact set, the metrics those of
			      metrics.h */
	COLLECTOR_MAPPING, /* precedes the samples that need it */
	COLLECTOR_EXIT,    /* a process image ended; its samples have all been given */
	COLLECTOR_RATE,    /* the rate is another from here on, or a mark has come by */
	COLLECTOR_END,     /* CMD has ended or the collector was detached; nothing follows */
};

/* Why no samples are taken for now: bits. */
enum collector_pause {
	PAUSE_ASKED = 1,   /* collector_pause() */
	PAUSE_BREAKER = 2, /* the collector fell behind */
};

/* How often samples are taken, from time_ns on. */
struct collector_rate {
	uint64_t time_ns;
	uint32_t hz;           /* weights are in periods of it */
	uint32_t effective_hz; /* signals a second of CPU: less than hz for a budget or the tick */
	uint32_t pauses;       /* enum collector_pause */
	uint64_t mark;         /* of the last call that led here */
	uint64_t charged_ns;   /* as in the counters, at that moment */
	uint64_t paused_ns;
	uint32_t cost_ppm; /* what sampling costs of the CPU sampled, as last measured */
	bool full;         /* the breaker's cause: a ring; else being behind */
};

/* Owns: the collector; views hold until the next collector_next(). */
struct collector_event {
	enum collector_event_kind kind;
	struct sample sample;
	struct mapping mapping;
	uint32_t process; /* COLLECTOR_EXIT, as the next two */
	pid_t pid;
	int ended_by; /* the signal; 0: none, or the pid lives on; -1: not known */
	struct collector_rate rate;
};

/* A program that was run and not sampled. */
struct collector_unsampled {
	pid_t pid;
	const char *path;
	const char *why; /* "static", "setuid", "32-bit" */
	uint64_t count;  /* how many times this path, for this reason */
};

/* Memory taken and given back, locks waited for. */
enum { HOOK_STATS_TAKEN, HOOK_STATS_FREED, HOOK_STATS_WAITED, HOOK_STATS };

/* What happened, for the summary.  Weights are in periods; those of filtered samples count too. */
struct collector_stats {
	uint64_t as_of_ns; /* the moment that the counters are of */
	uint64_t samples;
	uint64_t weight;
	uint64_t own_samples;               /* in code of ours: not the program's, left out */
	uint64_t own_weight;                /* of these; no other figure has them */
	double squares;                     /* of the weights, summed: words_precision() */
	uint64_t folded;                    /* samples of less than a period: with the next */
	uint64_t overruns;                  /* weight beyond one a sample */
	uint64_t merged;                    /* periods whose signal was another's, later */
	struct filtered filtered[N_SERIES]; /* what collector_options.keep left out */
	uint64_t threads;                   /* that gave at least one sample */
	uint64_t processes;                 /* images that said hello */
	uint64_t unsampled_processes;
	uint64_t followed;           /* children of those that had joined that joined as such */
	uint64_t children_missed_ns; /* CPU of children that ended, or joined later: not in
					charged_ns */
	uint64_t outside;            /* images that were sampled from outside, */
	char outside_path[128];      /* one that takes no agent ("" none), */
	const char *outside_why;     /* and why it does not */
	uint64_t outside_stops;      /* how often one of their threads was held, */
	uint64_t outside_stopped_ns; /* for how long together, */
	uint64_t outside_longest_ns; /* and at most */
	uint64_t lost_full;
	uint64_t lost_nested;
	uint64_t lost_noslot;
	uint64_t lost_queue;   /* our own queue was full */
	uint64_t lost_corrupt; /* records that lied */
	uint64_t lost_forged;  /* weight of samples beyond the CPU that the kernel charged */
	uint64_t lost_pause;   /* CPU, in periods, that passed in pauses of the breaker */
	uint64_t breaks;       /* these pauses */
	uint64_t starved;      /* the rings were not looked at for 5 s, so many times, */
	uint64_t starved_ns;   /* and so long at most */
	uint64_t given_up;     /* images that took us for dead therefore, and stopped */
	uint64_t lowered_ns;   /* how long the rate was lower than asked for, for its cost, */
	uint32_t lowest_hz;    /* and the lowest that there was; 0: it was as asked for */
	uint64_t misdirected;
	uint64_t lost_events; /* of hooks: a ring was full or being written, or no slot */
	uint64_t hook_samples[HOOK_STATS]; /* not among samples and weight */
	uint64_t hook_weight[HOOK_STATS];  /* bytes, bytes, microseconds */
	uint64_t live_full;                /* memory whose release could not be told */
	uint64_t signals;                  /* every SIGPROF of ours, with or without a sample */
	uint64_t event_signals;            /* of them, that events sent and that carried a sample */
	uint32_t dear_ppm; /* events went, for what they made switches cost; 0: they did not */
	uint64_t event_switches;  /* context switches of threads that have one */
	uint64_t kernel_periods;  /* of events, that ended in the kernel: no signal came of them */
	uint64_t program_ns;      /* CPU that sampling has cost programs: spending.h */
	uint64_t handler_ns;      /* inside the agent's handler, */
	uint64_t first_ns;        /* beside what first samples took to make their rings ready */
	uint64_t hooks_ns;        /* inside the agent for events of memory and locks */
	uint64_t charged_ns;      /* CPU that the kernel charged to the sampled processes, */
	uint64_t paused_ns;       /* beside what it charged while samples were not wanted */
	uint64_t starting_ns;     /* of it, before agents were there: exec and the loader */
	uint64_t stood_ns;        /* what samples of a clock stand for, */
	uint64_t running_ns;      /* and of them those of running threads */
	uint64_t agentless;       /* agents that could not start (no timer, no memory) */
	uint64_t agentless_errno; /* why the last one could not */
	uint64_t flooded;         /* how often another user connected too often, and was kept out */
	uint64_t flooded_uid;     /* the last one */
	uint64_t seccomp;         /* images that stopped sampling for seccomp */
	uint64_t deaf;            /* processes that joined and took our signal's action back, */
	uint64_t mute;            /* or that use CPU now without any signal of ours arriving, */
	int deaf_signal;          /* and the last one's signal */
	uint64_t late_threads;    /* threads armed because the collector posted them */
	uint64_t unmasked_threads; /* threads that had SIGPROF blocked by a raw system call */
	uint64_t aliased;          /* processes in step with the tick: tick_aliasing.h, */
	uint64_t switched;         /* of them, those that were given perf events, */
	pid_t aliased_pid;         /* and the last one */
	bool timers_took_over;     /* from perf events, which cost too much */
	uint64_t perf_threads;     /* RING_ENGINE_PERF: threads that an event was opened for, */
	uint64_t perf_refused;     /* that stayed with their timers, */
	uint64_t perf_refused_errno;
	uint64_t perf_ringless; /* or whose kernel frames could not be had */
	uint64_t still_running; /* processes alive when the recording ended */
	uint32_t gauges;        /* bit i: a process has registered options.gauges[i] */
	uint64_t stops[8];      /* samples by enum unwind_stop */
	uint64_t states[8];     /* weight by enum sample_state */
	uint64_t looks;         /* wall mode: at threads */
	uint64_t walks;         /* of blocked threads' stacks */
	uint64_t outrun;        /* of these, how many the thread outran */
	uint64_t unreadable;    /* looks at threads that may not be read */
	const struct collector_unsampled *unsampled;
	size_t n_unsampled;
};

/**
 * collector_auto_discovery - the discovery that fits the running kernel (6.4 or later: timer)
 *
 * Context: any thread.
 */
enum ring_discovery collector_auto_discovery(void);

/**
 * collector_kernel_hz - the kernel's timer tick (CLOCK_MONOTONIC_COARSE's resolution)
 *
 * Context: any thread.
 */
uint32_t collector_kernel_hz(void);

/**
 * collector_new - a socket and a directory for agents to find
 *
 * Return:  0; -errno, and the reason in ERR.
 * Owns:    the caller, to collector_free().
 * Context: main thread.
 */
int collector_new(const struct collector_options *options, struct collector **ret_collector,
		  struct err *err);

/* What CMD starts with, and wick itself started with. */
struct collector_signals {
	sigset_t mask;
	bool ends_ignored; /* SIGCHLD is */
};

/**
 * collector_launch - start CMD under the agent, and the drain thread
 * @argv: NULL-terminated; argv[0] is searched in PATH
 *
 * CMD stays in wick's process group, keeps wick's descriptors 0-2 and its resource limits as
 * they were before collector_new().
 *
 * Return:  0; -ENOENT: not found; -EACCES, -ENOEXEC and others: cannot be executed.
 * Context: main thread, once.
 */
int collector_launch(struct collector *collector, char *const *argv,
		     const struct collector_signals *signals, pid_t *ret_pid, struct err *err);

/**
 * collector_price - prices that were measured when events were first needed
 *
 * Context: main thread.
 */
void collector_price(struct collector *collector, const struct collector_prices *prices);

/**
 * collector_launched_outside - whether CMD is sampled from outside
 *
 * Context: main thread.
 */
bool collector_launched_outside(const struct collector *collector);

/* How a running process was joined. */
struct collector_attached {
	uint64_t stopped_ns; /* for how long one of its threads was held */
	uint64_t longest_ns; /* the same of a try that led to nothing, where that was longer */
	unsigned tries;
	pid_t inner_pid; /* what it calls itself: another in a pid namespace */
	int signal;      /* that its samples come by */
	bool again;      /* the agent was in it already */
	struct err why;  /* it is not SIGPROF, in words; no text: it is, or was asked for */
};

/**
 * collector_begin - the drain thread, without CMD
 *
 * The recording ends with the last process that joined, unless options.stay.
 *
 * Return:  0; -errno and the reason.
 * Context: main thread, once, instead of collector_launch().
 */
int collector_begin(struct collector *collector, struct err *err);

/**
 * collector_attach - have a running process join the recording
 *
 * At any time after collector_begin() or collector_launch().  One of its threads is held for less
 * than a millisecond; the other threads go on.
 *
 * Return:  0; -ESRCH: there is none, or it ended meanwhile; -EPERM: not ours to trace; -EBUSY:
 *          traced or recorded by another; -EAGAIN: stopped, or no thread could be borrowed;
 *          -ENOEXEC: it takes no agent; -EPROTO: another version's agent is in it; -EALREADY: it
 *          is being recorded here.  The reason is in ERR.
 * Context: main thread.
 */
int collector_attach(struct collector *collector, pid_t pid,
		     struct collector_attached *ret_attached, struct err *err);

/**
 * collector_follow - have a child of one that has joined join as well
 *
 * As collector_attach(); one that takes no agent is recorded by options.outsider, if there is.  The
 * recording does not wait for its end.
 *
 * Return:  as collector_attach(), collector_outside().
 * Context: main thread.
 */
int collector_follow(struct collector *collector, pid_t pid,
		     struct collector_attached *ret_attached, struct err *err);

/**
 * collector_outside - record a running process from outside, by options.outsider
 *
 * As collector_attach(), but the process stays as it is.
 *
 * Return:  0; -EPERM: it may not be looked at; -EALREADY; -ESRCH; -errno and the reason.
 * Context: main thread.
 */
int collector_outside(struct collector *collector, pid_t pid, struct err *err);

/**
 * collector_let_go - record one process no more; its agent goes dormant
 *
 * Return:  0; -ESRCH: it is not being recorded.
 * Context: main thread.
 */
int collector_let_go(struct collector *collector, pid_t pid);

/**
 * collector_next - the next thing that happened, samples sorted by time
 * @timeout_ns: at most this long; COLLECTOR_IDLE then
 *
 * Context: main thread.
 */
void collector_next(struct collector *collector, uint64_t timeout_ns,
		    struct collector_event *ret_event);

/**
 * collector_records - whether a process is one of those that are recorded now
 *
 * Context: any thread.
 */
bool collector_records(struct collector *collector, pid_t pid);

/**
 * collector_mark - have collector_next() tell when everything up to now has been given
 *
 * Return:  a number, above all before: a COLLECTOR_RATE with this mark or a later one tells it.
 * Context: main thread.
 */
uint64_t collector_mark(struct collector *collector);

/**
 * collector_pause - take no samples until collector_resume()
 *
 * Return:  the mark of the last sample before it.
 * Context: main thread.
 */
uint64_t collector_pause(struct collector *collector);

/**
 * collector_resume - take samples again
 *
 * Return:  its mark.
 * Context: main thread.
 */
uint64_t collector_resume(struct collector *collector);

/**
 * collector_set_hz - another rate, 1 .. 10000, and weights in periods of it
 *
 * Return:  its mark; 0 when HZ cannot be.
 * Context: main thread.
 */
uint64_t collector_set_hz(struct collector *collector, uint32_t hz);

/**
 * collector_nudge - have collector_next() return soon, if it waits
 *
 * Context: any thread; async-signal-safe.
 */
void collector_nudge(struct collector *collector);

/**
 * collector_watch - the same whenever there is something new to read from a descriptor
 *
 * Until it is closed.
 *
 * Return:  0; -errno.
 * Context: main thread.
 */
int collector_watch(struct collector *collector, int fd);

/**
 * collector_detach - tell every agent to stop, drain once more, and let everything live
 *
 * What was drained is still given by collector_next(), up to COLLECTOR_END.
 *
 * Context: any thread; async-signal-safe (it sets a flag that the drain thread sees).
 */
void collector_detach(struct collector *collector);

/**
 * collector_status - the wait status of CMD (wait(2))
 *
 * Return:  true and *RET_STATUS once CMD has ended; false while it runs.
 * Context: main thread.
 */
bool collector_status(struct collector *collector, int *ret_status);

/**
 * collector_stats - the counters so far
 *
 * Owns:    the collector, for the views; good until the next collector call.
 * Context: main thread.
 */
void collector_stats(struct collector *collector, struct collector_stats *ret_stats);

/**
 * collector_usage - what all processes use together, as of the last look, some 250 ms ago at most
 *
 * A new one has collector_next() return.
 *
 * Context: main thread.
 */
void collector_usage(struct collector *collector, struct collector_usage *ret_usage);

/**
 * collector_free - stop the drain thread, remove the socket, forget everything
 *
 * Context: main thread.  NULL is fine.
 */
void collector_free(struct collector *collector);

#endif
