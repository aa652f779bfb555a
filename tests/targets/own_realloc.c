/*
 * own_realloc.c - a program with an allocator of its own, as static ones are linked in
 *
 * It has malloc, calloc, realloc and free, which is what libc asks of one; reallocarray() is
 * libc's, which calls realloc() by its name.  Says "own" when what comes back is its own memory.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 64 << 20, ALIGNMENT = 16 };

static _Alignas(ALIGNMENT) unsigned char arena[ARENA_BYTES];
static size_t used;

static size_t *size_of(void *memory)
{
	return (size_t *)(void *)((unsigned char *)memory - ALIGNMENT);
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	size_t bytes = (size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	unsigned char *memory = arena + used + ALIGNMENT;

	if (size > ARENA_BYTES || bytes > ARENA_BYTES - used)
		return NULL;
	used += bytes;
	*size_of(memory) = size;
	return memory;
}

__attribute__((visibility("default"))) void free(void *memory)
{
	(void)memory;
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : malloc(bytes); /* it is zero */
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size)
{
	void *to = malloc(size);

	if (to && memory)
		memcpy(to, memory, *size_of(memory) < size ? *size_of(memory) : size);
	return to;
}

int main(void)
{
	unsigned char *memory = malloc(100);
	unsigned char *more = memory;

	for (size_t n = 1; more && n < 100; n++) {
		memory = more;
		more = reallocarray(memory, 100, n);
	}
	puts(more && more - arena < ARENA_BYTES ? "own" : "another's");
	free(memory);
	return 0;
}
