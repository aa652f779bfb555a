/* top_lines.c - what stands in each line of `wick top` */
#include "tools/top/internal.h"

#include "base/utf8.h"
#include "base/words.h"
#include "tools/cli/terminal.h"

#include <string.h>

enum { LINE_BYTES = 8192, CUT_MARK = 2 };

#define SECOND_NS UINT64_C(1000000000)

/* LINE as far as COLUMNS characters go; a cut one ends in two dots.  LINE is shown text already. */
static void add_cut(struct buf *buf, struct buf *line, uint32_t columns)
{
	const char *text = buf_text(line);
	size_t left = line->len;
	bool cut = words_width(text) > columns;
	uint32_t room = cut && columns > CUT_MARK ? columns - CUT_MARK : columns;

	while (left > 0 && room-- > 0) {
		uint32_t code = 0;
		size_t len = utf8_next(text, left, &code);

		len = len ? len : 1;
		(void)buf_append(buf, text, len);
		text += len;
		left -= len;
	}
	if (cut && columns > CUT_MARK)
		buf_add(buf, "..");
	buf_add_char(buf, '\n');
	buf_release(line);
}

/* "1.23s", in at most seven characters. */
static void add_time(struct buf *buf, uint64_t ns)
{
	double s = (double)ns / (double)SECOND_NS;

	if (s < 100)
		buf_printf(buf, "%6.2fs", s);
	else if (s < 10000)
		buf_printf(buf, "%6.1fs", s);
	else
		buf_printf(buf, "%6lluh", (unsigned long long)(ns / SECOND_NS / 3600));
}

