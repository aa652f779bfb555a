/* heat_terminal.c - a heatmap in characters: half blocks in 256 colours, or plain ones */
#include "base/words.h"
#include "flamescope/draw/draw.h"
#include "flamescope/draw/internal.h"

#include <string.h>

enum { LEVELS = 8, MAX_STRETCH = 4, TICK = 10, GREY = 240, WHITE = 231 };

/* Of xterm's 256 colours, weak to strong. */
static const unsigned char reds[LEVELS] = {224, 217, 210, 203, 196, 160, 124, 88};
static const unsigned char greens[LEVELS] = {194, 157, 120, 83, 47, 40, 34, 28};

/* The same without colours: digits would be read as values. */
static const char more[LEVELS + 1] = ".:-=+*#@";
static const char less[LEVELS + 1] = "abcdefgh";

struct screen {
	struct buf *buf;
	const struct heat *heat;
	bool colour;
	size_t n_columns; /* that fit */
	size_t stretch;   /* characters a column */
};

static unsigned colour_of(const struct screen *screen, size_t column, size_t row)
{
	int level;

	if (row >= screen->heat->n_rows)
		return GREY;
	level = heat_level(screen->heat, column, row, LEVELS);
	if (level == HEAT_LEVEL_NONE)
		return GREY;
	return level == 0 ? WHITE : level > 0 ? reds[level - 1] : greens[-level - 1];
}

static char mark_of(const struct screen *screen, size_t column, size_t row)
{
	int level = heat_level(screen->heat, column, row, LEVELS);

	if (level == HEAT_LEVEL_NONE)
		return ' ';
	if (level == 0)
		return '0';
	if (level > 0)
		return more[level - 1];
	return less[-level - 1];
}

/* Two rows in one line: the foreground is the upper one. */
static void add_halves(const struct screen *screen, size_t upper, size_t lower)
{
	unsigned last_upper = UINT_MAX, last_lower = UINT_MAX;

	for (size_t column = 0; column < screen->n_columns; column++) {
		unsigned up = colour_of(screen, column, upper);
		unsigned low = colour_of(screen, column, lower);

		if (up != last_upper)
			buf_printf(screen->buf, "\033[38;5;%um", up);
		if (low != last_lower)
			buf_printf(screen->buf, "\033[48;5;%um", low);
		last_upper = up;
		last_lower = low;
		for (size_t i = 0; i < screen->stretch; i++)
			buf_add(screen->buf, "\xe2\x96\x80");
	}
	buf_add(screen->buf, "\033[0m");
}

/* One row, all of it in one colour or character. */
static void add_row(const struct screen *screen, size_t row)
{
	if (screen->colour) {
		add_halves(screen, row, row);
		return;
	}
	for (size_t column = 0; column < screen->n_columns; column++)
		for (size_t i = 0; i < screen->stretch; i++)
			buf_add_char(screen->buf, mark_of(screen, column, row));
}

static void add_ms(const struct screen *screen, size_t row)
{
	uint64_t at = screen->heat->column_ns / screen->heat->n_rows * row;

	if (screen->heat->column_ns <= 10000000000)
		buf_printf(screen->buf, "%5llu ms ", (unsigned long long)(at / 1000000));
	else
		buf_printf(screen->buf, "%6llu s ", (unsigned long long)(at / 1000000000));
}

/* Time goes up; an odd row is left alone at the top. */
static void draw_time(const struct screen *screen)
{
	size_t n = screen->heat->n_rows;
	size_t step = screen->colour ? 2 : 1;

	for (size_t line = (n + step - 1) / step; line-- > 0;) {
		size_t row = line * step;

		if ((line * step) % TICK == 0)
			add_ms(screen, row);
		else
			buf_printf(screen->buf, "%*s", HEAT_TERMINAL_AXIS, "");
		if (screen->colour)
			add_halves(screen, row + 1, row);
		else
			add_row(screen, row);
		buf_add_char(screen->buf, '\n');
	}
}

