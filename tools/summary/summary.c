/* summary.c - what a recording holds, what it cost and what it lacks */
#include "tools/summary/summary.h"

#include "base/buf.h"
#include "base/words.h"
#include "output/text/perf_script.h"
#include "sampler/collector/collector.h"
#include "tools/cli/terminal.h"
#include "tools/summary/internal.h"
#include "tools/summary/module_list.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static void add_counted(const struct summary *summary, struct buf *buf)
{
	summary_topic(buf, "samples");
	words_count(buf, summary->collected.samples);
	buf_add(buf, " of ");
	words_count(buf, summary->collected.weight);
	buf_printf(buf, " %s, ", summary->event);
	text_of(buf, summary->collected.threads, "thread");
	buf_add(buf, ", ");
	text_of(buf, summary->collected.processes, "process");
	buf_add_char(buf, '\n');
}

/* Events see user mode only. */
static void add_in_kernel(const struct summary *summary, struct buf *buf)
{
	summary_topic(buf, "kernel");
	text_share(buf, (double)summary->collected.kernel_periods,
		   (double)summary->collected.weight);
	buf_printf(buf, " of the time was used in the kernel, and came at its %u Hz tick\n",
		   (unsigned)summary->kernel_hz);
}

/* What was counted by an event, and what perf events could not be had for. */
static void summary_engine(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;

	if (summary->event)
		add_counted(summary, buf);
	if (!summary->event && stats->kernel_periods)
		add_in_kernel(summary, buf);
	if (stats->perf_refused) {
		summary_topic(buf, "engine");
		text_of(buf, stats->perf_refused, "thread");
		buf_printf(buf, " without perf event: %s; %s\n",
			   strerrordesc_np((int)stats->perf_refused_errno),
			   summary->event ? "what happened there is not counted"
					  : "their timers go on");
	}
	if (stats->perf_ringless) {
		summary_topic(buf, "kernel");
		text_of(buf, stats->perf_ringless, "thread");
		buf_add(buf, " without kernel frames: the limit of locked memory, try: ulimit -l "
			     "unlimited\n");
	}
}

enum { WORST_MODULES = 3, N_STOPS = 8 };

#define NS_PER_S         1000000000.0
#define LOW_COVERAGE     0.90
#define HIGH_COVERAGE    1.10
#define MIN_CHARGED_NS   1000000000.0
#define MIN_COST_NS      20000000.0 /* a share of less says nothing */
#define UNNAMED_MIN_PART 0.01
#define MISSING_MIN_PART 0.05

static bool is_chosen(const struct summary *summary)
{
	return summary->choose && summary->choose->n > 0;
}

/* A CMD, processes that were named, or those that were chosen. */
static void print_subject(const struct summary *summary, struct buf *buf)
{
	if (is_chosen(summary)) {
		buf_add(buf, "the heaviest ");
		text_of(buf, summary->choose->n, "process");
		buf_add(buf, " of every ");
		text_seconds(buf, summary->choose->interval_ns);
		return;
	}
	words_plain(buf, summary->command); /* a program's own words, not for terminals */
	buf_printf(buf, " (pid %d)", (int)summary->pid);
	if (summary->n_attached > 1) {
		buf_add(buf, " and ");
		text_of(buf, summary->n_attached - 1, "other");
	}
}

