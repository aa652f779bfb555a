/* fuzz_demangle.c - names that nobody mangled */
#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static volatile size_t sink;

static void read_name(char *name)
{
	if (name)
		sink += strlen(name);
	free(name);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *name = malloc(size + 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	read_name(symbolize_demangle(name));
	read_name(symbolize_demangle_full(name));
	free(name);
	return 0;
}
