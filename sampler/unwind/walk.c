/* walk.c - walks from frame to frame by 64-bit rules */
#include "sampler/unwind/walk.h"

#include "sampler/unwind/cfi.h"
#include "sampler/unwind/expr.h"
#include "sampler/unwind/reader.h"

static uint64_t rule_of_status(enum cfi_status status)
{
	return status == CFI_NONE ? RULE_NO_CFI : RULE_BAD;
}

static uint64_t make_rule(struct unwind_reader *reader, const struct unwind_module *module,
			  uint64_t at)
{
	struct unwind_scratch *scratch = &reader->scratch;
	enum cfi_status status = cfi_find(reader, module, at, &scratch->fde);

	if (status == CFI_FOUND)
		status = cfi_row_at(reader, module, &scratch->fde, at, &scratch->row);
	if (status != CFI_FOUND)
		return rule_of_status(status);
	return rule_from_row(reader, module, &scratch->row, scratch->fde.signal);
}

__attribute__((noinline)) static uint64_t missing_rule(struct walk *walk, uint64_t at)
{
	struct unwind_cache *cache = walk->cache;
	struct unwind_module *module = &walk->reader->scratch.module;
	uint32_t generation = 0;
	uint64_t rule;

	if (cache)
		generation = atomic_load_explicit(&cache->generation, memory_order_acquire);
	/* Code outside any module may be replaced at any time: no rule is cached. */
	if (!walk->reader->find(walk->reader, at, module) || module->end < module->start)
		return RULE_NO_CFI;
	rule = make_rule(walk->reader, module, at);
	if (cache)
		rule_cache_put(cache, generation, at, rule);
	return rule;
}

static inline uint64_t find_rule(struct walk *walk, uint64_t at)
{
	uint64_t rule = rule_cache_get(walk->cache, at);

	return rule ? rule : missing_rule(walk, at);
}

uint64_t walk_rule(struct walk *walk, uint64_t at)
{
	return find_rule(walk, at);
}

/* The stack grows down: a caller's frame is above, except when a frame was just popped. */
static inline bool is_above(const struct walk *walk, uint64_t cfa)
{
	if (cfa % ARCH_WORD)
		return false;
	return cfa > walk->regs.sp || (walk->exact && cfa == walk->regs.sp);
}

static inline int arrive(struct walk *walk, uint64_t pc, uint64_t cfa)
{
	walk->regs.pc = pc;
	walk->regs.sp = cfa;
	walk->regs.saved = 0;
	walk->exact = false;
	walk->believed = false;
	walk->cfa = cfa;
	if (pc == 0)
		return UNWIND_END;
	return pc < ARCH_CODE_END ? WALK_ON : UNWIND_BAD_CFA;
}

int walk_signal(struct walk *walk)
{
	struct unwind_reader *reader = walk->reader;
	uint64_t at = walk->regs.sp;
	struct unwind_regs to;
	int r;

	if (at > UINT64_MAX - ARCH_SIGNAL_PC)
		return UNWIND_BAD_CFA;
	if (!unwind_read_word(reader, at + ARCH_SIGNAL_PC, &to.pc) ||
	    !unwind_read_word(reader, at + ARCH_SIGNAL_SP, &to.sp) ||
	    !unwind_read_word(reader, at + ARCH_SIGNAL_BP, &to.bp) ||
	    !unwind_read_word(reader, at + ARCH_SIGNAL_BX, &to.bx))
		return UNWIND_BOUNDS;
	/* Only a signal stack is above what was interrupted; an endless loop would be, too. */
	if (to.sp <= at && ++walk->n_descents > WALK_DESCENTS)
		return UNWIND_BAD_CFA;
	walk->regs.bp = to.bp;
	walk->regs.bx = to.bx;
	walk->bp_hi = 0;
	r = arrive(walk, to.pc, to.sp);
	walk->regs.saved = at + ARCH_SIGNAL_REGS;
	walk->exact = true;
	return r;
}

static inline bool restore(struct unwind_reader *reader, uint64_t base, uint32_t slot,
			   uint64_t *value)
{
	return !slot || unwind_read_word(reader, rule_slot_address(base, slot), value);
}

/* RULE_SP to RULE_BX, RULE_PLT and RULE_DRAP, once the CFA is known. */
static inline int leave_frame(struct walk *walk, uint64_t rule, uint64_t cfa, uint64_t slots)
{
	struct unwind_reader *reader = walk->reader;
	uint64_t pc;

	if (!is_above(walk, cfa))
		return UNWIND_BAD_CFA;
	if (!unwind_read_word(reader, cfa + (uint64_t)ARCH_RETURN_SLOT, &pc) ||
	    !restore(reader, slots, rule_bp_slot(rule), &walk->regs.bp) ||
	    !restore(reader, slots, rule_bx_slot(rule), &walk->regs.bx))
		return UNWIND_BOUNDS;
	if (rule_bp_slot(rule))
		walk->bp_hi = 0;
	return arrive(walk, pc, cfa);
}

