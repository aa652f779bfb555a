/* profile.c - the life of a profile's arrays */
#include "flamescope/profile.h"

#include "flamescope/profile_memory.h"

#include <errno.h>
#include <stdlib.h>

struct profile *profile_new(void)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->memory = calloc(1, sizeof(*profile->memory));
	if (!profile->memory) {
		free(profile);
		return NULL;
	}
	return profile;
}

int profile_keep(struct profile *profile, void *block)
{
	struct profile_memory *memory = profile->memory;

	if (!block)
		return -ENOMEM;
	if (memory->n_blocks == memory->size) {
		size_t size = memory->size ? 2 * memory->size : 32;
		void **blocks = realloc(memory->blocks, size * sizeof(*blocks));

		if (!blocks) {
			free(block);
			return -ENOMEM;
		}
		memory->blocks = blocks;
		memory->size = size;
	}
	memory->blocks[memory->n_blocks++] = block;
	return 0;
}

void *profile_alloc(struct profile *profile, size_t count, size_t size)
{
	void *block = calloc(count ? count : 1, size);

	return profile_keep(profile, block) == 0 ? block : NULL;
}

void profile_free(struct profile *profile)
{
	struct profile_memory *memory;

	if (!profile)
		return;
	memory = profile->memory;
	for (size_t i = 0; i < memory->n_blocks; i++)
		free(memory->blocks[i]);
	if (memory->mapping)
		(void)memory->unmap(memory->mapping, memory->mapping_bytes);
	free(memory->blocks);
	free(memory);
	free(profile);
}
