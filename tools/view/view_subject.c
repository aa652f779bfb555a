/* view_subject.c - from a command line to a selection, and from a picture to its file */
#include "tools/view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT_BYTES = 1024 * 1024 * 1024, /* of a picture or table, at most */
	STATE_BYTES = 1024 * 1024,
};

static int load(struct view_subject *subject, struct err *err)
{
	const struct view_command *command = &subject->command;
	int r = view_input_load(&command->input, &subject->profile, err);

	if (r < 0)
		return r;
	subject->title = command->title ? strdup(command->title)
					: view_input_title(&command->input, subject->profile);
	if (!subject->title)
		return err_set(err, ENOMEM, "name the picture");
	return view_input_select(subject->profile, &command->words.query, &subject->selection, err);
}

static int write_page(void *context, int fd, struct err *err)
{
	return page_write(context, fd, err);
}

int view_page_write(const struct view_output *output, struct page *page, struct err *err)
{
	return view_output_make(output, write_page, page, err);
}

static int make_page(const struct view_subject *subject, const struct view_verb *verb,
		     void *context, struct err *err)
{
	const struct view_command *command = &subject->command;
	struct page page = {.title = subject->title,
			    .n_recordings = 1,
			    .recordings = {subject->profile},
			    .names = {subject->title}};
	struct buf state;
	int r;

	buf_init(&state, STATE_BYTES);
	view_state_words(&command->words.query, &state);
	r = verb->state(context, &state, err);
	page.state = buf_text(&state);
	if (r == 0)
		r = state.failed ? err_set(err, E2BIG, "put the options into the page")
				 : view_page_write(&command->output, &page, err);
	buf_release(&state);
	return r;
}

static int make_text(const struct view_subject *subject, const struct view_verb *verb,
		     void *context, struct err *err)
{
	const struct view_command *command = &subject->command;
	struct buf text;
	int r;

	buf_init(&text, TEXT_BYTES);
	r = verb->draw(context, &text, err);
	if (r == 0)
		r = view_output_write(&command->output, &text, err);
	buf_release(&text);
	return r;
}

static void release(struct view_subject *subject)
{
	selection_free(subject->selection);
	profile_free(subject->profile);
	free(subject->title);
	view_command_release(&subject->command);
	*subject = (struct view_subject){0};
}

int view_subject_run(struct view_subject *subject, const struct view_verb *verb, void *context,
		     struct cmd_ctx *ctx)
{
	struct err err = {0};
	int status = WICK_OK;
	int r;

	if (view_command_read(&subject->command, ctx, verb->own, context, &status)) {
		r = view_command_format(&subject->command, verb->formats, &subject->format, &err);
		if (r == 0)
			r = load(subject, &err);
		if (r == 0)
			r = subject->format == VIEW_HTML ? make_page(subject, verb, context, &err)
							 : make_text(subject, verb, context, &err);
		if (r < 0)
			status = view_fail(r, &err);
	}
	release(subject);
	return status;
}

int view_number(const char *option, const char *text, uint32_t least, uint32_t most,
		uint32_t *ret_number, struct err *err)
{
	char *end = NULL;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number < least || number > most)
		return err_set(err, 0, "--%s takes a number from %u to %u, not '%s'", option, least,
			       most, text);
	*ret_number = (uint32_t)number;
	return 0;
}

int view_percent(const char *option, const char *text, double *ret_part, struct err *err)
{
	char *end = NULL;
	double percent = strtod(text, &end);

	if (end == text || strspn(text, "0123456789.") != (size_t)(end - text) ||
	    (*end && strcmp(end, "%") != 0) || percent > 100)
		return err_set(err, 0, "--%s takes a percentage such as 0.5, not '%s'", option,
			       text);
	*ret_part = percent / 100;
	return 0;
}
