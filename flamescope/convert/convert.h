/* convert.h - a selection in the formats of other programs */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include "flamescope/query/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum convert_format {
	CONVERT_FOLDED,     /* a;b;c 12 */
	CONVERT_PPROF,      /* profile.proto */
	CONVERT_SPEEDSCOPE, /* its own JSON */
	CONVERT_FIREFOX,    /* the Firefox Profiler's processed format */
	CONVERT_PERF,       /* perf-script text */
};

/* Takes the bytes of a file in order; -errno ends the conversion. */
struct convert_sink {
	int (*write)(void *context, const void *bytes, size_t len);
	void *context;
};

struct convert_options {
	enum convert_format format;
	bool gzip;         /* as one member */
	const char *title; /* NULL: the first file's name */
	bool has_measure; /* the selection's values were requested; else they are its own measure */
	const char *metric; /* what has_measure's are called: "rss_kib:gain" */
	size_t n_groups;    /* of the selection's query */
	const char *const *groups;

	/* only CONVERT_PERF */
	bool bare;            /* no line that starts with # */
	bool inline_metrics;  /* metrics on the header line, the state as comm */
	bool replicate;       /* each sample as often as its value has quanta */
	uint64_t max_samples; /* of replicated ones, in all; 0: CONVERT_MAX_SAMPLES */
};

enum { CONVERT_MAX_SAMPLES = 1000000 };

/* What came of it. */
struct convert_report {
	uint64_t n_samples;  /* written */
	uint64_t n_negative; /* left out, for the format has only positive values */
	uint64_t quantum;    /* what a replicated sample stands for; 0: none were */
	bool several_events; /* perf-script text of them: most consumers read the first only */
};

/**
 * convert_write - write a selection
 *
 * Return:  0; what the sink returned; -ENOMEM; -EFBIG: a sample that is too long for the format.
 * Context: any thread.
 */
int convert_write(const struct selection *selection, const struct convert_options *options,
		  const struct convert_sink *sink, struct convert_report *ret_report,
		  struct err *err);

/**
 * convert_format_of - the format that a file's extension or a word names
 * @text:     `x.perf`, `x.pb.gz`, or the end alone: `folded`, `speedscope.json.gz`
 * @ret_gzip: it ends in .gz
 *
 * Return:  0; -ENOENT, and which there are.
 * Context: any thread.
 */
int convert_format_of(const char *text, enum convert_format *ret_format, bool *ret_gzip,
		      struct err *err);

#endif
