/* cfi.h - from a pc to the row of its unwind table, in place, out of .eh_frame */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "sampler/unwind/unwind.h"

#pragma GCC visibility push(hidden)

enum cfi_status {
	CFI_FOUND,
	CFI_NONE, /* nothing covers the pc */
	CFI_BAD,  /* something does, and it cannot be decoded */
};

/* One FDE with what its CIE says; programs are addresses of instructions. */
struct cfi_fde {
	uint64_t begin; /* the code it covers */
	uint64_t size;
	uint64_t cie_program;
	uint64_t cie_end;
	uint64_t program;
	uint64_t end;
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of code addresses */
	bool augmented;   /* 'z': augmentation data carries its length */
	bool signal;      /* 'S': its caller was interrupted, not calling */
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

/* VALUE of an expression is the distance from the module's start to its length (ULEB). */
struct cfi_rule {
	int32_t value;
	uint8_t how;
};

/* The registers that a walk follows. */
enum cfi_tracked {
	CFI_PC,
	CFI_BP,
	CFI_BX,
	CFI_N_TRACKED,
};

/* 32 bytes, so that a stack of them fits a signal handler's stack. */
struct cfi_row {
	int32_t cfa_value; /* the offset, or an expression as in cfi_rule */
	uint8_t cfa_reg;
	bool cfa_expr;
	struct cfi_rule regs[CFI_N_TRACKED];
};

/**
 * cfi_find - the FDE that covers an address
 *
 * By the sorted table of .eh_frame_hdr; where there is none, by reading .eh_frame from its
 * start, a bounded number of entries.
 *
 * Return:  as enum cfi_status; *RET_FDE is set with CFI_FOUND only.
 * Context: handler.
 */
enum cfi_status cfi_find(struct unwind_reader *reader, const struct unwind_module *module,
			 uint64_t pc, struct cfi_fde *ret_fde);

/**
 * cfi_row_at - run the programs of an FDE up to an address inside it
 *
 * Return:  CFI_FOUND or CFI_BAD; *RET_ROW is unspecified when bad.
 * Context: handler.
 */
enum cfi_status cfi_row_at(struct unwind_reader *reader, const struct unwind_module *module,
			   const struct cfi_fde *fde, uint64_t pc, struct cfi_row *ret_row);

#pragma GCC visibility pop

#endif
