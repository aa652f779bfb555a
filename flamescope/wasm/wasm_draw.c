/* wasm_draw.c - the palette, the colours of frames, and files: drawings, tables and other formats
 */
#include "flamescope/wasm/internal.h"

#include "base/json.h"
#include "flamescope/convert/convert.h"
#include "flamescope/diff/diff.h"
#include "flamescope/draw/draw.h"
#include "flamescope/draw/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the palette --- */

static uint32_t palette_rgb(const char *name, enum colour_theme theme, unsigned i)
{
	if (strcmp(name, "frames") == 0)
		return colour_rgb(i, theme);
	if (strcmp(name, "changes") == 0)
		return colour_of_change((int)i - COLOUR_CHANGE_STEPS, theme);
	if (strcmp(name, "ink") == 0)
		return i ? colour_no_sample(theme) : colour_ink(theme);
	return colour_of_heat(i, strcmp(name, "less") == 0, theme);
}

/* "frames"; "changes" from all of it shrank; heatmaps: "more", "less"; "ink" and no sample. */
WASM_EXPORT("palette_column")
const struct wasm_view *wasm_palette_column(unsigned theme, const char *name)
{
	const size_t n = strcmp(name, "frames") == 0    ? COLOUR_N
			 : strcmp(name, "changes") == 0 ? 2 * COLOUR_CHANGE_STEPS + 1
			 : strcmp(name, "ink") == 0     ? 2
							: COLOUR_HEAT_STEPS + 1;
	uint32_t *to;
	const struct wasm_view *column = wasm_numbers(n, &to);

	for (unsigned i = 0; to && i < n; i++)
		to[i] = palette_rgb(name, (enum colour_theme)theme, i);
	return column;
}

/* Whose code the modules of frames are, and what that is called. */
WASM_EXPORT("family_column")
const struct wasm_view *wasm_family_column(const struct profile *profile)
{
	uint32_t *to;
	const struct wasm_view *column = wasm_numbers(profile->n_frames, &to);

	for (size_t i = 0; to && i < profile->n_frames; i++)
		to[i] = colour_family_of(profile->strings[profile->frames[i].module]);
	return column;
}

WASM_EXPORT("family_facts") const char *wasm_family_facts(const struct profile *profile)
{
	struct buf *buf = wasm_answer();

	(void)profile;
	for (unsigned i = 0; i < COLOUR_FAMILIES; i++) {
		buf_add_char(buf, i ? ',' : '[');
		json_add_string(buf, colour_family_word((enum colour_family)i));
	}
	buf_add_char(buf, ']');
	return buf_text(buf);
}

/* The states with a colour of their own, and its number. */
WASM_EXPORT("state_facts") const char *wasm_state_facts(void)
{
	struct buf *buf = wasm_answer();

	for (unsigned i = 0; colour_state_word(i); i++) {
		buf_add(buf, i ? ",{" : "[{");
		json_add_text(buf, "label", colour_state_word(i));
		json_add_number(buf, "number", colour_of_state(colour_state_word(i)));
		buf_add_char(buf, '}');
	}
	buf_add_char(buf, ']');
	return buf_text(buf);
}

/* --- the colours of frames --- */

/* "" and what is not known: by family. */
static enum colour_by by_of(const char *word)
{
	for (unsigned by = 0; by < COLOUR_BYS; by++)
		if (strcmp(word, colour_by_word(by)) == 0)
			return (enum colour_by)by;
	return COLOUR_BY_FAMILY;
}

struct wasm_looks {
	struct flame_looks looks;
	struct flame_legend legend;
};

WASM_EXPORT("looks_free") void wasm_looks_free(struct wasm_looks *looks)
{
	flame_looks_release(&looks->looks);
	free(looks);
}

WASM_EXPORT("looks_new")
struct wasm_looks *wasm_looks_new(const struct flame *flame, int reverse, const char *by)
{
	struct wasm_looks *made = calloc(1, sizeof(*made));
	int r = made ? flame_looks_init(&made->looks, flame, reverse ? FLAME_REVERSE : FLAME_CALLS,
					by_of(by))
		     : -ENOMEM;

	if (r == 0)
		r = flame_legend_make(&made->legend, &made->looks);
	if (r == 0)
		return made;
	if (made)
		wasm_looks_free(made);
	(void)err_set(wasm_err(), -r, "the colours of these stacks");
	return NULL;
}

