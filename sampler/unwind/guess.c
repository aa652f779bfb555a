/*
 * guess.c - finds callers of code without CFI: hand-written assembly, JIT code
 *
 * Only addresses after a call instruction count as return addresses. A stack also contains old
 * return addresses of calls that have returned. So a candidate in the middle of a stack must also
 * lead to a next frame: the frame of its function, by its own CFI, must end in a return address
 * again.
 */
#include "sampler/unwind/reader.h"
#include "sampler/unwind/walk.h"

enum {
	SCAN_BYTES = 4096,  /* how far above sp the end of an assembly frame is searched */
	LOOP_BYTES = 32768, /* the same for JIT code, whose outer loop keeps its registers in its
			       frame (Erlang: 17 KiB) */
	SAVED_BYTES = 256,  /* how far below a return address bp may have been pushed */
	FRAME_BYTES = 1 << 20,
	FUNCTION_BYTES = 1 << 18, /* how far after its entry a pc can be */
	FIRST_CODE = 4096,
};

/* How well the call before a return address matches the code that it should have called. */
enum belief {
	NOT_A_RETURN,
	CALLS_ELSEWHERE, /* a direct call elsewhere: right only if that code jumped here */
	CALLS_SOMETHING, /* an indirect call */
	CALLS_US,        /* a direct call into this range of code without CFI */
};

static bool has_cfi(struct walk *walk, uint64_t at)
{
	enum rule_kind kind = rule_kind(walk_rule(walk, at));

	return kind != RULE_NO_CFI && kind != RULE_BAD;
}

static bool is_return(struct walk *walk, uint64_t value, uint64_t *ret_target)
{
	unsigned char before[ARCH_CALL_BYTES];

	if (value < FIRST_CODE || value >= ARCH_CODE_END ||
	    (value >= walk->reader->lo && value < walk->reader->hi))
		return false;
	if (!walk->reader->read(walk->reader, value - ARCH_CALL_BYTES, before, sizeof(before)))
		return false;
	return arch_follows_call(before, value, ret_target);
}

static enum belief believe(struct walk *walk, uint64_t value)
{
	uint64_t target;

	if (!is_return(walk, value, &target))
		return NOT_A_RETURN;
	if (!target)
		return CALLS_SOMETHING;
	if (target <= walk->regs.pc && walk->regs.pc - target < FUNCTION_BYTES &&
	    !has_cfi(walk, target))
		return CALLS_US;
	return CALLS_ELSEWHERE;
}

/* Whether a frame at SP, with this rule and bp, ends in a return address. */
static bool goes_on_with(struct walk *walk, uint64_t rule, uint64_t sp, uint64_t bp)
{
	uint64_t cfa = rule_kind(rule) == RULE_SP ? sp : bp;
	uint64_t target;
	uint64_t value;

	cfa += (uint64_t)rule_offset(rule);
	if (rule_kind(rule) == RULE_DRAP && !unwind_read_word(walk->reader, cfa, &cfa))
		return false;
	if (cfa <= sp || cfa - sp > FRAME_BYTES || cfa % ARCH_WORD)
		return false;
	return unwind_read_word(walk->reader, cfa + (uint64_t)ARCH_RETURN_SLOT, &value) &&
	       is_return(walk, value, &target);
}

/* Finds bp, as it is or pushed somewhere in [LO, HI), such that the frame leads to a next one. */
static bool find_bp(struct walk *walk, uint64_t rule, uint64_t sp, uint64_t lo, uint64_t hi)
{
	uint64_t value;

	if (goes_on_with(walk, rule, sp, walk->regs.bp))
		return true;
	if (hi - lo > SAVED_BYTES)
		lo = hi - SAVED_BYTES;
	for (uint64_t at = hi; at > lo; at -= ARCH_WORD) {
		if (!unwind_read_word(walk->reader, at - ARCH_WORD, &value))
			return false;
		if (value > sp && value - sp < FRAME_BYTES && goes_on_with(walk, rule, sp, value)) {
			walk->regs.bp = value;
			return true;
		}
	}
	return false;
}