static void draw_labels(const struct screen *screen)
{
	enum { MAX_WIDTH = HEAT_TERMINAL_LABEL - 1 };

	for (size_t row = 0; row < screen->heat->n_rows; row++) {
		const char *label = screen->heat->row_labels[row];
		size_t width;

		label = *label ? label : "(none)";
		width = words_width(label);
		/* the end tells threads of one name apart */
		if (width > MAX_WIDTH) {
			const char *end = label + strlen(label);

			for (size_t i = 0; i < MAX_WIDTH - 2 && end > label; end -= end > label) {
				if (((unsigned char)end[-1] & 0xc0) != 0x80)
					i++;
			}
			buf_add(screen->buf, "..");
			words_plain(screen->buf, end);
			width = words_width(end) + 2;
		} else {
			words_plain(screen->buf, label);
		}
		buf_printf(screen->buf, "%*s",
			   width < HEAT_TERMINAL_LABEL ? (int)(HEAT_TERMINAL_LABEL - width) : 0,
			   "");
		add_row(screen, row);
		buf_add_char(screen->buf, '\n');
	}
}

/* The times below the columns, where they have room. */
static void draw_axis(const struct screen *screen, const struct selection *selection, size_t margin)
{
	size_t used = 0;

	buf_printf(screen->buf, "%*s", (int)margin, "");
	for (size_t column = 0; column < screen->n_columns; column++) {
		size_t at = column * screen->stretch;
		size_t before;

		if (column % TICK != 0 || at < used)
			continue;
		buf_printf(screen->buf, "%*s", (int)(at - used), "");
		before = screen->buf->len;
		buf_add_char(screen->buf, '|');
		heat_add_time(screen->buf, screen->heat,
			      heat_cell_time(screen->heat, selection->profile, column, 0));
		buf_add(screen->buf, " s ");
		used = at + (screen->buf->len - before);
	}
	buf_add_char(screen->buf, '\n');
}

static void draw_legend(const struct screen *screen)
{
	const struct heat *heat = screen->heat;

	if (heat->has_others)
		buf_add(screen->buf, "the last row is not in the scale; ");
	if (screen->colour) {
		buf_printf(screen->buf,
			   "\033[48;5;%dm  \033[0m no sample  \033[48;5;%dm  \033[0m 0  ", GREY,
			   WHITE);
		for (size_t i = 0; i < LEVELS; i++)
			buf_printf(screen->buf, "\033[48;5;%dm ", reds[i]);
		buf_add(screen->buf, "\033[0m more");
		for (size_t i = 0; heat->min < 0 && i < LEVELS; i++)
			buf_printf(screen->buf, "%s\033[48;5;%dm ", i ? "" : "  ", greens[i]);
		buf_add(screen->buf, heat->min < 0 ? "\033[0m below 0\n" : "\n");
		return;
	}
	buf_printf(screen->buf, "blank: no sample, 0: zero, %s: more and more", more);
	if (heat->min < 0)
		buf_printf(screen->buf, ", %s: further below zero", less);
	buf_add_char(screen->buf, '\n');
}

void heat_write_terminal(struct buf *buf, const struct heat *heat,
			 const struct selection *selection, const struct heat_terminal *terminal)
{
	size_t margin = heat->row_labels ? HEAT_TERMINAL_LABEL : HEAT_TERMINAL_AXIS;
	size_t columns = terminal->columns > margin + 1 ? terminal->columns - margin - 1 : 1;
	struct screen screen = {.buf = buf, .heat = heat, .colour = terminal->colour};

	screen.n_columns = heat->n_columns < columns ? heat->n_columns : columns;
	screen.stretch = screen.n_columns ? columns / screen.n_columns : 1;
	if (screen.stretch > MAX_STRETCH)
		screen.stretch = MAX_STRETCH;
	words_plain(buf, terminal->title);
	buf_add(buf, "\n");
	heat_add_about(buf, heat, selection);
	buf_add(buf, "\n\n");
	if (heat->row_labels)
		draw_labels(&screen);
	else
		draw_time(&screen);
	draw_axis(&screen, selection, margin);
	draw_legend(&screen);
	if (screen.n_columns < heat->n_columns)
		buf_printf(buf, "%zu more columns do not fit; --column makes them longer\n",
			   heat->n_columns - screen.n_columns);
}