static void add_clock(struct buf *buf, uint64_t ns)
{
	unsigned long long s = ns / SECOND_NS;

	if (s >= 3600)
		buf_printf(buf, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
	else
		buf_printf(buf, "%llu:%02llu", s / 60, s % 60);
}

static void add_program(struct buf *line, const struct top_facts *facts,
			const struct top_view *view)
{
	buf_add(line, "wick top: ");
	words_plain(line, facts->command);
	buf_printf(line, " (pid %d)  ", (int)facts->pid);
	if (facts->ended)
		buf_printf(line, "%s  ", facts->ending ? facts->ending : "no longer sampled");
	buf_printf(line, "%s %.1f %%  ", facts->wall ? "time" : "CPU", view->cpu_pct);
	text_of(line, facts->threads, "thread");
	if (facts->processes > 1) {
		buf_add(line, ", ");
		text_of(line, facts->processes, "process");
	}
	buf_add(line, "  ");
	text_rate(line, facts->effective_hz, facts->hz);
	if (facts->paused)
		buf_add(line, " paused");
}

static void add_counted(struct buf *line, const struct top_facts *facts,
			const struct top_view *view, const struct top_keys *keys)
{
	if (keys->frozen)
		buf_add(line, "FROZEN  ");
	add_clock(line, view->now_ns - view->since_ns);
	buf_add(line, ": ");
	text_of(line, view->samples, "sample");
	buf_add(line, ", lost ");
	if (facts->lost)
		words_count(line, facts->lost);
	else
		buf_add(line, "nothing");
	buf_printf(line, "; by %s", top_keys_order_name(keys));
	if (keys->filter[0]) {
		buf_add(line, "; only /");
		words_plain(line, keys->filter);
		buf_add_char(line, '/');
	}
	if (view->full)
		buf_add(line, "; too many names for all of them");
	if (facts->output) {
		buf_add(line, "; its output: ");
		words_plain(line, facts->output);
	}
}

void top_lines_head(struct buf *buf, const struct top_facts *facts, const struct top_view *view,
		    const struct top_keys *keys, uint32_t columns)
{
	struct buf line;

	buf_init(&line, LINE_BYTES);
	add_program(&line, facts, view);
	add_cut(buf, &line, columns);
	buf_init(&line, LINE_BYTES);
	add_counted(&line, facts, view, keys);
	add_cut(buf, &line, columns);
}

void top_lines_titles(struct buf *buf, const struct top_keys *keys, uint32_t columns)
{
	static const char *const functions[N_TOP_ORDERS] = {"%SELF", "%TOTAL", "SELF", "TOTAL"};
	static const char *const threads[N_TOP_ORDERS] = {"%CPU", "STATE", "CPU", "NAME"};
	static const int function_widths[N_TOP_ORDERS] = {7, 7, 8, 8};
	static const int thread_widths[N_TOP_ORDERS] = {7, 7, 8, -16};
	const int *widths = keys->threads ? thread_widths : function_widths;
	struct buf line;

	buf_init(&line, LINE_BYTES);
	for (enum top_order i = 0; i < N_TOP_ORDERS; i++) {
		const char *title = (keys->threads ? threads : functions)[i];
		const char *mark = i == keys->order ? "*" : " ";

		if (widths[i] < 0) /* what is text begins where its column does */
			buf_printf(&line, "      TID  %s%*s", title, widths[i] + (int)strlen(title),
				   mark);
		else
			buf_printf(&line, "%*s%s", widths[i] - 1, title, mark);
	}
	buf_add(&line, keys->threads ? " IN" : "  FUNCTION (MODULE)");
	add_cut(buf, &line, columns);
}

static void add_function(struct buf *line, const struct top_row *row)
{
	buf_printf(line, "%6.1f %6.1f ", row->self_pct, row->total_pct);
	add_time(line, row->self_ns);
	buf_add_char(line, ' ');
	add_time(line, row->total_ns);
	buf_add(line, "   ");
	words_plain(line, row->symbol);
	if (*row->module) {
		buf_add(line, " (");
		words_plain(line, row->module);
		buf_add_char(line, ')');
	}
}

static void add_thread(struct buf *line, const struct top_thread *thread)
{
	size_t width = words_width(thread->comm);

	buf_printf(line, "%6.1f %5c  ", thread->cpu_pct, thread->state);
	add_time(line, thread->cpu_ns);
	buf_printf(line, " %8d  ", (int)thread->tid);
	words_plain(line, thread->comm);
	buf_printf(line, "%*s", width < SAMPLE_COMM_SIZE ? (int)(SAMPLE_COMM_SIZE - width) : 0, "");
	if (thread->symbol)
		words_plain(line, thread->symbol);
	if (thread->wait)
		buf_printf(line, ", waits: %s", thread->wait);
}

void top_lines_row(struct buf *buf, const struct top_view *view, const struct top_keys *keys,
		   size_t index, uint32_t columns)
{
	struct buf line;

	buf_init(&line, LINE_BYTES);
	if (keys->threads)
		add_thread(&line, &view->threads[view->shown[index]]);
	else
		add_function(&line, &view->rows[view->shown[index]]);
	add_cut(buf, &line, columns);
}

void top_lines_foot(struct buf *buf, const struct top_facts *facts, const struct top_keys *keys,
		    uint32_t columns)
{
	struct buf line;

	buf_init(&line, LINE_BYTES);
	if (keys->typing) {
		buf_add(&line, "only names that match: ");
		words_plain(&line, keys->typed);
		buf_printf(&line, "_  %s", keys->message);
	} else if (keys->leaving && !facts->ended) {
		buf_add(&line, "e end it (SIGTERM), l leave it running, Esc stay: ");
		words_plain(&line, facts->command);
		buf_add(&line, " still runs");
	} else if (keys->message[0]) {
		words_plain(&line, keys->message);
	} else {
		buf_add(&line, "1-4 sort  space freeze  r reset  / filter  t ");
		buf_add(&line, keys->threads ? "functions" : "threads");
		buf_add(&line, "  h heatmap  ? help  q quit");
	}
	add_cut(buf, &line, columns);
}

void top_lines_help(struct buf *buf, uint32_t columns)
{
	static const char *const text[TOP_HELP_LINES] = {
		"%SELF   of one CPU, in the function itself, in the last two seconds",
		"%TOTAL  the same with what it calls; SELF and TOTAL: since the start or r",
		"",
		"1 2 3 4      sort by the first, second, third or fourth column",
		"t            threads instead of functions, and back",
		"/            only names that match a regular expression; Esc: all again",
		"space, f     freeze what is shown; counting goes on",
		"r            start counting from zero",
		"h            the heatmap: a column a second, its parts upwards",
		"arrows, Page Up, Page Down, Home, End, j, k, g, G    scroll",
		"q            quit; asks what to do with a program that wick started",
		"Ctrl-C       goes to the program that wick started; again: wick leaves it",
		"",
		"States: R runs or waits for a CPU, S sleeps, D waits for a disk, T stopped.",
		"Any key goes back.",
	};

	for (size_t i = 0; i < TOP_HELP_LINES; i++) {
		struct buf line;

		buf_init(&line, LINE_BYTES);
		buf_add(&line, text[i]);
		add_cut(buf, &line, columns);
	}
}
