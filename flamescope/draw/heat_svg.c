/* heat_svg.c - draws a heatmap: one path a colour, and the values for the script */
#include "flamescope/draw/draw.h"

#include "base/words.h"
#include "flamescope/draw/internal.h"

#include <errno.h>
#include <math.h>

enum {
	WIDTH = 1200,
	LEVELS = 12,
	LABEL_CHARS = 32,
	AXIS = 46, /* left of the cells, where rows are time */
	FOOT = 30,
	TICK_PIXELS = 90,
	MAX_CELL_WIDTH = 24,
	TIME_HEIGHT = 400,
	MAX_CELL_HEIGHT = 20,
	LABEL_HEIGHT = 18,
	MAX_VALUES = 400000, /* cells whose values the script gets */
	LINE_BYTES = 4096,
	SWATCH = 10,
};

struct grid {
	struct buf *buf;
	const struct heat *heat;
	const struct selection *selection;
	uint32_t left;
	uint32_t cell_width;
	uint32_t cell_height;
	uint32_t width; /* of the picture */
};

/* The cells of one level; those above each other are one rectangle. */
static void add_level(const struct grid *grid, int level)
{
	const struct heat *heat = grid->heat;
	struct buf *buf = grid->buf;

	buf_printf(buf, "<path class=\"%c%d\" d=\"",
		   level == HEAT_LEVEL_NONE ? 'x'
		   : level < 0              ? 'n'
					    : 'p',
		   level == HEAT_LEVEL_NONE ? 0
		   : level < 0              ? -level
					    : level);
	for (size_t column = 0; column < heat->n_columns; column++) {
		for (size_t row = 0; row < heat->n_rows; row++) {
			size_t end = row, top;

			while (end < heat->n_rows && heat_level(heat, column, end, LEVELS) == level)
				end++;
			if (end == row)
				continue;
			/* rows of time go up from the bottom, labels down from the top */
			top = heat->row_labels ? row : heat->n_rows - end;
			buf_printf(buf, "M%zu %zuh1v%zuh-1z", column, top, end - row);
			row = end;
		}
	}
	buf_add(buf, "\"/>\n");
}

/* In one unit, so that the picture's script needs not know any. */
static void add_values(const struct grid *grid)
{
	const struct heat *heat = grid->heat;
	size_t n = heat->n_columns * heat->n_rows;
	double most = fmax(fabs((double)heat->min), fabs((double)heat->max));
	double divisor;

	buf_add(grid->buf, " data-unit=\"");
	words_xml(grid->buf, words_unit((uint64_t)most, grid->selection->unit, &divisor));
	buf_add_char(grid->buf, '"');
	if (n > MAX_VALUES)
		return;
	buf_add(grid->buf, " data-values=\"");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_add_char(grid->buf, ' ');
		if (heat->samples[i] && divisor > 1)
			buf_printf(grid->buf, "%.4g", (double)heat->values[i] / divisor);
		else if (heat->samples[i])
			buf_printf(grid->buf, "%lld", (long long)heat->values[i]);
	}
	buf_add_char(grid->buf, '"');
}

static void add_labels(const struct grid *grid)
{
	const struct heat *heat = grid->heat;
	struct buf *buf = grid->buf;

	for (size_t row = 0; heat->row_labels && row < heat->n_rows; row++) {
		buf_printf(buf, "<text class=\"row\" x=\"%d\" y=\"%zu\">", SVG_MARGIN,
			   (size_t)SVG_HEAD_HEIGHT + row * grid->cell_height + 13);
		words_xml_cut(buf, *heat->row_labels[row] ? heat->row_labels[row] : "(none)",
			      LABEL_CHARS);
		buf_add(buf, "</text>\n");
	}
	for (unsigned part = 0; !heat->row_labels && part <= 4; part++) {
		uint64_t at = heat->column_ns / 4 * part;

		buf_printf(buf, "<text class=\"soft\" text-anchor=\"end\" x=\"%u\" y=\"%zu\">",
			   grid->left - 4,
			   SVG_HEAD_HEIGHT + heat->n_rows * grid->cell_height * (4 - part) / 4 + 4);
		if (heat->column_ns <= 10000000000)
			buf_printf(buf, "%llu ms", (unsigned long long)(at / 1000000));
		else
			buf_printf(buf, "%llu s", (unsigned long long)(at / 1000000000));
		buf_add(buf, "</text>\n");
	}
}

static void add_ticks(const struct grid *grid)
{
	const struct heat *heat = grid->heat;
	size_t step = TICK_PIXELS / grid->cell_width + 1;
	size_t bottom = SVG_HEAD_HEIGHT + heat->n_rows * grid->cell_height + 16;

	for (size_t column = 0; column < heat->n_columns; column += step) {
		buf_printf(grid->buf, "<text class=\"soft\" x=\"%zu\" y=\"%zu\">",
			   grid->left + column * grid->cell_width, bottom);
		heat_add_time(grid->buf, heat,
			      heat_cell_time(heat, grid->selection->profile, column, 0));
		buf_add(grid->buf, " s</text>\n");
	}
}

