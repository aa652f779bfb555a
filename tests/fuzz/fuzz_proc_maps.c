/* fuzz_proc_maps.c - ranges of any text are sorted, without overlaps, and user addresses */
#include "sampler/procfs/proc_maps.h"
#include "sampler/remote/ranges.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct ranges ranges = {0};
	struct intern paths = {0};

	if (ranges_parse(&ranges, &paths, (const char *)input, size) == 0) {
		for (size_t i = 0; i < ranges.n; i++) {
			if (ranges.at[i].start >= ranges.at[i].end ||
			    ranges.at[i].end > USER_ADDRESS_END)
				abort();
			if (i > 0 && ranges.at[i - 1].end > ranges.at[i].start)
				abort();
			if (ranges_find(&ranges, ranges.at[i].end - 1) != &ranges.at[i])
				abort();
		}
		ranges_release(&ranges);
	}
	intern_release(&paths);
	return 0;
}
