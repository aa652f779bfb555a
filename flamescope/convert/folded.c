/* folded.c - stacks in one line each, as stackcollapse writes them: a;b;c 12 */
#include "flamescope/convert/internal.h"

#include "base/saturated.h"
#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Most names are; for the others every character is checked. */
static bool is_simple(const char *name)
{
	while (*name >= ' ' && *name <= '~')
		name++;
	return *name == '\0';
}

/*
 * A name must hold neither what parts frames nor what parts lines, nor orders for a terminal; most
 * readers want UTF-8 and nothing else.
 */
static void add_name(struct buf *buf, const char *name)
{
	size_t start = buf->len;

	if (is_simple(name))
		buf_add(buf, *name ? name : "[unknown]");
	else
		words_plain(buf, name);
	for (size_t i = start; i < buf->len; i++)
		if (buf->data[i] == ';')
			buf->data[i] = ':';
}

/* From the root to NODE, through PATH, which has room for the deepest stack. */
static void add_stack(struct out *out, uint32_t node, uint32_t *path)
{
	const struct selection *selection = out->selection;
	size_t n = 0;

	for (; node; node = selection->nodes[node].parent)
		path[n++] = selection->nodes[node].frame;
	if (n == 0)
		buf_add(&out->buf, "[no frames]");
	while (n-- > 0) {
		add_name(&out->buf, selection_frame_name(selection, path[n]));
		if (n)
			buf_add_char(&out->buf, ';');
	}
}

static void sum_up(struct out *out, uint64_t *sums)
{
	const struct selection *selection = out->selection;

	for (size_t i = 0; i < selection->n; i++) {
		int64_t value = out_count(selection, i);

		if (value < 0) {
			out->report.n_negative++;
			continue;
		}
		sums[selection->stacks[i]] =
			saturated_add(sums[selection->stacks[i]], (uint64_t)value);
		out->report.n_samples++;
	}
}

static void add_lines(struct out *out, const uint64_t *sums, uint32_t *path)
{
	for (uint32_t node = 0; node < out->selection->n_nodes && out_step(out); node++) {
		if (sums[node] == 0)
			continue;
		add_stack(out, node, path);
		buf_add_char(&out->buf, ' ');
		buf_add_dec(&out->buf, sums[node], 0, ' ');
		buf_add_char(&out->buf, '\n');
	}
}

int folded_write(struct out *out)
{
	size_t n = out->selection->n_nodes + 1;
	uint64_t *sums = calloc(n, sizeof(*sums));
	uint32_t *path = calloc(n, sizeof(*path));
	int r = sums && path ? 0 : -ENOMEM;

	if (r == 0) {
		sum_up(out, sums);
		add_lines(out, sums, path);
	}
	free(sums);
	free(path);
	return r;
}