/* The legend: [{label, number}]. */
WASM_EXPORT("looks_facts") const char *wasm_looks_facts(const struct wasm_looks *looks)
{
	struct buf *buf = wasm_answer();
	struct buf label = {.limit = SIZE_MAX};

	buf_add_char(buf, '[');
	for (size_t i = 0; i < looks->legend.n; i++) {
		const struct flame_key *key = &looks->legend.keys[i];

		buf_clear(&label);
		(void)buf_append(&label, key->text, key->len);
		buf_printf(buf, "%s{\"number\":%u", i ? "," : "", key->number);
		json_add_text(buf, "label", buf_text(&label));
		buf_add_char(buf, '}');
	}
	buf_release(&label);
	buf_add_char(buf, ']');
	return buf_text(buf);
}

/*
 * The number of each node's colour.  It is found once a frame, except where it does not go by the
 * frame alone.
 */
WASM_EXPORT("looks_column")
const struct wasm_view *wasm_looks_column(const struct wasm_looks *looks)
{
	const struct flame *flame = looks->looks.flame;
	const struct profile *profile = flame->selection->profile;
	const bool by_node = looks->looks.by == COLOUR_BY_STATE;
	uint32_t *known = calloc(profile->n_frames + 1, sizeof(*known));
	uint32_t *to;
	const struct wasm_view *column = wasm_numbers(known ? flame->n_nodes : 0, &to);

	for (uint32_t node = 0; known && to && node < flame->n_nodes; node++) {
		uint32_t frame = flame->nodes[node].frame;
		bool is_kept = !by_node && node && frame < profile->n_frames &&
			       !profile->frames[frame].inlined;

		if (is_kept && known[frame]) {
			to[node] = known[frame] - 1;
			continue;
		}
		struct colour_frame look = flame_look(&looks->looks, node);

		to[node] = colour_of_frame(&look, looks->looks.by);
		if (is_kept)
			known[frame] = to[node] + 1;
	}
	free(known);
	return column;
}

/* The stacks of a selection as a graph whose nodes are the same. */
WASM_EXPORT("stacks_new") struct flame *wasm_stacks_new(const struct selection *selection)
{
	struct flame *flame = calloc(1, sizeof(*flame));
	struct flame_node *nodes = calloc(selection->n_nodes + 1, sizeof(*nodes));

	if (!flame || !nodes) {
		free(flame);
		free(nodes);
		(void)err_set(wasm_err(), ENOMEM, "the colours of these stacks");
		return NULL;
	}
	for (size_t i = 0; i < selection->n_nodes; i++) {
		nodes[i].frame = selection->nodes[i].frame;
		nodes[i].parent = selection->nodes[i].parent;
	}
	*flame = (struct flame){
		.selection = selection, .nodes = nodes, .n_nodes = selection->n_nodes};
	return flame;
}

/* --- files --- */

struct wasm_file {
	struct buf buf;
};

enum { MAX_FILE = 1 << 30 };

static int keep(void *context, const void *bytes, size_t len)
{
	struct wasm_file *file = context;

	return buf_append(&file->buf, bytes, len);
}

/* What was made; NULL where there is an error, and FILE is gone. */
static struct wasm_file *file_or_error(struct wasm_file *file, int r)
{
	if (r == 0)
		return file;
	if (file)
		buf_release(&file->buf);
	free(file);
	return NULL;
}

/* A selection as a file whose name ends in END: "perf", "pb", "folded"... */
WASM_EXPORT("file_new")
struct wasm_file *wasm_file_new(const struct selection *selection, const char *end)
{
	struct wasm_file *file = calloc(1, sizeof(*file));
	const struct convert_sink sink = {keep, file};
	struct convert_options options = {0};
	struct convert_report report;
	struct err *err = wasm_err();
	int r = file ? 0 : err_set(err, ENOMEM, "a file");

	if (r == 0) {
		buf_init(&file->buf, MAX_FILE);
		r = convert_format_of(end, &options.format, &options.gzip, err);
	}
	if (r == 0)
		r = convert_write(selection, &options, &sink, &report, err);
	return file_or_error(file, r);
}

WASM_EXPORT("file_free") void wasm_file_free(struct wasm_file *file)
{
	buf_release(&file->buf);
	free(file);
}

/* Its bytes. */
WASM_EXPORT("file_column") const struct wasm_view *wasm_file_column(const struct wasm_file *file)
{
	return wasm_view(file->buf.data, file->buf.len, WASM_U8);
}

struct drawing {
	const struct selection *selection;
	const void *of;     /* a heatmap, a comparison or a baseline */
	const char *around; /* a function; NULL: whole stacks */
	struct flame_svg_options svg;
};

