/* expr.c - evaluates DWARF expressions in CFI (DWARF 5, 2.5) */
#include "sampler/unwind/expr.h"

#include "sampler/unwind/cursor.h"
#include "sampler/unwind/reader.h"

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

/* Leaves the cursor at the first operation. */
static bool open_expression(struct cfi_cursor *cursor, struct unwind_reader *reader,
			    const struct unwind_module *module, int32_t place)
{
	uint64_t len;

	cursor_init(cursor, reader, module->start + (uint32_t)place, module->end);
	len = cursor_uleb(cursor);
	if (cursor->failed || len > EXPR_BYTES || len > module->end - cursor->at)
		return false;
	cursor_move(cursor, cursor->at, cursor->at + len);
	return true;
}

bool expr_register(const struct expr_frame *frame, unsigned reg, uint64_t *ret_value)
{
	const struct unwind_regs *regs = frame->regs;
	int offset;

	switch (reg) {
	case ARCH_REG_SP:
		*ret_value = regs->sp;
		return true;
	case ARCH_REG_BP:
		*ret_value = regs->bp;
		return true;
	case ARCH_REG_BX:
		*ret_value = regs->bx;
		return true;
	case ARCH_REG_PC:
		*ret_value = regs->pc;
		return true;
	default:
		offset = arch_saved_offset(reg);
		return regs->saved && offset >= 0 &&
		       unwind_read_word(frame->reader, regs->saved + (uint64_t)offset, ret_value);
	}
}

static void push(struct expr_machine *e, uint64_t value)
{
	if (e->depth == EXPR_STACK)
		e->cursor.failed = true;
	else
		e->stack[e->depth++] = value;
}

static uint64_t pop(struct expr_machine *e)
{
	if (e->depth == 0) {
		e->cursor.failed = true;
		return 0;
	}
	return e->stack[--e->depth];
}

static void push_register(struct expr_machine *e, uint64_t reg)
{
	int64_t offset = cursor_sleb(&e->cursor);
	uint64_t value = 0;

	if (reg > ARCH_REG_PC || !expr_register(e->frame, (unsigned)reg, &value))
		e->cursor.failed = true;
	push(e, value + (uint64_t)offset);
}

static void push_constant(struct expr_machine *e, uint8_t op)
{
	unsigned len = 1U << ((op - OP_CONST1U) / 2);
	uint64_t value = cursor_fixed(&e->cursor, len);
	unsigned unused = 64 - 8 * len;

	if ((op - OP_CONST1U) % 2)
		value = (uint64_t)((int64_t)(value << unused) >> unused);
	push(e, value);
}

/* SECOND is below TOP on the stack. False when OP does not take two operands. */
static bool binary(uint8_t op, uint64_t second, uint64_t top, uint64_t *ret)
{
	int64_t a = (int64_t)second;
	int64_t b = (int64_t)top;

	switch (op) {
	case OP_AND:
		*ret = second & top;
		return true;
	case OP_MINUS:
		*ret = second - top;
		return true;
	case OP_MUL:
		*ret = second * top;
		return true;
	case OP_OR:
		*ret = second | top;
		return true;
	case OP_PLUS:
		*ret = second + top;
		return true;
	case OP_SHL:
		*ret = top < 64 ? second << top : 0;
		return true;
	case OP_SHR:
		*ret = top < 64 ? second >> top : 0;
		return true;
	case OP_SHRA:
		// cppcheck-suppress shiftTooManyBitsSigned ; gcc and clang both repeat the sign
		*ret = (uint64_t)(a >> (top < 64 ? top : 63));
		return true;
	case OP_XOR:
		*ret = second ^ top;
		return true;
	case OP_EQ:
		*ret = a == b;
		return true;
	case OP_GE:
		*ret = a >= b;
		return true;
	case OP_GT:
		*ret = a > b;
		return true;
	case OP_LE:
		*ret = a <= b;
		return true;
	case OP_LT:
		*ret = a < b;
		return true;
	case OP_NE:
		*ret = a != b;
		return true;
	default:
		return false;
	}
}

