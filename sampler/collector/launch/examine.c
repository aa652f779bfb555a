/* examine.c - whether a program takes an agent, asked before it is started */
#include "sampler/collector/launch/examine.h"

#include "sampler/collector/launch/search.h"
#include "sampler/collector/launch/unsupported.h"
#include "sampler/unwind/unwind.h"

#include <stdio.h>

int collector_examine(const char *command, struct collector_program *ret_program, struct err *err)
{
	struct program program = {0};
	char path[PATH_MAX];
	int r = search_program(command, path, sizeof(path), err);

	if (r < 0)
		return r;
	search_examine(path, &program);
	*ret_program = (struct collector_program){.why = unsampled_why(program.kind)};
	if (program.kind == PROGRAM_NOT_ELF && !search_is_text(path))
		ret_program->why = "no program"; /* a text without #! is run by the shell */
	(void)snprintf(ret_program->path, sizeof(ret_program->path), "%s", path);
	(void)snprintf(ret_program->interpreter, sizeof(ret_program->interpreter), "%s",
		       program.interpreter);
	return 0;
}

const char *collector_stop_text(unsigned stop)
{
	switch (stop) {
	case UNWIND_END:
		return "";
	case UNWIND_NO_CFI:
		return "no unwind table (no-cfi)";
	case UNWIND_BAD_CFA:
		return "bad frame address (bad-cfa)";
	case UNWIND_BOUNDS:
		return "stack not readable (bounds)";
	case UNWIND_DEPTH:
		return "too deep (depth)";
	case UNWIND_BAD_CFI:
		return "unwind table not understood (bad-cfi)";
	default:
		return "unknown reason";
	}
}
