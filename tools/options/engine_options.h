/* engine_options.h - what `wick record` is told about the engine */
#ifndef OPTIONS_ENGINE_OPTIONS_H
#define OPTIONS_ENGINE_OPTIONS_H

#include "base/err.h"
#include "tools/target/engine.h"

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
