/* summary_counts.c - exact counts by wick.h: how many requests, tiers and tasks, and what is
 * missing */
#include "tools/summary/internal.h"

#include "base/words.h"
#include "tools/cli/terminal.h"

#include <string.h>

enum { TIERS_SHOWN = 4 };

/* By the place of enum tables_misuse (sampler/wire/tables.h). */
static const char *const misuses[TOTALS_MISUSES] = {
	"ends of requests that were not begun",     "runs of tasks that cannot run",
	"suspends of tasks that do not run",        "finishes of tasks that have finished",
	"tasks suspended while another ran inside", "tasks too deep inside each other",
};

static bool is_request(const struct total_tier *tier)
{
	return strcmp(tier->tier, "request") == 0;
}

static bool is_all(const struct total_tier *tier)
{
	return strcmp(tier->identity, "_total") == 0;
}

static bool is_identity(const struct total_tier *tier)
{
	return is_request(tier) && !is_all(tier) && strcmp(tier->identity, "-") != 0 &&
	       strcmp(tier->identity, "other") != 0;
}

static void add_requests(const struct totals *totals, struct buf *buf, const char **comma)
{
	const struct total_tier *all = NULL;
	uint64_t identities = 0;
	bool others = false;

	for (size_t i = 0; i < totals->n_tiers; i++) {
		identities += is_identity(&totals->tiers[i]);
		others |= is_request(&totals->tiers[i]) &&
			  strcmp(totals->tiers[i].identity, "other") == 0;
		if (is_request(&totals->tiers[i]) && is_all(&totals->tiers[i]))
			all = &totals->tiers[i];
	}
	if (!all || !all->count)
		return;
	text_of(buf, all->count, "request");
	buf_add(buf, " of ");
	words_count(buf, identities);
	buf_add(buf, identities == 1 ? " identity" : " identities");
	if (others)
		buf_add(buf, " and others");
	*comma = "; ";
}

/* Rows of a tier stand together. */
static void add_tiers(const struct totals *totals, struct buf *buf, const char **comma)
{
	const char *last = "";
	size_t n = 0;

	for (size_t i = 0; i < totals->n_tiers; i++) {
		const char *tier = totals->tiers[i].tier;

		if (is_request(&totals->tiers[i]) || strcmp(tier, last) == 0)
			continue;
		last = tier;
		if (n++ >= TIERS_SHOWN)
			continue;
		buf_add(buf, n == 1 ? *comma : ", ");
		if (n == 1)
			buf_add(buf, "tiers ");
		words_plain(buf, tier);
	}
	if (n > TIERS_SHOWN)
		buf_printf(buf, " and %zu more", n - TIERS_SHOWN);
	if (n)
		*comma = "; ";
}

static void add_tasks(const struct totals *totals, enum total_kind kind, const char *noun,
		      struct buf *buf, const char **comma)
{
	uint64_t calls = 0;
	uint64_t places = 0;

	for (size_t i = 0; i < totals->n_tasks; i++) {
		if (totals->tasks[i].kind != kind)
			continue;
		calls += totals->tasks[i].calls;
		places++;
	}
	if (!places)
		return;
	buf_add(buf, *comma);
	text_of(buf, calls, noun);
	buf_add(buf, " of ");
	text_of(buf, places, kind == TOTAL_TASK ? "location" : "function");
	*comma = "; ";
}

static void print_missing(const struct totals *totals, struct buf *buf)
{
	const uint64_t no_room = totals->lost_names + totals->lost_nodes + totals->lost_cells;
	uint64_t misuse = 0;
	bool first = true;

	for (size_t i = 0; i < TOTALS_MISUSES; i++)
		misuse += totals->misuse[i];
	if (no_room || totals->lost_durations || totals->lost_threads) {
		summary_topic(buf, "");
		buf_add(buf, "not all was counted by its name: ");
		summary_cause(buf, no_room, "counted as other", &first);
		summary_cause(buf, totals->lost_durations, "missing from percentiles", &first);
		summary_cause(buf, totals->lost_threads, "threads not counted", &first);
		buf_add_char(buf, '\n');
	}
	if (!misuse)
		return;
	summary_topic(buf, "");
	buf_add(buf, "ignored calls of wick.h: ");
	first = true;
	for (size_t i = 0; i < TOTALS_MISUSES; i++)
		summary_cause(buf, totals->misuse[i], misuses[i] ? misuses[i] : "others", &first);
	buf_add_char(buf, '\n');
}

void summary_counts(const struct totals *totals, bool was_killed, struct buf *buf)
{
	struct buf line;
	const char *comma = "";

	buf_init(&line, 4096);
	add_requests(totals, &line, &comma);
	add_tiers(totals, &line, &comma);
	add_tasks(totals, TOTAL_TASK, "task", &line, &comma);
	add_tasks(totals, TOTAL_FUNCTION, "call", &line, &comma);
	if (line.len) {
		summary_topic(buf, "counted");
		buf_printf(buf, "%s\n", buf_text(&line));
		if (was_killed) {
			summary_topic(buf, "");
			buf_add(buf, "up to the last second before the signal is not counted\n");
		}
		print_missing(totals, buf);
	}
	buf_release(&line);
}
