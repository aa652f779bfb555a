/* missing.c - what a recording was requested and lacks: what it has, and what would have brought it
 */
#include "flamescope/query/internal.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

enum { LIST_BYTES = 280 }; /* of err.text: the name and the hint have the rest */

/*
 * Words that are no metric's name, and metrics that --metrics does not bring: all others are wick's
 * or a program's, and it does.
 */
struct source {
	const char *word;
	const char *metric; /* or word: its name in a recording; NULL: it has no other */
	const char *record; /* what brings it; NULL: --metrics */
};

static const struct source metrics[] = {
	{"cpu", "cpu_ns", NULL},
	{"faults", "minflt", NULL},
	{"switches", "vcsw", NULL},
	{"stack", "stack_bytes", NULL},
	{"rss", "rss_kib", NULL},
	{"swap", "swap_kib", NULL},
	{"run_delay", "run_delay_ns", NULL},
	{"io", "io_read_bytes", NULL},
	{"fds", "fd_count", NULL},
	{"alloc", "alloc_bytes", "-e alloc"},
	{"malloc", "alloc_bytes", "-e alloc"},
	{"memory", "alloc_bytes", "-e alloc"},
	{"heap", "heap_live_bytes", "-e alloc"},
	{"alloc_bytes", "alloc_bytes", "-e alloc"},
	{"free_bytes", "free_bytes", "-e alloc"},
	{"heap_live_bytes", "heap_live_bytes", "-e alloc"},
	{"arena_bytes", "arena_bytes", "-e cpu,alloc --metrics auto,arena_bytes"},
	{"arena_free_bytes", "arena_free_bytes", "-e cpu,alloc --metrics auto,arena_free_bytes"},
	{"lock", NULL, "-e lock"},
	{"locks", NULL, "-e lock"},
	{"wall", NULL, "-e wall"},
	{"page-faults", NULL, "-e page-faults"},
	{"context-switches", NULL, "-e context-switches"},
	{"cycles", NULL, "-e cycles"},
	{"instructions", NULL, "-e instructions"},
	{"cache-misses", NULL, "-e cache-misses"},
	{NULL, NULL, NULL},
};

static const struct source words[] = {
	{"wait", NULL, "-e wall"},  {"on", NULL, "-e wall"},  {"object", "on", "-e wall"},
	{"waker", NULL, "-e lock"}, {"op", NULL, "-e alloc"}, {"state", NULL, "-- CMD"},
	{NULL, NULL, NULL},
};

/* Labels, which only programs give. */
static const char *const labels[] = {"task", "tier",  "identity", "req",
				     "span", "trace", "function"};

bool dimension_is_label(const char *word)
{
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (strcmp(labels[i], word) == 0)
			return true;
	return false;
}

static const struct source *find(const struct source *sources, const char *word)
{
	for (; sources->word; sources++)
		if (strcmp(sources->word, word) == 0)
			return sources;
	return NULL;
}

/* ", NAME" while there is room. */
static void add_name(struct buf *list, const char *name)
{
	if (list->len + strlen(name) > LIST_BYTES)
		return;
	buf_add(list, ", ");
	buf_add(list, name);
}

static bool has_metric(const struct profile *profile, const char *name)
{
	for (size_t i = 0; name && i < profile->n_metrics; i++)
		if (strcmp(profile->strings[profile->metrics[i].name], name) == 0)
			return true;
	return false;
}

static bool has_tag(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->n_tags; i++)
		if (strcmp(profile->strings[profile->tags[i].name], name) == 0)
			return true;
	return false;
}

int missing_metric(const struct profile *profile, const char *name, struct err *err)
{
	const struct source *source = find(metrics, name);
	struct buf list;

	buf_init(&list, 2 * LIST_BYTES);
	buf_add(&list, "samples, period");
	for (size_t i = 0; i < profile->n_metrics; i++)
		add_name(&list, profile->strings[profile->metrics[i].name]);
	(void)err_set(err, 0, "samples have no metric '%.60s'; they have %s", name,
		      buf_text(&list));
	buf_release(&list);
	if (source && has_metric(profile, source->metric))
		err_hint(err, "--metric %s", source->metric);
	else if (source && source->record)
		err_hint(err, "wick record %s", source->record);
	else
		err_hint(err, "wick record --metrics auto,%.40s", source ? source->metric : name);
	return -ENOENT;
}

int missing_dimension(const struct profile *profile, const char *name, const char *known,
		      struct err *err)
{
	const struct source *source = find(words, name);
	struct buf list;

	buf_init(&list, 2 * LIST_BYTES);
	buf_add(&list, known);
	for (size_t i = 0; i < profile->n_tags; i++)
		add_name(&list, profile->strings[profile->tags[i].name]);
	(void)err_set(err, 0, "samples have no '%.60s'; they have %s", name, buf_text(&list));
	buf_release(&list);
	if (source && source->metric && has_tag(profile, source->metric))
		err_hint(err, "%s instead", source->metric);
	else if (source)
		err_hint(err, "wick record %s", source->record);
	else if (has_metric(profile, name))
		err_hint(err, "%.40s:class, its size", name);
	else if (strcmp(name, "module") == 0)
		err_hint(err, "wick report --per module");
	else if (dimension_is_label(name))
		err_hint(err, "a program that includes wick.h, or publishes its trace context");
	return -ENOENT;
}