static int leave_drap_frame(struct walk *walk, uint64_t rule)
{
	uint64_t bp = walk->regs.bp;
	uint64_t cfa;

	if (!unwind_read_word(walk->reader, bp + (uint64_t)rule_offset(rule), &cfa))
		return UNWIND_BOUNDS;
	return leave_frame(walk, rule, cfa, bp);
}

static int leave_plt_entry(struct walk *walk, uint64_t rule)
{
	bool pushed = walk->regs.pc % PLT_ENTRY >= (uint64_t)rule_offset(rule);
	uint64_t cfa = walk->regs.sp + ARCH_WORD + (pushed ? ARCH_WORD : 0);

	return leave_frame(walk, rule, cfa, cfa);
}

static bool recover(const struct expr_frame *frame, const struct cfi_rule *rule, uint64_t cfa,
		    uint64_t *value)
{
	uint64_t at = cfa + (uint64_t)(int64_t)rule->value;

	switch (rule->how) {
	case CFI_OFFSET:
		return unwind_read_word(frame->reader, at, value);
	case CFI_VAL_OFFSET:
		*value = at;
		return true;
	case CFI_REGISTER:
		return expr_register(frame, (unsigned)rule->value, value);
	case CFI_EXPR:
		return expr_run(frame, rule->value, &cfa, &at) &&
		       unwind_read_word(frame->reader, at, value);
	case CFI_VAL_EXPR:
		return expr_run(frame, rule->value, &cfa, value);
	default:
		return true;
	}
}

static int leave_row(struct walk *walk, const struct expr_frame *frame, const struct cfi_row *row,
		     bool signal)
{
	struct unwind_regs to = walk->regs;
	uint64_t cfa = 0;
	int r;

	if (row->cfa_expr ? !expr_run(frame, row->cfa_value, NULL, &cfa)
			  : !expr_register(frame, row->cfa_reg, &cfa))
		return UNWIND_BAD_CFI;
	if (!row->cfa_expr)
		cfa += (uint64_t)(int64_t)row->cfa_value;
	if (!signal && !is_above(walk, cfa))
		return UNWIND_BAD_CFA;
	if (row->regs[CFI_PC].how == CFI_SAME)
		return UNWIND_BAD_CFI;
	if (!recover(frame, &row->regs[CFI_PC], cfa, &to.pc) ||
	    !recover(frame, &row->regs[CFI_BP], cfa, &to.bp) ||
	    !recover(frame, &row->regs[CFI_BX], cfa, &to.bx))
		return UNWIND_BOUNDS;
	if (signal && cfa <= walk->regs.sp && ++walk->n_descents > WALK_DESCENTS)
		return UNWIND_BAD_CFA;
	walk->regs.bp = to.bp;
	walk->regs.bx = to.bx;
	r = arrive(walk, to.pc, cfa);
	walk->exact = signal;
	return r;
}

/* A row that does not fit into a rule: execute its CFI, each time. */
__attribute__((noinline)) static int leave_by_row(struct walk *walk, uint64_t at)
{
	struct unwind_reader *reader = walk->reader;
	struct unwind_module *module = &reader->scratch.module;
	struct expr_frame frame = {reader, module, &walk->regs};
	struct cfi_fde *fde = &reader->scratch.fde;
	struct cfi_row *row = &reader->scratch.row;

	if (!reader->find(reader, at, module) || module->end < module->start ||
	    cfi_find(reader, module, at, fde) != CFI_FOUND ||
	    cfi_row_at(reader, module, fde, at, row) != CFI_FOUND)
		return UNWIND_BAD_CFI;
	return leave_row(walk, &frame, row, fde->signal);
}

static inline int leave_usual_frame(struct walk *walk, uint64_t rule)
{
	enum rule_kind kind = rule_kind(rule);
	uint64_t cfa = kind == RULE_SP ? walk->regs.sp : walk->regs.bx;

	cfa = kind == RULE_BP ? walk->regs.bp : cfa;
	cfa += (uint64_t)rule_offset(rule);
	return leave_frame(walk, rule, cfa, cfa);
}

__attribute__((noinline)) static int step(struct walk *walk, uint64_t at, uint64_t rule)
{
	if (walk->bp_hi && (rule_kind(rule) == RULE_BP || rule_kind(rule) == RULE_DRAP))
		guess_bp(walk, rule);
	switch (rule_kind(rule)) {
	case RULE_SP:
	case RULE_BP:
	case RULE_BX:
		return leave_usual_frame(walk, rule);
	case RULE_PLT:
		return leave_plt_entry(walk, rule);
	case RULE_SIGNAL:
		return walk_signal(walk);
	case RULE_DRAP:
		return leave_drap_frame(walk, rule);
	case RULE_END:
		return UNWIND_END;
	case RULE_ROW:
		return leave_by_row(walk, at);
	default:
		return UNWIND_BAD_CFI;
	}
}

