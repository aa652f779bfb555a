/* hook_files.c - the files of what hooks saw, beside the one of the clock */
#include "tools/samples/samples.h"

#include "sampler/collector/collector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIT(id) (UINT32_C(1) << (id))

static const uint32_t of_memory =
	BIT(METRIC_ALLOC_BYTES) | BIT(METRIC_FREE_BYTES) | BIT(METRIC_HEAP_LIVE_BYTES);
/* A hook reads nothing of its thread. */
static const uint32_t of_record = BIT(METRIC_RECORD) - 1;

static const struct kind {
	enum sample_event event;
	uint32_t bit;
	const char *name; /* of the event, and before the file's ending */
} kinds[HOOK_FILES] = {
	{EVENT_ALLOC, COLLECT_ALLOC, "alloc"},
	{EVENT_LOCK, COLLECT_LOCK, "lock"},
};

enum sample_event hook_files_main(uint32_t events)
{
	if (events & COLLECT_WALL)
		return EVENT_WALL;
	if (events & COLLECT_COUNT)
		return EVENT_COUNT;
	if (events & COLLECT_CPU || !events)
		return EVENT_CPU;
	return events & COLLECT_ALLOC ? EVENT_ALLOC : EVENT_LOCK;
}

bool hook_files_clock(uint32_t events)
{
	return hook_files_main(events) < EVENT_ALLOC;
}

static const struct kind *kind_of(enum sample_event event)
{
	for (size_t i = 0; i < HOOK_FILES; i++)
		if (kinds[i].event == event)
			return &kinds[i];
	return NULL;
}

void hook_files_describe(struct recording_options *recording, enum sample_event event,
			 const struct event_list *list)
{
	const struct kind *kind = kind_of(event);

	recording->header.event = kind                          ? kind->name
				  : event == EVENT_COUNT        ? list->event.shown
				  : list->events & COLLECT_WALL ? "wall-clock"
								: "cpu-clock";
	if (event == EVENT_COUNT)
		recording->header.hz = 0;
	if (kind) {
		recording->header.hz = 0;
		recording->text.metrics_mask &= ~of_record;
	}
	if (event == EVENT_ALLOC)
		recording->header.mean_bytes = list->alloc_bytes;
	if (event == EVENT_LOCK)
		recording->header.least_ns = list->lock_ns;
	if (event != EVENT_ALLOC)
		recording->text.metrics_mask &= ~of_memory;
	if (!(list->events & COLLECT_ALLOC))
		recording->text.metrics_mask &= ~METRICS_OF_ARENAS;
	groups_limit(&recording->text.groups, recording->text.metrics_mask);
	if (kind && !recording->path)
		recording->path = event == EVENT_ALLOC ? "wick.%c.%p.%t.alloc.perf"
						       : "wick.%c.%p.%t.lock.perf";
}

char *hook_files_path(const char *path, const char *word)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(path, '.');
	char *beside = NULL;
	int r;

	if (!dot || (slash && dot < slash) || dot == path || dot == (slash ? slash + 1 : path))
		dot = path + strlen(path);
	r = asprintf(&beside, "%.*s.%s%s", (int)(dot - path), path, word, dot);
	return r < 0 ? NULL : beside;
}

static int open_one(struct hook_files *files, size_t i, const struct recording_options *like,
		    const struct event_list *list, struct err *err)
{
	struct recording_options recording = *like;

	if (like->path) {
		files->paths[i] = hook_files_path(like->path, kinds[i].name);
		if (!files->paths[i])
			return err_set(err, ENOMEM, "name a file");
		recording.path = files->paths[i];
	}
	hook_files_describe(&recording, kinds[i].event, list);
	return recording_new(&recording, &files->at[i], err);
}

int hook_files_open(struct hook_files *files, const struct recording_options *like,
		    const struct event_list *list, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < HOOK_FILES && r == 0; i++)
		if ((list->events & kinds[i].bit) &&
		    kinds[i].event != hook_files_main(list->events))
			r = open_one(files, i, like, list, err);
	return r;
}

struct recording *hook_files_of(const struct hook_files *files, enum sample_event event)
{
	const struct kind *kind = kind_of(event);

	return kind ? files->at[kind - kinds] : NULL;
}

enum sample_series hook_files_series(size_t index)
{
	return sample_series(kinds[index].event);
}

bool hook_files_write(struct hook_files *files, const struct sample *sample)
{
	struct recording *recording = hook_files_of(files, sample->event);

	if (!recording)
		return false;
	recording_write(recording, sample);
	return true;
}

void hook_files_tick(struct hook_files *files)
{
	for (size_t i = 0; i < HOOK_FILES; i++)
		if (files->at[i])
			recording_tick(files->at[i]);
}

uint64_t hook_files_due_ns(const struct hook_files *files)
{
	uint64_t due_ns = UINT64_MAX;

	for (size_t i = 0; i < HOOK_FILES; i++) {
		uint64_t ns = files->at[i] ? recording_due_ns(files->at[i]) : UINT64_MAX;

		due_ns = ns < due_ns ? ns : due_ns;
	}
	return due_ns;
}

void hook_files_counts(struct hook_files *files, enum sample_series series,
		       const struct perf_script_count *counts, size_t n_counts)
{
	for (size_t i = 0; i < HOOK_FILES; i++)
		if (files->at[i] && sample_series(kinds[i].event) == series)
			recording_counts(files->at[i], counts, n_counts);
}

size_t hook_files_stats(const struct hook_files *files, struct recording_stats to[HOOK_FILES])
{
	size_t n = 0;

	for (size_t i = 0; i < HOOK_FILES; i++)
		if (files->at[i])
			recording_stats(files->at[i], &to[n++]);
	return n;
}

void hook_files_finish(struct hook_files *files)
{
	for (size_t i = 0; i < HOOK_FILES; i++)
		if (files->at[i])
			(void)recording_finish(files->at[i]); /* it has printed what went wrong */
}

void hook_files_release(struct hook_files *files)
{
	for (size_t i = 0; i < HOOK_FILES; i++) {
		recording_free(files->at[i]);
		free(files->paths[i]);
	}
	*files = (struct hook_files){0};
}
