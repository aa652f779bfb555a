/*
 * sys_x86_64.h - how a system call is made on x86-64, and what a ucontext holds there
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef SYS_SYS_X86_64_H
#define SYS_SYS_X86_64_H

#include "sampler/unwind/arch_x86_64.h"

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#ifdef __clang_analyzer__
/** sys6 - as below, for an analyser: it does not see that assembly writes to memory */
long sys6(long nr, long a, long b, long c, long d, long e, long f); // NOLINT(*-function-size)
#else
/**
 * sys6 - a system call, as the kernel takes it: no errno, no cancellation point
 *
 * Return:  the kernel's answer; -4095 .. -1 is -errno.
 */
static inline long sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret; // cppcheck-suppress uninitvar ; the assembly writes it
}
#endif

/** arch_regs - where the thread was interrupted */
static inline struct unwind_regs arch_regs(const ucontext_t *uc)
{
	const greg_t *g = uc->uc_mcontext.gregs;

	return (struct unwind_regs){
		.pc = (uint64_t)g[16], /* REG_RIP, REG_RSP, REG_RBP, REG_RBX */
		.sp = (uint64_t)g[15],
		.bp = (uint64_t)g[10],
		.bx = (uint64_t)g[11],
		.saved = (uint64_t)g,
	};
}

/** arch_here - the registers of the calling function, valid until it returns */
static inline __attribute__((always_inline)) void arch_here(struct unwind_regs *ret_regs)
{
	*ret_regs = (struct unwind_regs){0};
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3"
			 : "=a"(ret_regs->pc), "=c"(ret_regs->sp), "=d"(ret_regs->bp),
			   "=S"(ret_regs->bx));
}

/** arch_syscall_result - what the last system call gave, where one has just returned */
static inline long arch_syscall_result(const ucontext_t *uc)
{
	return (long)uc->uc_mcontext.gregs[13]; /* REG_RAX */
}

/**
 * arch_thread_pointer - the TCB of the calling thread, which is at the end of its stack
 *
 * Return:  its address, or 0.
 * Context: handler.  A system call.
 */
static inline uint64_t arch_thread_pointer(void)
{
	uint64_t tcb = 0;

	/* 0x1003: ARCH_GET_FS */
	return sys6(158 /* arch_prctl */, 0x1003, (long)&tcb, 0, 0, 0, 0) < 0 ? 0 : tcb;
}

/* The instruction that enters the kernel: 0f 05. */
enum { ARCH_ENTER_BYTES = 2 };

/** arch_enters_kernel - whether these bytes enter the kernel */
static inline int arch_enters_kernel(const unsigned char *bytes)
{
	return bytes[0] == 0x0f && bytes[1] == 0x05;
}

/** arch_pause - tell the core that this is a spin */
static inline void arch_pause(void)
{
	__asm__ volatile("pause");
}

#endif
