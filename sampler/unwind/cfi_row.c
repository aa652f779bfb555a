/* cfi_row.c - executes call frame instructions (DWARF 5, 6.4.2) */
#include "sampler/unwind/cfi.h"
#include "sampler/unwind/cursor.h"

/* Tests build one unwinder a rule that is wrong, to see that they notice. */
#ifndef UNWIND_MUTATE_CFA
#define UNWIND_MUTATE_CFA 0
#endif
#ifndef UNWIND_MUTATE_SLOT
#define UNWIND_MUTATE_SLOT 0
#endif

enum {
	OP_NOP = 0x00,
	OP_SET_LOC = 0x01,
	OP_ADVANCE_LOC1 = 0x02,
	OP_ADVANCE_LOC2 = 0x03,
	OP_ADVANCE_LOC4 = 0x04,
	OP_OFFSET_EXTENDED = 0x05,
	OP_RESTORE_EXTENDED = 0x06,
	OP_UNDEFINED = 0x07,
	OP_SAME_VALUE = 0x08,
	OP_REGISTER = 0x09,
	OP_REMEMBER_STATE = 0x0a,
	OP_RESTORE_STATE = 0x0b,
	OP_DEF_CFA = 0x0c,
	OP_DEF_CFA_REGISTER = 0x0d,
	OP_DEF_CFA_OFFSET = 0x0e,
	OP_DEF_CFA_EXPRESSION = 0x0f,
	OP_EXPRESSION = 0x10,
	OP_OFFSET_EXTENDED_SF = 0x11,
	OP_DEF_CFA_SF = 0x12,
	OP_DEF_CFA_OFFSET_SF = 0x13,
	OP_VAL_OFFSET = 0x14,
	OP_VAL_OFFSET_SF = 0x15,
	OP_VAL_EXPRESSION = 0x16,
	OP_ADVANCE_LOC8 = 0x1d,
	OP_ARGS_SIZE = 0x2e,
	OP_NEGATIVE_OFFSET = 0x2f,
	OP_ADVANCE_LOC = 0x40,
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_HIGH = 0xc0,
	OP_LOW = 0x3f,
};

static int tracked(uint64_t reg)
{
	switch (reg) {
	case ARCH_REG_PC:
		return CFI_PC;
	case ARCH_REG_BP:
		return CFI_BP;
	case ARCH_REG_BX:
		return CFI_BX;
	default:
		return -1;
	}
}

static int32_t narrowed(struct cfi_machine *m, int64_t value)
{
	if (value < INT32_MIN || value > INT32_MAX) {
		m->cursor.failed = true;
		return 0;
	}
	return (int32_t)value;
}

static int64_t factored(struct cfi_machine *m, int64_t offset)
{
	int64_t product;

	if (__builtin_mul_overflow(offset, m->fde->data_align, &product)) {
		m->cursor.failed = true;
		return 0;
	}
	return product;
}

static void set_rule(struct cfi_machine *m, uint64_t reg, enum cfi_how how, int64_t value)
{
	int i = tracked(reg);

	if (i < 0)
		return;
	if (i == CFI_BP && how == CFI_OFFSET)
		value += UNWIND_MUTATE_SLOT;
	m->row->regs[i].how = (uint8_t)how;
	m->row->regs[i].value = narrowed(m, value);
}

static void restore_rule(struct cfi_machine *m, uint64_t reg)
{
	int i = tracked(reg);

	if (i >= 0)
		m->row->regs[i] = m->initial.regs[i];
}

static void set_cfa_register(struct cfi_machine *m, uint64_t reg)
{
	if (reg > ARCH_REG_PC)
		m->cursor.failed = true;
	m->row->cfa_reg = (uint8_t)reg;
	m->row->cfa_expr = false;
}

static void set_cfa_offset(struct cfi_machine *m, int64_t offset)
{
	m->row->cfa_value = narrowed(m, offset + UNWIND_MUTATE_CFA);
	/* An expression has no register that a new offset could belong to. */
	if (m->row->cfa_expr)
		m->cursor.failed = true;
}

