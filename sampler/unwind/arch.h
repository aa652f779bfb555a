/* arch.h - includes the header of the target's machine */
#ifndef UNWIND_ARCH_H
#define UNWIND_ARCH_H

#if defined(__x86_64__)
#include "sampler/unwind/arch_x86_64.h"
#else
#error "wick knows x86-64 only: write sampler/unwind/arch_<machine>.h and name it here"
#endif

#endif
