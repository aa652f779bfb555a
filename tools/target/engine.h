/* engine.h - the engine that signals samples, and which programs engine ptrace samples */
#ifndef TARGET_ENGINE_H
#define TARGET_ENGINE_H

#include "base/err.h"
#include "sampler/collector/collector.h"
#include "tools/options/engine_options.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What it has come to. */
struct engine {
	enum ring_engine kind;
	struct perf_how how; /* RING_ENGINE_PERF, or permitted */
	bool is_auto;        /* nobody asked for this one */
	bool permitted;      /* events of CPU time may be had, should the program need them */
	char why_not[192];   /* !permitted: what would lift it; "" another engine was asked for */
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
 * Context: main thread.
 */
int engine_choose(const struct engine_options *options, uint32_t hz, struct engine *ret_engine,
		  struct err *err);

/**
 * engine_measure - what its signals cost here and now, in this thread: some milliseconds
 * @event: also those of a perf event
 *
 * Context: main thread.
 */
void engine_measure(struct engine *engine, uint32_t hz, bool event);

/* What was asked for, as far as it matters here. */
struct external_choice {
	enum engine_choice engine;
	uint32_t events; /* COLLECT_* */
	uint32_t hz;
};

/**
 * external_choice_check - whether what is asked for can be had without an agent, if there is none
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
 * external_choice_tell - say so, when CMD takes no agent and is sampled from outside
 * @command: its first word
 *
 * Context: main thread.
 */
void external_choice_tell(const struct external_choice *choice, const struct collector *collector,
			  const char *command);

/**
 * external_choice_attach - have a running process sampled from outside, where that is wanted
 * @error: why it did not join otherwise; 0: that was not tried
 * @err:   holds that reason; the new one if there is
 *
 * Return:  0; ERROR: it is not wanted; -errno and the reason.
 * Context: main thread.
 */
int external_choice_attach(const struct external_choice *choice, struct collector *collector,
			   pid_t pid, int error, struct err *err);

/**
 * external_choice_only - whether no process is to have an agent
 *
 * Context: any thread.
 */
bool external_choice_only(const struct external_choice *choice);

#endif
