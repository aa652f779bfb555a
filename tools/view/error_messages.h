/* error_messages.h - what is wrong with recordings and queries, in words, and what to do next */
#ifndef VIEW_ERROR_MESSAGES_H
#define VIEW_ERROR_MESSAGES_H

#include "base/err.h"
#include "flamescope/profile.h"
#include "flamescope/query/query.h"

/**
 * view_error_files - say what could not be read, was passed over, or was lost
 *
 * Of many files the first ones are named, and all are counted.
 *
 * Context: main thread.
 */
void view_error_files(const struct profile *profile);

/**
 * view_error_hint - part of a message: what to do about a file that could not be read, or was no
 * recording
 *
 * Nothing is added where the message says it already.
 *
 * Context: any thread.
 */
void view_error_hint(const char *path, struct err *err);

/**
 * view_error_empty - why there is no sample at all
 *
 * Return:  -ENODATA, with what to do; -EACCES: no file may be read.
 * Context: main thread.
 */
int view_error_empty(const struct profile *profile, struct err *err);

/**
 * view_error_nothing_left - why a query leaves nothing
 *
 * Return:  -ENODATA, with what there is.
 * Context: main thread.
 */
int view_error_nothing_left(const struct profile *profile, const struct selection *selection,
			    const struct query *query, struct err *err);

/**
 * view_error_selection - say that values or names are missing
 *
 * Context: main thread.
 */
void view_error_selection(const struct selection *selection, const struct query *query);

/**
 * view_error_weights - say that a bare text of wick has lost what its weights stand for
 *
 * Context: main thread.
 */
void view_error_weights(const struct selection *selection, const struct query *query);

#endif