/* As `wick flamegraph` draws it. */
static int draw_flame(const struct drawing *it, const char *kind, struct buf *buf)
{
	struct flame_svg_options options = it->svg;
	struct flame *calls = NULL;
	struct flame *reverse = NULL;
	int r = flame_make(it->selection, FLAME_CALLS, it->around, &calls);

	options.threshold = FLAME_SVG_THRESHOLD;
	options.icicle = strcmp(kind, "reverse.svg") == 0 || strcmp(kind, "icicle.svg") == 0;
	if (r == 0)
		r = flame_make(it->selection, FLAME_REVERSE, it->around, &reverse);
	if (r == 0)
		r = flame_svg_write(buf, calls, reverse, &options);
	flame_free(reverse);
	flame_free(calls);
	return r;
}

/* As `wick diff` draws it, of two selections: the reverse graph is made of their stacks. */
static int draw_diff(const struct drawing *it, struct buf *buf)
{
	const struct selection *const sides_of[DIFF_SIDES][1] = {{it->of}, {it->selection}};
	const struct diff_side sides[DIFF_SIDES] = {{1, sides_of[0]}, {1, sides_of[1]}};
	struct flame_svg_options options = it->svg;
	struct diff_picture picture;
	struct diff *diff = NULL;
	int r = diff_begin(sides, 0, &diff, wasm_err());

	if (r < 0)
		return r;
	r = diff_picture_make(diff, &picture);
	options.change = picture.change;
	options.reverse_change = picture.reverse_change;
	if (r == 0)
		r = flame_svg_write(buf, &picture.calls, &picture.reverse, &options);
	diff_picture_release(&picture);
	diff_free(diff);
	return r;
}

static int write_functions(const struct drawing *it, struct buf *buf)
{
	struct flame_function *functions = NULL;
	struct function_table table = {.selection = it->selection};
	int r = flame_functions(it->selection, &functions, &table.n_rows);

	table.rows = functions;
	if (r == 0)
		function_table_csv(buf, &table);
	free(functions);
	return r;
}

static int draw(const struct drawing *it, const char *kind, struct buf *buf)
{
	const struct heat_svg_options heat = {.title = it->svg.title};
	const struct diff_table table = {.diff = it->of, .level = DIFF_LEVEL};

	if (strcmp(kind, "heatmap.svg") == 0)
		return heat_svg_write(buf, it->of, it->selection, &heat);
	if (strcmp(kind, "heatmap.csv") == 0)
		heat_write_csv(buf, it->of, it->selection);
	else if (strcmp(kind, "diff.svg") == 0)
		return draw_diff(it, buf);
	else if (strcmp(kind, "diff.csv") == 0)
		diff_table_csv(&table, buf);
	else if (strstr(kind, ".csv"))
		return write_functions(it, buf);
	else
		return draw_flame(it, kind, buf);
	return buf->failed ? -EFBIG : 0;
}

/* The text after a text and its NUL; NULL: that is empty. */
static const char *text_after(const char **at)
{
	*at += strlen(*at) + 1;
	return **at ? *at : NULL;
}

/*
 * KIND: "heatmap.svg", "heatmap.csv" OF a heatmap, "diff.csv" OF a comparison, "diff.svg" OF the
 * baseline's selection, "flame.svg", "icicle.svg"...: the stacks; other CSV is of the functions.
 * TEXTS: title, function that the stacks are around, what colours go by, and search, each with a
 * NUL.
 */
WASM_EXPORT("drawing_new")
struct wasm_file *wasm_drawing_new(const char *kind, const struct selection *selection,
				   const void *of, const char *texts, const uint8_t *matches,
				   size_t n_matches)
{
	struct drawing it = {.selection = selection,
			     .of = of,
			     .svg = {.title = texts, .matches = matches, .n_matches = n_matches}};
	struct wasm_file *file = calloc(1, sizeof(*file));
	const char *by;
	int r = -ENOMEM;

	it.around = text_after(&texts);
	by = text_after(&texts);
	it.svg.by = by ? by_of(by) : COLOUR_BY_FAMILY;
	it.svg.search = text_after(&texts);
	if (file) {
		buf_init(&file->buf, FLAME_SVG_MAX_BYTES);
		r = draw(&it, kind, &file->buf);
	}
	if (r < 0)
		(void)err_set(wasm_err(), 0, "%s",
			      r == -EFBIG ? "it is too large" : "there is no memory for it");
	return file_or_error(file, r);
}
