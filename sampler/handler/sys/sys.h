/* sys.h - raw system calls for code inside the target: no errno, no libc, safe in handlers */
#ifndef SYS_SYS_H
#define SYS_SYS_H

#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "sampler/handler/sys/sys_x86_64.h"
#else
#error "wick knows x86-64 only: write sampler/handler/sys_<machine>.h and name it here"
#endif

/* Fewer arguments; the same contract as sys6(). */
#define sys0(nr)                sys6((nr), 0, 0, 0, 0, 0, 0)
#define sys1(nr, a)             sys6((nr), (long)(a), 0, 0, 0, 0, 0)
#define sys2(nr, a, b)          sys6((nr), (long)(a), (long)(b), 0, 0, 0, 0)
#define sys3(nr, a, b, c)       sys6((nr), (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys4(nr, a, b, c, d)    sys6((nr), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define sys5(nr, a, b, c, d, e) sys6((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

enum { SYS_ERRNO_MAX = 4095 };

/* madvise(2), Linux 5.14: page tables are filled now, without a fault that is counted as one. */
enum { SYS_POPULATE_READ = 22, SYS_POPULATE_WRITE = 23 };

/**
 * sys_failed - whether a raw answer is -errno (an address never is)
 *
 * Context: handler.
 */
static inline int sys_failed(long r)
{
	return (unsigned long)r >= (unsigned long)-SYS_ERRNO_MAX;
}

/* What rt_sigaction(2) takes; libc's struct differs. */
struct sys_sigaction {
	void (*handler)(int sig, siginfo_t *info, void *uc);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define SYS_SA_RESTORER 0x04000000UL

/* Signal N's bit in the kernel's 64-bit mask. */
#define SYS_SIGBIT(n) (UINT64_C(1) << ((n)-1))

struct sys_timespec {
	int64_t sec;
	int64_t nsec;
};

/* What timer_create(2) takes. */
struct sys_sigevent {
	uint64_t value;
	int32_t signo;
	int32_t notify;
	int32_t tid;
	int32_t pad[11];
};

struct sys_itimerspec {
	struct sys_timespec interval;
	struct sys_timespec value;
};

#endif
