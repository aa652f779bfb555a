/* summary_unsupported.c - the lines of the summary about programs that had no agent */
#include "tools/summary/summary_unsupported.h"

#include "base/words.h"
#include "tools/cli/text.h"
#include "tools/summary/summary_line.h"

#include <string.h>
#include <unistd.h>

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
	for (size_t i = 0; i < stats->n_unsampled && i < MAX_UNSUPPORTED; i++) {
		const struct collector_unsupported *it = &stats->unsampled[i];

		summary_topic(buf, i ? "" : "not sampled");
		words_count(buf, it->count);
		buf_add(buf, " x ");
		words_plain(buf, it->path);
		buf_printf(buf, " (%s)%s\n", it->why, what_helps(it->why));
	}
	if (stats->n_unsampled > MAX_UNSUPPORTED) {
		summary_topic(buf, "");
		buf_add(buf, "and ");
		text_of(buf, stats->n_unsampled - MAX_UNSUPPORTED, "other program");
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
	if (stats->deaf) {
		summary_topic(buf, "signal");
		text_of(buf, stats->deaf, "process");
		buf_printf(buf, " replaced the handler of SIG%s: %s\n",
			   sigabbrev_np(stats->deaf_signal), ended);
	}
	if (stats->mute) {
		summary_topic(buf, "signal");
		text_of(buf, stats->mute, "process");
		buf_printf(buf, " handled or blocked SIG%s itself: %s\n",
			   sigabbrev_np(stats->deaf_signal), ended);
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
	if (!stats->outside)
		return;
	summary_topic(buf, "external");
	text_of(buf, stats->outside, "program");
	buf_add(buf, " sampled with ptrace");
	if (stats->outside_path[0]) {
		buf_add(buf, ", ");
		words_plain(buf, stats->outside_path);
		buf_printf(buf, " (%s)", stats->outside_why);
	}
	buf_add(buf, ": ");
	text_of(buf, stats->outside_stops, "stop");
	if (stats->outside_stops) {
		buf_add(buf, ", on average ");
		words_amount(buf, stats->outside_stopped_ns / stats->outside_stops, "ns");
		buf_add(buf, ", at most ");
		words_amount(buf, stats->outside_longest_ns, "ns");
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
