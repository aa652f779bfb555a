/*
 * view_load.c - loads recordings, selects of them, and says what is wrong with them
 *
 * Apart from view_input.c, which wick symbolize needs: the loader's libraries stay out of wick.
 */
#include "tools/view/view.h"

#include "base/words.h"
#include "flamescope/load/load.h"
#include "tools/cli/terminal.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
	PROGRESS_TEXT_BYTES = 256,
	PROGRESS_PERCENT = 100,
	TITLE_BYTES = 512,
	COMMAND_BYTES = 64 * 1024
};

/* Whichever thread of the loader is here first shows the line; the others go on. */
struct progress_line {
	atomic_flag busy;
	unsigned percent;
};

static bool show_progress(void *context, uint64_t done_bytes, uint64_t of_bytes)
{
	struct progress_line *line = context;
	unsigned percent =
		of_bytes ? (unsigned)((double)done_bytes / (double)of_bytes * PROGRESS_PERCENT) : 0;
	struct buf text;

	if (atomic_flag_test_and_set_explicit(&line->busy, memory_order_acquire))
		return true;
	if (percent != line->percent && percent <= PROGRESS_PERCENT) {
		line->percent = percent;
		buf_init(&text, PROGRESS_TEXT_BYTES);
		buf_printf(&text, "wick: reading %u %% of ", percent);
		words_bytes(&text, of_bytes);
		say_live(buf_text(&text));
		buf_release(&text);
	}
	atomic_flag_clear_explicit(&line->busy, memory_order_release);
	return true;
}

int view_input_load(const struct view_input *input, struct profile **ret_profile, struct err *err)
{
	struct progress_line line = {.busy = ATOMIC_FLAG_INIT};
	struct load_options options = {.paths = (const char *const *)input->paths,
				       .n_paths = input->n_paths,
				       .no_index = input->no_index,
				       .context = &line};
	struct profile *profile = NULL;
	int r;

	if (say_is_live())
		options.progress = show_progress;
	r = load_profile(&options, &profile, err);
	say_live("");
	if (r < 0)
		return r;
	view_error_files(profile);
	if (profile->n_samples == 0) {
		r = view_error_empty(profile, err);
		profile_free(profile);
		return r;
	}
	*ret_profile = profile;
	return 0;
}

int view_input_select(const struct profile *profile, const struct query *query,
		      struct selection **ret_selection, struct err *err)
{
	struct selection *selection = NULL;
	int r = selection_make(profile, query, &selection, err);

	if (r < 0)
		return r;
	if (selection->n == 0) {
		r = view_error_nothing_left(profile, selection, query, err);
		selection_free(selection);
		return r;
	}
	view_error_selection(selection, query);
	*ret_selection = selection;
	return 0;
}

static char *command_line(const char *text)
{
	struct buf buf;
	char *line;

	buf_init(&buf, COMMAND_BYTES);
	words_command(&buf, text);
	line = strndup(buf_text(&buf), TITLE_BYTES);
	buf_release(&buf);
	return line;
}

char *view_input_title(const struct view_input *input, const struct profile *profile)
{
	const char *command = profile ? profile->strings[profile->command] : "";
	const char *slash;
	char *title;

	if (*command)
		return command_line(command);
	if (input->n_paths != 1)
		return asprintf(&title, "%zu recordings", input->n_paths) < 0 ? NULL : title;
	slash = strrchr(input->paths[0], '/');
	return strndup(slash ? slash + 1 : input->paths[0], TITLE_BYTES);
}
