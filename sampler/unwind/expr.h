/* expr.h - evaluates DWARF expressions in CFI, and recognizes the three usual forms */
#ifndef UNWIND_EXPR_H
#define UNWIND_EXPR_H

#include "sampler/unwind/cfi.h"

#pragma GCC visibility push(hidden)

enum {
	EXPR_BYTES = 64,
};

/* The frame that an expression is evaluated for. */
struct expr_frame {
	struct unwind_reader *reader;
	const struct unwind_module *module;
	const struct unwind_regs *regs;
};

/**
 * expr_register - the value of a DWARF register in a frame
 *
 * Return:  false when a walk does not restore it and it was not saved.
 * Context: handler.
 */
bool expr_register(const struct expr_frame *frame, unsigned reg, uint64_t *ret_value);

/**
 * expr_run - evaluate an expression, in the reader's scratch
 * @place:   as cfi_rule.value has it
 * @initial: the CFA, pushed first; NULL for the expression of a CFA itself
 *
 * Return:  false on an operation that has no meaning here, an underflow, or memory that
 *          cannot be read.
 * Context: handler.
 */
bool expr_run(const struct expr_frame *frame, int32_t place, const uint64_t *initial,
	      uint64_t *ret_value);

/**
 * expr_is_register_plus - whether an expression is one register plus a constant; by the scratch
 * @deref:   whether a dereference has to follow
 *
 * Return:  true, and the constant.
 * Context: handler.
 */
bool expr_is_register_plus(struct unwind_reader *reader, const struct unwind_module *module,
			   int32_t place, unsigned reg, bool deref, int64_t *ret_offset);

/**
 * expr_is_plt - whether an expression is the one that linkers write for .plt; by the scratch
 * @ret_first: the byte of a PLT entry from which on the index is pushed
 *
 * Return:  true for sp + 8 + ((pc & 15) >= FIRST) * 8.
 * Context: handler.
 */
bool expr_is_plt(struct unwind_reader *reader, const struct unwind_module *module, int32_t place,
		 unsigned *ret_first);

#pragma GCC visibility pop

#endif
