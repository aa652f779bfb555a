/* view_subject.c - from a command line to a selection, and from a picture to its file */
#include "tools/view_subject.h"

#include "base/cleanup.h"
#include "flamescope/serve/page.h"
#include "tools/say.h"
#include "tools/view_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_BYTES = 1024 * 1024, LIST_BYTES = 128 };

static const char *name_of(enum view_format format)
{
	static const char *const names[] = {
		[VIEW_TXT] = "txt",
		[VIEW_CSV] = "csv",
		[VIEW_JSON] = "json",
		[VIEW_MD] = "md",
		[VIEW_SVG] = "svg",
		[VIEW_HTML] = "html",
		[VIEW_FOLDED] = "folded",
		[VIEW_PPROF] = "pb.gz",
		[VIEW_SPEEDSCOPE] = "speedscope.json",
		[VIEW_FIREFOX] = "firefox.json.gz",
		[VIEW_PERF] = "perf",
	};

	return names[format];
}

static int refuse_format(const struct view_subject *subject, const char *what, struct err *err)
{
	struct buf list;

	buf_init(&list, LIST_BYTES);
	for (const enum view_format *can = subject->can; *can != VIEW_NONE; can++)
		buf_printf(&list, "%s%s", can == subject->can ? "" : ", ", name_of(*can));
	(void)err_set(err, 0, "'%s' is none of the formats that are written here: %s", what,
		      buf_text(&list));
	buf_release(&list);
	return -EINVAL;
}

static int choose_format(struct view_subject *subject, struct err *err)
{
	const char *output = subject->command.output;
	const char *named = subject->wanted_format;
	bool to_file = output && strcmp(output, "-") != 0;

	if (named)
		subject->format = view_format_named(named);
	else if (to_file)
		subject->format = view_format_of(output);
	else
		return 0;
	for (const enum view_format *can = subject->can; *can != VIEW_NONE; can++)
		if (*can == subject->format)
			return 0;
	return refuse_format(subject, named ? named : output, err);
}

int view_subject_open(struct view_subject *subject, struct err *err)
{
	const struct view_input *input = &subject->command.input;
	int r = choose_format(subject, err);

	if (r == 0)
		r = view_input_load(input, &subject->profile, err);
	if (r < 0)
		return r;
	subject->title = subject->wanted_title ? strdup(subject->wanted_title)
					       : view_input_title(input, subject->profile);
	if (!subject->title)
		return err_set(err, ENOMEM, "name the picture");
	return view_input_select(subject->profile, &subject->command.options.query,
				 &subject->selection, err);
}

int view_subject_write(const struct view_subject *subject, struct buf *text, struct err *err)
{
	return view_output_write(subject->command.output, text, &subject->command.input, err);
}

static int write_page(const struct view_subject *subject, const char *state, struct err *err)
{
	const char *output = subject->command.output;
	struct page page = {.title = subject->title,
			    .state = state,
			    .n_recordings = 1,
			    .recordings = {subject->profile},
			    .names = {subject->title}};
	struct view_file file;
	int r;

	if (!output || strcmp(output, "-") == 0)
		return page_write(&page, STDOUT_FILENO, err);
	r = view_file_open(&file, output, &subject->command.input, err);
	if (r < 0)
		return r;
	r = page_write(&page, file.fd, err);
	if (r == 0)
		return view_file_close(&file, err);
	view_file_drop(&file);
	return r;
}

int view_subject_page(const struct view_subject *subject, const char *words, struct err *err)
{
	struct buf state;
	int r;

	buf_init(&state, STATE_BYTES);
	view_state_words(&subject->command.options.query, &state);
	buf_printf(&state, "%s%s", state.len && *words ? "&" : "", words);
	r = state.failed ? err_set(err, E2BIG, "put the options into the page")
			 : write_page(subject, buf_text(&state), err);
	buf_release(&state);
	return r;
}

void view_subject_release(struct view_subject *subject)
{
	selection_free(subject->selection);
	profile_free(subject->profile);
	free(subject->title);
	view_command_release(&subject->command);
	*subject = (struct view_subject){0};
}

int view_number(const char *option, const char *text, uint32_t least, uint32_t most,
		uint32_t *ret_number, struct err *err)
{
	char *end = NULL;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number < least || number > most)
		return err_set(err, 0, "--%s wants a number from %u to %u, not '%s'", option, least,
			       most, text);
	*ret_number = (uint32_t)number;
	return 0;
}

int view_percent(const char *option, const char *text, double *ret_part, struct err *err)
{
	char *end = NULL;
	double percent = strtod(text, &end);

	if (((*text < '0' || *text > '9') && *text != '.') || (*end && strcmp(end, "%") != 0) ||
	    !(percent >= 0 && percent <= 100))
		return err_set(err, 0, "--%s wants a part in percent, such as 0.5, not '%s'",
			       option, text);
	*ret_part = percent / 100;
	return 0;
}
