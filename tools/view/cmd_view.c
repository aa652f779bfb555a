/* cmd_view.c - `wick view`: recordings as one page that needs nothing else, and a browser */
#include "base/cleanup.h"
#include "flamescope/serve/serve.h"
#include "tools/cli/terminal.h"
#include "tools/view/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OPT_BASELINE = OPTION_LONG_ONLY, OPT_NO_OPEN, STATE_BYTES = 1024 * 1024 };

const struct option_spec view_option_specs[] = {
	VIEW_OUTPUT_SPEC("write the page to FILE (default: the first recording's name with .html)"),
	{OPT_BASELINE, "baseline", "FILE", "compare the first recording with this one"},
	{OPT_NO_OPEN, "no-open", NULL, "write the page without opening it"},
	QUERY_OPTION_SPECS,
	VIEW_INPUT_SPECS,
	{OPTION_HELP, "help", NULL, "print this help"},
	{0, NULL, NULL, NULL},
};

/* What is viewed, and what is made of it. */
struct viewing {
	struct view_command command;
	struct view_input baseline;
	bool no_open;
	char *path; /* of the page, where -o does not name it */
	char *titles[PAGE_MAX_RECORDINGS];
	struct profile *profiles[PAGE_MAX_RECORDINGS];
	size_t n; /* of them */
	struct buf state;
};

static int take_own(void *context, int id, const char *value, struct err *err)
{
	struct viewing *viewing = context;

	if (id == OPT_BASELINE)
		return view_input_add(&viewing->baseline, value, err);
	viewing->no_open = true;
	return 0;
}

/* The recording's name and .html; a folder's recordings are one page, named for the first. */
static int choose_path(struct viewing *viewing, struct err *err)
{
	const char *first = viewing->command.input.paths[0];
	struct view_output *output = &viewing->command.output;

	if (output->path && view_format_of(output->path) != VIEW_NONE &&
	    view_format_of(output->path) != VIEW_HTML) {
		(void)err_set(err, 0, "'%s' is not the name of a page", output->path);
		err_hint(err, "-o page.html, or wick flamegraph -o %s", output->path);
		return -EINVAL;
	}
	if (output->path)
		return 0;
	if (asprintf(&viewing->path, "%s.html", strcmp(first, "-") == 0 ? "wick" : first) < 0) {
		viewing->path = NULL;
		return err_set(err, ENOMEM, "name the page");
	}
	/* It is made anew each time, because the user has not chosen its name. */
	output->path = viewing->path;
	output->force = true;
	return 0;
}

static bool is_to_stdout(const struct viewing *viewing)
{
	return strcmp(viewing->command.output.path, "-") == 0;
}

static int load_one(struct viewing *viewing, const struct view_input *input, struct err *err)
{
	const size_t i = viewing->n;
	int r = view_input_load(input, &viewing->profiles[i], err);

	if (r < 0)
		return r;
	viewing->n++;
	viewing->titles[i] =
		view_input_title(input, viewing->command.n_ends > 1 ? NULL : viewing->profiles[i]);
	return viewing->titles[i] ? 0 : err_set(err, ENOMEM, "name a recording");
}

/* The first FILE, what it is compared with, and the other FILES. */
static int load(struct viewing *viewing, struct err *err)
{
	const struct view_command *command = &viewing->command;
	size_t first = 0;
	int r = 0;

	if (command->n_ends + (viewing->baseline.n_paths > 0) > PAGE_MAX_RECORDINGS) {
		(void)err_set(err, 0, "a page shows %d recordings at most", PAGE_MAX_RECORDINGS);
		err_hint(err, "wick view FOLDER, which reads all that are in it as one recording");
		return -EINVAL;
	}
	viewing->baseline.no_index = command->input.no_index;
	for (size_t i = 0; r == 0 && i < command->n_ends; i++) {
		struct view_input side = command->input;

		side.paths += first;
		side.n_paths = command->ends[i] - first;
		first = command->ends[i];
		r = load_one(viewing, &side, err);
		if (r == 0 && i == 0 && viewing->baseline.n_paths)
			r = load_one(viewing, &viewing->baseline, err);
	}
	return r;
}

/* A query that fits nothing is said now, where it can be corrected, not by the page. */
static int make_state(struct viewing *viewing, struct err *err)
{
	const struct query *query = &viewing->command.words.query;
	struct selection *selection = NULL;
	int r;

	view_state_words(query, &viewing->state);
	if (viewing->n > 1)
		view_state_add(&viewing->state, "view",
			       viewing->command.n_ends > 1 ? "sides" : "diff");
	if (viewing->state.failed)
		return err_set(err, E2BIG, "put the options into the page");
	if (!viewing->state.len)
		return 0;
	r = view_input_select(viewing->profiles[0], query, &selection, err);
	selection_free(selection);
	return r;
}

static int write_page(struct viewing *viewing, struct err *err)
{
	struct page page = {.title = viewing->titles[0],
			    .state = buf_text(&viewing->state),
			    .n_recordings = viewing->n};

	for (size_t i = 0; i < viewing->n; i++) {
		page.recordings[i] = viewing->profiles[i];
		page.names[i] = viewing->titles[i];
	}
	return view_page_write(&viewing->command.output, &page, err);
}

static int show_page(const struct viewing *viewing)
{
	const char *first = viewing->command.input.paths[0];
	const char *path = viewing->command.output.path;
	struct buf text;
	int status;
	int r;

	buf_init(&text, CMD_TEXT_BYTES);
	buf_printf(&text, "%s\n", path);
	status = cmd_print(&text);
	if (viewing->no_open)
		return status;
	if (!browser_is_here()) {
		browser_say_elsewhere(path, catalog_is_recording(first) ? first : NULL);
		return status;
	}
	r = browser_open_file(path);
	if (r < 0)
		say_note("cannot start xdg-open (%s), open the page with your browser",
			 strerrordesc_np(-r));
	return status;
}

static int view(struct viewing *viewing)
{
	struct err err = {0};
	int r = choose_path(viewing, &err);

	if (r == 0)
		r = load(viewing, &err);
	if (r == 0)
		r = make_state(viewing, &err);
	if (r == 0)
		r = write_page(viewing, &err);
	if (r < 0)
		return view_fail(r, &err);
	return is_to_stdout(viewing) ? WICK_OK : show_page(viewing);
}

int cmd_view(struct cmd_ctx *ctx)
{
	struct viewing viewing = {0};
	int status;

	buf_init(&viewing.state, STATE_BYTES);
	viewing.command.output.inputs[1] = &viewing.baseline;
	if (view_command_read(&viewing.command, ctx, take_own, &viewing, &status))
		status = view(&viewing);
	for (size_t i = 0; i < viewing.n; i++) {
		profile_free(viewing.profiles[i]);
		free(viewing.titles[i]);
	}
	free(viewing.path);
	buf_release(&viewing.state);
	view_input_release(&viewing.baseline);
	view_command_release(&viewing.command);
	return status;
}
