/* choice_scan.h - the machine's processes, as the choice among them wants them */
#ifndef COLLECTOR_CHOICE_SCAN_H
#define COLLECTOR_CHOICE_SCAN_H

#include "sampler/collector/choice.h"

#include <stdbool.h>

/* What /proc/PID/stat says. */
struct choice_stat {
	char state;
	bool of_kernel;
	uint64_t faults; /* minor and major */
	uint64_t start;  /* ticks since boot */
	uint64_t rss_pages;
};

/**
 * choice_parse_stat - the text of a process's stat
 *
 * Return:  false when it is none.
 * Context: any thread.
 */
bool choice_parse_stat(const char *text, struct choice_stat *ret_stat);

/**
 * choice_scan - show a choice every process that may be chosen
 * @proc: where /proc is
 *
 * Those of this user, or all for root; not threads of the kernel, zombies and wick itself.
 *
 * Return:  0; -errno: PROC cannot be listed.
 * Context: main thread, between choice_begin() and choice_end().
 */
int choice_scan(struct choice *choice, const char *proc);

#endif