static void print_end(const struct summary *summary, struct buf *buf)
{
	bool several = summary->n_attached > 1 && summary->collected.still_running > 1;
	int status = summary->wait_status;

	if (!summary->cmd_ended)
		buf_printf(buf, "; %s still running", several ? "they are" : "it is");
	else if (WIFSIGNALED(status))
		buf_printf(buf, "; it was ended by SIG%s",
			   sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
	else if (WEXITSTATUS(status) != 0)
		buf_printf(buf, "; it ended with status %d", WEXITSTATUS(status));
}

static void print_title(const struct summary *summary, struct buf *buf)
{
	buf_add(buf, "wick: recorded ");
	print_subject(summary, buf);
	buf_add(buf, " for ");
	text_seconds(buf, summary->elapsed_ns);
	if (!is_chosen(summary))
		print_end(summary, buf);
	buf_add_char(buf, '\n');
}

static uint32_t most_hz(const struct summary *summary)
{
	return summary->hz_most > summary->hz ? summary->hz_most : summary->hz;
}

/* wick rate may have changed it. */
static void print_rate(const struct summary *summary, struct buf *buf)
{
	buf_printf(buf, "at %u ", (unsigned)summary->hz);
	if (most_hz(summary) > summary->hz)
		buf_printf(buf, "to %u ", (unsigned)most_hz(summary));
	buf_add(buf, "Hz, ");
}

static double coverage_of(const struct collector_stats *stats)
{
	return (double)stats->running_ns / (double)stats->charged_ns;
}

/* Beside it the program's own clock, where that is long enough to say something. */
static void print_time(const struct collector_stats *stats, struct buf *buf)
{
	if (!stats->stood_ns)
		return;
	buf_add(buf, ", ");
	text_sampled(buf, stats->stood_ns, stats->running_ns);
	if ((double)stats->charged_ns >= MIN_COST_NS)
		buf_printf(buf, ", %.1f %% of what the program used", 100 * coverage_of(stats));
}

static void print_samples(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;

	summary_topic(buf, "samples");
	words_count(buf, stats->samples);
	print_time(stats, buf);
	buf_add(buf, "; ");
	print_rate(summary, buf);
	text_of(buf, stats->threads, "thread");
	buf_add(buf, ", ");
	text_of(buf, stats->processes, "process");
	buf_add_char(buf, '\n');
	if (!stats->samples)
		return;
	summary_topic(buf, "precision");
	buf_add(buf, "shares are right ");
	words_precision(buf, (double)stats->weight, stats->squares);
	buf_add_char(buf, '\n');
}

static void add_option(struct buf *buf, bool given, const char *option, bool *first)
{
	if (!given)
		return;
	buf_add(buf, *first ? "" : ", ");
	buf_add(buf, option);
	*first = false;
}

/* What it may be that nothing was kept. */
static void print_none_kept(const struct sample_filter *filter, struct buf *buf)
{
	const struct sample_filter_options *options = filter->options;

	summary_topic(buf, "");
	if (options->threads && !filter->a_thread_matched) {
		buf_add(buf, "no thread has a name that matches; there were: ");
		for (size_t i = 0; i < SELECTION_OTHERS && *filter->others[i]; i++) {
			char name[SANITISED_COMM_SIZE]; /* the program's words, not for terminals */

			(void)sanitise_comm(filter->others[i], SAMPLE_COMM_SIZE, 0, name);
			buf_printf(buf, "%s%s", i ? ", " : "", name);
		}
	} else if (options->only_under && *filter->near) {
		buf_printf(buf, "no stack had that function in it, try: --only-under '%s'",
			   filter->near);
	} else if (options->only_under && !filter->a_stack_matched) {
		buf_add(buf, "no stack had that function in it");
	} else if (options->only_profiled) {
		buf_add(buf, "no sample was inside WICK_PROFILE_FN or wick_profile_start()");
	} else {
		buf_add(buf, "no sample matches all options");
	}
	buf_add_char(buf, '\n');
}

/* What of a series was kept; everything else that is said here is of what was taken. */
static void print_kept(const struct summary *summary, enum sample_series series,
		       const struct filtered *taken, struct buf *buf)
{
	const char *whole = series == SERIES_MEMORY ? "bytes" : "time";
	const struct sample_filter *filter = summary->filter;
	const struct filtered *first = &summary->collected.filtered[series];
	uint64_t samples;
	uint64_t weight;
	bool none = true;

	if (!filter || !sample_filter_chooses(filter->options) || taken->samples == 0)
		return;
	samples = taken->samples - first->samples - filter->filtered[series].samples;
	weight = taken->weight - first->weight - filter->filtered[series].weight;
	summary_topic(buf, "kept");
	words_count(buf, samples);
	buf_add(buf, " of them, ");
	text_share(buf, (double)weight, (double)taken->weight);
	buf_printf(buf, " of their %s, by ", whole);
	add_option(buf, filter->options->top.n, "--top", &none);
	add_option(buf, filter->options->states, "--state", &none);
	add_option(buf, filter->options->threads, "--threads", &none);
	add_option(buf, filter->options->n_tids, "--tid", &none);
	add_option(buf, filter->options->only_under, "--only-under", &none);
	add_option(buf, filter->options->only_profiled, "--only-profiled", &none);
	buf_add_char(buf, '\n');
	if (samples == 0)
		print_none_kept(filter, buf);
}

/* Why there is no sample at all, as far as it is known. */
static void print_nothing(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;

	if (stats->samples > 0 || (stats->processes == 0 && stats->n_unsupported))
		return; /* programs that were not sampled have a line */
	summary_topic(buf, "");
	if (stats->processes == 0)
		buf_add(buf, "no program loaded the agent, try: wick doctor -- CMD\n");
	else if ((double)stats->charged_ns < NS_PER_S / summary->hz &&
		 (double)stats->paused_ns >= NS_PER_S / summary->hz)
		buf_printf(buf, "the program used %.2f s of CPU while the recording was paused\n",
			   (double)stats->paused_ns * 1e-9);
	else if ((double)stats->charged_ns < NS_PER_S / summary->hz)
		buf_printf(buf, "the program used less CPU than one period (%.0f ms)%s\n",
			   1000.0 / summary->hz,
			   summary->hz < summary->kernel_hz ? ", try: a higher -F" : "");
	else
		buf_add(buf, "the program used CPU and gave no sample, try: wick doctor -- CMD\n");
}

/* Why the samples do not stand for all of the CPU, where they do not. */
static void print_coverage(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;
	double coverage, starting;

	if ((double)stats->charged_ns < MIN_COST_NS)
		return;
	coverage = coverage_of(stats);
	starting = (double)stats->starting_ns / (double)stats->charged_ns;
	if (starting >= MISSING_MIN_PART) {
		summary_topic(buf, "starting");
		buf_add(buf, "programs used ");
		words_amount(buf, stats->starting_ns, "ns");
		buf_add(buf, " of CPU while they started, before they could be sampled\n");
	}
	if ((double)stats->charged_ns > MIN_CHARGED_NS && !stats->aliased &&
	    (coverage + starting < LOW_COVERAGE || coverage > HIGH_COVERAGE)) {
		summary_topic(buf, "coverage");
		buf_printf(buf, "%.1f %% of ", 100 * coverage);
		words_amount(buf, stats->charged_ns, "ns");
		buf_add(buf, " of CPU; that should be near 100 %, see lost and not sampled\n");
	}
}

/* Shares of all threads' time, where it is not all CPU. */
static void print_states(const struct summary *summary, struct buf *buf)
{
	static const char *const words[] = {"running", "runnable", "sleeping", "disk", "stopped"};
	const struct collector_stats *stats = &summary->collected;
	uint64_t total = 0;
	bool first = true;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		total += stats->states[i];
	if (total == stats->states[STATE_RUNNING])
		return;
	summary_topic(buf, "states");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (stats->states[i] == 0)
			continue;
		buf_printf(buf, "%s%s ", first ? "" : ", ", words[i]);
		text_share(buf, (double)stats->states[i], (double)total);
		first = false;
	}
	buf_add_char(buf, '\n');
	if (stats->unreadable) {
		summary_topic(buf, "");
		text_of(buf, stats->unreadable, "sample");
		buf_add(buf,
			" without a stack: wick may not read these threads, because their program "
			"forbids it (PR_SET_DUMPABLE) or changed its user, try: wick as root\n");
	}
	if (summary->verbose) {
		summary_topic(buf, "blocked");
		text_of(buf, stats->thread_reads, "check");
		buf_add(buf, ", ");
		text_of(buf, stats->walks, "stack");
		buf_add(buf, " read, ");
		text_share(buf, (double)stats->outrun, (double)stats->walks);
		buf_add(buf, " of them discarded, because the thread ran meanwhile\n");
	}
}

