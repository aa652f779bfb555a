/*
 * process.h - one image of one sampled process: its rings, mappings and threads
 *
 * Context: collector thread, unless a function says otherwise.
 */
#ifndef PROCESS_PROCESS_H
#define PROCESS_PROCESS_H

#include "base/map.h"
#include "sampler/collector/control/rate.h"
#include "sampler/collector/control/tick_aliasing.h"
#include "sampler/collector/event/event.h"
#include "sampler/collector/metrics/readings.h"
#include "sampler/collector/metrics/usage.h"
#include "sampler/collector/process/mappings.h"
#include "sampler/collector/process/perf_threads.h"
#include "sampler/collector/ring/ring_view.h"
#include "sampler/procfs/task.h"

#include <sys/types.h>

enum {
	PROCESS_MAX_THREADS = 65536, /* that samples of one process may name */
};

/* What we have read of a slot. */
struct slot_view {
	uint64_t position;        /* ours: the shared tail only tells the writer */
	uint32_t tid;             /* as it calls itself */
	struct namespace_tid ids; /* its thread id in our namespace */
	uint64_t weight;          /* given by this tid */
	uint64_t n_samples;
	uint64_t lost_full;
	uint64_t hooks_ns;
	uint64_t handler_ns;
	struct perf_thread perf;
};

/* What a delta is against. */
struct thread_series {
	bool sampled; /* one was given: values are its */
	int64_t values[SAMPLE_MAX_METRICS];
};

enum child_cpu_place {
	CHILD_CPU_NONE,  /* CMD and its children */
	CHILD_CPU_ROOT,  /* wick attached to it, */
	CHILD_CPU_CHILD, /* or is a child of one in this recording */
};

struct child_cpu {
	enum child_cpu_place place;
	bool followed;      /* attached as a child: the recording does not wait for its end */
	uint64_t missed_ns; /* CPU that it used in the recording before wick attached */
	uint64_t base_ns;   /* CPU of ended children, when wick attached */
	uint64_t ended_ns;  /* and as last seen */
};

struct process_tables;

/* The file that a process runs. */
struct external_image {
	dev_t dev;
	ino_t inode;
};

/* A thread as its samples show it. */
struct thread {
	char comm[SAMPLE_COMM_SIZE];
	bool counted; /* among those that gave a sample */
	bool has_residual;
	uint64_t residual_ns; /* then: CPU for its next sample, less than a period of the file */
	struct {
		bool checked; /* whether the filter has checked the name */
		bool named;
		char comm[SAMPLE_COMM_SIZE]; /* that was checked */
	} filter;
	struct thread_series series[N_SERIES];
	int64_t alloc_bytes; /* that its samples of memory stood for */
	int64_t free_bytes;
	struct thread_readings readings;
};

/* The search for threads that use CPU and give no samples (watch.h). */
struct timerless {
	struct map threads;
	uint64_t cpu_ns; /* of the process, and what it had given, at the last scan */
	uint64_t given_ns;
	uint64_t next_ns; /* not before this time, nor before so much CPU was used */
	uint64_t next_cpu_ns;
	uint32_t wait_ms;
};

/* When all slots are drained, changed or not, and ended threads are found. */
struct slot_sweep {
	uint64_t next_ns; /* not before this time, */
	uint64_t cpu_ns;  /* nor before so much CPU was used, */
	uint64_t last_ns; /* unless it is this late */
	uint64_t spent_ns;
	bool on;   /* in this pass */
	bool soon; /* the last one found threads that are gone: others may follow */
};

/* Header counters as last seen. */
struct header_view {
	uint64_t lost_noslot;
	uint64_t lost_nested;
	uint64_t spurious;
	uint64_t n_signals;
	uint64_t event_full;
	uint64_t event_nested;
	uint64_t event_noslot;
	uint64_t live_full;
	uint64_t arena_ns;
	bool agentless;
	bool seccomp;
	bool given_up;
};

/* What the kernel says that the image has used, and what its samples say. */
struct claim {
	uint64_t base_ns;   /* the process's CPU clock when the image began, */
	uint64_t cpu_ns;    /* when it was last read, */
	uint64_t read_ns;   /* and when that was */
	uint64_t least_ns;  /* that a sample claims */
	uint64_t given_ns;  /* what was believed */
	uint32_t n_threads; /* at most; 0: not counted yet */
	bool cut;           /* something was not believed since process_charge() */
};

struct contexts;

