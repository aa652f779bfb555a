/* record_outside.c - `wick record` of programs that take no agent */
#include "tools/record_outside.h"

#include "sampler/collector/examine.h"
#include "sampler/outside/check.h"
#include "sampler/outside/engine.h"
#include "tools/recorder.h"
#include "tools/say.h"

#include <errno.h>

enum { MOST_HZ = 100 }; /* looks a second */

/* Memory and locks are seen by hooks alone, and the kernel's events by itself. */
static bool is_possible(const struct record_options *options)
{
	return !(options->event_list.events & ~(uint32_t)(COLLECT_CPU | COLLECT_WALL));
}

bool record_outside_only(const struct record_options *options)
{
	return options->engine.wish == ENGINE_PTRACE;
}

int record_outside_check(const struct record_options *options, struct err *err)
{
	if (record_outside_only(options) && !is_possible(options))
		return err_set(err, EINVAL,
			       "--engine ptrace is of -e cpu and wall; the rest is an agent's");
	return 0;
}

void record_outside_prepare(const struct record_options *options, struct collector_options *to)
{
	if (!is_possible(options) ||
	    (options->engine.wish != ENGINE_AUTO && options->engine.wish != ENGINE_PTRACE))
		return;
	to->outsider = outside_engine();
	to->outside = record_outside_only(options);
}

static unsigned rate_of(const struct record_options *options)
{
	return options->hz < MOST_HZ ? options->hz : MOST_HZ;
}

void record_outside_launched(const struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	struct collector_program program;

	if (!collector_launched_outside(recorder->collector))
		return;
	if (collector_examine(options->argv[0], &program, NULL) == 0 && program.why)
		say_note("'%s' takes no agent (%s): engine ptrace looks at it from outside, %u "
			 "times a second",
			 options->argv[0], program.why, rate_of(options));
	else if (options->hz > MOST_HZ)
		say_note("engine ptrace looks %d times a second, and samples weigh so much more",
			 MOST_HZ);
}

int record_outside_join(struct recorder *recorder, pid_t pid, int error, struct err *err)
{
	const struct record_options *options = recorder->options;
	struct outside_process process;
	struct err why = {0};
	bool only = record_outside_only(options);
	int r;

	if (!only &&
	    (error != -ENOEXEC || options->engine.wish != ENGINE_AUTO || !is_possible(options)))
		return error;
	r = check_process(pid, &process, &why);
	if (r == 0)
		r = collector_outside(recorder->collector, pid, &why);
	if (r == -EPERM)
		r = check_denied(pid, &why);
	if (r == 0 && !only)
		say_note("%s: engine ptrace looks at it from outside, %u times a second", err->text,
			 rate_of(options));
	if (r < 0)
		*err = why;
	return r;
}
