/* next.c - finds the allocator functions that the program would call without wick */
#include "sampler/hooks/next.h"

#include "sampler/handler/sys/sys.h"
#include "sampler/hooks/live.h"
#include "sampler/hooks/lock_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>

extern void *weak_dlsym(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
extern int *weak_errno(void) __asm__("__errno_location") __attribute__((weak));
extern int weak_find_object(void *pc, struct dl_find_object *ret) __asm__("_dl_find_object")
	__attribute__((weak));
/* glibc's own, for a program without libdl, which has no dlsym (before 2.34). */
extern void *libc_malloc(size_t size) __asm__("__libc_malloc") __attribute__((weak));
extern void *libc_calloc(size_t n, size_t size) __asm__("__libc_calloc") __attribute__((weak));
extern void *libc_realloc(void *at, size_t size) __asm__("__libc_realloc") __attribute__((weak));
extern void libc_free(void *memory) __asm__("__libc_free") __attribute__((weak));
extern void *libc_memalign(size_t by, size_t n) __asm__("__libc_memalign") __attribute__((weak));

enum { OWN_BYTES = 16 * 1024, ALIGNMENT = 16 };

static _Alignas(16) unsigned char own[OWN_BYTES];
static _Atomic size_t own_used;
static _Atomic uint32_t finding;
static uint64_t allocator_start;
static uint64_t allocator_end;

static void *own_take(size_t size)
{
	size_t bytes = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	size_t at;

	if (size > OWN_BYTES)
		return NULL;
	at = atomic_fetch_add_explicit(&own_used, bytes, memory_order_relaxed);
	if (at + bytes > OWN_BYTES)
		return NULL;
	live_mark(own + at); /* so that free() takes its slow path */
	return own + at;
}

bool next_is_own(const void *memory)
{
	return (uint64_t)memory - (uint64_t)own < OWN_BYTES;
}

size_t next_own_bytes(const void *memory)
{
	return (size_t)(own + OWN_BYTES - (const unsigned char *)memory);
}

bool next_is_allocator(const void *pc)
{
	return (uint64_t)pc >= allocator_start && (uint64_t)pc < allocator_end;
}

/* Used while the real functions are looked up. Memory of the internal block is zero. */
static void *own_malloc(size_t size)
{
	return own_take(size);
}

static void *own_calloc(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : own_take(bytes);
}

static void *own_realloc(void *memory, size_t size)
{
	unsigned char *to = own_take(size);
	const unsigned char *from = memory;

	for (size_t i = 0; to && from && i < size && i < next_own_bytes(from); i++)
		to[i] = from[i];
	return to;
}

static void own_free(void *memory)
{
	(void)memory;
}

static int fail(int number)
{
	if (weak_errno)
		*weak_errno() = number;
	return -1;
}

/* If libc lacks one, which no known libc does. */
static void *no_memalign(size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	(void)fail(ENOMEM);
	return NULL;
}

static int no_posix_memalign(void **ret_memory, size_t alignment, size_t size)
{
	(void)ret_memory;
	(void)alignment;
	(void)size;
	return ENOMEM;
}

static void *no_valloc(size_t size)
{
	return no_memalign(0, size);
}

static void *raw_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	long r = sys6(__NR_mmap, (long)at, (long)size, protection, flags, fd, offset);

	return sys_failed(r) ? (void *)(long)fail((int)-r) : (void *)r;
}

static int raw_munmap(void *at, size_t size)
{
	long r = sys2(__NR_munmap, at, size);

	return r < 0 ? fail((int)-r) : 0;
}

static void *raw_mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	va_list rest;
	void *at;
	long r;

	va_start(rest, flags);
	at = va_arg(rest, void *);
	va_end(rest);
	r = sys6(__NR_mremap, (long)old, (long)old_size, (long)size, flags, (long)at, 0);
	return sys_failed(r) ? (void *)(long)fail((int)-r) : (void *)r;
}

/* The first call, before or instead of the constructor: look up all, then call the real one. */
static void *first_malloc(size_t size)
{
	next_find();
	return next.malloc(size);
}

static void *first_calloc(size_t n, size_t size)
{
	next_find();
	return next.calloc(n, size);
}

