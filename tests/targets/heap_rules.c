/*
 * heap_rules.c - what malloc and its family promise, looked at 20,000 times; prints what it saw
 *
 * errno stays where nothing failed and is ENOMEM or EINVAL where it did, alignments hold, memory of
 * calloc is zero, realloc keeps what was there, malloc_usable_size is enough, a thread that ends
 * may take and give back in its destructors, and a child may in the middle of other threads' calls.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 20000, STAMP = 0x5a, FORKS = 40, THREADS = 40 };

static pthread_key_t key;
static volatile int stop;

static unsigned long errno_changed, misaligned, not_zero, lost_bytes, too_small;

static void look(void *memory, size_t alignment, size_t size)
{
	misaligned += (uintptr_t)memory % alignment != 0;
	too_small += malloc_usable_size(memory) < size;
	memset(memory, STAMP, size);
}

static void family(size_t size)
{
	unsigned char *memory = calloc(1, size);
	unsigned char *larger;
	void *aligned = NULL;

	for (size_t i = 0; i < size; i++)
		not_zero += memory[i] != 0;
	look(memory, 16, size);
	larger = realloc(memory, size * 3);
	for (size_t i = 0; i < size; i++)
		lost_bytes += larger[i] != STAMP;
	look(larger, 16, size * 3);
	free(larger);
	too_small += posix_memalign(&aligned, 256, size) != 0;
	look(aligned, 256, size);
	free(aligned);
	aligned = memalign(4096, size);
	look(aligned, 4096, size);
	free(aligned);
	aligned = strdup("a string that libc takes memory for");
	look(aligned, 16, 8);
	free(aligned);
	free(NULL);
}

static void at_thread_end(void *memory)
{
	free(memory);
	free(malloc(5000));
}

static void *thread(void *unused)
{
	(void)pthread_setspecific(key, malloc(3000));
	while (unused && !stop) /* the one that the forks come into */
		free(malloc(700));
	return NULL;
}

static void tell(const char *name, void *memory)
{
	int error = errno;

	printf("%s %d %d\n", name, memory == NULL, error);
	free(memory);
	errno = 0;
}

static void refusals(void)
{
	volatile size_t huge = SIZE_MAX / 2;
	void *at = &errno_changed;

	errno = 0;
	tell("malloc", malloc(huge));
	tell("calloc", calloc(huge, 4));
	tell("reallocarray", reallocarray(NULL, huge, 4));
	errno = 7;
	printf("posix_memalign %d", posix_memalign(&at, 24, 100));
	printf(" %d %d\n", errno, at == &errno_changed);
}

static void forks(void)
{
	int status = 0;
	int failed = 0;

	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int k = 0; k < 200; k++)
				free(malloc(2000));
			_exit(0);
		}
		failed += waitpid(pid, &status, 0) != pid || status != 0;
	}
	printf("forks %d\n", failed);
}

int main(void)
{
	pthread_t busy;
	pthread_t one;

	(void)pthread_key_create(&key, at_thread_end);
	for (int i = 0; i < ROUNDS; i++) {
		errno = 1234;
		family(1 + (size_t)i % 900);
		errno_changed += errno != 1234;
	}
	printf("errno %lu aligned %lu zero %lu kept %lu usable %lu\n", errno_changed, misaligned,
	       not_zero, lost_bytes, too_small);
	refusals();
	(void)pthread_create(&busy, NULL, thread, &key);
	for (int i = 0; i < THREADS; i++) {
		(void)pthread_create(&one, NULL, thread, NULL);
		(void)pthread_join(one, NULL);
	}
	forks();
	stop = 1;
	(void)pthread_join(busy, NULL);
	return 0;
}
