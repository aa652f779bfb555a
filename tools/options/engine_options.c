/* engine_options.c - the options --engine and --kernel */
#include "tools/options/options.h"

#include "tools/cli/value.h"

static int take_engine(const char *text, struct engine_options *options, struct err *err)
{
	static const char *const words[] = {"auto", "ctimer", "perf", "ptrace", NULL};
	int i = value_word(text, words, err);

	if (i < 0)
		return i;
	options->choice = (enum engine_choice)i;
	return 1;
}

int engine_options_take(int id, const char *value, struct engine_options *options, struct err *err)
{
	switch (id) {
	case OPT_ENGINE:
		return take_engine(value, options, err);
	case OPT_KERNEL:
		options->kernel = true;
		return 1;
	default:
		return 0;
	}
}
