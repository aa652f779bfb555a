/*
 * alloc_hooks.c - interposes malloc() and related functions: counts, then calls the allocator
 *
 * Nearly every call is a comparison, a subtraction and a jump. C++'s operators get here through
 * libstdc++, which calls malloc() and free().
 */
#define _GNU_SOURCE 1
#include "sampler/hooks/account.h"
#include "sampler/hooks/hooks.h"
#include "sampler/hooks/next.h"

#include <errno.h>

extern int *weak_errno(void) __asm__("__errno_location") __attribute__((weak));

HOOK_EXPORT void *malloc(size_t size);
HOOK_EXPORT void *calloc(size_t n, size_t size);
HOOK_EXPORT void *realloc(void *memory, size_t size);
HOOK_EXPORT void *reallocarray(void *memory, size_t n, size_t size);
HOOK_EXPORT void free(void *memory);
HOOK_EXPORT void *memalign(size_t alignment, size_t size);
HOOK_EXPORT int posix_memalign(void **ret_memory, size_t alignment, size_t size);
HOOK_EXPORT void *aligned_alloc(size_t alignment, size_t size);
HOOK_EXPORT void *valloc(size_t size);
HOOK_EXPORT void *pvalloc(size_t size);

void *malloc(size_t size)
{
	if (countdown_passes(size))
		return next.malloc(size);
	return account_hit(next.malloc(size), size, HOOK_CALLER);
}

void *calloc(size_t n, size_t size)
{
	size_t bytes;

	/* The allocator rejects an overflow. */
	if (__builtin_mul_overflow(n, size, &bytes) || countdown_passes(bytes))
		return next.calloc(n, size);
	return account_hit(next.calloc(n, size), bytes, HOOK_CALLER);
}

static __attribute__((noinline)) void free_slowly(void *memory, const void *caller)
{
	if (next_is_own(memory))
		return;
	account_release(memory, caller);
	next.free(memory);
}

void free(void *memory)
{
	if (__builtin_expect(!live_maybe(memory), 1))
		next.free(memory);
	else
		free_slowly(memory, HOOK_CALLER);
}

/* From the internal block to the allocator's memory. */
static void *move_own(const void *memory, size_t size)
{
	size_t bytes = next_own_bytes(memory);
	unsigned char *to = next.malloc(size);

	for (size_t i = 0; to && i < size && i < bytes; i++)
		to[i] = ((const unsigned char *)memory)[i];
	return to;
}

/*
 * Remove the old memory first: as soon as the allocator has it, another thread may get it. If the
 * call fails the program still has it, and it is added again.
 */
static __attribute__((noinline)) void *realloc_slowly(void *memory, size_t size, const void *caller)
{
	struct live live;
	bool sampled;
	void *to;

	if (next_is_own(memory))
		return move_own(memory, size);
	sampled = live_remove(memory, &live);
	to = next.realloc(memory, size);
	if (sampled && !to && size)
		(void)live_add(memory, &live);
	else if (sampled)
		account_released(memory, &live, caller);
	if (countdown_passes(size))
		return to;
	return account_hit(to, size, caller);
}

void *realloc(void *memory, size_t size)
{
	if (__builtin_expect(!live_maybe(memory), 1) && countdown_passes(size))
		return next.realloc(memory, size);
	return realloc_slowly(memory, size, HOOK_CALLER);
}

/*
 * libc's reallocarray() would call realloc() by name. A program with its own allocator has another
 * realloc(), whose memory libc does not know.
 */
void *reallocarray(void *memory, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		if (weak_errno)
			*weak_errno() = ENOMEM;
		return NULL;
	}
	if (__builtin_expect(next.realloc_by_name != realloc, 0))
		return next.realloc_by_name(memory, bytes);
	if (__builtin_expect(!live_maybe(memory), 1) && countdown_passes(bytes))
		return next.realloc(memory, bytes);
	return realloc_slowly(memory, bytes, HOOK_CALLER);
}

void *memalign(size_t alignment, size_t size)
{
	if (countdown_passes(size))
		return next.memalign(alignment, size);
	return account_hit(next.memalign(alignment, size), size, HOOK_CALLER);
}

int posix_memalign(void **ret_memory, size_t alignment, size_t size)
{
	int r;

	if (countdown_passes(size))
		return next.posix_memalign(ret_memory, alignment, size);
	r = next.posix_memalign(ret_memory, alignment, size);
	if (r == 0)
		(void)account_hit(*ret_memory, size, HOOK_CALLER);
	return r;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	if (countdown_passes(size))
		return next.aligned_alloc(alignment, size);
	return account_hit(next.aligned_alloc(alignment, size), size, HOOK_CALLER);
}

void *valloc(size_t size)
{
	if (countdown_passes(size))
		return next.valloc(size);
	return account_hit(next.valloc(size), size, HOOK_CALLER);
}

void *pvalloc(size_t size)
{
	if (countdown_passes(size))
		return next.pvalloc(size);
	return account_hit(next.pvalloc(size), size, HOOK_CALLER);
}
