/* engine_options.c - what `wick record` is told about the engine */
#include "tools/options/engine_options.h"

int engine_options_take(int id, const char *value, struct engine_options *options, struct err *err)
{
	int r;

	switch (id) {
	case OPT_ENGINE:
		r = engine_parse(value, &options->wish, err);
		return r < 0 ? r : 1;
	case OPT_KERNEL:
		options->kernel = true;
		return 1;
	default:
		return 0;
	}
}
