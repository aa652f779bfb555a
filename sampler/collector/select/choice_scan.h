/* choice_scan.h - the machine's processes, as the choice among them wants them */
#ifndef SELECT_CHOICE_SCAN_H
#define SELECT_CHOICE_SCAN_H

#include "sampler/collector/select/choice.h"
#include "sampler/collector/select/choice_gauges.h"

/**
 * choice_scan - show a choice every process that may be chosen
 * @gauges: BY_GAUGE: of which variable; else NULL
 * @proc: where /proc is
 *
 * Those of this user, or all for root; not threads of the kernel, zombies and wick itself.
 *
 * Return:  0; -errno: PROC cannot be listed.
 * Context: main thread, between choice_begin() and choice_end().
 */
int choice_scan(struct choice *choice, struct choice_gauges *gauges, const char *proc);

#endif