struct process {
	struct process *next;
	uint32_t number;
	pid_t pid;
	int pidfd;           /* -1: not to be had */
	bool alive;          /* its /proc entries are this image's */
	int ended_by;        /* once it is not: ended.h */
	pid_t namespace_pid; /* what it calls itself; its tids are not ours when it is not pid, */
	struct namespace_tids namespace_tids; /* but these */
	struct ring_view ring;
	struct slot_view *slots;
	uint32_t n_slots;
	uint32_t n_views;  /* allocated */
	uint64_t *changed; /* changed bits that perf_threads_scan() has not seen */
	struct slot_sweep sweep;
	struct header_view header;
	struct mappings mappings;
	struct map threads;
	struct timerless timerless;
	struct perf_process perf;
	struct tick_aliasing aliasing;
	bool aliased;                      /* it runs in step with the tick */
	struct wall *wall;                 /* in wall mode */
	struct external_process *external; /* it has no agent, and is sampled externally */
	struct external_image image;       /* then: the file that it runs */
	int64_t clock_offset_ns;           /* its CLOCK_MONOTONIC minus ours */
	uint64_t started_ns;
	uint64_t given_ns;    /* what the samples received, with residuals, stand for */
	uint64_t n_taken;     /* how many there were */
	uint64_t latest_ns;   /* of anything it gave */
	uint64_t charged_ns;  /* CPU of this pid, as far as it is known */
	uint64_t base_cpu_ns; /* of it, before the agent was there */
	struct claim claim;
	int signal;    /* that its samples come by */
	bool attached; /* wick attached while it ran: it is older than the recording */
	struct child_cpu child_cpu;
	bool unhooked; /* its calls are not hooked: attached, or a child of an attached process */
	uint64_t stack_start;  /* then: of its image; 0: not known */
	uint64_t listen_ns;    /* when its handler is checked next */
	bool handler_replaced; /* the program has replaced our handler */
	bool no_signals;       /* it has used CPU since heard_ns without a signal of ours */
	uint64_t heard_ns;     /* its CPU when the last signal arrived */
	uint64_t period_ns;    /* that weights are given in when it began */
	uint64_t began_ns;     /* the live period then, and the epoch: rate.h */
	uint32_t epoch;
	uint64_t live_ns;         /* the live period now; 0: period_ns, */
	bool paused;              /* and whether samples are wanted */
	uint64_t start_offset_ns; /* the part of its first period that counts as used (weights.h) */
	uint64_t inherited_ns;    /* residual of ended images: in all, */
	uint64_t residual_ns;     /* and what its next sample takes */
	uint64_t
		unsupported_ns; /* it went to a program that cannot load the agent; 0: it did not */
	struct readings readings;
	struct contexts *contexts; /* whose work its threads do; NULL: that is not to be had */
	struct process_usage usage;
	struct process_tables *tables; /* exact counts; NULL: no memory */
	uint64_t handler_ns;           /* that a handler usually takes; 0: not known */
	double fill;                   /* of its fullest ring in the last drain, 0 .. 1 */
};

/**
 * process_new - an image that has sent a handshake
 * @pid: of our own namespace
 * @sockets: those of the machine; it must outlive the process; NULL: no metric needs them
 *
 * Reads nothing yet but the clock and the namespaces.
 *
 * Return:  0; -errno.
 * Owns:    the caller, to process_free().
 */
int process_new(struct process **ret_process, uint32_t number, pid_t pid,
		const struct collector_options *options, struct sock_table *sockets);

/** process_keep_modules - note that the loaded modules are never unloaded: its program has not
 * begun */
void process_keep_modules(struct process *process);

/** process_begin_rate - tell a new image the rate, before its descriptor is sent */
void process_begin_rate(struct process *process, const struct rate *rate);

/** process_follow_rate - tell an image a changed rate */
void process_follow_rate(struct process *process, const struct rate *rate);

/** process_has_first_rate - whether the rate has not changed since the image began */
bool process_has_first_rate(const struct process *process);

/**
 * process_free - forget it
 *
 * Context: collector thread.  NULL is fine.
 */
void process_free(struct process *process);

/**
 * process_thread - a thread's state, made when it is new
 *
 * Return:  the thread; NULL when memory ran out, or the process has named too many.
 * Owns:    the process.
 */
struct thread *process_thread(struct process *process, uint32_t tid);

/**
 * process_thread_pointer - the thread pointer of a thread, as its handler wrote it
 *
 * Return:  the thread pointer; 0: it is not known.
 */
uint64_t process_thread_pointer(struct process *process, uint32_t tid);

/** process_forget_thread - its tid may come again as another thread */
void process_forget_thread(struct process *process, uint32_t tid);

/**
 * process_drain - move what was committed in changed slots into the stream
 *
 * Once in a while, and at the end, in all slots: a target may forget to tell.
 */
void process_drain(struct process *process, struct event_order *sink);

/**
 * process_update_mappings - read the maps file if something needs it
 * @force: also if nothing does
 *
 * Return:  whether any has come or gone.
 */
bool process_update_mappings(struct process *process, struct event_order *sink, bool force);

/** process_reap - mark the slots of threads that are gone, so that they can be claimed again */
void process_reap(struct process *process, struct event_order *sink);

/**
 * process_until_ns - CPU of the pid up to where this image ended
 *
 * Return:  ns, as the image said before an exec; else as of the last process_charge().
 */
uint64_t process_until_ns(const struct process *process);

/**
 * process_begin - its agent is there, and waits for the answer: the process's clock stands
 * @before_ns: CPU of the pid that an earlier image used
 *
 * Return:  ns of CPU that the image used before: exec and the loader, which no sample can see.
 */
uint64_t process_begin(struct process *process, uint64_t before_ns);

/** process_used_ns - the CPU that it used in this recording, as far as it is known */
uint64_t process_used_ns(const struct process *process);

/** process_charge - read the process's CPU clock */
void process_charge(struct process *process);

/**
 * process_believe - cut a sample's weight to what the CPU explains that the kernel charged
 *
 * Beside what the clock says: what every processor gave since it was read, periods that begin and
 * end in threads, what ended images left to this one, and the scatter of random places.  What is
 * cut off is counted as lost_forged.
 *
 * Return:  whether anything is left.
 */
bool process_believe(struct process *process, struct record_sample *sample,
		     struct collector_stats *stats);

/**
 * process_fill_metrics - the metrics of a sample that its record does not carry
 *
 * SAMPLE has its tid.  A thread's value that stands in it already is left as it is.
 */
void process_fill_metrics(struct process *process, struct event_sample *sample, uint64_t now_ns);

/**
 * process_end - the image has ended: drain what is left and say EVENT_KIND_EXIT
 *
 * The caller has cleared `alive` unless the process lives on and only the recording ends.
 *
 * Owns:    the stream has the process.
 */
void process_end(struct process *process, struct event_order *sink);

/** process_alive - whether the pid still stands for this process (a zombie does not) */
bool process_alive(const struct process *process);

#endif
