/* arch_x86_64.h - registers that a walk carries on x86-64 (System V ABI, figure 3.36) */
#ifndef UNWIND_ARCH_X86_64_H
#define UNWIND_ARCH_X86_64_H

#include <stdint.h>

struct unwind_regs {
	uint64_t pc;
	uint64_t sp;
	uint64_t bp;
	uint64_t bx;
};

#endif
