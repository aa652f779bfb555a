/* profile.c - the life of a profile's arrays */
#include "flamescope/profile.h"

#include "flamescope/profile_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

void profile_say_empty(const struct profile *profile, struct err *err)
{
	const struct profile_file *file = profile->files;

	if (file->problem &&
	    strstr(file->problem, file->path)) /* most say of which file they are */
		(void)err_set(err, 0, "%s", file->problem);
	else if (file->problem)
		(void)err_set(err, 0, "'%s': %s", file->path, file->problem);
	else if (file->bytes == 0)
		(void)err_set(err, 0, "'%s' is empty", file->path);
	else
		(void)err_set(err, 0,
			      "'%s' has no sample: either no profiler that wick knows wrote it, or "
			      "nothing ran while it was recorded",
			      file->path);
}
