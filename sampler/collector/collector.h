/*
 * collector.h - starts programs under the agent and gives their samples, merged by time
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef COLLECTOR_COLLECTOR_H
#define COLLECTOR_COLLECTOR_H

#include "base/err.h"
#include "base/sample.h"
#include "sampler/collector/metrics/metrics.h"
#include "sampler/collector/types/options.h"
#include "sampler/collector/types/statistics.h"
#include "sampler/collector/types/totals.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct collector;

enum collector_event_kind {
	COLLECTOR_IDLE,    /* the time out passed, or collector_nudge() was called */
	COLLECTOR_SAMPLE,  /* frames have addr and exact set, the metrics those of
			      metrics.h */
	COLLECTOR_MAPPING, /* precedes the samples that need it */
	COLLECTOR_EXIT,    /* a process image ended; its samples have all been given */
	COLLECTOR_RATE,    /* the rate has changed, or a barrier was reached */
	COLLECTOR_END,     /* CMD has ended or the collector was detached; nothing follows */
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

/**
 * collector_new - a socket and a directory for agents to find
 *
 * Return:  0; -errno, and the reason in ERR.
 * Owns:    the caller, to collector_free().
 */
int collector_new(const struct collector_options *options, struct collector **ret_collector,
		  struct err *err);

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

/** collector_price - prices that were measured when events were first needed */
void collector_price(struct collector *collector, const struct collector_prices *prices);

/** collector_launched_external - whether CMD is sampled without an agent */
bool collector_launched_external(const struct collector *collector);

/**
 * collector_begin - the drain thread, without CMD
 *
 * The recording ends with the last attached process, unless options.stay.
 *
 * Return:  0; -errno and the reason.
 * Context: main thread, once, instead of collector_launch().
 */
int collector_begin(struct collector *collector, struct err *err);

/**
 * collector_attach - attach to a running process and record it
 *
 * At any time after collector_begin() or collector_launch().  One of its threads is stopped for
 * less than a millisecond; the other threads continue.
 *
 * Return:  0; -ESRCH: there is none, or it ended meanwhile; -EPERM: not ours to trace; -EBUSY:
 *          traced or recorded by another; -EAGAIN: stopped, or no thread could be used for it;
 *          -ENOEXEC: it cannot load the agent; -EPROTO: another version's agent is in it;
 *          -EALREADY: this wick records it already.  The reason is in ERR.
 */
int collector_attach(struct collector *collector, pid_t pid,
		     struct collector_attached *ret_attached, struct err *err);

/**
 * collector_follow - attach to a child of an attached process
 *
 * As collector_attach(); options.external_sampler, if any, records a child that cannot load the
 * agent.  The recording does not wait for its end.
 *
 * Return:  as collector_attach(), collector_attach_external().
 */
int collector_follow(struct collector *collector, pid_t pid,
		     struct collector_attached *ret_attached, struct err *err);

/**
 * collector_attach_external - record a running process by options.external_sampler
 *
 * As collector_attach(), but nothing is loaded into the process.
 *
 * Return:  0; -EPERM: it may not be read; -EALREADY; -ESRCH; -errno and the reason.
 */
int collector_attach_external(struct collector *collector, pid_t pid, struct err *err);

/**
 * collector_detach_process - stop recording one process; its agent goes dormant
 *
 * Return:  0; -ESRCH: it is not being recorded.
 */
int collector_detach_process(struct collector *collector, pid_t pid);

/**
 * collector_next - the next thing that happened, samples sorted by time
 * @timeout_ns: at most this long; COLLECTOR_IDLE then
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
 * collector_barrier - request an event after everything up to now has been given
 *
 * Return:  a number, above all before: a COLLECTOR_RATE has this barrier or a later one.
 */
uint64_t collector_barrier(struct collector *collector);

/**
 * collector_pause - take no samples until collector_resume()
 *
 * Return:  the barrier of the last sample before it.
 */
uint64_t collector_pause(struct collector *collector);

/**
 * collector_resume - take samples again
 *
 * Return:  its barrier.
 */
uint64_t collector_resume(struct collector *collector);

/**
 * collector_set_hz - another rate, 1 .. 10000, and weights in periods of it
 *
 * Return:  its barrier; 0 when HZ cannot be.
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
 */
bool collector_status(struct collector *collector, int *ret_status);

/**
 * collector_stats - the counters so far
 *
 * Owns:    the collector, for the views; good until the next collector call.
 */
void collector_stats(struct collector *collector, struct collector_stats *ret_stats);

/**
 * collector_usage - what all processes use together, read at most some 250 ms ago
 *
 * A new one has collector_next() return.
 */
void collector_usage(struct collector *collector, struct collector_usage *ret_usage);

/**
 * collector_totals - exact counts of all processes, since the recording began or since a reset
 *
 * Reads the tables of all processes that live, and adds up those that have ended.  Also after
 * COLLECTOR_END.
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller, to totals_release().
 */
int collector_totals(struct collector *collector, struct totals *ret_totals);

/**
 * collector_totals_reset - count from zero again
 *
 * Nothing changes in the programs: what they have counted up to now is subtracted from now on.
 *
 * Return:  0; -ENOMEM, and nothing has changed.
 */
int collector_totals_reset(struct collector *collector);

/**
 * collector_free - stop the drain thread, remove the socket, forget everything
 *
 * Context: main thread.  NULL is fine.
 */
void collector_free(struct collector *collector);

/* What exec would run for a command. */
struct collector_program {
	const char *why;       /* it cannot load the agent: "static", "setuid", ...; NULL: it can */
	char path[PATH_MAX];   /* the file, as PATH gave it */
	char interpreter[256]; /* of a #! script, the last of a chain; "" otherwise */
};

/**
 * collector_examine - find COMMAND as exec does, and whether it can load the agent
 *
 * Return:  0; -ENOENT: not found; -EACCES and others: cannot be executed; the reason in ERR.
 * Owns:    why is static.
 * Context: any thread.
 */
int collector_examine(const char *command, struct collector_program *ret_program, struct err *err);

/**
 * collector_stop_text - why a stack is incomplete, for people
 * @stop: an index of collector_stats.stops
 *
 * Return:  a few words; "" for a complete stack.
 * Owns:    static.
 * Context: any thread.
 */
const char *collector_stop_text(unsigned stop);

/**
 * collector_attach_check - whether collector_attach() would find a thread to hold, and how
 *
 * The process is not changed, and @ret_attached has no times.  It does not detect another wick that
 * records the process.
 *
 * Return:  as collector_attach().
 * Context: any thread.
 */
int collector_attach_check(pid_t pid, struct collector_attached *ret_attached, struct err *err);

/**
 * collector_follow_children - when it is due, find children of attached processes
 * @attach: attaches to one; 0; -errno, as collector_attach()
 *
 * A child that still runs the image of its parent is left alone: after a vfork it has the memory
 * of its parent.  After -EAGAIN and -EBUSY it is tried again later, otherwise once an image.
 */
void collector_follow_children(struct collector *collector, int (*attach)(void *context, pid_t pid),
			       void *context, uint64_t now_ns);

/** collector_follow_due_ns - when collector_follow_children() next has something to do */
uint64_t collector_follow_due_ns(const struct collector *collector);

#endif
