/* flame_svg.c - draws a flame graph: rectangles with a title each, and a script for the rest */
#include "flamescope/draw/draw.h"

#include "base/words.h"
#include "flamescope/draw/internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHARACTER_WIDTH 7.3

enum {
	ROW = 18,
	BOX = 17,
	TEXT_AT = 13,
	INSET = 3,
	FOOT = 14,
	LINE_BYTES = 4096,
	NUMBER_BYTES = 256,
	LEGEND_AT = 446, /* right of what the script makes */
	LEGEND_CHARS = 24,
	ABOUT_TOP = 5,
};

struct picture {
	struct buf *buf;
	const struct flame_svg_options *options;
	const struct flame_layout *layout;
	const struct selection *selection;
	const struct flame_looks *looks;
	const double *change; /* of this graph's nodes; NULL: none */
	uint32_t width;       /* of the whole picture */
	uint32_t height;      /* of the graph */
};

static const char *name_of(const struct selection *selection, const struct flame *flame,
			   uint32_t node)
{
	return node == 0 ? "all" : selection_frame_name(selection, flame->nodes[node].frame);
}

/* NULL for the root and for labels of groups. */
static const struct profile_frame *frame_of(const struct selection *selection,
					    const struct flame *flame, uint32_t node)
{
	uint32_t frame = flame->nodes[node].frame;

	if (node == 0 || frame >= selection->profile->n_frames)
		return NULL;
	return &selection->profile->frames[frame];
}

static bool has_signs(const struct selection *selection)
{
	return selection->is_signed && selection->measure != QUERY_MEAN;
}

/* How strong the colour of a changed share is: a tenth of a point, one, five and more. */
static int change_step(double change)
{
	double size = change < 0 ? -change : change;
	int step = size < 0.001 ? 0 : size < 0.01 ? 3 : size < 0.05 ? 5 : COLOUR_CHANGE_STEPS;

	return change < 0 ? -step : step;
}

/* 1: all of it grew; -1: all of it shrank. */
static double signed_part(const struct flame_node *node)
{
	double gain = (double)node->gain;
	double loss = (double)node->loss;

	return gain + loss > 0 ? (gain - loss) / (gain + loss) : 0;
}

/* What stands in front of a name, so that the colour is not all that tells. */
static const char *mark_of(const struct picture *picture, uint32_t node)
{
	const struct flame_node *it = &picture->layout->flame->nodes[node];

	if (picture->change) {
		double change = picture->change[node];

		return change >= 0.001 ? "+ " : change <= -0.001 ? "\xe2\x88\x92 " : "";
	}
	if (!picture->selection->is_signed || picture->selection->measure == QUERY_MEAN)
		return "";
	return !it->loss ? "+ " : !it->gain ? "\xe2\x88\x92 " : "\xc2\xb1 ";
}

/* A change is no more than what is shown of it: no "-0.00". */
static void add_points(struct buf *buf, double change)
{
	double points = round(change * 10000) / 100;

	buf_printf(buf, "%+.2f points", points == 0 ? 0 : points);
}

/* The class is the colour: by change or sign, else the palette's number. */
static void add_class(const struct picture *picture, uint32_t node)
{
	const struct flame_node *it = &picture->layout->flame->nodes[node];
	struct colour_frame look;
	int step;

	if (!picture->change && !has_signs(picture->selection)) {
		look = flame_look(picture->looks, node);
		buf_printf(picture->buf, "c%u", colour_of_frame(&look, picture->options->by));
		return;
	}
	step = picture->change ? change_step(picture->change[node])
			       : colour_change_step(signed_part(it));
	buf_printf(picture->buf, "%c%d", step < 0 ? 'l' : 'm', step < 0 ? -step : step);
}

/* "+12.0 MiB -3.00 MiB" */
static void add_signed(struct buf *buf, const struct flame_node *node, const char *unit)
{
	if (node->gain || !node->loss) {
		buf_add_char(buf, '+');
		words_amount(buf, node->gain, unit);
	}
	if (node->loss) {
		buf_add(buf, node->gain ? " \xe2\x88\x92" : "\xe2\x88\x92");
		words_amount(buf, node->loss, unit);
	}
}

/* What a box says behind its name, where there is room. */
static void add_numbers(const struct picture *picture, uint32_t node, struct buf *share,
			struct buf *amount)
{
	const struct selection *selection = picture->selection;
	const struct flame_node *it = &picture->layout->flame->nodes[node];

	if (picture->change) {
		add_points(share, picture->change[node]);
		return;
	}
	words_share(share, (double)flame_layout_width(picture->layout->flame, node),
		    (double)picture->layout->total);
	if (has_signs(selection))
		add_signed(amount, it, selection->unit);
	else if (selection->measure != QUERY_MEAN)
		words_amount(amount, it->gain, selection->unit);
}

