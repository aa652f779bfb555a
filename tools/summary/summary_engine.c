/* summary_engine.c - the lines of the summary about perf events */
#include "tools/summary/summary_engine.h"

#include "base/words.h"
#include "tools/cli/text.h"
#include "tools/summary/summary_line.h"

#include <string.h>

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

void summary_engine(const struct summary *summary, struct buf *buf)
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
