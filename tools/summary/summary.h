/* summary.h - the end of a recording in words */
#ifndef SUMMARY_SUMMARY_H
#define SUMMARY_SUMMARY_H

#include "base/buf.h"
#include "output/files/recording.h"
#include "sampler/collector/collector.h"
#include "symbolize/symbolize.h"
#include "tools/samples/samples.h"

#include <stdbool.h>
#include <stdint.h>

/* Everything that the summary is made of; views of the caller's. */
struct summary {
	const char *command;
	pid_t pid;
	bool cmd_ended;
	int wait_status;
	uint64_t elapsed_ns;
	size_t n_attached;                  /* of -p and --comm; 0: a CMD was started, or -a */
	const struct collector_top *choose; /* of -a; n 0: it was not requested */
	uint32_t hz;                        /* the least that was requested, */
	uint32_t hz_most;                   /* and the most, where wick rate changed it */
	uint32_t kernel_hz;
	enum ring_discovery discovery;
	enum ring_engine engine;
	const char *event;       /* of the kernel's, that was counted; NULL: none */
	uint64_t signal_cost_ns; /* of one signal, without its handler; 0: not measured */
	uint64_t collector_ns;   /* CPU of wick itself */
	uint64_t unnamed_frames; /* that could not wait for their module's names */
	uint64_t mangled_names;  /* that could not be demangled within bounds */
	uint64_t truncated;      /* stacks deeper than SAMPLE_MAX_FRAMES */
	struct collector_stats collected;
	struct recording_stats written;
	struct recording_stats beside[HOOK_FILES]; /* what hooks saw, in files of their own */
	size_t n_beside;
	const struct live_file *live; /* NULL: there is none */
	const struct symbolize_module *modules;
	size_t n_modules;
	struct symbolize_servers servers;
	const struct totals *totals;        /* exact counts; NULL: not known */
	const struct sample_filter *filter; /* NULL: everything was kept */
	bool no_clock;                      /* neither CPU nor wall time was requested */
	uint64_t lock_ns;                   /* waits of so long were requested; 0: none */
	bool no_symbols;                    /* no names were requested */
	const char *no_events;              /* why perf events may not be had; "" they may */
	bool verbose;
};

/**
 * summary_print - the summary as text, a fact a line
 *
 * Context: any thread.
 */
void summary_print(const struct summary *summary, struct buf *buf);

/**
 * summary_weight_lost - the weight that was lost for lack of space, by all causes together
 *
 * Context: any thread.
 */
uint64_t summary_weight_lost(const struct collector_stats *stats);

#endif