static void *first_realloc(void *memory, size_t size)
{
	next_find();
	return next.realloc(memory, size);
}

static void *first_realloc_by_name(void *memory, size_t size)
{
	next_find();
	return next.realloc_by_name(memory, size);
}

static void first_free(void *memory)
{
	next_find();
	next.free(memory);
}

static void *first_memalign(size_t alignment, size_t size)
{
	next_find();
	return next.memalign(alignment, size);
}

static int first_posix_memalign(void **ret_memory, size_t alignment, size_t size)
{
	next_find();
	return next.posix_memalign(ret_memory, alignment, size);
}

static void *first_aligned_alloc(size_t alignment, size_t size)
{
	next_find();
	return next.aligned_alloc(alignment, size);
}

static void *first_valloc(size_t size)
{
	next_find();
	return next.valloc(size);
}

static void *first_pvalloc(size_t size)
{
	next_find();
	return next.pvalloc(size);
}

struct next next = {
	.malloc = first_malloc,
	.calloc = first_calloc,
	.realloc = first_realloc,
	.free = first_free,
	.memalign = first_memalign,
	.posix_memalign = first_posix_memalign,
	.aligned_alloc = first_aligned_alloc,
	.valloc = first_valloc,
	.pvalloc = first_pvalloc,
	.mmap = raw_mmap,
	.munmap = raw_munmap,
	.mremap = raw_mremap,
	.realloc_by_name = first_realloc_by_name,
};

/* dlsym() uses its return address: no tail call here. */
static void *find_from(void *where, const char *name, void *otherwise)
{
	void *found = weak_dlsym ? weak_dlsym(where, name) : NULL;

	__asm__ volatile("" : "+r"(found));
	return found ? found : otherwise;
}

static void *find(const char *name, void *otherwise)
{
	return find_from(RTLD_NEXT, name, otherwise);
}

static void *either(void *one, void *other)
{
	return one ? one : other;
}

static void find_allocator(void)
{
	struct dl_find_object found;

	if (!weak_find_object || weak_find_object((void *)next.malloc, &found) != 0) {
		next.mallinfo2 = NULL;
		return;
	}
	allocator_start = (uint64_t)found.dlfo_map_start;
	allocator_end = (uint64_t)found.dlfo_map_end;
	/* libc's mallinfo2() does not describe another allocator. */
	if (!next_is_allocator((const void *)next.mallinfo2))
		next.mallinfo2 = NULL;
}

void next_find(void)
{
	struct next found;

	/* Two threads may be here; both find the same. */
	if (atomic_fetch_add_explicit(&finding, 1, memory_order_acquire) == 0) {
		next.malloc = own_malloc;
		next.calloc = own_calloc;
		next.realloc = own_realloc;
		next.free = own_free;
	}
	found = (struct next){
		.malloc = find("malloc", either((void *)libc_malloc, (void *)own_malloc)),
		.calloc = find("calloc", either((void *)libc_calloc, (void *)own_calloc)),
		.realloc = find("realloc", either((void *)libc_realloc, (void *)own_realloc)),
		.free = find("free", either((void *)libc_free, (void *)own_free)),
		.memalign = find("memalign", either((void *)libc_memalign, (void *)no_memalign)),
		.posix_memalign = find("posix_memalign", (void *)no_posix_memalign),
		.aligned_alloc = find("aligned_alloc", (void *)no_memalign),
		.valloc = find("valloc", (void *)no_valloc),
		.pvalloc = find("pvalloc", (void *)no_valloc),
		.mmap = find("mmap", (void *)raw_mmap),
		.munmap = find("munmap", (void *)raw_munmap),
		.mremap = find("mremap", (void *)raw_mremap),
		.mallinfo2 = find("mallinfo2", NULL),
		/* The program's own comes first: no -Bsymbolic, with which this would be ours. */
		.realloc_by_name = find_from(RTLD_DEFAULT, "realloc", (void *)realloc),
	};
	/*
	 * An allocator that takes its first lock in its first call must find the lock functions
	 * looked up already: dlsym() allocates the text of its error, and would wait for itself.
	 */
	lock_next_find();
	next = found;
	find_allocator();
}
