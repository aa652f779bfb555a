/* alloc_pair.c - what the hooks add to a pair of malloc and free
 * usage: alloc_pair            as CMD of `wick record -e alloc`, or alone to see what noise is
 *
 * libc's own functions and those that the program is bound to take turns in one process; what is
 * printed is the median of the differences of CPU time within a round.  Ways of using memory: one
 * size again and again, mixed sizes first in first out, up to 271 and up to 4111 bytes, and with
 * 10,000 kept, so that free() meets pointers all over the heap. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *memory);

enum {
	ROUNDS = 41,
	SLICES = 8, /* of a measurement, whose quickest counts: no other thread interfered */
	PAIRS = 50000,
	MOST_KEPT = 10000,
};

struct way {
	const char *name;
	size_t kept;
	unsigned bits; /* 16 to 15 + 2^BITS bytes; 0: 64 */
};

struct allocator {
	void *(*take)(size_t size);
	void (*give_back)(void *memory);
};

static void *kept[MOST_KEPT];

static double now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double slice_ns(const struct way *way, const struct allocator *allocator)
{
	uint32_t random = 1;
	double begin;
	double ns;

	for (size_t i = 0; i < way->kept; i++)
		kept[i] = allocator->take(64);
	begin = now_ns();
	for (size_t i = 0, at = 0; i < PAIRS; i++) {
		size_t size = 64;

		random = random * 1664525 + 1013904223;
		if (way->bits)
			size = 16 + (random >> (32 - way->bits));

		allocator->give_back(kept[at]);
		kept[at] = allocator->take(size);
		at = at + 1 == way->kept ? 0 : at + 1;
	}
	ns = (now_ns() - begin) / PAIRS;
	for (size_t i = 0; i < way->kept; i++)
		allocator->give_back(kept[i]);
	return ns;
}

static double least_ns(const struct way *way, const struct allocator *allocator)
{
	double least = slice_ns(way, allocator);

	for (int i = 1; i < SLICES; i++) {
		double ns = slice_ns(way, allocator);

		least = ns < least ? ns : least;
	}
	return least;
}

static int compare(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(const struct way *way)
{
	const struct allocator libc = {__libc_malloc, __libc_free};
	const struct allocator bound = {malloc, free};
	double bare[ROUNDS];
	double more[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		/* Who goes first changes: the second finds the heap as the first left it. */
		double second = i % 2 ? least_ns(way, &libc) : least_ns(way, &bound);
		double first = i % 2 ? least_ns(way, &bound) : least_ns(way, &libc);

		bare[i] = i % 2 ? second : first;
		more[i] = i % 2 ? first - second : second - first;
	}
	qsort(bare, ROUNDS, sizeof(bare[0]), compare);
	qsort(more, ROUNDS, sizeof(more[0]), compare);
	printf("%-28s libc %5.1f ns a pair, hooks %+5.1f ns (quartiles %+.1f %+.1f)\n", way->name,
	       bare[ROUNDS / 2], more[ROUNDS / 2], more[ROUNDS / 4], more[ROUNDS * 3 / 4]);
}

int main(void)
{
	static const struct way ways[] = {
		{"one of 64 bytes", 1, 0},
		{"100 of 16 to 271", 100, 8},
		{"100 of 16 to 4111", 100, 12},
		{"10,000 of 16 to 271", MOST_KEPT, 8},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		measure(&ways[i]);
	return 0;
}
