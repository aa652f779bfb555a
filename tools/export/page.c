/* page.c - the whole page, and what it says of wick itself */
#include "tools/export/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct page_maker {
	uint64_t since_ns; /* of the counts of the last page */
	struct page_tasks tasks;
	struct page_tasks functions;
	struct series sampled;
	struct page_tiers tiers;
};

int page_maker_new(size_t top_tasks, struct page_maker **ret_maker)
{
	struct page_maker *maker = calloc(1, sizeof(*maker));

	if (!maker)
		return -ENOMEM;
	maker->tasks = (struct page_tasks){.kind = TOTAL_TASK, .top = {.k = top_tasks}};
	maker->functions = (struct page_tasks){.kind = TOTAL_FUNCTION, .top = {.k = top_tasks}};
	maker->sampled.k = PAGE_FUNCTIONS;
	*ret_maker = maker;
	return 0;
}

/* Counts began anew. */
static void forget(struct page_maker *maker)
{
	series_forget(&maker->tasks.top);
	series_forget(&maker->functions.top);
	page_tiers_forget(&maker->tiers);
}

void page_maker_free(struct page_maker *maker)
{
	if (!maker)
		return;
	forget(maker);
	series_forget(&maker->sampled);
	free(maker);
}

struct counter {
	const char *name;
	const char *help;
	uint64_t value;
};

static void add_counters(struct page_text *text, const struct counter *counters, size_t n,
			 const char *unit)
{
	char series[96];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(series, sizeof(series), "%s_total", counters[i].name);
		page_family(text, counters[i].name, "counter", unit, counters[i].help);
		if (unit)
			page_seconds(text, series, "", counters[i].value);
		else
			page_count(text, series, "", counters[i].value);
	}
}

/* One series for each name, with a label. */
static void add_by(struct page_text *text, const char *series, const char *label,
		   const struct counter *counters, size_t n)
{
	char labels[96];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(labels, sizeof(labels), "%s=\"%s\"", label, counters[i].name);
		page_count(text, series, labels, counters[i].value);
	}
}

static void add_lost(const struct page_self *self, struct page_text *text)
{
	const struct collector_stats *stats = self->stats;
	const struct counter causes[] = {
		{.name = "lost_full", .value = stats->lost_full},
		{.name = "lost_nested", .value = stats->lost_nested},
		{.name = "lost_noslot", .value = stats->lost_noslot},
		{.name = "lost_queue", .value = stats->lost_queue},
		{.name = "lost_pause", .value = stats->lost_pause},
		{.name = "lost_forged", .value = stats->lost_forged},
	};

	page_family(text, "wick_lost_periods", "counter", NULL,
		    "Sampling periods that no sample represents, by cause.");
	add_by(text, "wick_lost_periods_total", "cause", causes,
	       sizeof(causes) / sizeof(causes[0]));
}

static void add_counts_lost(const struct totals *totals, struct page_text *text)
{
	const struct counter lost[] = {
		{.name = "names", .value = totals->lost_names},
		{.name = "nodes", .value = totals->lost_nodes},
		{.name = "cells", .value = totals->lost_cells},
		{.name = "durations", .value = totals->lost_durations},
		{.name = "threads", .value = totals->lost_threads},
	};
	uint64_t misuse = 0;

	page_family(text, "wick_counts_lost", "counter", NULL,
		    "Exact counts that there was no room for, by what was full.");
	add_by(text, "wick_counts_lost_total", "what", lost, sizeof(lost) / sizeof(lost[0]));
	for (size_t i = 0; i < TOTALS_MISUSES; i++)
		misuse += totals->misuse[i];
	page_family(text, "wick_misuse", "counter", NULL,
		    "Calls of wick.h in a wrong order, which were ignored.");
	page_count(text, "wick_misuse_total", "", misuse);
}

static void add_gauges(const struct page_self *self, struct page_text *text)
{
	const struct collector_stats *stats = self->stats;

	page_family(text, "wick_cost_ratio", "gauge", NULL,
		    "CPU time that sampling has cost programs, of all that they used.");
	buf_printf(text->buf, "wick_cost_ratio %.6g\n",
		   stats->charged_ns ? (double)stats->program_ns / (double)stats->charged_ns : 0.0);
	text->n_series++;
	page_family(text, "wick_rate_hertz", "gauge", "hertz",
		    "Samples per second of CPU time: requested, and as signals come.");
	page_count(text, "wick_rate_hertz", "kind=\"requested\"", self->hz);
	page_count(text, "wick_rate_hertz", "kind=\"effective\"", self->effective_hz);
	page_family(text, "wick_paused", "gauge", NULL, "1: no samples are taken now.");
	page_count(text, "wick_paused", "", self->paused);
}

void page_self(const struct page_self *self, const struct totals *totals, struct page_text *text)
{
	const struct collector_stats *stats = self->stats;
	const struct counter counts[] = {
		{"wick_samples", "Samples that were taken.", stats->samples},
		{"wick_processes", "Process images that were recorded.", stats->processes},
		{"wick_threads", "Threads that gave a sample.", stats->threads},
		{"wick_dropped_samples", "Samples that no disk took.", self->dropped},
		{"wick_stats_lines_lost", "Lines that no reader of --stats-to took.",
		 self->lines_lost},
	};
	const struct counter times[] = {
		{"wick_sampled_seconds", "Time that samples represent.", stats->stood_ns},
		{"wick_program_cpu_seconds", "CPU time of the recorded programs.",
		 stats->charged_ns},
		{"wick_cost_seconds", "CPU time that sampling has cost programs.",
		 stats->program_ns},
		{"wick_collector_cpu_seconds", "CPU time of wick itself.", self->collector_ns},
	};

	add_counters(text, counts, sizeof(counts) / sizeof(counts[0]), NULL);
	add_counters(text, times, sizeof(times) / sizeof(times[0]), "seconds");
	add_lost(self, text);
	add_counts_lost(totals, text);
	add_gauges(self, text);
}

int page_make(struct page_maker *maker, const struct totals *totals, struct functions *functions,
	      const struct page_self *self, bool open_metrics, struct buf *buf)
{
	struct page_text text = {.buf = buf, .open_metrics = open_metrics};
	int r;

	if (totals->since_ns != maker->since_ns)
		forget(maker);
	maker->since_ns = totals->since_ns;
	buf_clear(buf);
	r = page_tasks(&maker->tasks, totals, &text);
	if (r == 0)
		r = page_tasks(&maker->functions, totals, &text);
	if (r == 0)
		r = page_tiers(&maker->tiers, totals, &text);
	if (r == 0 && functions)
		r = page_functions(&maker->sampled, functions, &text);
	page_self(self, totals, &text);
	page_family(&text, "wick_tiers_left_out", "gauge", NULL,
		    "Tiers and identities without series, because there are too many tiers.");
	page_count(&text, "wick_tiers_left_out", "", maker->tiers.left_out);
	page_family(&text, "wick_series", "gauge", NULL, "How many series this page has.");
	page_count(&text, "wick_series", "", text.n_series + 1);
	if (open_metrics)
		buf_add(buf, "# EOF\n");
	return r < 0 ? r : buf->failed ? -EFBIG : 0;
}
