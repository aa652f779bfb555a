/* fuzz_demangle.c - names that are not mangled */
#include "symbolize/names/demangle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static volatile size_t sink;

static void read_name(const char *name, bool full)
{
	struct demangle_budget budget = {0};
	char *readable = NULL;

	if (demangle(name, full, &budget, &readable) == 0)
		sink += strlen(readable);
	free(readable);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *name = malloc(size + 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	read_name(name, false);
	read_name(name, true);
	free(name);
	return 0;
}
