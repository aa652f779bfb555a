/* lock_next.c - finds libc's own lock functions, which lock_hooks.c interposes */
#include "sampler/hooks/lock_next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

extern void *weak_dlsym(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
extern void *weak_dlvsym(void *handle, const char *name, const char *version) __asm__("dlvsym")
	__attribute__((weak));
extern char *weak_dlerror(void) __asm__("dlerror") __attribute__((weak));
extern const char *weak_glibc(void) __asm__("gnu_get_libc_version") __attribute__((weak));

enum { MUSL_MUTEX_WORD = 4 }; /* after the type */

/* NOLINTBEGIN(bugprone-macro-parentheses): it declares */
#define LOCK_NEXT_RESOLVE(name, parameters, arguments)                                             \
	static int resolve_##name parameters                                                       \
	{                                                                                          \
		int(*next) parameters;                                                             \
                                                                                                   \
		lock_next_find();                                                                  \
		next = LOCK_NEXT(name);                                                            \
		return next == resolve_##name ? ENOSYS : next arguments;                           \
	}
LOCK_FUNCTIONS(LOCK_NEXT_RESOLVE)
/* NOLINTEND(bugprone-macro-parentheses) */

#define LOCK_NEXT_FIRST(name, parameters, arguments) .name = resolve_##name,
struct lock_next lock_next = {LOCK_FUNCTIONS(LOCK_NEXT_FIRST)};

/*
 * glibc has two ABIs of condition variables under one name, and dlsym() once returned the old one
 * (glibc bug 14932): so the new version is looked up first.
 */
static void *find(const char *name, bool is_cond)
{
	void *next = is_cond && weak_dlvsym ? weak_dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;

	if (!next && weak_dlsym)
		next = weak_dlsym(RTLD_NEXT, name);
	/* dlsym() uses its return address: no tail call here. */
	__asm__ volatile("" : "+r"(next));
	return next;
}

static bool is_cond(const char *name)
{
	return name[0] == 'p' && name[8] == 'c';
}

#define LOCK_NEXT_FIND(name, parameters, arguments)                                                \
	next = find(#name, is_cond(#name));                                                        \
	if (next)                                                                                  \
		__atomic_store_n((void **)&lock_next.name, next, __ATOMIC_RELAXED);

void lock_next_find(void)
{
	void *next;

	lock_next.mutex_word = weak_glibc ? 0 : MUSL_MUTEX_WORD;
	LOCK_FUNCTIONS(LOCK_NEXT_FIND)
	if (weak_dlerror)
		(void)weak_dlerror();
}
