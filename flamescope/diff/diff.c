/* diff.c - what changed between two selections */
#include "flamescope/diff/diff.h"
#include "base/buf.h"
#include "base/function_name.h"
#include "base/map.h"
#include "flamescope/diff/internal.h"
#include "flamescope/draw/draw.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 1024 * 1024, FIRST_NAMES = 256 };

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The name that a frame is matched by, in the table of names. */
static const char *frame_key(const struct selection *side, uint32_t frame, struct intern *strings)
{
	const char *name = selection_frame_name(side, frame);
	const struct profile *profile = side->profile;
	size_t len = strlen(name);
	const char *module = "";
	const char *key = NULL;
	struct buf text;

	if (frame < profile->n_frames) {
		module = last_part(profile->strings[profile->frames[frame].module]);
		len = function_name_len(name);
	}
	buf_init(&text, NAME_BYTES);
	if (*name && strcmp(name, "[unknown]") != 0)
		(void)buf_append(&text, name, len);
	else if (!*module || strcmp(module, "[unknown]") == 0)
		buf_add(&text, "[unknown]");
	else
		buf_printf(&text, "[unknown] (%s)", module);
	if (!text.failed)
		key = intern_string(strings, buf_text(&text));
	buf_release(&text);
	return key;
}

static int append_name(struct diff_names *names, const char *name)
{
	if (names->n == names->capacity) {
		size_t capacity = names->capacity ? names->capacity * 2 : FIRST_NAMES;
		const char **grown = realloc((void *)names->names, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		names->names = grown;
		names->capacity = capacity;
	}
	names->names[names->n++] = name;
	return 0;
}

/* Interned strings are distinguished by their address: a map of addresses to number + 1. */
static int number_of(struct diff_names *names, struct map *numbers, const char *key,
		     uint32_t *ret_number)
{
	uintptr_t known = (uintptr_t)map_get(numbers, (uintptr_t)key);
	int r;

	if (!known) {
		r = append_name(names, key);
		if (r == 0)
			r = map_put(numbers, (uintptr_t)key, (void *)(uintptr_t)names->n);
		if (r < 0)
			return r;
		known = names->n;
	}
	*ret_number = (uint32_t)(known - 1);
	return 0;
}

static int number_recording(struct diff_names *names, struct map *numbers,
			    const struct selection *side, uint32_t **ret_of_frame)
{
	size_t n = side->profile->n_frames + side->n_labels;
	uint32_t *of_frame = calloc(n + 1, sizeof(*of_frame));

	*ret_of_frame = of_frame;
	if (!of_frame)
		return -ENOMEM;
	memset(of_frame, 0xff, (n + 1) * sizeof(*of_frame));
	for (size_t i = 1; i < side->n_nodes; i++) {
		uint32_t frame = side->nodes[i].frame;
		const char *key;
		int r;

		if (of_frame[frame] != UINT32_MAX)
			continue;
		key = frame_key(side, frame, &names->strings);
		r = key ? number_of(names, numbers, key, &of_frame[frame]) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

static int number_side(struct diff_names *names, struct map *numbers, const struct diff_side *side,
		       uint32_t ***ret_of_frame)
{
	uint32_t **of_frame = calloc(side->n + 1, sizeof(*of_frame));
	int r = of_frame ? 0 : -ENOMEM;

	*ret_of_frame = of_frame;
	for (size_t i = 0; i < side->n && r == 0; i++)
		r = number_recording(names, numbers, side->recordings[i], &of_frame[i]);
	return r;
}

/* Number the functions of both sides by their names. Returns 0; -ENOMEM. */
static int diff_names_make(const struct diff_side sides[DIFF_SIDES], struct diff_names *names)
{
	struct map numbers = {0};
	int r = 0;

	*names = (struct diff_names){0};
	for (unsigned side = 0; side < DIFF_SIDES && r == 0; side++)
		r = number_side(names, &numbers, &sides[side], &names->of_frame[side]);
	map_release(&numbers);
	return r;
}

/* Free them. */
static void diff_names_release(const struct diff_side sides[DIFF_SIDES], struct diff_names *names)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; names->of_frame[side] && i < sides[side].n; i++)
			free(names->of_frame[side][i]);
		free((void *)names->of_frame[side]);
	}
	free((void *)names->names);
	intern_release(&names->strings);
	*names = (struct diff_names){0};
}

