/* event_list.c - what -e asks for */
#include "tools/event_list.h"

#include "sampler/collector/collector.h"
#include "tools/value.h"

#include <stdio.h>
#include <string.h>

/* More would be sampled than passed: a ring takes some thousand events a second. */
#define LEAST_ALLOC_BYTES UINT64_C(1024)
#define MOST_ALLOC_BYTES  (UINT64_C(1) << 40)

static int take_size(const char *text, uint64_t *ret_bytes, struct err *err)
{
	int r = value_size(text, ret_bytes, err);

	if (r == 0 && (*ret_bytes < LEAST_ALLOC_BYTES || *ret_bytes > MOST_ALLOC_BYTES))
		return err_set(err, 0, "'%s' is not between 1K and 1024G", text);
	return r;
}

/* One word, its value cut off; VALUE is NULL without one. */
static int take_event(const char *word, const char *value, struct event_list *list, struct err *err)
{
	if (strcmp(word, "alloc") == 0) {
		list->events |= COLLECT_ALLOC;
		return value ? take_size(value, &list->alloc_bytes, err) : 0;
	}
	if (strcmp(word, "lock") == 0) {
		list->events |= COLLECT_LOCK;
		return value ? value_wait(value, &list->lock_ns, err) : 0;
	}
	if (value)
		return err_set(err, 0, "'%s' takes no value", word);
	if (strcmp(word, "cpu") == 0)
		list->events |= COLLECT_CPU;
	else if (strcmp(word, "wall") == 0)
		list->events |= COLLECT_WALL;
	else
		return err_set(err, 0, "'%s' is not one of: cpu, wall, alloc, lock", word);
	return 0;
}

int event_list_parse(const char *text, struct event_list *ret_list, struct err *err)
{
	struct event_list list = {.alloc_bytes = COLLECT_ALLOC_BYTES, .lock_ns = COLLECT_LOCK_NS};
	char word[64];
	int r = 0;

	for (const char *end; r == 0; text = end + 1) {
		char *value;

		end = strchrnul(text, ',');
		(void)snprintf(word, sizeof(word), "%.*s", (int)(end - text), text);
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		r = take_event(word, value, &list, err);
		if (!*end)
			break;
	}
	if (r == 0)
		*ret_list = list;
	return r;
}
