/* view_state.h - a query as the words of the page's URL: the same as the options, canonical */
#ifndef VIEW_VIEW_STATE_H
#define VIEW_VIEW_STATE_H

#include "base/buf.h"
#include "flamescope/query/query.h"

/**
 * view_state_words - `time=10-20&where=state=running&group=thread`, percent-encoded
 *
 * Patterns are those that the query holds: rules of a file are in it as expressions.
 *
 * Context: any thread.
 */
void view_state_words(const struct query *query, struct buf *buf);

/**
 * view_state_ranges - the ranges of time of a query, each as a word of this name
 *
 * `time` are those that are seen, `b` those that they are compared with.
 *
 * Context: any thread.
 */
void view_state_ranges(struct buf *buf, const char *name, const struct query *query);

/**
 * view_state_add - one more of these words: `&NAME=VALUE`
 *
 * Context: any thread.
 */
void view_state_add(struct buf *buf, const char *name, const char *value);

#endif
