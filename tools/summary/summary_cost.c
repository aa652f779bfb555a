/* summary_cost.c - what the summary says of costs, and of what was lost to keep them low */
#include "tools/summary/internal.h"

#include "base/buf.h"
#include "base/words.h"
#include "sampler/collector/collector.h"
#include "tools/cli/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void summary_topic(struct buf *buf, const char *topic)
{
	buf_printf(buf, "  %-11s ", topic);
}

void summary_cause(struct buf *buf, uint64_t value, const char *cause, bool *first)
{
	if (value == 0)
		return;
	buf_add(buf, *first ? "" : ", ");
	*first = false;
	words_count(buf, value);
	buf_printf(buf, " %s", cause);
}

enum {
	MAX_UNSUPPORTED = 5,
	UNSEEN_LEAST_NS = 20000000, /* twice as fine as the kernel tells it */
};

/* What may not be traced by this user may be by another. */
static const char *what_helps(const char *why)
{
	return strcmp(why, "setuid") == 0 && geteuid() != 0 ? ", try: as root" : "";
}

static void add_unsupported(const struct collector_stats *stats, struct buf *buf)
{
	for (size_t i = 0; i < stats->n_unsupported && i < MAX_UNSUPPORTED; i++) {
		const struct collector_unsupported *it = &stats->unsupported[i];

		summary_topic(buf, i ? "" : "not sampled");
		words_count(buf, it->count);
		buf_add(buf, " x ");
		words_plain(buf, it->path);
		buf_printf(buf, " (%s)%s\n", it->why, what_helps(it->why));
	}
	if (stats->n_unsupported > MAX_UNSUPPORTED) {
		summary_topic(buf, "");
		buf_add(buf, "and ");
		text_of(buf, stats->n_unsupported - MAX_UNSUPPORTED, "other program");
		buf_add_char(buf, '\n');
	}
}

static void add_agentless(const struct collector_stats *stats, struct buf *buf)
{
	static const char ended[] = "no samples since then, try: record it again";

	if (stats->agentless) {
		summary_topic(buf, "no timer");
		text_of(buf, stats->agentless, "process");
		buf_printf(buf, ": %s\n",
			   stats->agentless_errno ? strerrordesc_np((int)stats->agentless_errno)
						  : "the agent could not start");
	}
	if (stats->handlers_replaced) {
		summary_topic(buf, "signal");
		text_of(buf, stats->handlers_replaced, "process");
		buf_printf(buf, " replaced the handler of SIG%s: %s\n",
			   sigabbrev_np(stats->failed_signal), ended);
	}
	if (stats->no_signals) {
		summary_topic(buf, "signal");
		text_of(buf, stats->no_signals, "process");
		buf_printf(buf, " handled or blocked SIG%s itself: %s\n",
			   sigabbrev_np(stats->failed_signal), ended);
	}
	if (stats->seccomp) {
		summary_topic(buf, "seccomp");
		text_of(buf, stats->seccomp, "process");
		buf_add(buf, " stopped sampling before a seccomp filter that forbids it\n");
	}
	if (stats->flooded) {
		summary_topic(buf, "flood");
		buf_printf(buf, "user %u", (unsigned)stats->flooded_uid);
		buf_add(buf, " connected too often and was refused ");
		text_of(buf, stats->flooded, "time");
		buf_add(buf, "; programs that this user started meanwhile were not sampled\n");
	}
}

static void add_external(const struct collector_stats *stats, struct buf *buf)
{
	if (!stats->external)
		return;
	summary_topic(buf, "external");
	text_of(buf, stats->external, "program");
	buf_add(buf, " sampled with ptrace");
	if (stats->external_path[0]) {
		buf_add(buf, ", ");
		words_plain(buf, stats->external_path);
		buf_printf(buf, " (%s)", stats->external_why);
	}
	buf_add(buf, ": ");
	text_of(buf, stats->external_stops, "stop");
	if (stats->external_stops) {
		buf_add(buf, ", on average ");
		words_amount(buf, stats->external_stopped_ns / stats->external_stops, "ns");
		buf_add(buf, ", at most ");
		words_amount(buf, stats->external_longest_ns, "ns");
	}
	buf_add_char(buf, '\n');
}

static void add_children(const struct collector_stats *stats, struct buf *buf)
{
	uint64_t ns = stats->children_missed_ns;

	if (ns < UNSEEN_LEAST_NS && !stats->followed)
		return;
	summary_topic(buf, "children");
	if (stats->followed) {
		words_count(buf, stats->followed);
		buf_add(buf, " attached");
	}
	if (ns >= UNSEEN_LEAST_NS)
		buf_printf(buf,
			   "%s%.2f s of CPU before that, or in others that ended early, was not "
			   "sampled",
			   stats->followed ? "; " : "none was attached to; ", (double)ns * 1e-9);
	buf_add_char(buf, '\n');
}

void summary_unsupported(const struct collector_stats *stats, struct buf *buf)
{
	add_external(stats, buf);
	add_unsupported(stats, buf);
	add_children(stats, buf);
	add_agentless(stats, buf);
}

#define MIN_COST_NS    20000000.0 /* a share of less says nothing */
#define LEAST_FIRST_NS 1000000    /* and so little is not worth a word */

/* A program that uses less than this part of a processor says little of what wick may take. */
enum { BUSY_PART = 4 };

