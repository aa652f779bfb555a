/* diff_input.c - the recordings that `wick diff` compares: loaded, and selected of */
#include "tools/diff/diff_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int load_files(struct diff_input *input, const struct view_input *files, struct err *err)
{
	for (size_t i = 0; i < files->n_paths; i++) {
		struct view_input one = {
			.paths = &files->paths[i], .n_paths = 1, .no_index = files->no_index};
		int r = view_input_load(&one, &input->profiles[input->n_profiles], err);

		if (r < 0)
			return r;
		input->n_profiles++;
	}
	return 0;
}

static int name_side(char **ret_name, const struct view_input *files)
{
	int r = files->n_paths == 1 ? asprintf(ret_name, "%s", files->paths[0])
				    : asprintf(ret_name, "%s and %zu more", files->paths[0],
					       files->n_paths - 1);

	if (r >= 0)
		return 0;
	*ret_name = NULL;
	return -ENOMEM;
}

/* Of the recordings from FIRST on. */
static int select_side(struct diff_input *input, unsigned side, size_t first,
		       const struct query *query, struct err *err)
{
	struct diff_side *recordings = &input->sides[side];

	for (size_t i = 0; i < recordings->n; i++) {
		int r = view_input_select(input->profiles[first + i], query,
					  &input->selections[side][i], err);

		if (r < 0)
			return r;
	}
	recordings->recordings = (const struct selection *const *)input->selections[side];
	return 0;
}

static int make_room(struct diff_input *input, const struct diff_sides *sides, struct err *err)
{
	const struct view_input *files = sides->files;
	size_t n = files[DIFF_BASE].n_paths + files[DIFF_NEW].n_paths;
	bool done;

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		if (files[side].n_paths > DIFF_MAX_RECORDINGS)
			return err_set(err, E2BIG, "compare more than %d recordings a side",
				       DIFF_MAX_RECORDINGS);
	input->profiles = calloc(n + 1, sizeof(struct profile *));
	done = input->profiles;
	for (unsigned side = 0; side < DIFF_SIDES && done; side++) {
		input->sides[side].n = files[side].n_paths;
		input->selections[side] =
			calloc(files[side].n_paths + 1, sizeof(struct selection *));
		done = input->selections[side] && name_side(&input->names[side], &files[side]) == 0;
	}
	return done ? 0 : err_set(err, ENOMEM, "compare");
}

int diff_input_load(struct diff_input *input, const struct diff_sides *sides, struct err *err)
{
	int r = make_room(input, sides, err);

	if (r == 0)
		r = load_files(input, &sides->files[DIFF_BASE], err);
	if (r == 0 && !sides->one_file)
		r = load_files(input, &sides->files[DIFF_NEW], err);
	return r;
}

int diff_input_select(struct diff_input *input, const struct diff_sides *sides, struct err *err)
{
	size_t first = sides->one_file ? 0 : input->sides[DIFF_BASE].n;
	int r = select_side(input, DIFF_BASE, 0, &sides->queries[DIFF_BASE], err);

	return r < 0 ? r : select_side(input, DIFF_NEW, first, &sides->queries[DIFF_NEW], err);
}

void diff_input_release(struct diff_input *input)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; input->selections[side] && i < input->sides[side].n; i++)
			selection_free(input->selections[side][i]);
		free((void *)input->selections[side]);
		free(input->names[side]);
	}
	for (size_t i = 0; i < input->n_profiles; i++)
		profile_free(input->profiles[i]);
	free((void *)input->profiles);
	*input = (struct diff_input){0};
}
