/* top_keys.c - keys of `wick top` */
#include "tools/top/internal.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_SHOWN = ' ', DELETE = 0x7f, CTRL_H = 8, CTRL_L = 12 };

/* The filter as it is typed holds at once; one that makes no sense yet leaves the last one. */
static void apply_filter(struct top_keys *keys)
{
	struct pattern *pattern = NULL;
	struct err err = {0};

	keys->message[0] = '\0';
	if (keys->typed[0] && pattern_new(keys->typed, &pattern, &err) < 0) {
		(void)snprintf(keys->message, sizeof(keys->message), "%.*s", TOP_MESSAGE_BYTES - 1,
			       err.text);
		return;
	}
	pattern_free(keys->pattern);
	keys->pattern = pattern;
	memcpy(keys->filter, keys->typed, sizeof(keys->filter));
	keys->scroll = 0;
}

static void drop_filter(struct top_keys *keys)
{
	keys->typed[0] = '\0';
	apply_filter(keys);
}

static enum top_action type_key(struct top_keys *keys, int key)
{
	size_t len = strlen(keys->typed);

	switch (key) {
	case '\n':
	case '\r':
	case TOP_KEY_ENTER:
		keys->typing = false;
		break;
	case TOP_KEY_ESCAPE:
		keys->typing = false;
		drop_filter(keys);
		break;
	case CTRL_H:
	case DELETE:
	case TOP_KEY_BACKSPACE:
		if (len > 0)
			keys->typed[len - 1] = '\0';
		apply_filter(keys);
		break;
	default:
		if (key >= FIRST_SHOWN && key < DELETE && len < sizeof(keys->typed) - 1) {
			keys->typed[len] = (char)key;
			keys->typed[len + 1] = '\0';
			apply_filter(keys);
		}
		break;
	}
	return TOP_DRAW;
}

/* The answer to: what becomes of the program? */
static enum top_action leave(struct top_keys *keys, int key)
{
	keys->leaving = false;
	if (key == 'e')
		return TOP_END_CMD;
	return key == 'l' || key == 'q' ? TOP_LEAVE : TOP_DRAW;
}

static enum top_action scroll(struct top_keys *keys, int key, size_t page)
{
	size_t step =
		key == TOP_KEY_UP || key == TOP_KEY_DOWN || key == 'k' || key == 'j' ? 1 : page;

	if (key == TOP_KEY_HOME || key == 'g')
		keys->scroll = 0;
	else if (key == TOP_KEY_END || key == 'G')
		keys->scroll = SIZE_MAX / 2; /* the drawing code knows where the end is */
	else if (key == TOP_KEY_UP || key == TOP_KEY_PAGE_UP || key == 'k')
		keys->scroll -= keys->scroll < step ? keys->scroll : step;
	else
		keys->scroll += step;
	return TOP_DRAW;
}

/* Keys that switch something on and off. */
static enum top_action toggle(struct top_keys *keys, int key)
{
	switch (key) {
	case ' ':
	case 'f':
		keys->frozen = !keys->frozen;
		return TOP_DRAW;
	case 't':
		keys->threads = !keys->threads;
		keys->scroll = 0;
		return TOP_DRAW;
	case 'h':
		keys->no_heat = !keys->no_heat;
		return TOP_DRAW;
	case '?':
		keys->help = true;
		return TOP_DRAW;
	case '/':
		keys->typing = true;
		keys->typed[0] = '\0';
		return TOP_DRAW;
	case TOP_KEY_ESCAPE:
		drop_filter(keys);
		return TOP_DRAW;
	case CTRL_L:
	case TOP_KEY_RESIZE:
		return TOP_DRAW;
	default:
		return TOP_NOTHING;
	}
}

enum top_action top_keys_press(struct top_keys *keys, int key, size_t page)
{
	if (keys->help && key != TOP_KEY_RESIZE) {
		keys->help = false; /* any key leaves the help */
		return TOP_DRAW;
	}
	if (key == TOP_KEY_RESIZE)
		return TOP_DRAW;
	if (keys->typing)
		return type_key(keys, key);
	keys->message[0] = '\0';
	if (keys->leaving)
		return leave(keys, key);
	switch (key) {
	case '1':
	case '2':
	case '3':
	case '4':
		keys->order = (enum top_order)(key - '1');
		keys->scroll = 0;
		return TOP_DRAW;
	case 'r':
		return TOP_RESET;
	case 'q':
		keys->leaving = keys->started;
		return keys->started ? TOP_DRAW : TOP_LEAVE;
	case 'j':
	case 'k':
	case 'g':
	case 'G':
	case TOP_KEY_UP:
	case TOP_KEY_DOWN:
	case TOP_KEY_PAGE_UP:
	case TOP_KEY_PAGE_DOWN:
	case TOP_KEY_HOME:
	case TOP_KEY_END:
		return scroll(keys, key, page);
	default:
		return toggle(keys, key);
	}
}

const char *top_keys_order_name(const struct top_keys *keys)
{
	static const char *const functions[N_TOP_ORDERS] = {"self now", "total now", "self in all",
							    "total in all"};
	static const char *const threads[N_TOP_ORDERS] = {"CPU now", "state", "CPU in all", "name"};

	return (keys->threads ? threads : functions)[keys->order];
}

void top_keys_release(struct top_keys *keys)
{
	pattern_free(keys->pattern);
	*keys = (struct top_keys){0};
}