static void add_cells(const struct grid *grid)
{
	const struct heat *heat = grid->heat;

	buf_printf(
		grid->buf,
		"<g id=\"cells\" tabindex=\"0\" role=\"img\" aria-labelledby=\"about\" "
		"data-columns=\"%zu\" data-rows=\"%zu\" data-column=\"%llu\" data-start=\"%lld\" "
		"data-up=\"%d\"",
		heat->n_columns, heat->n_rows, (unsigned long long)heat->column_ns,
		(long long)heat_cell_time(heat, grid->selection->profile, 0, 0), !heat->row_labels);
	add_values(grid);
	buf_printf(grid->buf,
		   " transform=\"translate(%u,%d) scale(%u,%u)\" shape-rendering=\"crispEdges\">\n",
		   grid->left, SVG_HEAD_HEIGHT, grid->cell_width, grid->cell_height);
	add_level(grid, HEAT_LEVEL_NONE);
	for (int level = heat->min < 0 ? -LEVELS : 0; level <= LEVELS; level++)
		add_level(grid, level);
	buf_add(grid->buf, "<rect id=\"at\" width=\"1\" height=\"1\" display=\"none\"/>\n</g>\n");
}

static void add_swatch(struct buf *buf, unsigned *x, char class, int level)
{
	buf_printf(buf, "<rect class=\"%c%d\" x=\"%u\" y=\"55\" width=\"%d\" height=\"%d\"/>",
		   class, level, *x, SWATCH, SWATCH);
	*x += SWATCH;
}

/* What the colours mean: grey, below zero, 0, and up to the most. */
static void add_scale(const struct grid *grid)
{
	const struct heat *heat = grid->heat;
	struct buf *buf = grid->buf;
	unsigned x = SVG_MARGIN;

	buf_add(buf, "<g id=\"scale\">");
	add_swatch(buf, &x, 'x', 0);
	buf_printf(buf, "<text class=\"soft\" x=\"%u\" y=\"64\">no sample</text>", x + 4);
	x += 90;
	for (int level = LEVELS; heat->min < 0 && level > 0; level--)
		add_swatch(buf, &x, 'n', level);
	for (int level = 0; level <= LEVELS; level++)
		add_swatch(buf, &x, 'p', level);
	buf_printf(buf, "<text class=\"soft\" x=\"%u\" y=\"64\">%s ", x + 4,
		   heat->min < 0 ? "blue, ringed: below 0; up to" : "0 to");
	heat_add_most(buf, heat, grid->selection);
	if (heat->has_others)
		buf_add(buf, "; the last row is not in the scale");
	buf_add(buf, "</text></g>\n");
}

static uint32_t clamp(size_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : (uint32_t)value;
}

static void measure(struct grid *grid, uint32_t width)
{
	const struct heat *heat = grid->heat;
	uint32_t wanted = width ? width : WIDTH;

	grid->left = heat->row_labels ? SVG_MARGIN + LABEL_CHARS * 8 : SVG_MARGIN + AXIS;
	grid->cell_width = 1;
	if (wanted > grid->left + SVG_MARGIN)
		grid->cell_width = clamp((wanted - grid->left - SVG_MARGIN) / heat->n_columns, 1,
					 MAX_CELL_WIDTH);
	grid->cell_height = heat->row_labels
				    ? LABEL_HEIGHT
				    : clamp(TIME_HEIGHT / heat->n_rows, 1, MAX_CELL_HEIGHT);
	grid->width = (uint32_t)(grid->left + heat->n_columns * grid->cell_width + SVG_MARGIN);
	if (grid->width < wanted)
		grid->width = wanted;
}

int heat_svg_write(struct buf *buf, const struct heat *heat, const struct selection *selection,
		   const struct heat_svg_options *options)
{
	struct grid grid = {.buf = buf, .heat = heat, .selection = selection};
	struct svg_head head = {.title = options->title, .style = svg_heat_style};
	struct buf about, line;

	measure(&grid, options->width);
	head.width = grid.width;
	head.height = (uint32_t)(SVG_HEAD_HEIGHT + heat->n_rows * grid.cell_height + FOOT);
	buf_init(&about, LINE_BYTES);
	buf_init(&line, LINE_BYTES);
	heat_add_about(&line, heat, selection);
	buf_add(&about, "Heatmap; ");
	heat_add_about(&about, heat, selection);
	head.about = buf_text(&about);
	head.line = buf_text(&line);
	svg_open(buf, &head);
	buf_release(&about);
	buf_release(&line);
	svg_heat_colours(buf, LEVELS, heat->min < 0);
	add_scale(&grid);
	add_labels(&grid);
	add_cells(&grid);
	add_ticks(&grid);
	svg_close(buf, svg_heat_script);
	return buf->failed ? -EFBIG : 0;
}
