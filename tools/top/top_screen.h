/* top_screen.h - `wick top` on a terminal (ncurses) */
#ifndef TOP_TOP_SCREEN_H
#define TOP_TOP_SCREEN_H

#include "base/err.h"
#include "tools/top/top_lines.h"

#include <stddef.h>
#include <stdint.h>

struct top_screen;

/**
 * top_screen_open - take the terminal that standard output is
 *
 * Keys are read from the terminal itself, whatever standard input is.
 *
 * Return:  0; -ENOTTY and others, and the reason.
 * Owns:    the caller, to top_screen_close(); one at a time.
 * Context: main thread, as for all of these.
 */
int top_screen_open(struct top_screen **ret_screen, struct err *err);

/**
 * top_screen_key - the next key that was pressed
 *
 * Return:  a character or an enum top_key; 0: none.
 * Context: main thread.
 */
int top_screen_key(struct top_screen *screen);

/**
 * top_screen_wait - until a key may have been pressed, or so many ms
 *
 * Context: main thread.
 */
void top_screen_wait(const struct top_screen *screen, int ms);

/**
 * top_screen_is_gone - whether the terminal has hung up: no key comes any more, nobody sees it
 *
 * Context: main thread.
 */
bool top_screen_is_gone(const struct top_screen *screen);

/**
 * top_screen_page - how many rows of the table are seen
 *
 * Context: main thread.
 */
size_t top_screen_page(const struct top_screen *screen, const struct top_keys *keys);

/**
 * top_screen_draw - show it
 *
 * Context: main thread.
 */
void top_screen_draw(struct top_screen *screen, const struct top_facts *facts,
		     const struct top_view *view, struct top_keys *keys);

/**
 * top_screen_close - give the terminal back as it was
 *
 * Context: main thread.  NULL is fine.
 */
void top_screen_close(struct top_screen *screen);

#endif