static void print_lowered(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;

	if (!stats->lowered_ns)
		return;
	summary_topic(buf, "budget");
	text_rate(buf, stats->lowest_hz, summary->hz);
	buf_add(buf, " at the lowest; below the requested rate for ");
	text_seconds(buf, stats->lowered_ns);
	buf_add(buf, ", to limit the overhead; totals stay right\n");
}

static void print_breaks(const struct collector_stats *stats, struct buf *buf)
{
	if (!stats->breaks)
		return;
	summary_topic(buf, "pauses");
	text_of(buf, stats->breaks, "pause");
	buf_add(buf, ", because wick could not keep up, try: a lower -F, or a faster disk\n");
}

static void print_starved(const struct collector_stats *stats, struct buf *buf)
{
	if (!stats->starved && !stats->given_up)
		return;
	summary_topic(buf, "starved");
	buf_add(buf, "wick got no CPU for ");
	text_seconds(buf, stats->starved_ns);
	if (stats->given_up) {
		buf_add(buf, "; ");
		text_of(buf, stats->given_up, "process");
		buf_add(buf, " assumed that it had ended and stopped sampling");
	}
	buf_add_char(buf, '\n');
}

static void print_shares(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;
	double charged = (double)stats->charged_ns;

	if (charged < MIN_COST_NS)
		return;
	summary_topic(buf, "cost");
	buf_add(buf, "in the program ");
	text_share(buf, (double)stats->program_ns, charged);
	if (stats->first_ns >= LEAST_FIRST_NS)
		buf_printf(buf, " (and %.1f ms to begin)", (double)stats->first_ns / 1e6);
	buf_add(buf, ", wick itself ");
	text_share(buf, (double)summary->collector_ns, charged);
	buf_add(buf, " of the program's CPU");
	if (charged * BUSY_PART < (double)summary->elapsed_ns) {
		buf_add(buf, ", which is ");
		text_share(buf, (double)summary->collector_ns, (double)summary->elapsed_ns);
		buf_add(buf, " of a processor");
	}
	if (summary->verbose && stats->samples)
		buf_printf(buf,
			   " (handler %.0f ns a sample, a signal %llu ns, wick %.0f us a sample)",
			   (double)stats->handler_ns / (double)stats->samples,
			   (unsigned long long)summary->signal_cost_ns,
			   (double)summary->collector_ns / (double)stats->samples / 1000);
	buf_add_char(buf, '\n');
}

static void print_own(const struct collector_stats *stats, struct buf *buf)
{
	if (!stats->own_samples)
		return;
	summary_topic(buf, "left out");
	text_of(buf, stats->own_samples, "sample");
	buf_add(buf, " in code of wick's own (own)\n");
}

void summary_cost(const struct summary *summary, struct buf *buf)
{
	print_shares(summary, buf);
	print_own(&summary->collected, buf);
	print_lowered(summary, buf);
	print_breaks(&summary->collected, buf);
	print_starved(&summary->collected, buf);
}

uint64_t summary_weight_lost(const struct collector_stats *stats)
{
	return stats->lost_full + stats->lost_nested + stats->lost_noslot + stats->lost_queue +
	       stats->lost_corrupt;
}

static uint64_t dropped(const struct summary *summary)
{
	uint64_t n = summary->written.dropped;

	for (size_t i = 0; i < summary->n_beside; i++)
		n += summary->beside[i].dropped;
	return n;
}

void summary_lost(const struct summary *summary, struct buf *buf)
{
	const struct collector_stats *stats = &summary->collected;
	bool first = true;

	summary_topic(buf, "lost");
	summary_cause(buf, stats->lost_full, "ring full (lost_full)", &first);
	summary_cause(buf, stats->lost_nested, "during another sample of the thread (lost_nested)",
		      &first);
	summary_cause(buf, stats->lost_noslot, "too many threads (lost_noslot)", &first);
	summary_cause(buf, stats->lost_events, "of memory or locks, ring full (lost_events)",
		      &first);
	summary_cause(buf, stats->live_full, "releases of memory (live_full)", &first);
	summary_cause(buf, summary->live ? summary->live->heap.left_out : 0,
		      "of live memory, table full (live_left_out)", &first);
	summary_cause(buf, stats->lost_queue, "wick too slow (lost_queue)", &first);
	summary_cause(buf, stats->lost_pause, "in pauses (lost_pause)", &first);
	summary_cause(buf, stats->lost_corrupt, "damaged in shared memory (lost_corrupt)", &first);
	summary_cause(buf, stats->lost_forged, "beyond the CPU that was used (lost_forged)",
		      &first);
	summary_cause(buf, dropped(summary), "not written to disk (dropped)", &first);
	summary_cause(buf, summary->written.dropped_lines,
		      "rows of counts or notes not in the file (dropped_lines)", &first);
	buf_add(buf, first ? "nothing\n" : "\n");
	if (summary->verbose) {
		first = true;
		summary_topic(buf, "threads");
		summary_cause(buf, stats->spurious, "spurious signals", &first);
		summary_cause(buf, stats->late_threads, "armed by wick", &first);
		summary_cause(buf, stats->unmasked_threads, "had SIGPROF blocked", &first);
		buf_printf(buf, "%sfound by %s\n", first ? "" : ", ",
			   summary->discovery == DISCOVERY_TIMER ? "the process timer" : "hooks");
	}
}
