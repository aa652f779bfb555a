/* summary_files.c - what a recording has written, and what can be done with it now */
#include "tools/summary/internal.h"

#include "base/words.h"
#include "tools/cli/terminal.h"

#include <string.h>

enum { MAX_PATHS = 5 };

static void print_files(const struct recording_stats *written, bool first, struct buf *buf)
{
	size_t skipped = written->n_paths > MAX_PATHS ? written->n_paths - MAX_PATHS : 0;

	for (size_t i = skipped; i < written->n_paths; i++) {
		summary_topic(buf, first && i == skipped ? "written" : "");
		buf_add(buf, written->paths[i]);
		if (i + 1 < written->n_paths) {
			buf_add_char(buf, '\n');
			continue;
		}
		buf_add(buf, " (");
		words_bytes(buf, written->bytes);
		if (written->segments > 1) {
			buf_add(buf, " of text in ");
			text_of(buf, written->segments, "file");
		}
		buf_add(buf, ")\n");
	}
	if (written->hook_failures) {
		summary_topic(buf, "");
		text_of(buf, written->hook_failures, "run");
		buf_add(buf, " of --on-rotate failed");
		if (written->hook_given_up) {
			buf_add(buf, "; it never succeeded for ");
			text_of(buf, written->hook_given_up, "file");
		}
		buf_add_char(buf, '\n');
	}
	if (written->single_segments) {
		summary_topic(buf, "");
		text_of(buf, written->single_segments, "file");
		buf_add(buf, " of one sample only: FlameScope cannot show that\n");
	}
}

static bool ends_in(const char *path, const char *ending)
{
	size_t len = strlen(path);
	size_t n = strlen(ending);

	return len > n && strcmp(path + len - n, ending) == 0;
}

static void print_viewers(const char *path, bool several, struct buf *buf)
{
	bool packed = ends_in(path, ".zst");

	buf_add(buf, packed ? "unpacked with zstd -d, " : "");
	buf_add(buf, "speedscope, profiler.firefox.com");
	buf_add(buf, packed || ends_in(path, ".gz") ? " and FlameScope load "
						    : ", FlameScope and FlameGraph load ");
	buf_add(buf, several ? "each" : "it");
	buf_add(buf, packed ? "\n" : " as it is\n");
}

static size_t same_at_start(const char *a, const char *b, size_t most)
{
	size_t n = 0;

	while (n < most && a[n] == b[n])
		n++;
	return n;
}

static size_t same_at_end(const char *a, const char *b, size_t most)
{
	size_t len_a = strlen(a);
	size_t len_b = strlen(b);
	size_t n = 0;

	while (n < most && a[len_a - 1 - n] == b[len_b - 1 - n])
		n++;
	return n;
}

/* One file, or the pattern that a shell makes them from: what they have in common. */
static void add_pattern(struct buf *buf, const char *const *paths, size_t n)
{
	size_t shortest = strlen(paths[0]);
	size_t start;
	size_t end;

	for (size_t i = 1; i < n; i++)
		shortest = strlen(paths[i]) < shortest ? strlen(paths[i]) : shortest;
	start = shortest;
	for (size_t i = 1; i < n; i++)
		start = same_at_start(paths[0], paths[i], start);
	end = shortest - start;
	for (size_t i = 1; i < n; i++)
		end = same_at_end(paths[0], paths[i], end);
	buf_printf(buf, "%.*s", (int)start, paths[0]);
	if (n > 1)
		buf_printf(buf, "*%s", paths[0] + strlen(paths[0]) - end);
}

/* The first of those that were split has no number. */
static void print_files_for(const char *command, const struct recording_stats *written,
			    struct buf *buf)
{
	const char *const *paths = written->paths;
	size_t alone = written->n_paths > 1 && strlen(paths[0]) != strlen(paths[1]);

	buf_printf(buf, "%s %s%s", command, alone ? paths[0] : "", alone ? " " : "");
	add_pattern(buf, paths + alone, written->n_paths - alone);
	buf_add_char(buf, '\n');
}

static void print_next(const struct summary *summary, struct buf *buf)
{
	const struct recording_stats *written = &summary->written;
	const char *last = written->n_paths ? written->paths[written->n_paths - 1] : NULL;
	bool several = written->n_paths > 1;

	if (!last)
		return;
	if (summary->unnamed_frames) {
		summary_topic(buf, "names");
		text_of(buf, summary->unnamed_frames, "frame");
		buf_add(buf, " were written before their names were known, ");
	} else if (summary->no_symbols) {
		summary_topic(buf, "names");
		buf_add(buf, "not looked up, because of --no-symbols, ");
	}
	if (summary->unnamed_frames || summary->no_symbols)
		buf_printf(buf, "try: wick symbolize %s%s\n", last,
			   several ? ", and so the others" : "");
	if (summary->mangled_names) {
		summary_topic(buf, "names");
		text_of(buf, summary->mangled_names, "name");
		buf_add(buf, " took too much time or memory to demangle: shown mangled\n");
	}
	summary_topic(buf, "next");
	if (written->samples) {
		print_files_for("wick view", written, buf);
		summary_topic(buf, "");
	}
	print_files_for("wick info", written, buf);
	if (written->samples == 0)
		return;
	summary_topic(buf, "");
	print_viewers(last, several, buf);
}

void summary_files(const struct summary *summary, struct buf *buf)
{
	print_files(&summary->written, true, buf);
	for (size_t i = 0; i < summary->n_beside; i++)
		print_files(&summary->beside[i], false, buf);
	print_next(summary, buf);
}
