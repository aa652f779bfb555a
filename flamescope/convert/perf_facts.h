/* perf_facts.h - a profile's sample as output's writer takes it */
#ifndef CONVERT_PERF_FACTS_H
#define CONVERT_PERF_FACTS_H

#include "flamescope/convert/out.h"
#include "output/text/perf_script.h"

enum {
	PERF_MAX_FRAMES = 1024, /* handed on; the writer cuts them further */
	PERF_FACTS_NAME = 32,   /* bytes of a name that stands for one that cannot be written */
};

/* What the writer is told, and the room for it. */
struct perf_facts_room {
	struct perf_script_options options;
	struct metric metrics[SAMPLE_MAX_METRICS];
	int64_t last[SAMPLE_MAX_METRICS]; /* inline: what a sample without a value says */
	struct frame frames[PERF_MAX_FRAMES];
	struct sample sample;
	size_t n_asked; /* groups of the selection: behind them come those of the file itself */
	char groups[GROUPS_MAX][PERF_FACTS_NAME]; /* what those are called */
	size_t state; /* number of the tag, as of the next; n_tags: there is none */
	size_t op;
	const char *tags[PROFILE_MAX_TAGS];
	const char *events[PROFILE_MAX_EVENTS];
	char metric_names[SAMPLE_MAX_METRICS][PERF_FACTS_NAME];
	char tag_names[PROFILE_MAX_TAGS][PERF_FACTS_NAME];
	char event_names[PROFILE_MAX_EVENTS][PERF_FACTS_NAME];
};

/**
 * perf_facts_init - the options for all samples
 *
 * Context: any thread, as for all of these; one user at a time.
 */
void perf_facts_init(const struct out *out, struct perf_facts_room *room);

/**
 * perf_facts_take - sample number I of the selection, as room->sample
 *
 * Context: any thread.
 */
void perf_facts_take(const struct out *out, size_t i, struct perf_facts_room *room);

/**
 * perf_facts_comment - the "# s" line of that sample; nothing when there is nothing to say
 *
 * Context: any thread.
 */
void perf_facts_comment(const struct out *out, size_t i, const struct perf_facts_room *room,
			struct buf *buf);

#endif
