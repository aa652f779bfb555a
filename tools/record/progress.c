/* progress.c - one live line while a program is recorded */
#include "tools/record/progress.h"

#include "base/words.h"
#include "tools/cli/say.h"
#include "tools/cli/text.h"
#include "tools/summary/summary_cost.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { MAX_LINE = 1000, DEFAULT_COLUMNS = 80 };

void progress_print(const struct progress *progress, struct buf *buf)
{
	const struct collector_stats *stats = &progress->collected;
	uint64_t lost = summary_weight_lost(stats);

	buf_add(buf, "wick: ");
	text_seconds(buf, progress->elapsed_ns);
	buf_add(buf, "  ");
	text_rate(buf, progress->effective_hz, progress->hz);
	buf_add(buf, "  ");
	text_of(buf, stats->samples, "sample");
	buf_add(buf, "  ");
	text_of(buf, stats->threads, "thread");
	buf_add(buf, "  ");
	text_of(buf, stats->processes, "process");
	if (lost) {
		buf_add(buf, "  lost ");
		words_count(buf, lost);
	}
	buf_add(buf, "  ");
	words_bytes(buf, progress->written.bytes);
	if (progress->written.segments > 1) {
		buf_add(buf, " in ");
		text_of(buf, progress->written.segments, "file");
	}
	if (progress->interrupted)
		buf_add(buf, "  Ctrl-C again: stop recording");
}

void progress_show(const struct progress *progress)
{
	struct winsize size = {0};
	struct buf line;
	size_t columns = DEFAULT_COLUMNS;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		columns = size.ws_col;
	buf_init(&line, MAX_LINE);
	progress_print(progress, &line);
	if (line.len >= columns)
		line.len = columns - 1;
	say_live(buf_text(&line));
	buf_release(&line);
}
