/*
 * variables.h - the thread-local variables of a process's modules that tell whose work a thread
 * does
 *
 * Context: collector thread.
 */
#ifndef CONTEXT_VARIABLES_H
#define CONTEXT_VARIABLES_H

#include "sampler/collector/context/loader.h"

struct found_variable {
	struct context_variable how; /* without a serial */
	size_t module;               /* its number in link order */
	bool wick;       /* of a module with wick.h's note: its keys are enum context_key */
	uint64_t anchor; /* then: address of its struct tables_anchor */
};

/**
 * variables_find - the variables that a handler is to read, in their order
 *
 * OpenTelemetry's come first, in link order, then custom-labels v1, then wick.h's own.
 *
 * Return:  how many there are, at most CONTEXT_VARIABLES.
 */
size_t variables_find(const struct loader *loader,
		      struct found_variable ret_variables[CONTEXT_VARIABLES]);

#endif
