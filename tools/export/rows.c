/* rows.c - exact counts as rows of JSON */
#include "tools/export/rows.h"

#include "base/histogram.h"
#include "base/json.h"
#include "base/saturated.h"

#include <string.h>

/* Readers of JSON take whole numbers of 63 bits; a program can count more than that. */
static uint64_t readable(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

static void add_number(struct buf *buf, const char *name, uint64_t value)
{
	json_add_number(buf, name, readable(value));
}

static void begin(struct buf *buf, const struct totals *totals)
{
	buf_add_char(buf, '{');
	add_number(buf, "since_ns", totals->since_ns);
	add_number(buf, "time_ns", totals->time_ns);
}

void totals_row_task(struct buf *buf, const struct totals *totals, const struct total_task *task)
{
	begin(buf, totals);
	json_add_text(buf, task->kind == TOTAL_FUNCTION ? "function" : "task", task->name);
	json_add_text(buf, "file", task->file);
	add_number(buf, "line", task->line);
	add_number(buf, "exec_ns", task->exec_ns);
	add_number(buf, "exec_max_ns", task->exec_max_ns);
	add_number(buf, "run_max_ns", task->run_max_ns);
	add_number(buf, "children_ns", task->children_ns);
	add_number(buf, "exec_with_children_ns", saturated_add(task->exec_ns, task->children_ns));
	add_number(buf, "wall_ns", task->wall_ns);
	add_number(buf, "calls", task->calls);
	add_number(buf, "live", task->live);
	add_number(buf, "stillborn", task->stillborn);
	add_number(buf, "cancelled", task->cancelled);
	add_number(buf, "failed", task->failed);
	add_number(buf, "stalls", task->stalls);
	buf_add_char(buf, '}');
}

uint64_t totals_quantile_ns(const struct total_tier *tier, double q)
{
	uint64_t ns = histogram_quantile(&tier->durations, q);

	if (ns < tier->min_ns && tier->durations.n)
		return tier->min_ns;
	return ns > tier->max_ns ? tier->max_ns : ns;
}

static void add_quantiles(struct buf *buf, const struct total_tier *tier)
{
	static const struct {
		const char *name;
		double part;
	} quantiles[] = {{"p25_ns", 0.25}, {"p50_ns", 0.5},  {"p75_ns", 0.75},
			 {"p90_ns", 0.9},  {"p99_ns", 0.99}, {"p999_ns", 0.999}};

	for (size_t i = 0; tier->durations.n && i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		add_number(buf, quantiles[i].name, totals_quantile_ns(tier, quantiles[i].part));
}

static void add_buckets(struct buf *buf, const struct histogram *durations)
{
	buf_add(buf, ",\"buckets\":[");
	for (uint32_t i = 0; i < durations->n; i++) {
		buf_add(buf, i ? "],[" : "["); /* of millions: printf() takes far longer */
		buf_add_dec(buf, durations->at[i].bucket, 0, ' ');
		buf_add_char(buf, ',');
		buf_add_dec(buf, readable(durations->at[i].count), 0, ' ');
	}
	buf_add(buf, durations->n ? "]]" : "]");
}

static void add_trace(struct buf *buf, const struct total_tier *tier)
{
	buf_add(buf, ",\"trace\":\"");
	for (size_t i = 0; i < 2 * TOTALS_TRACE_BYTES; i++)
		buf_add_hex(buf, tier->exemplar_trace[i / 2] >> (i % 2 ? 0 : 4) & 15, 1);
	buf_add_char(buf, '"');
	add_number(buf, "trace_ns", tier->exemplar_ns);
}

void totals_row_tier(struct buf *buf, const struct totals *totals, const struct total_tier *tier,
		     bool buckets)
{
	begin(buf, totals);
	json_add_text(buf, "tier", tier->tier);
	json_add_text(buf, "identity", tier->identity);
	add_number(buf, "count", tier->count);
	add_number(buf, "sum_ns", tier->sum_ns);
	add_number(buf, "self_ns", tier->self_ns);
	add_number(buf, "mean_ns", tier->count ? tier->sum_ns / tier->count : 0);
	add_number(buf, "sd_ns", (uint64_t)histogram_deviation_ns(&tier->durations));
	add_number(buf, "min_ns", tier->min_ns);
	add_number(buf, "max_ns", tier->max_ns);
	add_quantiles(buf, tier);
	if (buckets)
		add_buckets(buf, &tier->durations);
	if (tier->exemplar_ns)
		add_trace(buf, tier);
	buf_add_char(buf, '}');
}

bool totals_has(enum totals_subject subject, const struct total_tier *tier)
{
	return (strcmp(tier->tier, TOTALS_REQUEST) == 0) == (subject == TOTALS_REQUESTS);
}

static bool counts(const struct total_task *task)
{
	return task->exec_ns || task->children_ns || task->calls || task->live || task->stillborn;
}

/* A row that does not fit is taken back, and none is made after it. */
static size_t end_row(struct buf *buf, size_t start)
{
	buf_add_char(buf, '\n');
	if (buf->failed)
		buf->len = start;
	return buf->failed;
}

size_t totals_rows(struct buf *buf, const struct totals *totals, enum totals_subject subject,
		   bool buckets)
{
	size_t left_out = 0;

	for (size_t i = 0; subject == TOTALS_TASKS && i < totals->n_tasks; i++) {
		const size_t start = buf->len;

		if (!counts(&totals->tasks[i]))
			continue;
		if (!buf->failed)
			totals_row_task(buf, totals, &totals->tasks[i]);
		left_out += end_row(buf, start);
	}
	for (size_t i = 0; subject != TOTALS_TASKS && i < totals->n_tiers; i++) {
		const struct total_tier *tier = &totals->tiers[i];
		const size_t start = buf->len;

		if (!totals_has(subject, tier) || !tier->count)
			continue;
		if (!buf->failed)
			totals_row_tier(buf, totals, tier, buckets);
		left_out += end_row(buf, start);
	}
	buf->failed = false;
	return left_out;
}

size_t totals_all_rows(struct buf *buf, const struct totals *totals, bool buckets)
{
	size_t left_out = 0;

	for (enum totals_subject subject = TOTALS_REQUESTS; subject <= TOTALS_TIERS; subject++)
		left_out += totals_rows(buf, totals, subject, buckets);
	return left_out;
}

size_t totals_rows_that_fit(struct buf *buf, const struct totals *totals)
{
	size_t left_out = totals_all_rows(buf, totals, true);

	if (left_out == 0)
		return 0;
	buf_clear(buf);
	left_out = totals_rows(buf, totals, TOTALS_REQUESTS, true);
	left_out += totals_rows(buf, totals, TOTALS_TASKS, false);
	return left_out + totals_rows(buf, totals, TOTALS_TIERS, false);
}
