/* folded.h - `main;work;read 12`: stacks as stackcollapse writes them, one a line */
#ifndef LOAD_FOLDED_H
#define LOAD_FOLDED_H

#include "flamescope/load/builder.h"

/**
 * folded_is - whether a file that begins so is one of folded stacks, not of perf-script text
 *
 * Context: any thread.
 */
bool folded_is(const char *text, size_t len);

/**
 * folded_line - take in a line; TEXT is cut into strings
 *
 * Return:  true; false: it is none.
 * Context: any thread; one user of the builder.
 */
bool folded_line(struct builder *builder, char *text, uint64_t at);

#endif
