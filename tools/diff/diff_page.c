/* diff_page.c - `wick diff -o FILE.html`: the page, open at the difference */
#include "tools/diff/diff_page.h"

#include "tools/view/view_state.h"
#include "tools/view/view_subject.h"

#include <errno.h>

enum { STATE_BYTES = 1024 * 1024 };

/* The words of the page's URL; a baseline that is another recording is there without them. */
static int make_state(const struct diff_sides *sides, struct buf *state, struct err *err)
{
	view_state_words(&sides->queries[DIFF_NEW], state);
	view_state_ranges(state, "b", &sides->queries[DIFF_BASE]);
	view_state_add(state, "view", "diff");
	return state->failed ? err_set(err, E2BIG, "put the options into the page") : 0;
}

/* A side as one recording: loaded already, or its files together. */
static int side_profile(const struct diff_input *input, const struct diff_sides *sides,
			unsigned side, struct profile **ret_joined, const struct profile **ret,
			struct err *err)
{
	int r = 0;

	if (sides->files[side].n_paths > 1)
		r = view_input_load(&sides->files[side], ret_joined, err);
	if (r == 0)
		*ret = *ret_joined ? *ret_joined
				   : input->profiles[side == DIFF_BASE ? 0 : input->n_profiles - 1];
	return r;
}

int diff_page_write(const struct view_command *command, const struct diff_sides *sides,
		    const struct diff_input *input, struct err *err)
{
	static const unsigned order[DIFF_SIDES] = {DIFF_NEW, DIFF_BASE};
	struct profile *joined[DIFF_SIDES] = {NULL};
	struct page page = {.title = input->names[DIFF_NEW],
			    .n_recordings = sides->one_file ? 1 : DIFF_SIDES};
	struct buf state;
	int r;

	buf_init(&state, STATE_BYTES);
	r = make_state(sides, &state, err);
	for (size_t i = 0; r == 0 && i < page.n_recordings; i++) {
		page.names[i] = input->names[order[i]];
		r = side_profile(input, sides, order[i], &joined[i], &page.recordings[i], err);
	}
	page.state = buf_text(&state);
	if (r == 0)
		r = view_page_write(&command->output, &page, err);
	for (size_t i = 0; i < DIFF_SIDES; i++)
		profile_free(joined[i]);
	buf_release(&state);
	return r;
}
