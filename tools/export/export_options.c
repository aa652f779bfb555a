/* export_options.c - the options of wick record about exact counts for other programs */
#include "tools/export/export.h"

#include "tools/cli/value.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_EVERY_NS UINT64_C(60000000000)

static int take_target(const char *value, struct export_options *options, struct err *err)
{
	if (!*value)
		return err_set(err, 0, "'' is not a file, try: --stats-to counts.jsonl");
	if (options->n_targets == EXPORT_TARGETS)
		return err_set(err, 0, "more than %d places for counts", EXPORT_TARGETS);
	options->targets[options->n_targets++] = value;
	return 1;
}

static int take_top(const char *value, struct export_options *options, struct err *err)
{
	char *end;
	unsigned long top = strtoul(value, &end, 10);

	if (*value < '1' || *value > '9' || *end || top > SERIES_MOST)
		return err_set(err, 0, "'%s' is not a number of tasks from 1 to %d", value,
			       SERIES_MOST);
	options->top_tasks = (uint32_t)top;
	return 1;
}

int export_options_take(int id, const char *value, struct export_options *options, struct err *err)
{
	int r;

	switch (id) {
	case OPT_STATS_EVERY:
		r = value_duration(value, &options->every_ns, err);
		return r < 0 ? r : 1;
	case OPT_STATS_TO:
		return take_target(value, options, err);
	case OPT_LISTEN:
		options->listen = value;
		r = listener_check(value, err);
		return r < 0 ? r : 1;
	case OPT_TEXTFILE:
		options->textfile = value;
		return *value ? 1 : err_set(err, 0, "'' is not a file, try: wick.prom");
	case OPT_TOP_TASKS:
		return take_top(value, options, err);
	default:
		return 0;
	}
}

void export_options_settle(struct export_options *options)
{
	if (!options->every_ns && options->n_targets)
		options->every_ns = DEFAULT_EVERY_NS;
	if (!options->top_tasks)
		options->top_tasks = PAGE_TASKS;
}
