/* view_subject.h - what a picture is of: recordings, loaded, and what a query takes out of them */
#ifndef VIEW_VIEW_SUBJECT_H
#define VIEW_VIEW_SUBJECT_H

#include "flamescope/serve/serve.h"
#include "tools/view/view_command.h"

/* Zero it. */
struct view_subject {
	struct view_command command;
	enum view_format format; /* VIEW_NONE: for the terminal */
	char *title;
	struct profile *profile;
	struct selection *selection;
};

/* What a command makes of its subject; CONTEXT is the command's own, as for view_own_option. */
struct view_verb {
	const enum view_format *formats; /* that it writes, up to VIEW_NONE */
	view_own_option *own;
	int (*draw)(void *context, struct buf *text, struct err *err);
	int (*state)(void *context, struct buf *words, struct err *err); /* what the page shows */
};

/**
 * view_subject_run - all of such a command: read the command line, load, draw, write
 *
 * The format is checked first: a name that no file could have is told before anything is read.
 * The page draws by itself: it holds the recordings, the query, and what STATE adds to its words.
 *
 * Return:  the exit status; all has been said.
 * Owns:    nothing is left of SUBJECT.
 * Context: main thread.
 */
int view_subject_run(struct view_subject *subject, const struct view_verb *verb, void *context,
		     struct cmd_ctx *ctx);

/**
 * view_page_write - a page to a file, or to stdout
 *
 * Return:  0; as view_output_make() and page_write().
 * Context: main thread.
 */
int view_page_write(const struct view_output *output, struct page *page, struct err *err);

/**
 * view_number - a whole number that an option takes
 *
 * Return:  0; -EINVAL, naming the option.
 * Context: any thread.
 */
int view_number(const char *option, const char *text, uint32_t least, uint32_t most,
		uint32_t *ret_number, struct err *err);

/**
 * view_percent - a part of the whole, given in percent with or without the sign, as 0 to 1
 *
 * Return:  0; -EINVAL, naming the option.
 * Context: any thread.
 */
int view_percent(const char *option, const char *text, double *ret_part, struct err *err);

#endif
