/* arch_x86_64.h - what a walk has to know about x86-64 (System V ABI, figure 3.36) */
#ifndef UNWIND_ARCH_X86_64_H
#define UNWIND_ARCH_X86_64_H

#if !defined(__x86_64__)
#error "wick knows x86-64 only: write what this header declares for another machine"
#endif

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The registers that a walk restores from frame to frame. */
struct unwind_regs {
	uint64_t pc;
	uint64_t sp;
	uint64_t bp;
	uint64_t bx;
	/*
	 * Address of all registers at the interruption, in the order of the kernel's sigcontext (r8
	 * first), readable through the reader; 0: unknown. A handler passes that of uc_mcontext. A
	 * few rows of CFI use registers that are valid in the interrupted frame only (r10 while a
	 * stack is being realigned).
	 */
	uint64_t saved;
};

enum {
	/* DWARF's numbers */
	ARCH_REG_BX = 3,
	ARCH_REG_BP = 6,
	ARCH_REG_SP = 7,
	ARCH_REG_PC = 16,
	/* a rt_sigframe, as the trampoline finds it at sp: ucontext, registers 40 bytes in */
	ARCH_SIGNAL_REGS = 40,
	ARCH_SIGNAL_BP = ARCH_SIGNAL_REGS + 8 * 10,
	ARCH_SIGNAL_BX = ARCH_SIGNAL_REGS + 8 * 11,
	ARCH_SIGNAL_SP = ARCH_SIGNAL_REGS + 8 * 15,
	ARCH_SIGNAL_PC = ARCH_SIGNAL_REGS + 8 * 16,
	/* bytes in front of a return address that hold any call, and those of a trampoline */
	ARCH_CALL_BYTES = 8,
	ARCH_SIGRETURN_BYTES = 9,
	ARCH_SYSCALL_BYTES = 2,
	/* the register in which a system call's result comes back: 0 in a new thread */
	ARCH_REG_RESULT = 0,
	/* where a call left its return address, seen from the CFA; words are this long */
	ARCH_RETURN_SLOT = -8,
	ARCH_WORD = 8,
	ARCH_PAGE = 4096,
};

/* User code ends below this. */
#define ARCH_CODE_END (UINT64_C(1) << 47)

/**
 * arch_follows_call - whether an address is a return address: follows a call instruction
 * @before:     the ARCH_CALL_BYTES bytes in front of ADDRESS
 * @ret_target: where a direct call went; 0 for an indirect one
 *
 * Return:  true when the bytes end in a call instruction.
 * Context: handler.
 */
bool arch_follows_call(const unsigned char *before, uint64_t address, uint64_t *ret_target);

/**
 * arch_is_sigreturn - whether ARCH_SIGRETURN_BYTES bytes of code are a signal trampoline
 *
 * Libraries without CFI on it (musl, Go) all use the same two instructions.
 *
 * Return:  true for mov $15, %rax; syscall.
 * Context: handler.
 */
bool arch_is_sigreturn(const unsigned char *code);

/**
 * arch_is_syscall - whether ARCH_SYSCALL_BYTES bytes of code are a system call
 *
 * Return:  true for syscall.
 * Context: handler.
 */
bool arch_is_syscall(const unsigned char *code);

/**
 * arch_saved_offset - offset of a DWARF register in the interrupted registers
 *
 * Return:  bytes from unwind_regs.saved; -1 when it is not there.
 * Context: handler.
 */
int arch_saved_offset(unsigned reg);

#pragma GCC visibility pop

#endif
