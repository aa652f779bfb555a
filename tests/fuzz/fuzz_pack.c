/* fuzz_pack.c - any bytes as a packed profile; the check sums are made right, so that it goes on */
#include "flamescope/pack/pack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static volatile size_t touched; /* so that what is read is read */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repair(unsigned char *bytes, size_t len)
{
	uint64_t all = len;

	memcpy(bytes + 16, &all, sizeof(all));
	for (size_t at = 24; at + 40 <= len && at < 24 + 40 * 200; at += 40) {
		uint64_t offset;
		uint64_t count;
		uint32_t size;
		uint32_t crc;

		memcpy(&offset, bytes + at + 16, sizeof(offset));
		memcpy(&count, bytes + at + 24, sizeof(count));
		memcpy(&size, bytes + at + 32, sizeof(size));
		/* not of the sections' own table, which it would change */
		if (size == 0 || size > 8 || offset < at + 40 || offset > len ||
		    count > (len - offset) / size)
			continue;
		crc = (uint32_t)crc32_z(0, bytes + offset, count * size);
		memcpy(bytes + at + 36, &crc, sizeof(crc));
	}
}

static size_t touch(const struct profile *p)
{
	size_t sum = strlen(p->strings[p->command]);

	for (size_t i = 0; i < p->n_samples; i++) {
		sum += strlen(p->strings[p->thread_list[p->threads[i]].comm]) +
		       strlen(p->strings[p->event_names[p->events[i]]]) + p->cpus[i];
		for (uint32_t node = p->stacks[i]; node; node = p->nodes[node].parent)
			sum += strlen(p->strings[p->frames[p->nodes[node].frame].name]);
		for (size_t j = 0; j < p->n_tags; j++)
			if (p->tags[j].codes[i] != PROFILE_TAG_OTHER)
				sum += strlen(p->strings[p->tags[j].values[p->tags[j].codes[i]]]);
		for (size_t j = 0; j < p->n_metrics; j++)
			sum += (size_t)p->metrics[j].values[i];
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *profile = NULL;
	unsigned char *copy;

	if (size < 24)
		return 0;
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	repair(copy, size);
	if (pack_read(copy, size, &profile, NULL) == 0)
		touched = touch(profile);
	profile_free(profile);
	free(copy);
	return 0;
}
