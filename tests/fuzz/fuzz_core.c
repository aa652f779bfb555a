/* fuzz_core.c - any bytes as a core file: opened or refused, and its stacks walked */
#include "sampler/external/core.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void walk(struct core *core)
{
	struct stacks stacks = {0};

	if (core_stacks(core, &stacks, NULL) < 0)
		return;
	for (size_t i = 0; i < stacks.n; i++)
		if (stacks.at[i].n_frames == 0)
			abort();
	stacks_release(&stacks);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	static int fd = -1;
	struct core *core;
	char path[64];

	if (fd < 0)
		fd = memfd_create("core", MFD_CLOEXEC);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, input, size, 0) != (ssize_t)size ||
	    core_open(path, NULL, &core, NULL) < 0)
		return 0;
	walk(core);
	core_free(core);
	return 0;
}
