/* progress.h - the live line of a recording */
#ifndef RECORD_PROGRESS_H
#define RECORD_PROGRESS_H

#include "output/files/recording.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stdint.h>

struct progress {
	uint64_t elapsed_ns;
	uint32_t hz; /* that was asked for, */
	uint32_t effective_hz;
	bool interrupted; /* CMD had its Ctrl-C; the next one is ours */
	struct collector_stats collected;
	struct recording_stats written;
};

/**
 * progress_print - one line: time, samples, CPU seen, threads, losses, file
 *
 * Context: any thread.
 */
void progress_print(const struct progress *progress, struct buf *buf);

/**
 * progress_show - put that line at the bottom of the terminal, cut to its width
 *
 * Context: main thread.
 */
void progress_show(const struct progress *progress);

#endif
