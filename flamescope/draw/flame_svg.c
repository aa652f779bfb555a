/* flame_svg.c - draws a flame graph: rectangles with a title each, and a script for the rest */
#include "flamescope/draw/draw.h"

#include "base/words.h"
#include "flamescope/draw/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CHARACTER_WIDTH 7.3

enum {
	ROW = 18,
	BOX = 17,
	TEXT_AT = 13,
	INSET = 3,
	FOOT = 14,
	N_HUES = 8,
	LINE_BYTES = 4096,
	ABOUT_TOP = 5,
};

struct picture {
	struct buf *buf;
	const struct flame_svg_options *options;
	const struct flame_layout *layout;
	const struct selection *selection;
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

static unsigned hue_of(const char *text)
{
	uint32_t hash = 2166136261U; /* FNV-1a: the same colour in every picture */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	return (hash >> 8) % N_HUES;
}

/* How much a share has changed, in three steps: a tenth of a point, one, five. */
static void add_change_class(struct buf *buf, double change)
{
	double size = change < 0 ? -change : change;

	if (size < 0.001)
		buf_add(buf, "same");
	else
		buf_printf(buf, "%s%d", change < 0 ? "less" : "more",
			   size < 0.01   ? 1
			   : size < 0.05 ? 2
					 : 3);
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

/* The class is the colour: by sign, else by module. */
static void add_class(const struct picture *picture, uint32_t node)
{
	const struct flame *flame = picture->layout->flame;
	const struct flame_node *it = &flame->nodes[node];
	const struct profile_frame *frame = frame_of(picture->selection, flame, node);
	const char *module;
	struct buf *buf = picture->buf;

	if (picture->change) {
		add_change_class(buf, picture->change[node]);
		return;
	}
	if (picture->selection->is_signed && picture->selection->measure != QUERY_MEAN) {
		buf_add(buf, !it->loss ? "gain" : !it->gain ? "loss" : "both");
		return;
	}
	if (!frame) {
		buf_add(buf, "label");
		return;
	}
	module = picture->selection->profile->strings[frame->module];
	if (strcmp(name_of(picture->selection, flame, node), "[unknown]") == 0)
		buf_add(buf, "none");
	else if (frame->inlined)
		buf_add(buf, "inlined");
	else if (strncmp(module, "[kernel", 7) == 0 || strstr(module, ".ko") ||
		 strstr(module, "vmlinux"))
		buf_add(buf, "kernel");
	else
		buf_printf(buf, "h%u", hue_of(module));
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
		buf_printf(buf, ", %+.2f points", 100 * picture->change[node]);
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

static void add_label(const struct picture *picture, uint32_t node, double x, double width)
{
	const struct flame *flame = picture->layout->flame;
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
	words_xml_cut(buf, name_of(picture->selection, flame, node), n);
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

	buf_add(buf, "<g class=\"");
	add_class(picture, node);
	if (*mark_of(picture, node))
		buf_printf(buf, "\" data-m=\"%s", mark_of(picture, node));
	buf_printf(buf, "\" data-d=\"%u\" transform=\"translate(0,%u)\"><title>", depth,
		   SVG_HEAD_HEIGHT + row * ROW);
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
	add_label(picture, node, x, width);
	buf_add(buf, "</g>\n");
}

static void add_graph(const struct picture *picture, const char *id, bool shown)
{
	const struct flame_layout *layout = picture->layout;
	uint32_t node = 0;

	buf_printf(picture->buf, "<g id=\"%s\" data-height=\"%u\" data-total=\"%llu\"%s>\n", id,
		   picture->height, (unsigned long long)layout->total,
		   shown ? "" : " visibility=\"hidden\"");
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
		buf_add(line, "; + red grew, \xe2\x88\x92 green shrank, \xc2\xb1 both");
	if (layout->least > 1) {
		buf_add(line, "; frames under ");
		words_share(line, (double)layout->least, (double)layout->total);
		buf_add(line, " are left out");
	}
	if (layout->flame->depth > FLAME_LAYOUT_MAX_DEPTH)
		buf_printf(line, "; deeper than %d is left out", FLAME_LAYOUT_MAX_DEPTH);
}

static int write_both(struct buf *buf, const struct flame_layout *calls,
		      const struct flame_layout *reverse, const struct flame_svg_options *options)
{
	struct picture picture = {.buf = buf,
				  .options = options,
				  .layout = calls,
				  .selection = calls->flame->selection,
				  .change = options->change,
				  .width = options->width ? options->width : FLAME_SVG_WIDTH};
	struct buf about, line;
	struct svg_head head = {.title = options->title, .style = svg_flame_style};

	picture.height = (calls->depth + 1) * ROW;
	buf_init(&about, LINE_BYTES);
	buf_init(&line, LINE_BYTES);
	add_about(&about, reverse->flame, picture.selection);
	if (options->change)
		buf_add(&line, "+ red: more than before; \xe2\x88\x92 blue: less");
	else
		add_line(&line, calls);
	head.about = buf_text(&about);
	head.line = buf_text(&line);
	head.width = picture.width;
	head.height = SVG_HEAD_HEIGHT + picture.height + FOOT;
	svg_open(buf, &head);
	buf_release(&about);
	buf_release(&line);
	add_graph(&picture, "calls", true);
	picture.layout = reverse;
	picture.change = options->reverse_change;
	picture.height = (reverse->depth + 1) * ROW;
	add_graph(&picture, "reverse", false);
	svg_close(buf, svg_flame_script);
	return buf->failed ? -EFBIG : 0;
}

int flame_svg_write(struct buf *buf, const struct flame *calls, const struct flame *reverse,
		    const struct flame_svg_options *options)
{
	struct flame_layout forward = {0};
	struct flame_layout backward = {0};
	int r = flame_layout_make(&forward, calls, options->threshold, true);

	if (r == 0)
		r = flame_layout_make(&backward, reverse, options->threshold, true);
	if (r == 0)
		r = write_both(buf, &forward, &backward, options);
	flame_layout_release(&forward);
	flame_layout_release(&backward);
	return r;
}
