/* external_choice.h - which programs are sampled from outside, and what is said of it */
#ifndef TARGET_EXTERNAL_CHOICE_H
#define TARGET_EXTERNAL_CHOICE_H

#include "base/err.h"
#include "sampler/collector/collector.h"
#include "tools/target/engine.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
 * external_choice_join - have a running process sampled from outside, where that is wanted
 * @error: why it did not join otherwise; 0: that was not tried
 * @err:   holds that reason; the new one if there is
 *
 * Return:  0; ERROR: it is not wanted; -errno and the reason.
 * Context: main thread.
 */
int external_choice_join(const struct external_choice *choice, struct collector *collector,
			 pid_t pid, int error, struct err *err);

/**
 * external_choice_only - whether no process is to have an agent
 *
 * Context: any thread.
 */
bool external_choice_only(const struct external_choice *choice);

#endif
