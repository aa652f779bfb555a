/* view_subject.h - what a picture is of: recordings, loaded, and what a query takes out of them */
#ifndef TOOLS_VIEW_SUBJECT_H
#define TOOLS_VIEW_SUBJECT_H

#include "tools/view_command.h"

enum { VIEW_TEXT_BYTES = 1024 * 1024 * 1024 }; /* of a picture or table, at most */

/* Zero it. */
struct view_subject {
	struct view_command command;
	const char *wanted_title;    /* of --title; NULL: what the recordings are called */
	const char *wanted_format;   /* of --format; NULL: what the end of -o FILE says */
	enum view_format format;     /* VIEW_NONE: for the terminal */
	const enum view_format *can; /* what the command writes, up to VIEW_NONE */
	char *title;
	struct profile *profile;
	struct selection *selection;
};

/**
 * view_subject_open - load what the command line says
 *
 * The format is checked first: a name that no file could have is told before anything is read.
 *
 * Return:  0; -EINVAL: a format that the command does not write; what else can go wrong.
 * Owns:    the caller, to view_subject_release() in any case.
 * Context: main thread.
 */
int view_subject_open(struct view_subject *subject, struct err *err);

/**
 * view_subject_write - TEXT to where the command line says
 *
 * Return:  0; as view_output_write().
 * Context: main thread.
 */
int view_subject_write(const struct view_subject *subject, struct buf *text, struct err *err);

/**
 * view_subject_page - the whole page with the recordings inside, as it is to begin
 * @words: of its state, besides the query's: "view=flame"; "" for none
 *
 * Return:  0; -EINVAL without -o FILE; as page_write().
 * Context: main thread.
 */
int view_subject_page(const struct view_subject *subject, const char *words, struct err *err);

/**
 * view_subject_release - forget everything
 *
 * Context: main thread.
 */
void view_subject_release(struct view_subject *subject);

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