/* What a node stands for, in words; a mark in front of it where there are signs. */
static void add_values(const struct picture *picture, uint32_t node)
{
	const struct selection *selection = picture->selection;
	const struct flame_node *it = &picture->layout->flame->nodes[node];
	const char *unit = selection->unit;
	struct buf *buf = picture->buf;

	words_share(buf, (double)flame_layout_width(picture->layout->flame, node),
		    (double)picture->layout->total);
	if (picture->change) {
		buf_add(buf, ", ");
		add_points(buf, picture->change[node]);
		return;
	}
	buf_add(buf, ", ");
	if (selection->measure == QUERY_MEAN) {
		double mean = it->samples
				      ? ((double)it->gain - (double)it->loss) / (double)it->samples
				      : 0;

		buf_printf(buf, "mean %.6g %s, ", mean, unit);
	} else if (selection->is_signed) {
		buf_add(buf, "+");
		words_amount(buf, it->gain, unit);
		buf_add(buf, " -");
		words_amount(buf, it->loss, unit);
		buf_add(buf, ", ");
	} else if (selection->measure != QUERY_SAMPLES) {
		words_amount(buf, it->gain, unit);
		buf_add(buf, ", self ");
		words_amount(buf, it->self_gain, unit);
		buf_add(buf, ", ");
	}
	words_count(buf, it->samples);
	buf_add(buf, it->samples == 1 ? " sample, self " : " samples, self ");
	words_count(buf, it->self_samples);
}

/* A number of pixels without zeros that say nothing. */
static void add_pixels(struct buf *buf, double value)
{
	char text[48];
	int n = snprintf(text, sizeof(text), "%.4f", value);

	while (n > 0 && text[n - 1] == '0')
		n--;
	if (n > 0 && text[n - 1] == '.')
		n--;
	(void)buf_append(buf, text, (size_t)n);
}

/* A number of a box and two blanks before it, if N more characters have room for them. */
static size_t add_number(struct buf *buf, struct buf *number, size_t n)
{
	size_t width = words_width(buf_text(number)) + strlen("  ");

	if (number->len == 0 || width > n)
		return 0;
	buf_add(buf, "  ");
	words_xml(buf, buf_text(number));
	return n - width;
}

static void add_label(const struct picture *picture, uint32_t node, double x, double width,
		      struct buf *share, struct buf *amount)
{
	const char *name = name_of(picture->selection, picture->layout->flame, node);
	const char *mark = mark_of(picture, node);
	struct buf *buf = picture->buf;
	double n_fit = (width - 2 * INSET) / CHARACTER_WIDTH;
	size_t n = n_fit > 0 ? (size_t)n_fit : 0;

	if (n < 3)
		return;
	buf_add(buf, "<text x=\"");
	add_pixels(buf, x + INSET);
	buf_printf(buf, "\" dy=\"%d\">", TEXT_AT);
	buf_add(buf, mark);
	n -= words_width(mark);
	words_xml_cut(buf, name, n);
	if (words_width(name) < n && (n = add_number(buf, share, n - words_width(name))))
		(void)add_number(buf, amount, n);
	buf_add(buf, "</text>");
}

static void add_frame(const struct picture *picture, uint32_t node)
{
	const struct flame *flame = picture->layout->flame;
	const struct profile_frame *frame = frame_of(picture->selection, flame, node);
	struct buf *buf = picture->buf;
	double scale = (double)(picture->width - 2 * SVG_MARGIN) / (double)picture->layout->total;
	double x = SVG_MARGIN + (double)picture->layout->left[node] * scale;
	double width = (double)flame_layout_width(flame, node) * scale;
	uint32_t depth = flame->nodes[node].depth;
	uint32_t row = picture->options->icicle ? depth : picture->layout->depth - depth;
	struct buf share, amount;

	buf_init(&share, NUMBER_BYTES);
	buf_init(&amount, NUMBER_BYTES);
	add_numbers(picture, node, &share, &amount);
	buf_add(buf, "<g class=\"");
	add_class(picture, node);
	if (node && flame->nodes[node].frame < picture->options->n_matches &&
	    picture->options->matches[flame->nodes[node].frame])
		buf_add(buf, " hit"); /* as the script does, for where none runs */
	if (*mark_of(picture, node))
		buf_printf(buf, "\" data-m=\"%s", mark_of(picture, node));
	buf_printf(buf, "\" data-d=\"%u\" transform=\"translate(0,%u)\" data-p=\"%s", depth,
		   SVG_HEAD_HEIGHT + row * ROW, buf_text(&share));
	if (amount.len)
		buf_printf(buf, "\" data-t=\"%s", buf_text(&amount));
	buf_add(buf, "\"><title>");
	words_xml(buf, name_of(picture->selection, flame, node));
	buf_add(buf, "\n");
	if (frame) {
		const char *module = picture->selection->profile->strings[frame->module];

		buf_add(buf, "(");
		words_xml(buf, frame->inlined ? "inlined" : *module ? module : "no module");
		buf_add(buf, ") ");
	}
	add_values(picture, node);
	buf_add(buf, "</title><rect x=\"");
	add_pixels(buf, x);
	buf_add(buf, "\" width=\"");
	add_pixels(buf, width);
	buf_printf(buf, "\" height=\"%d\"/>", BOX);
	add_label(picture, node, x, width, &share, &amount);
	buf_add(buf, "</g>\n");
	buf_release(&share);
	buf_release(&amount);
}

