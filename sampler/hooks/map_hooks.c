/*
 * map_hooks.c - interposes mmap, mremap and munmap, for programs that call them for memory
 *
 * Writable anonymous memory is counted: not files, not reservations (PROT_NONE, MAP_NORESERVE), and
 * not what the allocator maps for itself. Memory that is unmapped in parts counts as freed with the
 * part that contains its first byte. Memory that mremap() moves counts as freed and allocated
 * again, as with realloc(), and keeps the bytes that its sample represents; what mremap() adds is
 * not counted.
 */
#define _GNU_SOURCE 1
#include "sampler/hooks/account.h"
#include "sampler/hooks/hooks.h"
#include "sampler/hooks/next.h"

#include <stdarg.h>
#include <sys/mman.h>

static bool is_memory(int protection, int flags)
{
	return (flags & MAP_ANONYMOUS) && !(flags & MAP_NORESERVE) && (protection & PROT_WRITE);
}

// NOLINTNEXTLINE(*-function-size): it has mmap's arguments
static inline void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset,
			const void *caller)
{
	void *memory = next.mmap(at, size, protection, flags, fd, offset);

	if (memory != MAP_FAILED && is_memory(protection, flags) && !next_is_allocator(caller) &&
	    !countdown_passes(size))
		(void)account_hit(memory, size, caller);
	return memory;
}

HOOK_EXPORT void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return map(at, size, protection, flags, fd, offset, HOOK_CALLER);
}

HOOK_EXPORT void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return map(at, size, protection, flags, fd, offset, HOOK_CALLER);
}

HOOK_EXPORT int munmap(void *at, size_t size)
{
	if (__builtin_expect(live_maybe(at), 0))
		account_release(at, HOOK_CALLER);
	return next.munmap(at, size);
}

/* Remove the old address first: as soon as it is free, another thread may map there. */
static __attribute__((noinline)) void *remap_slowly(void *old, size_t old_size, size_t size,
						    int flags, void *at, const void *caller)
{
	struct live live;
	bool sampled = live_remove(old, &live);
	void *to = next.mremap(old, old_size, size, flags, at);

	if (sampled)
		account_moved(old, to == MAP_FAILED ? old : to, &live, caller);
	return to;
}

HOOK_EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	va_list rest;
	void *at;

	/* Only some flags use it; otherwise it is not read. */
	va_start(rest, flags);
	at = va_arg(rest, void *);
	va_end(rest);
	if (__builtin_expect(live_maybe(old), 0))
		return remap_slowly(old, old_size, size, flags, at, HOOK_CALLER);
	return next.mremap(old, old_size, size, flags, at);
}
