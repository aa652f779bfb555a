/* module.h - an address range of code, with its unwind table */
#ifndef UNWIND_MODULE_H
#define UNWIND_MODULE_H

#include <stdint.h>

/* As PT_LOAD and PT_GNU_EH_FRAME give it. */
struct unwind_module {
	uint64_t start; /* addresses whose bytes may be read as this module's */
	uint64_t end;
	uint64_t eh_frame_hdr; /* address of .eh_frame_hdr; 0: none */
};

#endif
