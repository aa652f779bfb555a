/* diff_page.h - `wick diff -o FILE.html`: the page, open at the difference */
#ifndef DIFF_DIFF_PAGE_H
#define DIFF_DIFF_PAGE_H

#include "tools/diff/diff_input.h"
#include "tools/view/view_command.h"

/**
 * diff_page_write - both sides in one page, the baseline chosen and the difference shown
 *
 * Several recordings of a side are one there: the page's chance is that of seconds.
 *
 * Return:  0; as view_input_load() and view_page_write().
 * Context: main thread.
 */
int diff_page_write(const struct view_command *command, const struct diff_sides *sides,
		    const struct diff_input *input, struct err *err);

#endif
