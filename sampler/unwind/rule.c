/* rule.c - packs rows of CFI into 64 bits */
#include "sampler/unwind/rule.h"

#include "sampler/unwind/expr.h"

/* A slot's biased field; -1 when it does not fit. */
static int32_t slot_field(int64_t offset)
{
	int64_t words = offset / ARCH_WORD;

	if (offset % ARCH_WORD || words <= -RULE_SLOT_BIAS || words >= RULE_SLOT_BIAS)
		return -1;
	return (int32_t)(words + RULE_SLOT_BIAS);
}

static int32_t slot_of(const struct cfi_rule *rule)
{
	if (rule->how == CFI_SAME || rule->how == CFI_UNDEFINED)
		return 0;
	return rule->how == CFI_OFFSET ? slot_field(rule->value) : -1;
}

static uint64_t pack(enum rule_kind kind, int64_t offset, int32_t bp_slot, int32_t bx_slot)
{
	int64_t half = INT64_C(1) << (RULE_OFFSET_BITS - 1);

	if (offset < -half || offset >= half || bp_slot < 0 || bx_slot < 0)
		return RULE_ROW;
	return (uint64_t)kind |
	       ((uint64_t)offset & ((UINT64_C(1) << RULE_OFFSET_BITS) - 1)) << RULE_KIND_BITS |
	       (uint64_t)bp_slot << RULE_BP_SHIFT | (uint64_t)bx_slot << RULE_BX_SHIFT;
}

/* In a function that realigned its stack, registers are saved relative to bp, by expressions. */
static int32_t slot_from_bp(struct unwind_reader *reader, const struct unwind_module *module,
			    const struct cfi_rule *rule)
{
	int64_t offset;

	if (rule->how == CFI_SAME || rule->how == CFI_UNDEFINED)
		return 0;
	if (rule->how != CFI_EXPR ||
	    !expr_is_register_plus(reader, module, rule->value, ARCH_REG_BP, false, &offset))
		return -1;
	return slot_field(offset);
}

static bool is_saved_at(struct unwind_reader *reader, const struct unwind_module *module,
			const struct cfi_rule *rule, int64_t wanted)
{
	int64_t offset;

	return rule->how == CFI_EXPR &&
	       expr_is_register_plus(reader, module, rule->value, ARCH_REG_SP, false, &offset) &&
	       offset == wanted;
}

static uint64_t signal_rule(struct unwind_reader *reader, const struct unwind_module *module,
			    const struct cfi_row *row)
{
	int64_t offset;

	if (!row->cfa_expr ||
	    !expr_is_register_plus(reader, module, row->cfa_value, ARCH_REG_SP, true, &offset) ||
	    offset != ARCH_SIGNAL_SP ||
	    !is_saved_at(reader, module, &row->regs[CFI_PC], ARCH_SIGNAL_PC) ||
	    !is_saved_at(reader, module, &row->regs[CFI_BP], ARCH_SIGNAL_BP) ||
	    !is_saved_at(reader, module, &row->regs[CFI_BX], ARCH_SIGNAL_BX))
		return RULE_ROW;
	return RULE_SIGNAL;
}

static uint64_t expression_rule(struct unwind_reader *reader, const struct unwind_module *module,
				const struct cfi_row *row)
{
	unsigned first;
	int64_t offset;

	if (expr_is_plt(reader, module, row->cfa_value, &first))
		return pack(RULE_PLT, first, slot_of(&row->regs[CFI_BP]),
			    slot_of(&row->regs[CFI_BX]));
	if (expr_is_register_plus(reader, module, row->cfa_value, ARCH_REG_BP, true, &offset))
		return pack(RULE_DRAP, offset, slot_from_bp(reader, module, &row->regs[CFI_BP]),
			    slot_from_bp(reader, module, &row->regs[CFI_BX]));
	return RULE_ROW;
}

uint64_t rule_from_row(struct unwind_reader *reader, const struct unwind_module *module,
		       const struct cfi_row *row, bool signal)
{
	enum rule_kind kind;

	if (row->regs[CFI_PC].how == CFI_UNDEFINED)
		return RULE_END;
	if (signal)
		return signal_rule(reader, module, row);
	if (row->regs[CFI_PC].how != CFI_OFFSET || row->regs[CFI_PC].value != ARCH_RETURN_SLOT)
		return RULE_ROW;
	if (row->cfa_expr)
		return expression_rule(reader, module, row);
	if (row->cfa_reg == ARCH_REG_SP)
		kind = RULE_SP;
	else if (row->cfa_reg == ARCH_REG_BP)
		kind = RULE_BP;
	else if (row->cfa_reg == ARCH_REG_BX)
		kind = RULE_BX;
	else
		return RULE_ROW;
	return pack(kind, row->cfa_value, slot_of(&row->regs[CFI_BP]), slot_of(&row->regs[CFI_BX]));
}
