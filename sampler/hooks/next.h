/* next.h - the allocator that would have been called without us */
#ifndef HOOKS_NEXT_H
#define HOOKS_NEXT_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Every pointer leads to a function that finds the real one, until it is found: no hook has to
 * ask.  glibc's dlsym() may itself call calloc() for its error text: such calls are served from a
 * small block of our own, which free() and realloc() know.
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
	/* NULL: the allocator that is called has none. */
	struct mallinfo2 (*mallinfo2)(void);
	/* What the name leads to: ours, or the realloc() of a program with its own allocator. */
	void *(*realloc_by_name)(void *memory, size_t size);
};

extern struct next next;

/**
 * next_find - have every pointer lead to the real function
 *
 * Context: agent.  Any thread; the constructor, or the first call before it.
 */
void next_find(void);

/**
 * next_is_own - whether memory came out of our block, before the allocator was found
 *
 * Context: handler.
 */
bool next_is_own(const void *memory);

/**
 * next_own_bytes - how much memory of ours may be read at MEMORY
 *
 * Context: handler.  Only where next_is_own().
 */
size_t next_own_bytes(const void *memory);

/**
 * next_is_allocator - whether code at an address is the allocator's
 *
 * What an allocator maps for itself is no allocation of the program's.
 *
 * Context: handler.
 */
bool next_is_allocator(const void *pc);

#endif
