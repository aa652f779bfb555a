/* engine_options.h - the options --engine and --kernel */
#ifndef OPTIONS_ENGINE_OPTIONS_H
#define OPTIONS_ENGINE_OPTIONS_H

#include "base/err.h"
#include "sampler/collector/collector.h"

#include <stdbool.h>
#include <stdint.h>

enum engine_choice { ENGINE_AUTO, ENGINE_CTIMER, ENGINE_PERF, ENGINE_PTRACE };

struct engine_options {
	enum engine_choice choice;
	bool kernel;            /* record kernel frames, too */
	struct perf_name event; /* "" none: CPU */
	uint64_t period;        /* of the event: each Nth; 0: as many as give the rate */
};

/* Ids of the options, beside the command's own. */
enum { OPT_ENGINE = 3072, OPT_KERNEL };

/* Their rows of the table. */
#define ENGINE_OPTION_SPECS                                                                        \
	{OPT_ENGINE, "engine", "HOW",                                                              \
	 "ctimer, perf, ptrace or auto (default: auto, which is ctimer; perf for rates above the " \
	 "kernel's tick; ptrace for programs that cannot load the agent)"},                        \
	{                                                                                          \
		OPT_KERNEL, "kernel", NULL,                                                        \
			"record kernel frames as well, if the system permits it"                   \
	}

/**
 * engine_options_take - take in one of the options above
 *
 * Return:  1; 0: it is none of them; -EINVAL and the reason.
 * Context: main thread.
 */
int engine_options_take(int id, const char *value, struct engine_options *options, struct err *err);

#endif