void guess_bp(struct walk *walk, uint64_t rule)
{
	(void)find_bp(walk, rule, walk->regs.sp, walk->bp_lo, walk->bp_hi);
	walk->bp_hi = 0;
}

static bool goes_on(struct walk *walk, uint64_t pc, uint64_t slot)
{
	uint64_t rule = walk_rule(walk, pc - 1);
	uint64_t sp = slot + ARCH_WORD;

	switch (rule_kind(rule)) {
	case RULE_END:
	case RULE_ROW:
		return true;
	case RULE_SP:
		return goes_on_with(walk, rule, sp, 0);
	case RULE_BP:
	case RULE_DRAP: {
		uint64_t bp = walk->regs.bp;
		bool found = find_bp(walk, rule, sp, walk->regs.sp, slot);

		walk->regs.bp = bp;
		return found;
	}
	default:
		return false;
	}
}

static int leave_to(struct walk *walk, uint64_t pc, uint64_t slot)
{
	walk->bp_lo = walk->bp_hi ? walk->bp_lo : walk->regs.sp;
	walk->bp_hi = slot;
	walk->regs.pc = pc;
	walk->regs.sp = slot + ARCH_WORD;
	walk->regs.saved = 0;
	walk->exact = false;
	walk->guessed = true;
	walk->believed = true;
	walk->cfa = walk->regs.sp;
	return WALK_ON;
}

/* The return address is on top of the stack, or under a bp that was just pushed. */
static bool leave_leaf(struct walk *walk)
{
	uint64_t slot = walk->regs.sp;
	enum belief belief;
	uint64_t value;

	if (!walk->exact || slot % ARCH_WORD || !unwind_read_word(walk->reader, slot, &value))
		return false;
	if (value == walk->regs.bp) {
		slot += ARCH_WORD;
		if (!unwind_read_word(walk->reader, slot, &value))
			return false;
	}
	belief = believe(walk, value);
	if (belief < CALLS_SOMETHING)
		return false;
	if (has_cfi(walk, value - 1) && !goes_on(walk, value, slot))
		return false;
	leave_to(walk, value, slot);
	return true;
}

static bool is_near(const struct walk *walk, uint64_t bp)
{
	return bp >= walk->regs.sp && bp - walk->regs.sp <= FRAME_BYTES;
}

static bool read_link(struct walk *walk)
{
	struct walk_link *link = &walk->link;
	uint64_t bp = walk->regs.bp;

	*link = (struct walk_link){0};
	if (bp % ARCH_WORD || !unwind_read_word(walk->reader, bp, &link->bp) ||
	    !unwind_read_word(walk->reader, bp + ARCH_WORD, &link->pc))
		return false;
	link->belief = believe(walk, link->pc);
	if (link->belief == NOT_A_RETURN)
		return false;
	link->into_cfi = has_cfi(walk, link->pc - 1);
	return link->into_cfi || link->bp == 0 || link->bp > bp;
}

static bool is_made_at_run_time(struct walk *walk, uint64_t pc)
{
	unsigned char code;

	return pc >= FIRST_CODE && pc < ARCH_CODE_END &&
	       !(pc >= walk->reader->lo && pc < walk->reader->hi) &&
	       !walk->reader->find(walk->reader, pc, &walk->reader->scratch.module) &&
	       walk->reader->read(walk->reader, pc, &code, sizeof(code));
}

/*
 * JIT code may have stacks of its own, as Erlang's processes do. It calls C code on the thread's
 * stack, while bp is still that of its own frame.
 */
static bool leads_to_other_stack(struct walk *walk)
{
	struct walk_link *link = &walk->link;
	uint64_t bp = walk->regs.bp;

	return walk->n_descents < WALK_DESCENTS && is_made_at_run_time(walk, walk->regs.pc) &&
	       read_link(walk) && !link->into_cfi &&
	       (link->bp == 0 || link->bp - bp < FRAME_BYTES) &&
	       is_made_at_run_time(walk, link->pc);
}

