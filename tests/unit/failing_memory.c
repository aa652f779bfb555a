/* failing_memory.c - the Nth allocation of the code under test fails */
#include "tests/unit/failing_memory.h"

#include <errno.h>
#include <stddef.h>

static unsigned countdown;
static bool has_failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *pointer, size_t size);

void memory_fail_at(unsigned n)
{
	countdown = n;
	has_failed = false;
}

bool memory_has_failed(void)
{
	return has_failed;
}

static bool fails_now(void)
{
	if (countdown == 0 || --countdown > 0)
		return false;
	has_failed = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
	return fails_now() ? NULL : __real_realloc(pointer, size);
}

unsigned memory_fail_each(bool (*try)(unsigned n))
{
	unsigned n = 1;

	while (try(n))
		n++;
	return n - 1;
}
