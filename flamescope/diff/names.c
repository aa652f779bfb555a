/* names.c - functions of two recordings, matched by name */
#include "base/buf.h"
#include "base/function_name.h"
#include "base/map.h"
#include "flamescope/diff/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 1024 * 1024, FIRST_NAMES = 256 };

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The name that a frame is matched by, in the table of names. */
static const char *frame_key(const struct selection *side, uint32_t frame, struct intern *strings)
{
	const char *name = selection_frame_name(side, frame);
	const struct profile *profile = side->profile;
	size_t len = strlen(name);
	const char *module = "";
	const char *key = NULL;
	struct buf text;

	if (frame < profile->n_frames) {
		module = last_part(profile->strings[profile->frames[frame].module]);
		len = function_name_len(name);
	}
	buf_init(&text, NAME_BYTES);
	if (*name && strcmp(name, "[unknown]") != 0)
		(void)buf_append(&text, name, len);
	else if (!*module || strcmp(module, "[unknown]") == 0)
		buf_add(&text, "[unknown]");
	else
		buf_printf(&text, "[unknown] (%s)", module);
	if (!text.failed)
		key = intern_string(strings, buf_text(&text));
	buf_release(&text);
	return key;
}

static int append_name(struct diff_names *names, const char *name)
{
	if (names->n == names->capacity) {
		size_t capacity = names->capacity ? names->capacity * 2 : FIRST_NAMES;
		const char **grown = realloc((void *)names->names, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		names->names = grown;
		names->capacity = capacity;
	}
	names->names[names->n++] = name;
	return 0;
}

/* Interned strings are told apart by where they are: a map of addresses to number + 1. */
static int number_of(struct diff_names *names, struct map *numbers, const char *key,
		     uint32_t *ret_number)
{
	uintptr_t known = (uintptr_t)map_get(numbers, (uintptr_t)key);
	int r;

	if (!known) {
		r = append_name(names, key);
		if (r == 0)
			r = map_put(numbers, (uintptr_t)key, (void *)(uintptr_t)names->n);
		if (r < 0)
			return r;
		known = names->n;
	}
	*ret_number = (uint32_t)(known - 1);
	return 0;
}

static int number_recording(struct diff_names *names, struct map *numbers,
			    const struct selection *side, uint32_t **ret_of_frame)
{
	size_t n = side->profile->n_frames + side->n_labels;
	uint32_t *of_frame = calloc(n + 1, sizeof(*of_frame));

	*ret_of_frame = of_frame;
	if (!of_frame)
		return -ENOMEM;
	memset(of_frame, 0xff, (n + 1) * sizeof(*of_frame));
	for (size_t i = 1; i < side->n_nodes; i++) {
		uint32_t frame = side->nodes[i].frame;
		const char *key;
		int r;

		if (of_frame[frame] != UINT32_MAX)
			continue;
		key = frame_key(side, frame, &names->strings);
		r = key ? number_of(names, numbers, key, &of_frame[frame]) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

static int number_side(struct diff_names *names, struct map *numbers, const struct diff_side *side,
		       uint32_t ***ret_of_frame)
{
	uint32_t **of_frame = calloc(side->n + 1, sizeof(*of_frame));
	int r = of_frame ? 0 : -ENOMEM;

	*ret_of_frame = of_frame;
	for (size_t i = 0; i < side->n && r == 0; i++)
		r = number_recording(names, numbers, side->recordings[i], &of_frame[i]);
	return r;
}

int diff_names_make(const struct diff_side sides[DIFF_SIDES], struct diff_names *names)
{
	struct map numbers = {0};
	int r = 0;

	*names = (struct diff_names){0};
	for (unsigned side = 0; side < DIFF_SIDES && r == 0; side++)
		r = number_side(names, &numbers, &sides[side], &names->of_frame[side]);
	map_release(&numbers);
	return r;
}

void diff_names_release(const struct diff_side sides[DIFF_SIDES], struct diff_names *names)
{
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		for (size_t i = 0; names->of_frame[side] && i < sides[side].n; i++)
			free(names->of_frame[side][i]);
		free((void *)names->of_frame[side]);
	}
	free((void *)names->names);
	intern_release(&names->strings);
	*names = (struct diff_names){0};
}