static void dereference(struct expr_machine *e)
{
	uint64_t value = 0;

	if (!unwind_read_word(e->frame->reader, pop(e), &value))
		e->cursor.failed = true;
	push(e, value);
}

/* Operations on the stack's values. */
static void run_stack_op(struct expr_machine *e, uint8_t op)
{
	uint64_t top = pop(e);
	uint64_t second;
	uint64_t value = 0;

	switch (op) {
	case OP_DUP:
		push(e, top);
		push(e, top);
		return;
	case OP_DROP:
		return;
	case OP_NEG:
		push(e, -top);
		return;
	case OP_NOT:
		push(e, ~top);
		return;
	case OP_PLUS_UCONST:
		push(e, top + cursor_uleb(&e->cursor));
		return;
	default:
		break;
	}
	second = pop(e);
	if (op == OP_SWAP || op == OP_OVER) {
		if (op == OP_OVER)
			push(e, second);
		push(e, top);
		push(e, second);
		return;
	}
	if (!binary(op, second, top, &value))
		e->cursor.failed = true;
	push(e, value);
}

static void run_op(struct expr_machine *e, uint8_t op)
{
	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(e, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		push_register(e, op - OP_BREG0);
	else if (op == OP_BREGX)
		push_register(e, cursor_uleb(&e->cursor));
	else if (op >= OP_CONST1U && op <= OP_CONST8S)
		push_constant(e, op);
	else if (op == OP_CONSTU)
		push(e, cursor_uleb(&e->cursor));
	else if (op == OP_CONSTS)
		push(e, (uint64_t)cursor_sleb(&e->cursor));
	else if (op == OP_DEREF)
		dereference(e);
	else if (op != OP_NOP)
		run_stack_op(e, op);
}

bool expr_run(const struct expr_frame *frame, int32_t place, const uint64_t *initial,
	      uint64_t *ret_value)
{
	struct expr_machine *e = &frame->reader->scratch.expr;

	e->frame = frame;
	e->depth = 0;
	if (!open_expression(&e->cursor, frame->reader, frame->module, place))
		return false;
	if (initial)
		push(e, *initial);
	while (!e->cursor.failed && e->cursor.at < e->cursor.end)
		run_op(e, cursor_byte(&e->cursor));
	if (e->cursor.failed || e->depth == 0)
		return false;
	*ret_value = e->stack[e->depth - 1];
	return true;
}

bool expr_is_register_plus(struct unwind_reader *reader, const struct unwind_module *module,
			   int32_t place, unsigned reg, bool deref, int64_t *ret_offset)
{
	struct cfi_cursor *cursor = &reader->scratch.expr.cursor;
	int64_t offset;

	if (!open_expression(cursor, reader, module, place) ||
	    cursor_byte(cursor) != OP_BREG0 + reg)
		return false;
	offset = cursor_sleb(cursor);
	if (deref && cursor_byte(cursor) != OP_DEREF)
		return false;
	if (cursor->failed || cursor->at != cursor->end)
		return false;
	*ret_offset = offset;
	return true;
}

bool expr_is_plt(struct unwind_reader *reader, const struct unwind_module *module, int32_t place,
		 unsigned *ret_first)
{
	enum { FIRST = 6 };
	/* breg7 8; breg16 0; lit15; and; lit<FIRST>; ge; lit3; shl; plus */
	static const unsigned char wanted[] = {
		0x77, 0x08, 0x80, 0x00, 0x3f, OP_AND, 0, OP_GE, 0x33, OP_SHL, OP_PLUS,
	};
	struct cfi_cursor *cursor = &reader->scratch.expr.cursor;
	unsigned first = 0;

	if (!open_expression(cursor, reader, module, place) ||
	    cursor->end - cursor->at != sizeof(wanted))
		return false;
	for (unsigned i = 0; i < sizeof(wanted); i++) {
		uint8_t byte = cursor_byte(cursor);

		if (i == FIRST)
			first = byte;
		else if (byte != wanted[i])
			return false;
	}
	if (cursor->failed || first < OP_LIT0 || first >= OP_LIT0 + 16)
		return false;
	*ret_first = first - OP_LIT0;
	return true;
}
