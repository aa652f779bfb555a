/* engine.c - CPU timers or perf events; and which programs engine ptrace samples */
#include "tools/target/target.h"

#include "base/cleanup.h"
#include "base/io.h"
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	N_ROUNDS = 101,
	N_SIGNALS = 15,
	N_SLEEPS = 65,
	PERIOD_NS = 200000,
	MOST_NS = 20000000,
};

static void on_round(int signo)
{
	(void)signo;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

uint64_t signal_cost_ns(void)
{
	struct sigaction action = {.sa_handler = on_round};
	struct sigaction old;
	uint64_t rounds[N_ROUNDS];
	pid_t pid = getpid();

	if (sigaction(SIGURG, &action, &old) < 0)
		return 0;
	for (int i = 0; i < N_ROUNDS; i++) {
		uint64_t start = io_thread_ns();

		(void)syscall(SYS_tgkill, pid, pid, SIGURG);
		rounds[i] = io_thread_ns() - start;
	}
	(void)sigaction(SIGURG, &old, NULL);
	qsort(rounds, N_ROUNDS, sizeof(rounds[0]), compare);
	return rounds[N_ROUNDS / 2];
}

static volatile sig_atomic_t n_signals;

static void on_signal(int signo)
{
	(void)signo;
	n_signals++;
}

/* Spins, and measures the CPU time of the moments with a signal. */
static uint64_t median_gap(void)
{
	uint64_t gaps[N_SIGNALS];
	uint64_t start = io_thread_ns();
	uint64_t before = start;
	size_t n = 0;

	while (n < N_SIGNALS && before - start < MOST_NS) {
		sig_atomic_t seen = n_signals;
		uint64_t now = io_thread_ns();

		if (n_signals != seen) {
			now = io_thread_ns();
			gaps[n++] = now - before;
		}
		before = now;
	}
	if (n == 0)
		return 0;
	qsort(gaps, n, sizeof(gaps[0]), compare);
	return gaps[n / 2];
}

/* An event of CPU time of this thread.  Return: the descriptor; -errno. */
static int open_event(uint64_t period_ns)
{
	struct perf_how how = {.signal = SIGURG};
	int fd;

	perf_name_cpu(&how.name);
	fd = perf_open(&how, (pid_t)syscall(SYS_gettid), period_ns);
	if (fd >= 0)
		perf_enable(fd, true);
	return fd;
}

static uint64_t event_signal_ns(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction old;
	uint64_t cost_ns;
	int fd;

	if (sigaction(SIGURG, &action, &old) < 0)
		return 0;
	fd = open_event(PERIOD_NS);
	cost_ns = fd >= 0 ? median_gap() : 0;
	cleanup_fd(&fd);
	(void)sigaction(SIGURG, &old, NULL);
	return cost_ns;
}

/* CPU of going to sleep and waking up, median. */
static uint64_t sleep_ns(void)
{
	const struct timespec shortest = {.tv_nsec = 1};
	uint64_t rounds[N_SLEEPS];

	for (int i = 0; i < N_SLEEPS; i++) {
		uint64_t start = io_thread_ns();

		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &shortest, NULL);
		rounds[i] = io_thread_ns() - start;
	}
	qsort(rounds, N_SLEEPS, sizeof(rounds[0]), compare);
	return rounds[N_SLEEPS / 2];
}

/* Switching in is charged to the thread itself, as much for switching out to the one after. */
static uint64_t event_switch_ns(uint64_t period_ns)
{
	uint64_t without_ns = sleep_ns();
	_cleanup_fd_ int fd = open_event(period_ns);
	uint64_t with_ns = fd >= 0 ? sleep_ns() : 0;

	return with_ns > without_ns ? 2 * (with_ns - without_ns) : 0;
}

void signal_cost_of_event(struct collector_prices *prices, uint32_t hz)
{
	prices->event_ns = event_signal_ns();
	prices->switch_ns = event_switch_ns(1000000000 / hz);
	if (!prices->event_ns)
		prices->event_ns = prices->timer_ns;
}

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

/* What only perf events give; NULL: nothing that was requested. */
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

enum { MOST_HZ = 100 }; /* checks a second */

/* Memory and locks are seen by hooks alone, and the kernel's events by itself. */
static bool is_possible(const struct external_choice *choice)
{
	return !(choice->events & ~(uint32_t)(COLLECT_CPU | COLLECT_WALL));
}

/* Whether a program without an agent is sampled. */
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
