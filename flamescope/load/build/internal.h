/*
 * internal.h - the steps of merge_profile(), each in a file of its own
 *
 * Context: any thread.
 */
#ifndef BUILD_INTERNAL_H
#define BUILD_INTERNAL_H

#include "flamescope/load/build/builder.h"
#include "flamescope/profile_memory.h"

/* From the numbers of one builder to those of the first. */
struct merge_map {
	const struct builder *builder;
	uint32_t *frames, *nodes, *threads;
	uint32_t *codes[PROFILE_MAX_TAGS];
	size_t tags[PROFILE_MAX_TAGS];       /* PROFILE_MAX_TAGS: no room */
	size_t metrics[PROFILE_MAX_METRICS]; /* PROFILE_MAX_METRICS: no room */
	uint8_t events[PROFILE_MAX_EVENTS];
};

struct merge_segment {
	struct segment segment;
	const struct merge_map *map;
	size_t to; /* number of its first sample in the profile, by the order of the text */
	size_t file;
};

struct merge {
	struct builder *all; /* the first builder, which has taken in the others' numbers */
	struct merge_map *maps;
	size_t n_maps;
	struct merge_segment *segments; /* in the order of the text */
	size_t n_segments;
	struct merge_file *files;
	size_t n_files;
	int64_t *shifts; /* of the files' clocks */
	struct profile *profile;
	size_t tag_of[PROFILE_MAX_TAGS];       /* the profile's, of the first builder's number */
	size_t metric_of[PROFILE_MAX_METRICS]; /* the same; PROFILE_MAX_METRICS: has no values */
};

/**
 * merge_samples - fill the profile's columns, numbers as the first builder has them
 *
 * Return:  0; -ENOMEM.
 */
int merge_samples(struct merge *merge);

/**
 * merge_numbers - number everything by where the samples first use it, and leave out the rest
 *
 * Return:  0; -ENOMEM.
 */
int merge_numbers(struct merge *merge);

#endif