struct diff_memory {
	struct diff_names names;
	uint32_t *place; /* in diff->functions, by the names' number */
	struct diff_matrix matrix;
	struct diff_chance *chance; /* NULL: there is nothing to test, or it was */
};

static int refuse_units(const struct selection *one, const struct selection *other, struct err *err)
{
	(void)err_set(err, 0, "one recording counts %s, another %s", measure_unit_word(one->unit),
		      measure_unit_word(other->unit));
	err_hint(err, "--metric samples");
	return -EINVAL;
}

static int check_side(struct diff *diff, unsigned side, struct err *err)
{
	const struct selection *first = diff->sides[DIFF_BASE].recordings[0];

	for (size_t i = 0; i < diff->sides[side].n; i++) {
		const struct selection *other = diff->sides[side].recordings[i];

		if (first->measure != other->measure || strcmp(first->unit, other->unit) != 0)
			return refuse_units(first, other, err);
		diff->n_samples[side] += other->n;
	}
	return 0;
}

static int check_sides(struct diff *diff, struct err *err)
{
	int r;

	if (diff->sides[DIFF_BASE].n == 0 || diff->sides[DIFF_NEW].n == 0)
		return err_set(err, 0, "one side has no recording");
	r = check_side(diff, DIFF_BASE, err);
	if (r == 0)
		r = check_side(diff, DIFF_NEW, err);
	if (r < 0)
		return r;
	if (diff->sides[DIFF_BASE].recordings[0]->measure == QUERY_MEAN)
		return err_set(err, 0, "a mean has no whole that shares could be of");
	diff->unit = diff->sides[DIFF_BASE].recordings[0]->unit;
	return 0;
}

static double greatest_change(const struct diff_function *function)
{
	return fmax(fabs(function->total_change), fabs(function->self_change));
}

static int by_change(const void *a, const void *b)
{
	const struct diff_function *x = a;
	const struct diff_function *y = b;
	double more = greatest_change(y) - greatest_change(x);

	if (more == 0)
		more = fabs(y->self_change) - fabs(x->self_change);
	return more > 0 ? 1 : more < 0 ? -1 : strcmp(x->name, y->name);
}

/* Functions by number, as the names have them. */
static int fill_functions(struct diff *diff, const struct diff_matrix *matrix)
{
	const struct diff_names *names = &diff->memory->names;
	double *shares = calloc(matrix->n_columns + 1, sizeof(*shares));

	if (!shares)
		return -ENOMEM;
	diff->functions = calloc(names->n + 1, sizeof(*diff->functions));
	diff->n_functions = diff->functions ? names->n : 0;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		diff_shares(matrix, side, shares);
		for (size_t i = 0; i < diff->n_functions; i++) {
			diff->functions[i].self[side] = shares[i * 2];
			diff->functions[i].total[side] = shares[i * 2 + 1];
		}
	}
	free(shares);
	if (!diff->functions)
		return -ENOMEM;
	for (size_t i = 0; i < names->n; i++) {
		struct diff_function *function = &diff->functions[i];

		function->name = names->names[i];
		function->self_change = function->self[DIFF_NEW] - function->self[DIFF_BASE];
		function->total_change = function->total[DIFF_NEW] - function->total[DIFF_BASE];
		function->self_p = 1;
		function->total_p = 1;
	}
	return 0;
}

static int compare(struct diff *diff)
{
	struct diff_matrix *matrix = &diff->memory->matrix;
	int r = diff_matrix_make(diff->sides, &diff->memory->names, matrix);

	if (r == 0)
		r = diff_chance_new(matrix, diff->least, &diff->memory->chance, &diff->no_chance);
	if (r < 0)
		return r;
	memcpy(diff->whole, matrix->whole, sizeof(diff->whole));
	memcpy(diff->n_blocks, matrix->n_blocks, sizeof(diff->n_blocks));
	diff->block_ns = matrix->block_ns;
	diff->smallest_p = 1;
	return fill_functions(diff, matrix);
}

static void place_functions(const struct diff *diff, struct diff_node *nodes, size_t n)
{
	for (size_t i = 1; i < n; i++)
		nodes[i].function = diff->memory->place[nodes[i].function];
}