static void add_graph(const struct picture *picture, const char *id, bool shown)
{
	const struct flame_layout *layout = picture->layout;
	uint32_t node = 0;

	buf_printf(picture->buf, "<g id=\"%s\" data-height=\"%u\" data-total=\"%llu\"", id,
		   picture->height, (unsigned long long)layout->total);
	if (shown && picture->options->search) {
		buf_add(picture->buf, " data-search=\"");
		words_xml(picture->buf, picture->options->search);
		buf_add_char(picture->buf, '"');
	}
	buf_add(picture->buf, shown ? ">\n" : " visibility=\"hidden\">\n");
	if (layout->total > 0) {
		do {
			add_frame(picture, node);
			node = flame_layout_next(layout, node);
		} while (node != FLAME_NONE);
	}
	buf_add(picture->buf, "</g>\n");
}

/* The picture's description for a screen reader: the functions with most of their own. */
static void add_about(struct buf *about, const struct flame *reverse,
		      const struct selection *selection)
{
	uint64_t total = flame_layout_width(reverse, 0);
	uint64_t below = UINT64_MAX;

	buf_add(about, "Flame graph; most is spent in");
	for (int i = 0; i < ABOUT_TOP; i++) {
		uint32_t best = FLAME_NONE;

		for (uint32_t node = reverse->nodes[0].first_child; node != FLAME_NONE;
		     node = reverse->nodes[node].next) {
			uint64_t width = flame_layout_width(reverse, node);

			if (width < below &&
			    (best == FLAME_NONE || width > flame_layout_width(reverse, best)))
				best = node;
		}
		if (best == FLAME_NONE)
			break;
		below = flame_layout_width(reverse, best);
		buf_add(about, i ? "; " : " ");
		words_plain(about, name_of(selection, reverse, best));
		buf_add(about, " ");
		words_share(about, (double)below, (double)total);
	}
	buf_add(about, ".");
}

static void add_line(struct buf *line, const struct flame_layout *layout)
{
	const struct selection *selection = layout->flame->selection;
	static const char *const words[] = {
		[QUERY_SAMPLES] = "",           [QUERY_WEIGHT] = "",
		[QUERY_VALUE] = "in all ",      [QUERY_MEAN] = "mean of ",
		[QUERY_DELTA] = "change of ",   [QUERY_GAIN] = "growth of ",
		[QUERY_LOSS] = "shrinking of ",
	};

	measure_taken(line, selection);
	if (selection->measure != QUERY_SAMPLES) {
		buf_printf(line, ", %s", words[selection->measure]);
		if (selection->measure == QUERY_MEAN)
			words_count(line, layout->total);
		else
			measure_total(line, selection, layout->total);
	}
	if (selection->is_signed)
		buf_add(line, "; + orange grew, \xe2\x88\x92 blue shrank, \xc2\xb1 both");
	if (layout->least > 1) {
		buf_add(line, "; frames under ");
		words_share(line, (double)layout->least, (double)layout->total);
		buf_add(line, " are left out");
	}
	if (layout->flame->depth > FLAME_LAYOUT_MAX_DEPTH)
		buf_printf(line, "; deeper than %d is left out", FLAME_LAYOUT_MAX_DEPTH);
}

/* What of the palette is to be seen. */
static void use_colours(const struct picture *picture, struct svg_colours *colours)
{
	uint32_t node = 0;

	if (picture->layout->total == 0)
		return;
	do {
		struct colour_frame look = flame_look(picture->looks, node);

		colours->is_used[colour_of_frame(&look, picture->options->by)] = true;
		node = flame_layout_next(picture->layout, node);
	} while (node != FLAME_NONE);
}