static void print_aliased(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;

	summary_topic(buf, "tick");
	text_of(buf, stats->aliased, "process");
	buf_printf(buf, " ran in step with the kernel's %u Hz tick (tick aliasing), ",
		   (unsigned)summary->kernel_hz);
	if (stats->switched == stats->aliased)
		buf_add(buf, "and got perf events when wick noticed it\n");
	else if (*summary->no_events)
		buf_printf(
			buf,
			"so shares of functions may be wrong; perf events would avoid that: %s\n",
			summary->no_events);
	else
		buf_add(buf, "so shares of functions may be wrong, try: --engine perf\n");
}

static void print_tick(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;

	if (stats->aliased) {
		print_aliased(summary, buf);
	} else if (most_hz(summary) > summary->kernel_hz &&
		   (summary->engine == RING_ENGINE_CTIMER || stats->timers_took_over)) {
		summary_topic(buf, "rate");
		if (stats->timers_took_over && !stats->dear_ppm)
			buf_add(buf, "timers replaced perf events, to lower the overhead: ");
		buf_printf(buf,
			   "samples come at most at the kernel's %u Hz tick; each stands for more "
			   "time, so that totals are right\n",
			   (unsigned)summary->kernel_hz);
	}
	if (stats->dear_ppm) {
		summary_topic(buf, "engine");
		buf_printf(buf,
			   "timers replaced perf events, because these made context switches cost "
			   "%.0f %% of the program's CPU\n",
			   (double)stats->dear_ppm / 10000);
	}
	if (summary->verbose && stats->overruns) {
		summary_topic(buf, "overruns");
		text_share(buf, (double)stats->overruns, (double)stats->weight);
		buf_add(buf, " of the time is in samples that came late\n");
	}
}