/* The word at an offset in the window; SIZE is the window's size minus one word. */
static inline bool window_word(const unsigned char *bytes, uint64_t size, uint64_t at,
			       uint64_t *ret_word)
{
	if (at > size)
		return false;
	__builtin_memcpy(ret_word, bytes + at, ARCH_WORD);
	return true;
}

/*
 * The fast path for nearly all frames: a cached rule, CFA from sp, bp or bx, every word in the
 * window. The values stay in registers, which halves the cost of a frame; any other frame is left
 * to step().
 */
__attribute__((noinline)) static size_t run_fast(struct walk *walk, uint64_t *pcs, size_t n,
						 size_t max)
{
	const unsigned char *bytes = walk->reader->bytes;
	uint64_t lo = walk->reader->lo;
	uint64_t size = walk->reader->hi - lo;
	struct unwind_regs regs = walk->regs;

	if (walk->exact || walk->bp_hi || walk->reader->hi < lo || size < ARCH_WORD)
		return n;
	size -= ARCH_WORD;
	while (n < max) {
		uint64_t rule = rule_cache_get(walk->cache, regs.pc - 1);
		enum rule_kind kind = rule_kind(rule);
		uint32_t bp_slot = rule_bp_slot(rule);
		uint32_t bx_slot = rule_bx_slot(rule);
		uint64_t cfa;
		uint64_t pc;
		uint64_t bp = regs.bp;
		uint64_t bx = regs.bx;

		if (kind - RULE_SP > RULE_BX - RULE_SP)
			break;
		cfa = kind == RULE_SP ? regs.sp : bx;
		cfa = kind == RULE_BP ? bp : cfa;
		cfa += (uint64_t)rule_offset(rule);
		if (cfa <= regs.sp || cfa % ARCH_WORD ||
		    !window_word(bytes, size, cfa - lo + (uint64_t)ARCH_RETURN_SLOT, &pc) ||
		    pc - 1 >= ARCH_CODE_END - 1)
			break;
		if (bp_slot && !window_word(bytes, size, rule_slot_address(cfa, bp_slot) - lo, &bp))
			break;
		if (bx_slot && !window_word(bytes, size, rule_slot_address(cfa, bx_slot) - lo, &bx))
			break;
		regs = (struct unwind_regs){.pc = pc, .sp = cfa, .bp = bp, .bx = bx};
		pcs[n++] = pc;
	}
	if (regs.sp != walk->regs.sp) {
		walk->cfa = regs.sp;
		walk->believed = false;
	}
	walk->regs = regs;
	return n;
}

struct unwind_result unwind_walk(struct unwind_reader *reader, struct unwind_cache *cache,
				 const struct unwind_regs *regs, uint64_t *pcs, size_t max)
{
	struct walk *walk = &reader->scratch.walk;
	size_t n = 0;
	int r = WALK_ON;
	uint64_t rule;
	uint64_t at;

	walk->reader = reader;
	walk->cache = cache;
	walk->regs = *regs;
	walk->exact = true;
	walk->guessed = false;
	walk->believed = false;
	walk->astray = false;
	walk->cfa = 0;
	walk->bp_lo = 0;
	walk->bp_hi = 0;
	walk->n_descents = 0;
	walk->left_at = 0;
	while (n < max && r == WALK_ON) {
		pcs[n++] = walk->regs.pc | (walk->exact ? UNWIND_EXACT : 0);
		n = run_fast(walk, pcs, n, max);
		at = walk->regs.pc - !walk->exact;
		rule = find_rule(walk, at);
		/* Not in step(): a guess looks up rules, and the stack under it counts. */
		r = rule_kind(rule) == RULE_NO_CFI ? guess_caller(walk) : step(walk, at, rule);
		if (r < WALK_ON) {
			n--;
			r = r == WALK_PAST ? WALK_ON : UNWIND_NO_CFI;
		}
	}
	return (struct unwind_result){
		.n_pcs = n,
		.stop = r == WALK_ON ? UNWIND_DEPTH : (enum unwind_stop)r,
		.cfa = walk->left_at ? walk->left_at : walk->cfa,
		.guessed = walk->guessed,
	};
}

bool unwind_stopped_at(const struct unwind_reader *reader, struct unwind_regs *ret_regs)
{
	*ret_regs = reader->scratch.walk.regs;
	return reader->scratch.walk.exact;
}

void unwind_cache_flush(struct unwind_cache *cache)
{
	atomic_fetch_add_explicit(&cache->generation, 1, memory_order_release);
}
