/* event_list.c - the events of -e, and the options --engine and --kernel */
#include "tools/options/options.h"

#include "sampler/collector/collector.h"
#include "tools/cli/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_engine(const char *text, struct engine_options *options, struct err *err)
{
	static const char *const words[] = {"auto", "ctimer", "perf", "ptrace", NULL};
	int i = value_word(text, words, err);

	if (i < 0)
		return i;
	options->choice = (enum engine_choice)i;
	return 1;
}

int engine_options_take(int id, const char *value, struct engine_options *options, struct err *err)
{
	switch (id) {
	case OPT_ENGINE:
		return take_engine(value, options, err);
	case OPT_KERNEL:
		options->kernel = true;
		return 1;
	default:
		return 0;
	}
}

/* More would be sampled than passed: a ring takes some thousand events a second. */
#define LEAST_ALLOC_BYTES UINT64_C(1024)
#define MOST_ALLOC_BYTES  (UINT64_C(1) << 40)
#define MOST_PERIOD       UINT64_C(1000000000000)

static int take_size(const char *text, uint64_t *ret_bytes, struct err *err)
{
	int r = value_size(text, ret_bytes, err);

	if (r == 0 && (*ret_bytes < LEAST_ALLOC_BYTES || *ret_bytes > MOST_ALLOC_BYTES))
		return err_set(err, 0, "'%s' is not between 1K and 1024G", text);
	return r;
}

static int take_period(const char *text, uint64_t *ret_period, struct err *err)
{
	char *end;

	*ret_period = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || *ret_period == 0 || *ret_period > MOST_PERIOD)
		return err_set(err, 0, "'%s' is not a number of events, 1 to 10^12", text);
	return 0;
}

/* Whatever has no meaning of ours is perf's. */
static int take_perf(const char *word, const char *value, struct event_list *list, struct err *err)
{
	struct err own = {0};

	if (perf_name_parse(word, &list->event, &own) < 0)
		return err_set(err, 0, "'%s' is not one of: cpu, wall, alloc, lock, a perf event",
			       word);
	if (!list->event.is_cpu) {
		list->events |= COLLECT_COUNT;
		return value ? take_period(value, &list->period, err) : 0;
	}
	list->events |= COLLECT_CPU;
	return value ? err_set(err, 0, "'%s' takes no value", word) : 0;
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
	if (strcmp(word, "cpu") != 0 && strcmp(word, "wall") != 0)
		return list->event.text[0]
			       ? err_set(err, 0,
					 "'%s' and '%s': only one perf event can be recorded", word,
					 list->event.text)
			       : take_perf(word, value, list, err);
	list->events |= *word == 'c' ? COLLECT_CPU : COLLECT_WALL;
	return value ? err_set(err, 0, "'%s' takes no value", word) : 0;
}

/* Past a word; "cpu/event=0x3c,umask=1/=1000" is one. */
static const char *word_end(const char *text)
{
	const char *slash = strpbrk(text, ",/");

	if (slash && *slash == '/' && strchr(slash + 1, '/'))
		text = strchr(slash + 1, '/');
	return strchrnul(text, ',');
}

int event_list_parse(const char *text, struct event_list *ret_list, struct err *err)
{
	struct event_list list = {.alloc_bytes = COLLECT_ALLOC_BYTES, .lock_ns = COLLECT_LOCK_NS};
	char word[128];
	int r = 0;

	for (const char *end; r == 0; text = end + 1) {
		const char *slash;
		char *value;

		end = word_end(text);
		(void)snprintf(word, sizeof(word), "%.*s", (int)(end - text), text);
		slash = strrchr(word, '/');
		value = strchr(slash ? slash : word, '=');
		if (value)
			*value++ = '\0';
		r = take_event(word, value, &list, err);
		if (!*end)
			break;
	}
	if (r == 0 && (list.events & COLLECT_COUNT) && (list.events & (COLLECT_CPU | COLLECT_WALL)))
		r = err_set(err, 0,
			    "'%s' cannot be combined with cpu or wall: they count different things",
			    list.event.text);
	if (r == 0)
		*ret_list = list;
	return r;
}
