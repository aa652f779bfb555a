/*
 * take_give.c - take() allocates what give() frees, and work() waits as long as it computes
 *
 * usage: take_give BLOCKS ROUNDS
 *
 * Says how many bytes were taken, and how many of them given back; the last tenth is kept.  work()
 * calls the kernel itself: whether it waits or computes, its stack is the same.
 */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { SMALLEST = 100000, STEP = 7919, MAX_BLOCKS = 1000 };

static const double round_s = 0.005;

__attribute__((noinline, noclone)) static void *take(size_t size)
{
	void *block = malloc(size);

	if (block)
		memset(block, 1, 1);
	__asm__ volatile("" : "+r"(block));
	return block;
}

__attribute__((noinline, noclone)) static void give(void *block)
{
	free(block);
	__asm__ volatile("");
}

__attribute__((noinline, noclone)) static void work(double seconds)
{
	struct timespec pause = {.tv_nsec = (long)(seconds * 1e9)};
	double end = thread_seconds() + seconds;
	long number = SYS_nanosleep;

	__asm__ volatile("syscall" : "+a"(number) : "D"(&pause), "S"(0) : "rcx", "r11", "memory");
	do {
		for (volatile int i = 0; i < 100000; i++)
			continue;
	} while (thread_seconds() < end);
}

int main(int argc, char **argv)
{
	static void *blocks[MAX_BLOCKS];
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : MAX_BLOCKS;
	long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	size_t taken = 0;
	size_t given = 0;

	/* A thread's first sample has no change: it is not to be one of take()'s. */
	__asm__ volatile("" : : "r"(malloc(SMALLEST)));
	for (size_t i = 0; i < n && i < MAX_BLOCKS; i++) {
		blocks[i] = take(SMALLEST + i * STEP);
		taken += SMALLEST + i * STEP;
	}
	for (size_t i = 0; i < n - n / 10 && i < MAX_BLOCKS; i++) {
		give(blocks[i]);
		given += SMALLEST + i * STEP;
	}
	for (long i = 0; i < rounds; i++)
		work(round_s);
	printf("%zu %zu\n", taken, given);
	return 0;
}