/* What hooks saw. */
static void print_hooks(const struct summary *summary, struct buf *buf)
{
	const uint64_t *samples = summary->collected.hook_samples;
	const uint64_t *weight = summary->collected.hook_weight;

	if (samples[HOOK_STATS_TAKEN]) {
		summary_topic(buf, "memory");
		text_of(buf, samples[HOOK_STATS_TAKEN], "sample");
		buf_add(buf, " of ");
		words_bytes(buf, weight[HOOK_STATS_TAKEN]);
		buf_add(buf, " taken, ");
		text_of(buf, samples[HOOK_STATS_FREED], "sample");
		buf_add(buf, " of ");
		words_bytes(buf, weight[HOOK_STATS_FREED]);
		buf_add(buf, " given back\n");
		print_kept(summary, SERIES_MEMORY,
			   &(struct filtered){samples[HOOK_STATS_TAKEN] + samples[HOOK_STATS_FREED],
					      weight[HOOK_STATS_TAKEN]},
			   buf);
	}
	if (samples[HOOK_STATS_WAITED]) {
		summary_topic(buf, "locks");
		text_of(buf, samples[HOOK_STATS_WAITED], "wait");
		buf_printf(buf, ", %.3f s in all\n", (double)weight[HOOK_STATS_WAITED] / 1e6);
		print_kept(
			summary, SERIES_LOCKS,
			&(struct filtered){samples[HOOK_STATS_WAITED], weight[HOOK_STATS_WAITED]},
			buf);
	} else if (summary->lock_ns) {
		summary_topic(buf, "locks");
		buf_printf(buf, "no thread waited %.0f us or more for one, try: -e lock=1us\n",
			   (double)summary->lock_ns / 1000);
	}
}

/* Memory that was not freed, and the file that lists it. */
static void print_live(const struct summary *summary, struct buf *buf)
{
	const struct live_file *live = summary->live;

	if (!live || !live->snapshot)
		return;
	summary_topic(buf, "live");
	text_of(buf, live->heap.n_blocks, "sample");
	buf_add(buf, " of ");
	words_bytes(buf, live->heap.weight);
	buf_printf(buf, " not given back, in %s\n", snapshot_path(live->snapshot));
}

static void print_stacks(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;
	uint64_t incomplete = 0;
	bool first = true;

	for (unsigned i = 1; i < N_STOPS; i++)
		incomplete += stats->stops[i];
	if (stats->samples == 0)
		return;
	summary_topic(buf, "stacks");
	text_share(buf, (double)(stats->samples - incomplete), (double)stats->samples);
	buf_add(buf, " complete");
	if (incomplete)
		buf_add(buf, "; incomplete: ");
	for (unsigned i = 1; i < N_STOPS; i++)
		summary_cause(buf, stats->stops[i], collector_stop_text(i), &first);
	summary_cause(buf, summary->truncated, "cut", &first);
	buf_add_char(buf, '\n');
}

/* The module with the most frames without a name that is not among the CHOSEN ones. */
static const struct symbolize_module *worst_module(const struct summary *summary,
						   const struct symbolize_module *const *chosen,
						   size_t n_chosen)
{
	const struct symbolize_module *worst = NULL;

	for (size_t i = 0; i < summary->n_modules; i++) {
		const struct symbolize_module *module = &summary->modules[i];
		bool taken = false;

		for (size_t j = 0; j < n_chosen; j++)
			taken |= chosen[j] == module;
		if (!taken && module->unnamed && (!worst || module->unnamed > worst->unnamed))
			worst = module;
	}
	return worst;
}

