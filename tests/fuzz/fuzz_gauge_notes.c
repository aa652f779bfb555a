/* fuzz_gauge_notes.c - whatever a module calls its notes, the tables found are few and apart */
#include "sampler/collector/metrics/gauges.h"
#include "sampler/procfs/proc_maps.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* The address, then the notes, in bytes of their own: a read beyond them is seen. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	uint64_t tables[GAUGE_TABLES];
	uint64_t address;
	unsigned char *notes;
	size_t n = 0;

	if (size < sizeof(address))
		return 0;
	memcpy(&address, input, sizeof(address));
	size -= sizeof(address);
	notes = malloc(size ? size : 1);
	if (!notes)
		return 0;
	memcpy(notes, input + sizeof(address), size);
	/* As of two modules that have the same notes: what is known is not found again. */
	for (int module = 0; module < 2; module++)
		n = gauge_notes_in(notes, size, address, tables, n);
	if (n > GAUGE_TABLES)
		abort();
	for (size_t i = 0; i < n; i++) {
		if (tables[i] == 0 || tables[i] >= USER_ADDRESS_END)
			abort();
		for (size_t other = 0; other < i; other++)
			if (tables[other] == tables[i])
				abort();
	}
	free(notes);
	return 0;
}
