/*
 * next.h - the allocator functions that the program would call without wick
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef HOOKS_NEXT_H
#define HOOKS_NEXT_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Every pointer starts as a function that looks up the real one, so no hook has to check. glibc's
 * dlsym() may itself call calloc() for its error text: such calls get memory from a small internal
 * block, which free() and realloc() recognize.
 */
struct next {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *memory, size_t size);
	void (*free)(void *memory);
	void *(*memalign)(size_t alignment, size_t size);
	int (*posix_memalign)(void **ret_memory, size_t alignment, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
	void *(*mmap)(void *at, size_t size, int protection, int flags, int fd, off_t offset);
	int (*munmap)(void *at, size_t size);
	void *(*mremap)(void *old, size_t old_size, size_t size, int flags, ...);
	/* NULL: the allocator in use has none. */
	struct mallinfo2 (*mallinfo2)(void);
	/* The realloc() that the program would find: ours, or that of a program with its own
	 * allocator. */
	void *(*realloc_by_name)(void *memory, size_t size);
};

extern struct next next;

/**
 * next_find - look up every real function
 *
 * Context: agent.  Any thread; the constructor, or the first call before it.
 */
void next_find(void);

/** next_is_own - whether memory is from the internal block */
bool next_is_own(const void *memory);

/**
 * next_own_bytes - bytes from MEMORY to the end of the internal block
 *
 * Context: handler.  Only where next_is_own().
 */
size_t next_own_bytes(const void *memory);

/**
 * next_is_allocator - whether an address is in the allocator's code
 *
 * Memory that an allocator maps for itself is not an allocation of the program.
 */
bool next_is_allocator(const void *pc);

#endif