/* A colour and its meaning; nothing once there is no room. */
static void add_key(const struct picture *picture, uint32_t *x, const char *class, const char *text)
{
	size_t n = words_width(text) < LEGEND_CHARS ? words_width(text) : LEGEND_CHARS;
	uint32_t width = (uint32_t)((double)n * CHARACTER_WIDTH) + 34;

	if (*x + width > picture->width)
		return;
	buf_printf(picture->buf,
		   "<g class=\"%s\"><rect x=\"%u\" y=\"54\" width=\"12\" height=\"12\"/>"
		   "<text x=\"%u\" y=\"64\">",
		   class, *x, *x + 17);
	words_xml_cut(picture->buf, text, LEGEND_CHARS);
	buf_add(picture->buf, "</text></g>\n");
	*x += width;
}

static void add_keys(const struct picture *picture, const struct flame_legend *legend)
{
	bool has_changes = picture->change || has_signs(picture->selection);
	struct buf class, text;
	uint32_t x = LEGEND_AT;

	buf_add(picture->buf, "<g id=\"legend\">\n");
	if (has_changes) {
		add_key(picture, &x, "l8", picture->change ? "less" : "shrank");
		add_key(picture, &x, "m8", picture->change ? "more" : "grew");
	}
	buf_init(&class, NUMBER_BYTES);
	buf_init(&text, LINE_BYTES);
	for (size_t i = 0; !has_changes && i < legend->n; i++) {
		buf_clear(&class);
		buf_clear(&text);
		buf_printf(&class, "c%u", legend->keys[i].number);
		(void)buf_append(&text, legend->keys[i].text, legend->keys[i].len);
		add_key(picture, &x, buf_text(&class), buf_text(&text));
	}
	buf_release(&class);
	buf_release(&text);
	buf_add(picture->buf, "</g>\n");
}

static void add_head(const struct picture *picture, const struct flame_layout *reverse)
{
	struct buf about, line;
	struct svg_head head = {.title = picture->options->title,
				.style = svg_flame_style,
				.width = picture->width,
				.height = SVG_HEAD_HEIGHT + picture->height + FOOT};

	buf_init(&about, LINE_BYTES);
	buf_init(&line, LINE_BYTES);
	add_about(&about, reverse->flame, picture->selection);
	if (picture->change)
		buf_add(&line, "+ orange: more than before; \xe2\x88\x92 blue: less");
	else
		add_line(&line, picture->layout);
	head.about = buf_text(&about);
	head.line = buf_text(&line);
	svg_open(picture->buf, &head);
	buf_release(&about);
	buf_release(&line);
}

/* LOOKS: of the calls, and of the reverse graph. */
static int write_both(struct picture *picture, const struct flame_layout *reverse,
		      const struct flame_looks *looks)
{
	struct picture backward = *picture;
	struct svg_colours colours = {0};
	struct flame_legend *legend = calloc(1, sizeof(*legend));
	bool has_changes = picture->change || has_signs(picture->selection);
	int r = legend ? flame_legend_make(legend, &looks[0]) : -ENOMEM;

	if (r < 0) {
		free(legend);
		return r;
	}
	backward.layout = reverse;
	backward.looks = &looks[1];
	backward.change = picture->options->reverse_change;
	backward.height = (reverse->depth + 1) * ROW;
	use_colours(picture, &colours);
	use_colours(&backward, &colours);
	for (size_t i = 0; i < legend->n; i++)
		colours.is_used[legend->keys[i].number] = true;
	add_head(picture, reverse);
	svg_flame_colours(picture->buf, &colours, has_changes);
	add_keys(picture, legend);
	free(legend);
	add_graph(picture, "calls", true);
	add_graph(&backward, "reverse", false);
	svg_close(picture->buf, svg_flame_script);
	return picture->buf->failed ? -EFBIG : 0;
}

int flame_svg_write(struct buf *buf, const struct flame *calls, const struct flame *reverse,
		    const struct flame_svg_options *options)
{
	struct flame_layout forward = {0};
	struct flame_layout backward = {0};
	struct flame_looks looks[2] = {0};
	struct picture picture = {.buf = buf,
				  .options = options,
				  .layout = &forward,
				  .looks = &looks[0],
				  .selection = calls->selection,
				  .change = options->change,
				  .width = options->width ? options->width : FLAME_SVG_WIDTH};
	int r = flame_layout_make(&forward, calls, options->threshold, true);

	if (r == 0)
		r = flame_layout_make(&backward, reverse, options->threshold, true);
	if (r == 0)
		r = flame_looks_init(&looks[0], calls, FLAME_CALLS, options->by);
	if (r == 0)
		r = flame_looks_init(&looks[1], reverse, FLAME_REVERSE, options->by);
	picture.height = (forward.depth + 1) * ROW;
	if (r == 0)
		r = write_both(&picture, &backward, looks);
	flame_looks_release(&looks[0]);
	flame_looks_release(&looks[1]);
	flame_layout_release(&forward);
	flame_layout_release(&backward);
	return r;
}
