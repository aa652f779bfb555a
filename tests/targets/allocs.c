/*
 * allocs.c - takes memory in a known way, and says how much: "SUM of bytes asked for"
 *
 * usage: allocs SEED CALLS [leak|threads|fork|heap|remap]
 *
 * Sizes are skewed, as programs' are: many small ones, few large ones.  Every call of the family
 * is used.  With "leak", one allocation in a hundred is made by leak_some() and kept; all others
 * are given back.  With "threads", a second thread gives back what the first has kept; with "fork",
 * a child gives back what it has from its parent.  "heap" takes CALLS blocks of 1000 bytes and
 * keeps them; "remap" maps 1 MiB, has it moved CALLS times and unmaps it, and says what it held.
 * There is a rest of 1 ms in every 500 calls, and in every 100 of what is given back at the end:
 * how fast rings are drained is another test's.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 4096, KINDS = 7, SMALL = 1000, MAPPED = 1024 * 1024 };

static uint64_t state;
static uint64_t sum;
static void *kept[KEPT];

static uint32_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

/* 16 bytes to some 100 KiB; the exponent is uniform, so half the bytes are in few calls. */
static size_t next_size(uint64_t seed)
{
	uint32_t exponent = 4 + next_random() % (6 + seed % 8);

	return ((size_t)1 << exponent) + next_random() % ((size_t)1 << exponent);
}

__attribute__((noinline)) static void *leak_some(size_t size)
{
	void *memory = malloc(size);

	if (memory)
		memset(memory, 1, 1);
	return memory;
}

__attribute__((noinline)) static void *take(size_t size, uint32_t kind)
{
	void *memory = NULL;

	switch (kind % KINDS) {
	case 0:
		return calloc(size / 16 + 1, 16);
	case 1:
		return realloc(malloc(16), size);
	case 2:
		return posix_memalign(&memory, 64, size) == 0 ? memory : NULL;
	case 3:
		return aligned_alloc(64, size);
	case 4:
		return memalign(32, size);
	case 5:
		return reallocarray(NULL, size / 8 + 1, 8);
	default:
		return malloc(size);
	}
}

/* What take() asks for: calloc and reallocarray round up, realloc asks twice. */
static size_t asked(size_t size, uint32_t kind)
{
	switch (kind % KINDS) {
	case 0:
		return (size / 16 + 1) * 16;
	case 1:
		return size + 16;
	case 5:
		return (size / 8 + 1) * 8;
	default:
		return size;
	}
}

__attribute__((noinline)) static void give_back(void *memory)
{
	free(memory);
	__asm__ volatile("");
}

static void *give_all_back(void *unused)
{
	const struct timespec rest = {.tv_nsec = 1000000};

	for (int i = 0; i < KEPT; i++) {
		if (i % 100 == 99)
			(void)nanosleep(&rest, NULL);
		give_back(kept[i]);
		kept[i] = NULL;
	}
	return unused;
}

__attribute__((noinline)) static void run(uint64_t seed, uint64_t calls, int leak)
{
	const struct timespec rest = {.tv_nsec = 1000000};

	for (uint64_t i = 0; i < calls; i++) {
		size_t size = next_size(seed);
		uint32_t kind = next_random();
		uint32_t at = next_random() % KEPT;

		if (i % 500 == 499)
			(void)nanosleep(&rest, NULL);
		if (leak && i % 100 == 99) {
			sum += leak_some(size) ? size : 0;
			continue;
		}
		give_back(kept[at]);
		kept[at] = take(size, kind);
		sum += kept[at] ? asked(size, kind) : 0;
	}
}

__attribute__((noinline)) static void keep_all(uint64_t calls)
{
	const struct timespec rest = {.tv_nsec = 1000000};

	for (uint64_t i = 0; i < calls; i++) {
		void *memory = malloc(SMALL);

		__asm__ volatile("" : : "r"(memory) : "memory");
		sum += memory ? SMALL : 0;
		if (i % 500 == 499)
			(void)nanosleep(&rest, NULL);
	}
}

__attribute__((noinline)) static void remap(uint64_t calls)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *memory = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, flags, -1, 0);

	sum = MAPPED;
	for (uint64_t i = 0; i < calls && memory != MAP_FAILED; i++) {
		char *to = mmap(NULL, MAPPED, PROT_NONE, flags | MAP_NORESERVE, -1, 0);

		memory[0] = 1;
		memory = mremap(memory, MAPPED, MAPPED, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		sum += MAPPED;
	}
	if (memory != MAP_FAILED)
		(void)munmap(memory, MAPPED);
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t calls = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	const char *how = argc > 3 ? argv[3] : "";
	pthread_t thread;
	char line[64];
	int made;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	if (strcmp(how, "heap") == 0)
		keep_all(calls);
	else if (strcmp(how, "remap") == 0)
		remap(calls);
	else
		run(seed, calls, strcmp(how, "leak") == 0);
	if (strcmp(how, "fork") == 0) {
		if (fork() == 0) {
			(void)give_all_back(NULL);
			_exit(0);
		}
		(void)wait(NULL);
	}
	if (strcmp(how, "threads") == 0) {
		if (pthread_create(&thread, NULL, give_all_back, NULL) == 0)
			(void)pthread_join(thread, NULL);
	} else {
		(void)give_all_back(NULL);
	}
	/* stdio would take memory of its own. */
	made = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)sum);
	return write(1, line, (size_t)made) == made ? 0 : 1;
}
