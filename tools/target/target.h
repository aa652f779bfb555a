/*
 * target.h - the programs that a command samples: the agent, the engine, attaching
 *
 * Context: main thread, unless a function says another.
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "base/err.h"
#include "sampler/collector/collector.h"
#include "tools/options/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * agent_path_find - $WICK_AGENT, or lib/wick/libwick-agent.so beside wick's own directory
 *
 * Return:  0; -ENOENT and others, with the reason.
 * Owns:    the caller, to free().
 */
int agent_path_find(char **ret_path, struct err *err);

/* What it has come to. */
struct engine {
	enum ring_engine kind;
	struct perf_how how; /* RING_ENGINE_PERF, or permitted */
	bool is_auto;        /* not requested by the user */
	bool permitted;      /* events of CPU time may be had, should the program need them */
	char why_not[192];   /* !permitted: what would lift it; "" another engine was requested */
	struct collector_prices prices; /* of its signals, where they were measured */
	char note[320];                 /* what to say of it; "" nothing */
};

/**
 * engine_choose - what there can be on this machine, for this user
 *
 * CPU can always be sampled: where perf events may not be had, by timers, and the note says what
 * would lift it.
 *
 * Return:  0; -errno and the reason: an event that there is no other way to.
 */
int engine_choose(const struct engine_options *options, uint32_t hz, struct engine *ret_engine,
		  struct err *err);

/**
 * engine_measure - what its signals cost here and now, in this thread: some milliseconds
 * @event: also those of a perf event
 */
void engine_measure(struct engine *engine, uint32_t hz, bool event);

/* What was requested, as far as it matters here. */
struct external_choice {
	enum engine_choice engine;
	uint32_t events; /* COLLECT_* */
	uint32_t hz;
};

/**
 * external_choice_check - whether what is requested can be had without an agent, if there is none
 *
 * Return:  0; -EINVAL and the reason.
 * Context: any thread.
 */
int external_choice_check(const struct external_choice *choice, struct err *err);

/**
 * external_choice_pass - the same for the collector
 *
 * Context: any thread.
 */
void external_choice_pass(const struct external_choice *choice, struct collector_options *to);

/**
 * external_choice_tell - say so, when CMD cannot load the agent and is sampled externally
 * @command: its first word
 */
void external_choice_tell(const struct external_choice *choice, const struct collector *collector,
			  const char *command);

/**
 * external_choice_attach - have a running process sampled externally, where that is wanted
 * @error: why attaching failed; 0: it was not tried
 * @err:   holds that reason; the new one if there is
 *
 * Return:  0; ERROR: it is not wanted; -errno and the reason.
 */
int external_choice_attach(const struct external_choice *choice, struct collector *collector,
			   pid_t pid, int error, struct err *err);

/**
 * external_choice_only - whether no process is to have an agent
 *
 * Context: any thread.
 */
bool external_choice_only(const struct external_choice *choice);

/* Set the first members, zero the others; attaching_release() takes any state. */
struct attaching {
	struct collector *collector;
	const struct attach_options *attach;
	const struct external_choice *external;
	bool verbose;                               /* say for how long a thread of each stood */
	void (*attached)(void *context, pid_t pid); /* called for each; may be NULL */
	void *context;
	size_t n;            /* attached processes */
	pid_t pid;           /* of the first of them */
	pid_t namespace_pid; /* of the first with an agent, in its own pid namespace; 0: as here */
	char *comm;          /* of the first */
};

/**
 * attaching_start - begin to sample, and attach to the chosen processes
 *
 * One message for each that fails; the others are sampled.
 *
 * Return:  0: at least one is attached; -errno: none, and the reason.
 * Owns:    COLLECTOR, ATTACH and OUTSIDE outlive it.
 */
int attaching_start(struct attaching *attaching, struct err *err);

/** attaching_release - forget it; processes stay as they are */
void attaching_release(struct attaching *attaching);

/* Set the first two; zero the others.  following_release() takes any state. */
struct following {
	struct collector *collector; /* NULL: children are not followed */
	bool verbose;                /* print why a child is not attached to */
	uint64_t n_refused;
	struct err why; /* of the last */
};

/** following_tick - have children attach, when it is due */
void following_tick(struct following *following, uint64_t now_ns);

/**
 * following_due_ns - when following_tick() next has something to do
 *
 * Return:  ns; UINT64_MAX: never.
 */
uint64_t following_due_ns(const struct following *following);

/** following_tell - say which did not */
void following_tell(const struct following *following);

/** following_release - forget them */
void following_release(struct following *following);

/**
 * process_start - make descriptors 0-2 and the signals of writing safe for wick itself
 *
 * Closed descriptors 0-2 become /dev/null, close-on-exec: CMD finds them closed as they were.
 * SIGPIPE and SIGXFSZ get a handler that does nothing: exec resets it, so CMD starts with what
 * wick was started with.  Where SIGCHLD is ignored, wick could not wait for a child: its action is
 * the default one then.
 *
 * Context: main thread, first of all.
 */
void process_start(void);

/** process_signals - the signals that CMD is to start with: those of before process_start() */
void process_signals(struct collector_signals *ret_signals);

/**
 * signal_cost_ns - CPU ns of one signal sent to oneself and returned from, median of 101
 *
 * What a SIGPROF costs a program beside the work of its handler.
 *
 * Return:  ns; 0 when it could not be measured.
 * Context: main thread, before others exist: takes SIGURG for a moment.
 */
uint64_t signal_cost_ns(void);

/**
 * signal_cost_of_event - the prices of a perf event, a few milliseconds of CPU
 * @prices: timer_ns is there already, and stands for what could not be measured
 * @hz:     above the tick a switch costs more: the event is what the processor is to wake for next
 *
 * Context: main thread, before others exist or while SIGURG is unused: takes it for a moment.
 */
void signal_cost_of_event(struct collector_prices *prices, uint32_t hz);

#endif
