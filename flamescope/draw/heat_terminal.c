/* heat_terminal.c - a heatmap in characters: half blocks in colours, or plain ones */
#include "base/words.h"
#include "flamescope/draw/draw.h"
#include "flamescope/draw/internal.h"

#include <string.h>

enum { LEVELS = 8, MAX_STRETCH = 4, TICK = 10 };

/* The same without colours: digits would be read as values. */
static const char more[LEVELS + 1] = ".:-=+*#@";
static const char less[LEVELS + 1] = "abcdefgh";

struct screen {
	struct buf *buf;
	const struct heat *heat;
	enum heat_colours colours;
	enum colour_theme theme;
	size_t n_columns; /* that fit */
	size_t stretch;   /* characters a column */
};

static uint32_t colour_of(const struct screen *screen, size_t column, size_t row)
{
	int level = row < screen->heat->n_rows
			    ? heat_level(screen->heat, column, row, COLOUR_HEAT_STEPS)
			    : HEAT_LEVEL_NONE;

	if (level == HEAT_LEVEL_NONE)
		return colour_no_sample(screen->theme);
	return colour_of_heat((unsigned)(level < 0 ? -level : level), level < 0, screen->theme);
}

/* PART: 38 for the foreground, 48 for the background. */
static void set_colour(const struct screen *screen, int part, uint32_t rgb)
{
	if (screen->colours == HEAT_TRUE)
		buf_printf(screen->buf, "\033[%d;2;%u;%u;%um", part, rgb >> 16 & 0xff,
			   rgb >> 8 & 0xff, rgb & 0xff);
	else
		buf_printf(screen->buf, "\033[%d;5;%um", part, colour_256(rgb));
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
	uint32_t last_upper = UINT32_MAX, last_lower = UINT32_MAX;

	for (size_t column = 0; column < screen->n_columns; column++) {
		uint32_t up = colour_of(screen, column, upper);
		uint32_t low = colour_of(screen, column, lower);

		if (up != last_upper)
			set_colour(screen, 38, up);
		if (low != last_lower)
			set_colour(screen, 48, low);
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
	if (screen->colours) {
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
	size_t step = screen->colours ? 2 : 1;

	for (size_t line = (n + step - 1) / step; line-- > 0;) {
		size_t row = line * step;

		if ((line * step) % TICK == 0)
			add_ms(screen, row);
		else
			buf_printf(screen->buf, "%*s", HEAT_TERMINAL_AXIS, "");
		if (screen->colours)
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

static void draw_swatch(const struct screen *screen, int level)
{
	unsigned step = (unsigned)(level < 0 ? -level : level) * COLOUR_HEAT_STEPS / LEVELS;

	set_colour(screen, 48, colour_of_heat(step, level < 0, screen->theme));
	buf_add_char(screen->buf, ' ');
}

static void draw_scale(const struct screen *screen)
{
	set_colour(screen, 48, colour_no_sample(screen->theme));
	buf_add(screen->buf, "  \033[0m no sample  ");
	for (int level = -LEVELS; screen->heat->min < 0 && level < 0; level++)
		draw_swatch(screen, level);
	buf_add(screen->buf, screen->heat->min < 0 ? "\033[0m below 0  " : "");
	for (int level = 0; level <= LEVELS; level++)
		draw_swatch(screen, level);
	buf_add(screen->buf, "\033[0m 0 to ");
}

static void draw_legend(const struct screen *screen, const struct selection *selection)
{
	const struct heat *heat = screen->heat;

	if (heat->has_others)
		buf_add(screen->buf, "the last row is not in the scale; ");
	if (screen->colours) {
		draw_scale(screen);
		heat_add_most(screen->buf, heat, selection);
	} else {
		buf_printf(screen->buf, "blank: no sample, 0: zero, %s: more and more", more);
		if (heat->min < 0)
			buf_printf(screen->buf, ", %s: further below zero", less);
	}
	buf_add_char(screen->buf, '\n');
}

void heat_write_terminal(struct buf *buf, const struct heat *heat,
			 const struct selection *selection, const struct heat_terminal *terminal)
{
	size_t margin = heat->row_labels ? HEAT_TERMINAL_LABEL : HEAT_TERMINAL_AXIS;
	size_t columns = terminal->columns > margin + 1 ? terminal->columns - margin - 1 : 1;
	struct screen screen = {
		.buf = buf, .heat = heat, .colours = terminal->colours, .theme = terminal->theme};

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
	draw_legend(&screen, selection);
	if (screen.n_columns < heat->n_columns)
		buf_printf(buf, "%zu more columns do not fit; --column makes them longer\n",
			   heat->n_columns - screen.n_columns);
}