static int64_t unsigned_operand(struct cfi_machine *m)
{
	uint64_t value = cursor_uleb(&m->cursor);

	if (value > INT32_MAX) {
		m->cursor.failed = true;
		return 0;
	}
	return (int64_t)value;
}

/* The place of an expression's length, and past its end. */
static int64_t take_expression(struct cfi_machine *m)
{
	uint64_t at = m->cursor.at - m->module->start;

	cursor_skip(&m->cursor, cursor_uleb(&m->cursor));
	return (int64_t)at;
}

/* False once the row for the pc is complete. */
static bool advance(struct cfi_machine *m, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, m->fde->code_align, &bytes))
		return false;
	if (bytes > m->pc - m->location)
		return false;
	m->location += bytes;
	return true;
}

static bool set_location(struct cfi_machine *m)
{
	uint64_t to = cursor_pointer(&m->cursor, m->fde->encoding, 0);

	if (to > m->pc)
		return false;
	m->location = to;
	return true;
}

static void remember(struct cfi_machine *m)
{
	if (m->n_remembered == CFI_REMEMBER_DEPTH)
		m->cursor.failed = true;
	else
		m->remembered[m->n_remembered++] = *m->row;
}

static void restore_state(struct cfi_machine *m)
{
	if (m->n_remembered == 0)
		m->cursor.failed = true;
	else
		*m->row = m->remembered[--m->n_remembered];
}

static void run_cfa_op(struct cfi_machine *m, uint8_t op)
{
	switch (op) {
	case OP_DEF_CFA:
		set_cfa_register(m, cursor_uleb(&m->cursor));
		set_cfa_offset(m, unsigned_operand(m));
		break;
	case OP_DEF_CFA_SF:
		set_cfa_register(m, cursor_uleb(&m->cursor));
		set_cfa_offset(m, factored(m, cursor_sleb(&m->cursor)));
		break;
	case OP_DEF_CFA_REGISTER:
		if (m->row->cfa_expr)
			m->cursor.failed = true;
		set_cfa_register(m, cursor_uleb(&m->cursor));
		break;
	case OP_DEF_CFA_OFFSET:
		set_cfa_offset(m, unsigned_operand(m));
		break;
	case OP_DEF_CFA_OFFSET_SF:
		set_cfa_offset(m, factored(m, cursor_sleb(&m->cursor)));
		break;
	case OP_DEF_CFA_EXPRESSION:
		m->row->cfa_value = narrowed(m, take_expression(m));
		m->row->cfa_expr = true;
		break;
	default:
		m->cursor.failed = true;
	}
}

static void run_register_op(struct cfi_machine *m, uint8_t op)
{
	uint64_t reg = cursor_uleb(&m->cursor);

	switch (op) {
	case OP_OFFSET_EXTENDED:
		set_rule(m, reg, CFI_OFFSET, factored(m, unsigned_operand(m)));
		break;
	case OP_OFFSET_EXTENDED_SF:
		set_rule(m, reg, CFI_OFFSET, factored(m, cursor_sleb(&m->cursor)));
		break;
	case OP_NEGATIVE_OFFSET:
		set_rule(m, reg, CFI_OFFSET, factored(m, -unsigned_operand(m)));
		break;
	case OP_VAL_OFFSET:
		set_rule(m, reg, CFI_VAL_OFFSET, factored(m, unsigned_operand(m)));
		break;
	case OP_VAL_OFFSET_SF:
		set_rule(m, reg, CFI_VAL_OFFSET, factored(m, cursor_sleb(&m->cursor)));
		break;
	case OP_RESTORE_EXTENDED:
		restore_rule(m, reg);
		break;
	case OP_UNDEFINED:
		set_rule(m, reg, CFI_UNDEFINED, 0);
		break;
	case OP_SAME_VALUE:
		set_rule(m, reg, CFI_SAME, 0);
		break;
	case OP_REGISTER:
		set_rule(m, reg, CFI_REGISTER, unsigned_operand(m));
		break;
	case OP_EXPRESSION:
		set_rule(m, reg, CFI_EXPR, take_expression(m));
		break;
	case OP_VAL_EXPRESSION:
		set_rule(m, reg, CFI_VAL_EXPR, take_expression(m));
		break;
	default:
		m->cursor.failed = true;
	}
}

