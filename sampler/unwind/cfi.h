/* cfi.h - finds the row of the unwind table for a pc, directly in .eh_frame */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "sampler/unwind/unwind.h"

#pragma GCC visibility push(hidden)

enum cfi_status {
	CFI_FOUND,
	CFI_NONE, /* nothing covers the pc */
	CFI_BAD,  /* an entry covers it, but cannot be decoded */
};

/* How a register of the caller is found. */
enum cfi_how {
	CFI_SAME = 0,
	CFI_UNDEFINED,
	CFI_OFFSET,     /* saved at CFA + value */
	CFI_VAL_OFFSET, /* is CFA + value */
	CFI_REGISTER,   /* is in the register of that number */
	CFI_EXPR,       /* saved where an expression says */
	CFI_VAL_EXPR,   /* is what an expression gives */
};

/**
 * cfi_find - the FDE that covers an address
 *
 * By the sorted table of .eh_frame_hdr; where there is none, by reading .eh_frame from its
 * start, a bounded number of entries.  Works in the reader's scratch.
 *
 * Return:  as enum cfi_status; *RET_FDE is unspecified unless CFI_FOUND.
 * Context: handler.
 */
enum cfi_status cfi_find(struct unwind_reader *reader, const struct unwind_module *module,
			 uint64_t pc, struct cfi_fde *ret_fde);

/**
 * cfi_row_at - run the programs of an FDE up to an address inside it, in the reader's scratch
 *
 * Return:  CFI_FOUND or CFI_BAD; *RET_ROW is unspecified when bad.
 * Context: handler.
 */
enum cfi_status cfi_row_at(struct unwind_reader *reader, const struct unwind_module *module,
			   const struct cfi_fde *fde, uint64_t pc, struct cfi_row *ret_row);

#pragma GCC visibility pop

#endif