static const char *why_unnamed(const struct symbolize_module *module)
{
	if (module->why && *module->why)
		return module->why;
	return module->quality == SYMBOLS_DYNSYM ? "stripped: exported names only" : "";
}

/* Files whose names were given up, at least a part of them. */
static void print_cut(const struct summary *summary, struct buf *buf)
{
	const struct symbolize_module *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < summary->n_modules; i++) {
		if (!summary->modules[i].partial)
			continue;
		first = first ? first : &summary->modules[i];
		n++;
	}
	if (!first)
		return;
	summary_topic(buf, "names");
	buf_add(buf, "names not read: some of ");
	words_plain(buf, first->path);
	if (n > 1)
		buf_printf(buf, " and %zu other %s", n - 1, n > 2 ? "files" : "file");
	buf_add(buf, ", for lack of time or memory, try: wick symbolize FILE, or a larger "
		     "--mem-limit\n");
}

/* What would bring the most of what is missing, by the frames that would gain. */
static void print_missing(const struct summary *summary, uint64_t lookups, struct buf *buf)
{
	const struct symbolize_module *most = NULL;
	uint64_t gain = 0;

	for (size_t i = 0; i < summary->n_modules; i++) {
		const struct symbolize_module *module = &summary->modules[i];

		if (module->try && *module->try) {
			gain += module->lookups;
			if (!most || module->lookups > most->lookups)
				most = module;
		}
	}
	if (!most || (double)gain < MISSING_MIN_PART * (double)lookups)
		return;
	summary_topic(buf, "symbols");
	text_share(buf, (double)gain, (double)lookups);
	buf_printf(buf, " of the frames lack %s, most of them in ", most->missing);
	words_plain(buf, most->path);
	buf_printf(buf, "; try: %s%s\n", most->try,
		   most->unnamed ? ", then wick symbolize FILE" : "");
}

static void print_modules(const struct summary *summary, struct buf *buf)
{
	const struct symbolize_module *chosen[WORST_MODULES];
	uint64_t lookups = 0;
	size_t n = 0;

	for (size_t i = 0; i < summary->n_modules; i++)
		lookups += summary->modules[i].lookups;
	for (; !summary->no_symbols && n < WORST_MODULES; n++) {
		const struct symbolize_module *worst = worst_module(summary, chosen, n);

		if (!worst || (double)worst->unnamed < UNNAMED_MIN_PART * (double)lookups)
			break;
		chosen[n] = worst;
		summary_topic(buf, n ? "" : "no names");
		text_share(buf, (double)worst->unnamed, (double)lookups);
		buf_add(buf, " of the frames, in ");
		words_plain(buf, worst->path && *worst->path ? worst->path : "[unknown]");
		if (*why_unnamed(worst))
			buf_printf(buf, " (%s)", why_unnamed(worst));
		buf_add_char(buf, '\n');
	}
	print_cut(summary, buf);
	print_missing(summary, lookups, buf);
}

/* Nothing, unless servers were enabled. */
static void print_servers(const struct symbolize_servers *servers, struct buf *buf)
{
	if (!servers->n_asked && (!servers->why || !*servers->why))
		return;
	summary_topic(buf, "servers");
	servers_print(servers, buf);
}

void summary_print(const struct summary *summary, struct buf *buf)
{
	print_title(summary, buf);
	if (!summary->no_clock) {
		print_samples(summary, buf);
		print_kept(
			summary, SERIES_CLOCK,
			&(struct filtered){summary->collected.samples, summary->collected.weight},
			buf);
		print_nothing(summary, buf);
	}
	summary_engine(summary, buf);
	print_hooks(summary, buf);
	print_live(summary, buf);
	if (summary->totals)
		summary_counts(summary->totals,
			       summary->cmd_ended && WIFSIGNALED(summary->wait_status), buf);
	summary_unsupported(&summary->collected, buf);
	if (!summary->no_clock)
		print_coverage(summary, buf);
	print_states(summary, buf);
	if (!summary->no_clock)
		print_tick(summary, buf);
	summary_cost(summary, buf);
	summary_lost(summary, buf);
	print_stacks(summary, buf);
	print_modules(summary, buf);
	print_servers(&summary->servers, buf);
	summary_files(summary, buf);
}