/* Ops without a register or a CFA.  False once the row for the pc is complete. */
static bool run_plain_op(struct cfi_machine *m, uint8_t op)
{
	switch (op) {
	case OP_NOP:
		return true;
	case OP_SET_LOC:
		return set_location(m);
	case OP_ADVANCE_LOC1:
		return advance(m, cursor_fixed(&m->cursor, 1));
	case OP_ADVANCE_LOC2:
		return advance(m, cursor_fixed(&m->cursor, 2));
	case OP_ADVANCE_LOC4:
		return advance(m, cursor_fixed(&m->cursor, 4));
	case OP_ADVANCE_LOC8:
		return advance(m, cursor_fixed(&m->cursor, 8));
	case OP_REMEMBER_STATE:
		remember(m);
		return true;
	case OP_RESTORE_STATE:
		restore_state(m);
		return true;
	case OP_ARGS_SIZE:
		(void)cursor_uleb(&m->cursor);
		return true;
	default:
		m->cursor.failed = true;
		return false;
	}
}

static bool is_cfa_op(uint8_t op)
{
	return (op >= OP_DEF_CFA && op <= OP_DEF_CFA_EXPRESSION) || op == OP_DEF_CFA_SF ||
	       op == OP_DEF_CFA_OFFSET_SF;
}

static bool is_register_op(uint8_t op)
{
	return (op >= OP_OFFSET_EXTENDED && op <= OP_REGISTER) ||
	       (op >= OP_EXPRESSION && op <= OP_VAL_EXPRESSION) || op == OP_NEGATIVE_OFFSET;
}

static bool run_op(struct cfi_machine *m, uint8_t op)
{
	switch (op & OP_HIGH) {
	case OP_ADVANCE_LOC:
		return advance(m, op & OP_LOW);
	case OP_OFFSET:
		set_rule(m, op & OP_LOW, CFI_OFFSET, factored(m, unsigned_operand(m)));
		return true;
	case OP_RESTORE:
		restore_rule(m, op & OP_LOW);
		return true;
	default:
		break;
	}
	if (is_cfa_op(op))
		run_cfa_op(m, op);
	else if (is_register_op(op))
		run_register_op(m, op);
	else
		return run_plain_op(m, op);
	return true;
}

static bool run(struct cfi_machine *m, uint64_t at, uint64_t end)
{
	cursor_move(&m->cursor, at, end);
	while (!m->cursor.failed && m->cursor.at < end)
		if (!run_op(m, cursor_byte(&m->cursor)))
			break;
	return !m->cursor.failed;
}

enum cfi_status cfi_row_at(struct unwind_reader *reader, const struct unwind_module *module,
			   const struct cfi_fde *fde, uint64_t pc, struct cfi_row *ret_row)
{
	struct cfi_machine *m = &reader->scratch.machine;

	*ret_row = (struct cfi_row){0};
	m->module = module;
	m->fde = fde;
	m->location = fde->begin;
	m->pc = pc;
	m->row = ret_row;
	m->initial = *ret_row;
	m->n_remembered = 0;
	cursor_init(&m->cursor, reader, fde->cie_program, fde->cie_end);
	if (!run(m, fde->cie_program, fde->cie_end))
		return CFI_BAD;
	m->initial = *ret_row;
	if (!run(m, fde->program, fde->end))
		return CFI_BAD;
	return CFI_FOUND;
}
