/* fuzz_eh_table.c - the table that is made of any .eh_frame is sorted and lies where it says */
#include "sampler/procfs/proc_maps.h"
#include "sampler/remote/remote_modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

enum { HEAD = 12, ENTRY = 8 };

static int32_t word_at(const struct eh_table *table, size_t at)
{
	int32_t word;

	if (at + sizeof(word) > table->n)
		abort();
	memcpy(&word, table->bytes + at, sizeof(word));
	return word;
}

static void check(const struct eh_table *table)
{
	int32_t n = word_at(table, 8);

	if (n < 0 || HEAD + (size_t)n * ENTRY > table->n || table->at >= USER_ADDRESS_END)
		abort();
	for (int32_t i = 1; i < n; i++)
		if (word_at(table, HEAD + (size_t)i * ENTRY) <
		    word_at(table, HEAD + (size_t)(i - 1) * ENTRY))
			abort();
}

/* Where it lies and where the module ends, then the .eh_frame, in bytes of their own. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct eh_table table = {0};
	uint64_t at[2];
	unsigned char *bytes;

	if (size < sizeof(at))
		return 0;
	memcpy(at, input, sizeof(at));
	size -= sizeof(at);
	bytes = malloc(size ? size : 1);
	if (!bytes)
		return 0;
	memcpy(bytes, input + sizeof(at), size);
	if (eh_table_from(bytes, size, at[0], at[1], &table) == 0)
		check(&table);
	eh_table_release(&table);
	free(bytes);
	return 0;
}
