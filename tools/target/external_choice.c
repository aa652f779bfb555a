/* external_choice.c - which programs are sampled from outside, and what is said of it */
#include "tools/target/external_choice.h"

#include "sampler/attach/attach_check.h"
#include "sampler/collector/collector.h"
#include "sampler/collector/external/engine.h"
#include "sampler/external/check.h"
#include "tools/cli/say.h"

#include <errno.h>

enum { MOST_HZ = 100 }; /* looks a second */

/* Memory and locks are seen by hooks alone, and the kernel's events by itself. */
static bool is_possible(const struct external_choice *choice)
{
	return !(choice->events & ~(uint32_t)(COLLECT_CPU | COLLECT_WALL));
}

/* Whether a program that takes no agent is looked at nevertheless. */
static bool is_wanted(const struct external_choice *choice)
{
	return is_possible(choice) &&
	       (choice->engine == ENGINE_AUTO || choice->engine == ENGINE_PTRACE);
}

bool external_choice_only(const struct external_choice *choice)
{
	return choice->engine == ENGINE_PTRACE;
}

int external_choice_check(const struct external_choice *choice, struct err *err)
{
	if (external_choice_only(choice) && !is_possible(choice))
		return err_set(err, 0,
			       "--engine ptrace supports only -e cpu and wall; other events need "
			       "the agent");
	return 0;
}

void external_choice_pass(const struct external_choice *choice, struct collector_options *to)
{
	if (!is_wanted(choice))
		return;
	to->external_sampler = external_engine();
	to->outside = external_choice_only(choice);
}

static unsigned rate_of(const struct external_choice *choice)
{
	return choice->hz < MOST_HZ ? choice->hz : MOST_HZ;
}

void external_choice_tell(const struct external_choice *choice, const struct collector *collector,
			  const char *command)
{
	struct collector_program program;

	if (!collector_launched_outside(collector))
		return;
	if (collector_examine(command, &program, NULL) == 0 && program.why)
		say_note("'%s' cannot load the agent (%s): engine ptrace samples it, %u times a "
			 "second",
			 command, program.why, rate_of(choice));
	else if (choice->hz > MOST_HZ)
		say_note("engine ptrace samples %d times a second, and each sample stands for more "
			 "time",
			 MOST_HZ);
}

int external_choice_join(const struct external_choice *choice, struct collector *collector,
			 pid_t pid, int error, struct err *err)
{
	struct outside_process process;
	struct err why = {0};
	bool only = external_choice_only(choice);
	int r;

	if (!only && (error != -ENOEXEC || !is_wanted(choice)))
		return error;
	r = check_process(pid, &process, &why);
	if (r == 0 && process.tracer)
		r = attach_refuse_traced(pid, process.tracer, &why);
	if (r == 0)
		r = collector_outside(collector, pid, &why);
	if (r == -EPERM)
		r = check_denied(pid, &why);
	if (r == 0 && !only)
		say_note("%s: engine ptrace samples it, %u times a second", err->text,
			 rate_of(choice));
	if (r < 0)
		*err = why;
	return r;
}
