/* fuzz_budget_trips.c - inputs over the budget: "cpu" takes too long, "memory" holds too much for a
 * moment */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OVER_S = 5, OVER_BYTES = 300 << 20, PIECE_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_cpu(void)
{
	const clock_t end = clock() + OVER_S * CLOCKS_PER_SEC;

	while (clock() < end)
		;
}

static void take_memory(void)
{
	enum { PIECES = OVER_BYTES / PIECE_BYTES };
	static void *volatile pieces[PIECES];

	for (int i = 0; i < PIECES; i++)
		pieces[i] = malloc(PIECE_BYTES);
	for (int i = 0; i < PIECES; i++)
		free(pieces[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 3 && memcmp(data, "cpu", size) == 0)
		take_cpu();
	if (size == 6 && memcmp(data, "memory", size) == 0)
		take_memory();
	return 0;
}
