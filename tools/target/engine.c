/* engine.c - CPU timers or perf events; and which programs engine ptrace samples */
#include "tools/target/target.h"

#include "sampler/attach/attach_check.h"
#include "sampler/collector/collector.h"
#include "sampler/collector/external/engine.h"
#include "sampler/external/check.h"
#include "tools/cli/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void note(struct engine *engine, const char *format,
						       ...)
{
	size_t len = strlen(engine->note);
	va_list list;

	if (len)
		len += (size_t)snprintf(engine->note + len, sizeof(engine->note) - len, "; ");
	if (len >= sizeof(engine->note))
		return;
	va_start(list, format);
	(void)vsnprintf(engine->note + len, sizeof(engine->note) - len, format, list);
	va_end(list);
}

/* Timers do it, too. */
static void fall_back(struct engine *engine, uint32_t hz, const struct perf_permit *permit)
{
	uint32_t kernel_hz = collector_kernel_hz();

	engine->kind = RING_ENGINE_CTIMER;
	note(engine, "engine ctimer: %s", permit->why);
	if (hz > kernel_hz)
		note(engine,
		     "samples come at the kernel's %u Hz tick, and each stands for more time",
		     (unsigned)kernel_hz);
}

static void use_perf(struct engine *engine, const struct engine_options *options,
		     const struct perf_permit *permit)
{
	engine->kind = RING_ENGINE_PERF;
	engine->how.in_kernel = permit->in_kernel;
	engine->how.frames = options->kernel && permit->in_kernel;
	engine->how.period = options->period;
	engine->how.signal = SIGPROF;
	if (permit->in_kernel)
		return;
	if (options->kernel)
		note(engine, "no kernel frames: %s", permit->why);
	else if (!engine->how.name.is_cpu && !engine->how.name.user_only)
		note(engine, "'%s' is not counted in the kernel: %s", engine->how.name.text,
		     permit->why);
}

/* What only perf events give; NULL: nothing that was asked for. */
static const char *needs_perf(const struct engine_options *options)
{
	if (options->event.text[0])
		return options->event.text;
	return options->kernel ? "--kernel" : NULL;
}

static int ask_perf(const struct engine_options *options, uint32_t hz, struct engine *engine,
		    struct err *err)
{
	const struct perf_name *event = &options->event;
	bool counted = event->text[0] && !event->is_cpu;
	struct perf_permit permit;

	if (event->text[0])
		engine->how.name = *event;
	else
		perf_name_cpu(&engine->how.name);
	perf_permit(&engine->how.name, &permit);
	if (counted && (!permit.works || (event->inside && !permit.in_kernel)))
		return err_set(err, permit.code, "-e %s: %s", event->text, permit.why);
	if (!permit.works) {
		fall_back(engine, hz, &permit);
		return 0;
	}
	if (options->choice == ENGINE_AUTO && !needs_perf(options))
		note(engine, "engine perf: %u Hz is more than the kernel's %u Hz tick",
		     (unsigned)hz, (unsigned)collector_kernel_hz());
	use_perf(engine, options, &permit);
	return 0;
}

/* Whether a program in step with the tick can be given events while it runs. */
static void check_permit(struct engine *engine)
{
	struct perf_permit permit;

	perf_name_cpu(&engine->how.name);
	perf_permit(&engine->how.name, &permit);
	engine->permitted = permit.works;
	engine->how.signal = SIGPROF;
	(void)snprintf(engine->why_not, sizeof(engine->why_not), "%s",
		       permit.works ? "" : permit.why);
}

int engine_choose(const struct engine_options *options, uint32_t hz, struct engine *ret_engine,
		  struct err *err)
{
	struct engine engine = {.kind = RING_ENGINE_CTIMER};
	const char *needs = needs_perf(options);
	bool other = options->choice == ENGINE_CTIMER || options->choice == ENGINE_PTRACE;
	int r = 0;

	if (other && needs)
		return err_set(err, 0, "--engine %s cannot sample %s, which needs perf",
			       options->choice == ENGINE_CTIMER ? "ctimer" : "ptrace", needs);
	engine.is_auto = options->choice == ENGINE_AUTO && !needs;
	if (!other && (options->choice == ENGINE_PERF || needs || hz > collector_kernel_hz()))
		r = ask_perf(options, hz, &engine, err);
	else if (engine.is_auto)
		check_permit(&engine);
	if (r == 0)
		*ret_engine = engine;
	return r;
}

void engine_measure(struct engine *engine, uint32_t hz, bool event)
{
	struct collector_prices *prices = &engine->prices;

	if (!prices->timer_ns)
		prices->timer_ns = signal_cost_ns();
	if (event && !prices->event_ns)
		signal_cost_of_event(prices, hz);
}

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
	to->external_only = external_choice_only(choice);
}

static unsigned rate_of(const struct external_choice *choice)
{
	return choice->hz < MOST_HZ ? choice->hz : MOST_HZ;
}

void external_choice_tell(const struct external_choice *choice, const struct collector *collector,
			  const char *command)
{
	struct collector_program program;

	if (!collector_launched_external(collector))
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

int external_choice_attach(const struct external_choice *choice, struct collector *collector,
			   pid_t pid, int error, struct err *err)
{
	struct checked_process process;
	struct err why = {0};
	bool only = external_choice_only(choice);
	int r;

	if (!only && (error != -ENOEXEC || !is_wanted(choice)))
		return error;
	r = check_process(pid, &process, &why);
	if (r == 0 && process.tracer)
		r = attach_refuse_traced(pid, process.tracer, &why);
	if (r == 0)
		r = collector_attach_external(collector, pid, &why);
	if (r == -EPERM)
		r = check_denied(pid, &why);
	if (r == 0 && !only)
		say_note("%s: engine ptrace samples it, %u times a second", err->text,
			 rate_of(choice));
	if (r < 0)
		*err = why;
	return r;
}
