/* flame_text.c - a call tree in lines */
#include "flamescope/draw/draw.h"

#include "base/json.h"
#include "base/words.h"
#include "flamescope/draw/internal.h"

#include <errno.h>

enum { MAX_INDENT = 60 };

const char *flame_module(const struct selection *selection, uint32_t frame)
{
	const struct profile_frame *it;

	if (frame >= selection->profile->n_frames)
		return "";
	it = &selection->profile->frames[frame];
	return it->inlined ? "inlined" : selection->profile->strings[it->module];
}

static const char *name_of(const struct flame *flame, uint32_t node)
{
	return node == 0 ? "all" : selection_frame_name(flame->selection, flame->nodes[node].frame);
}

static const char *module_of(const struct flame *flame, uint32_t node)
{
	return node == 0 ? "" : flame_module(flame->selection, flame->nodes[node].frame);
}

static void add_tree_line(struct buf *buf, const struct flame_layout *layout, uint32_t node)
{
	const struct flame *flame = layout->flame;
	const struct flame_node *it = &flame->nodes[node];
	const char *unit = flame->selection->unit;
	struct buf amount;
	int indent = it->depth < MAX_INDENT ? (int)it->depth : MAX_INDENT;

	buf_init(&amount, 64);
	words_share(&amount, (double)flame_layout_width(flame, node), (double)layout->total);
	buf_printf(buf, "%9s  ", buf_text(&amount));
	buf_clear(&amount);
	if (flame->selection->measure == QUERY_MEAN)
		words_count(&amount, it->samples);
	else if (flame->selection->is_signed)
		words_signed(&amount, (int64_t)(it->gain - it->loss), unit);
	else
		words_amount(&amount, it->gain, unit);
	buf_printf(buf, "%12s  ", buf_text(&amount));
	buf_release(&amount);
	buf_printf(buf, "%*s", 2 * indent, "");
	if (it->depth > MAX_INDENT)
		buf_printf(buf, "[%u] ", it->depth);
	words_plain(buf, name_of(flame, node));
	if (*module_of(flame, node)) {
		buf_add(buf, " (");
		words_plain(buf, module_of(flame, node));
		buf_add(buf, ")");
	}
	buf_add_char(buf, '\n');
}

int flame_write_tree(struct buf *buf, const struct flame *flame, double threshold)
{
	struct flame_layout layout;
	uint32_t node = 0;

	if (flame_layout_make(&layout, flame, threshold, false) < 0)
		return -ENOMEM;
	buf_printf(buf, "%9s  %12s  %s\n", "share",
		   flame->selection->measure == QUERY_MEAN ? "samples" : "total",
		   "function (module)");
	do {
		add_tree_line(buf, &layout, node);
		node = flame_layout_next(&layout, node);
	} while (node != FLAME_NONE);
	if (layout.least > 1) {
		buf_add(buf, "(frames under ");
		words_share(buf, (double)layout.least, (double)layout.total);
		buf_add(buf, " are left out)\n");
	}
	flame_layout_release(&layout);
	return 0;
}

int flame_write_csv(struct buf *buf, const struct flame *flame, double threshold)
{
	struct flame_layout layout;
	uint32_t node = 0;

	if (flame_layout_make(&layout, flame, threshold, false) < 0)
		return -ENOMEM;
	buf_add(buf, "depth,function,module,total gain,total loss,self gain,self loss,samples,self "
		     "samples\n");
	do {
		const struct flame_node *it = &flame->nodes[node];

		buf_printf(buf, "%u,", it->depth);
		words_csv(buf, name_of(flame, node));
		buf_add_char(buf, ',');
		words_csv(buf, module_of(flame, node));
		buf_printf(buf, ",%llu,%llu,%llu,%llu,%llu,%llu\n", (unsigned long long)it->gain,
			   (unsigned long long)it->loss, (unsigned long long)it->self_gain,
			   (unsigned long long)it->self_loss, (unsigned long long)it->samples,
			   (unsigned long long)it->self_samples);
		node = flame_layout_next(&layout, node);
	} while (node != FLAME_NONE);
	flame_layout_release(&layout);
	return 0;
}

static void add_json_frame(struct buf *buf, const struct flame *flame, uint32_t node)
{
	const struct flame_node *it = &flame->nodes[node];
	const char *module = node ? module_of(flame, node) : "";
	uint32_t frame = it->frame;
	bool inlined = node && frame < flame->selection->profile->n_frames &&
		       flame->selection->profile->frames[frame].inlined;

	buf_add(buf, "{\"name\":");
	json_add_string(buf, node ? name_of(flame, node) : "");
	buf_add(buf, ",\"module\":");
	json_add_string(buf, inlined ? "" : module);
	buf_printf(buf,
		   ",\"inlined\":%s,\"gain\":%llu,\"loss\":%llu,\"self_gain\":%llu,"
		   "\"self_loss\":%llu,\"samples\":%llu,\"self_samples\":%llu,\"children\":[",
		   inlined ? "true" : "false", (unsigned long long)it->gain,
		   (unsigned long long)it->loss, (unsigned long long)it->self_gain,
		   (unsigned long long)it->self_loss, (unsigned long long)it->samples,
		   (unsigned long long)it->self_samples);
}

/* Frames are closed when one follows that is not below them. */
static void add_json_frames(struct buf *buf, const struct flame_layout *layout)
{
	const struct flame_node *nodes = layout->flame->nodes;
	uint32_t node = 0;

	do {
		uint32_t depth = nodes[node].depth;

		add_json_frame(buf, layout->flame, node);
		node = flame_layout_next(layout, node);
		if (node != FLAME_NONE && nodes[node].depth > depth)
			continue;
		for (uint32_t up = node == FLAME_NONE ? 0 : nodes[node].depth; up <= depth; up++)
			buf_add(buf, "]}");
		if (node != FLAME_NONE)
			buf_add(buf, ",\n");
	} while (node != FLAME_NONE);
}

int flame_write_json(struct buf *buf, const struct flame *flame, double threshold)
{
	const struct flame_node *root = flame->nodes;
	struct flame_layout layout;

	if (flame_layout_make(&layout, flame, threshold, false) < 0)
		return -ENOMEM;
	buf_add(buf, "{\"kind\":\"calltree\",");
	measure_json(buf, flame->selection);
	buf_printf(buf,
		   ",\"threshold\":%llu,\"total\":{\"gain\":%llu,\"loss\":%llu,\"samples\":%llu},"
		   "\n\"root\":",
		   (unsigned long long)layout.least, (unsigned long long)root->gain,
		   (unsigned long long)root->loss, (unsigned long long)root->samples);
	add_json_frames(buf, &layout);
	buf_add(buf, "}\n");
	flame_layout_release(&layout);
	return 0;
}