/* Puts the functions in order, and the tree's numbers of them with it. */
static int sort_functions(struct diff *diff)
{
	const struct diff_names *names = &diff->memory->names;
	uint32_t *place = calloc(names->n + 1, sizeof(*place));
	struct map numbers = {0};
	int r = place ? 0 : -ENOMEM;

	diff->memory->place = place;
	for (size_t i = 0; i < names->n && r == 0; i++)
		r = map_put(&numbers, (uintptr_t)names->names[i], (void *)(uintptr_t)(i + 1));
	if (r == 0) {
		qsort(diff->functions, diff->n_functions, sizeof(*diff->functions), by_change);
		for (size_t i = 0; i < names->n; i++) {
			uintptr_t was =
				(uintptr_t)map_get(&numbers, (uintptr_t)diff->functions[i].name);

			place[was - 1] = (uint32_t)i;
		}
		place_functions(diff, diff->nodes, diff->n_nodes);
	}
	map_release(&numbers);
	return r;
}

static int make(struct diff *diff)
{
	int r;

	diff->memory = calloc(1, sizeof(*diff->memory));
	if (!diff->memory)
		return -ENOMEM;
	r = diff_names_make(diff->sides, &diff->memory->names);
	if (r == 0)
		r = compare(diff);
	if (r == 0)
		r = diff_tree_make(diff->sides, &diff->memory->names, diff->whole, false,
				   &diff->nodes, &diff->n_nodes);
	return r == 0 ? sort_functions(diff) : r;
}

bool diff_significant(const struct diff *diff, double change, double p, double level)
{
	return p < level && fabs(change) >= diff->least;
}

int diff_begin(const struct diff_side sides[DIFF_SIDES], double least, struct diff **ret_diff,
	       struct err *err)
{
	struct diff *diff;
	int r;

	diff = calloc(1, sizeof(*diff));
	if (!diff)
		return err_set(err, ENOMEM, "compare");
	memcpy(diff->sides, sides, sizeof(diff->sides));
	diff->least = least;
	r = check_sides(diff, err);
	if (r == 0) {
		r = make(diff);
		if (r < 0)
			(void)err_set(err, -r, "compare");
	}
	if (r < 0) {
		diff_free(diff);
		return r;
	}
	*ret_diff = diff;
	return 0;
}

/* Each function's chances, by its place. */
static int take_ranks(struct diff *diff)
{
	struct diff_memory *memory = diff->memory;
	double *p = calloc(memory->matrix.n_columns + 1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	diff->n_permutations = diff_chance_ranks(memory->chance, p, &diff->smallest_p);
	for (size_t i = 0; i < diff->n_functions; i++) {
		struct diff_function *function = &diff->functions[memory->place[i]];

		function->self_p = p[i * 2];
		function->total_p = p[i * 2 + 1];
	}
	free(p);
	diff_chance_free(memory->chance);
	memory->chance = NULL;
	return 0;
}

int diff_test(struct diff *diff, uint32_t n, double *ret_part)
{
	*ret_part = diff->memory->chance ? diff_chance_step(diff->memory->chance, n) : 1;
	return diff->memory->chance && *ret_part == 1 ? take_ranks(diff) : 0;
}

int diff_make(const struct diff_side sides[DIFF_SIDES], double least, struct diff **ret_diff,
	      struct err *err)
{
	double part;
	int r = diff_begin(sides, least, ret_diff, err);

	if (r == 0 && diff_test(*ret_diff, UINT32_MAX, &part) < 0) {
		diff_free(*ret_diff);
		r = err_set(err, ENOMEM, "compare");
	}
	return r;
}

int diff_reverse(const struct diff *diff, struct diff_node **ret_nodes, size_t *ret_n)
{
	int r = diff_tree_make(diff->sides, &diff->memory->names, diff->whole, true, ret_nodes,
			       ret_n);

	if (r == 0)
		place_functions(diff, *ret_nodes, *ret_n);
	return r;
}

void diff_free(struct diff *diff)
{
	if (!diff)
		return;
	if (diff->memory) {
		diff_names_release(diff->sides, &diff->memory->names);
		diff_chance_free(diff->memory->chance);
		diff_matrix_release(&diff->memory->matrix);
		free(diff->memory->place);
	}
	free(diff->memory);
	free(diff->functions);
	free(diff->nodes);
	free(diff);
}
