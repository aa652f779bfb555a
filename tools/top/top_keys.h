/* top_keys.h - what the keys of `wick top` do; no terminal is needed to say it */
#ifndef TOP_TOP_KEYS_H
#define TOP_TOP_KEYS_H

#include "tools/cli/pattern.h"
#include "tools/top/top_view.h"

#include <stdbool.h>
#include <stddef.h>

/* Keys that are no characters. */
enum top_key {
	TOP_KEY_UP = 0x1000,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
	TOP_KEY_RESIZE,
};

/* What a key asks of others. */
enum top_action {
	TOP_NOTHING, /* nothing is to be drawn anew */
	TOP_DRAW,    /* the same, shown otherwise */
	TOP_RESET,   /* count anew */
	TOP_LEAVE,   /* end; the program runs on */
	TOP_END_CMD, /* end, and ask the program to */
};

enum { TOP_FILTER_BYTES = 64, TOP_MESSAGE_BYTES = 128 };

/* What somebody has chosen with keys.  Zero it; top_keys_release() takes any state. */
struct top_keys {
	enum top_order order;
	bool threads; /* instead of functions */
	bool frozen;
	bool no_heat;
	bool help;
	bool typing;  /* a filter, up to Enter */
	bool leaving; /* asked what becomes of the program */
	bool started; /* the program is wick's own: it can be asked to end */
	size_t scroll;
	char typed[TOP_FILTER_BYTES];
	char filter[TOP_FILTER_BYTES];   /* that holds; "": none */
	struct pattern *pattern;         /* the same */
	char message[TOP_MESSAGE_BYTES]; /* until the next key */
};

/**
 * top_keys_press - take in a key
 * @key: a character, or an enum top_key
 * @page: how many rows are seen at a time
 *
 * Context: main thread.
 */
enum top_action top_keys_press(struct top_keys *keys, int key, size_t page);

/**
 * top_keys_order_name - what rows are sorted by, in words
 *
 * Context: any thread.
 */
const char *top_keys_order_name(const struct top_keys *keys);

/**
 * top_keys_release - forget it
 *
 * Context: main thread.
 */
void top_keys_release(struct top_keys *keys);

#endif