/*
 * The outermost frame has a bp of 0 (psABI, 3.4.1). On a stack of its own it would return to code
 * that is entered by a jump: no call precedes that address.
 */
static bool is_outermost(struct walk *walk)
{
	const struct walk_link *link = &walk->link;

	return link->belief == NOT_A_RETURN && link->bp == 0 &&
	       is_made_at_run_time(walk, walk->regs.pc) && is_made_at_run_time(walk, link->pc);
}

static int leave_link(struct walk *walk)
{
	const struct walk_link *link = &walk->link;

	(void)leave_to(walk, link->pc, walk->regs.bp + ARCH_WORD);
	walk->regs.bp = link->bp;
	walk->bp_hi = 0;
	return WALK_ON;
}

static int leave_stack(struct walk *walk)
{
	walk->n_descents++;
	if (!walk->left_at)
		walk->left_at = walk->regs.sp;
	return leave_link(walk);
}

static bool scan(struct walk *walk, uint64_t bytes)
{
	uint64_t from = (walk->regs.sp + ARCH_WORD - 1) & ~(uint64_t)(ARCH_WORD - 1);
	enum belief belief;
	uint64_t value;

	for (uint64_t at = 0; at < bytes; at += ARCH_WORD) {
		uint64_t slot = from + at;

		if (slot < from || !unwind_read_word(walk->reader, slot, &value))
			return false;
		if (value < FIRST_CODE || value >= ARCH_CODE_END ||
		    (value >= walk->reader->lo && value < walk->reader->hi) ||
		    !walk->reader->find(walk->reader, value, &walk->reader->scratch.module))
			continue;
		belief = believe(walk, value);
		/* No call matches a pc that is not code. */
		if (belief < (walk->astray ? CALLS_ELSEWHERE : CALLS_SOMETHING) ||
		    ((belief != CALLS_US || has_cfi(walk, value - 1)) &&
		     !goes_on(walk, value, slot)))
			continue;
		(void)leave_to(walk, value, slot);
		return true;
	}
	return false;
}

static bool is_trampoline(struct walk *walk)
{
	unsigned char code[ARCH_SIGRETURN_BYTES];

	/* The CFI of a trampoline may not cover the byte before it, at which a return address is
	 * looked up. */
	if (rule_kind(walk_rule(walk, walk->regs.pc)) == RULE_SIGNAL)
		return true;
	return walk->reader->read(walk->reader, walk->regs.pc, code, sizeof(code)) &&
	       arch_is_sigreturn(code);
}

static int find_caller(struct walk *walk)
{
	uint64_t scan_bytes = SCAN_BYTES;
	bool linked = false;

	if (leave_leaf(walk))
		return WALK_ON;
	if (is_root(walk))
		return UNWIND_END;
	if (is_near(walk, walk->regs.bp)) {
		linked = read_link(walk);
		if (is_outermost(walk))
			return UNWIND_END;
	} else if (leads_to_other_stack(walk)) {
		return leave_stack(walk);
	}
	if (linked && (walk->link.belief == CALLS_US || !walk->link.into_cfi))
		return leave_link(walk);
	/* bp may still be the caller's: then the return address is between sp and it. */
	if (linked && walk->regs.bp - walk->regs.sp < scan_bytes)
		scan_bytes = walk->regs.bp - walk->regs.sp;
	else if (!linked && is_made_at_run_time(walk, walk->regs.pc))
		scan_bytes = LOOP_BYTES;
	if (scan(walk, scan_bytes))
		return WALK_ON;
	return linked ? leave_link(walk) : UNWIND_NO_CFI;
}

int guess_caller(struct walk *walk)
{
	int r;

	if (is_trampoline(walk))
		return walk_signal(walk);
	/* After a wrong guess CFI yields words that are not code. */
	walk->astray = walk->guessed && !walk->exact && !walk->believed &&
		       believe(walk, walk->regs.pc) == NOT_A_RETURN;
	r = find_caller(walk);
	if (!walk->astray)
		return r;
	if (r == WALK_ON)
		return WALK_PAST;
	return r == UNWIND_NO_CFI ? WALK_ASTRAY : r;
}
