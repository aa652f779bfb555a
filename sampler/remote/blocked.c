/* blocked.c - the stack of a thread that is blocked, from outside and without a signal */
#include "sampler/remote/blocked.h"

#include "sampler/remote/code.h"
#include "sampler/remote/frame_depth.h"
#include "sampler/remote/remote.h"
#include "sampler/unwind/cfi.h"
#include "sampler/unwind/reader.h"
#include "sampler/unwind/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A frame that cannot be left without a register that is unknown.
 *
 * A frame whose CFA is counted from rbp (or rbx) can be left once that register is known.  The
 * stack holds many words that could be its frame: leftovers of calls that have returned look
 * like frames too.  What is taken has to be where the function's own code puts it, or be the
 * one frame there that was entered by a call of this very function.
 */
struct blocked_frame {
	uint64_t pc;
	uint64_t sp;
	bool exact;   /* interrupted at pc; else pc is a return address */
	unsigned reg; /* ARCH_REG_BP or ARCH_REG_BX: what its CFA needs */
};

/* A function, as its FDE has it, with the rule for the address that it was looked up by. */
struct callers_function {
	uint64_t begin;
	uint64_t end;
	uint64_t rule;
};

enum belief {
	NOT_A_RETURN,
	CALLS_ELSEWHERE, /* a direct call of something else, which does not jump here */
	CALLS_SOMETHING, /* an indirect call, or one of something with an unknown target */
	CALLS_US, /* a direct call, maybe by a linker's stub or of what jumps here at its end */
};

enum {
	JUMP_BYTES = 12,
	OP_INDIRECT = 0xff,
	OP_INDIRECT_JUMP = 4, /* in reg of its modrm */
};

static bool callers_function(struct remote *remote, uint64_t at, struct callers_function *ret)
{
	struct unwind_reader *reader = remote_reader(remote);
	struct unwind_module module;
	struct cfi_fde fde;
	struct cfi_row row;

	if (!reader->find(reader, at, &module) ||
	    cfi_find(reader, &module, at, &fde) != CFI_FOUND ||
	    cfi_row_at(reader, &module, &fde, at, &row) != CFI_FOUND)
		return false;
	*ret = (struct callers_function){
		.begin = fde.begin,
		.end = fde.begin + fde.size,
		.rule = rule_from_row(reader, &module, &row, fde.signal),
	};
	return true;
}

/* Where a linker's stub or a thunk at an address jumps to; the address if it is none. */
static uint64_t follow_jump(struct unwind_reader *reader, uint64_t target)
{
	unsigned char code[JUMP_BYTES];
	unsigned at = 0;
	int32_t distance;
	uint64_t to;

	if (!reader->read(reader, target, code, sizeof(code)))
		return target;
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
		at = 4; /* endbr64 */
	if (code[at] == 0xf2)
		at++; /* bnd */
	if (code[at] == 0xff && code[at + 1] == 0x25) {
		__builtin_memcpy(&distance, code + at + 2, sizeof(distance));
		to = target + at + 6 + (uint64_t)(int64_t)distance;
		return unwind_read_word(reader, to, &to) ? to : target;
	}
	if (code[at] != 0xe9)
		return target;
	__builtin_memcpy(&distance, code + at + 1, sizeof(distance));
	return target + at + 5 + (uint64_t)(int64_t)distance;
}

static bool is_jump(unsigned opcode)
{
	return opcode == 0xe9 || opcode == 0xeb || (opcode >= 0x70 && opcode <= 0x7f) ||
	       (opcode >= 0x0f80 && opcode <= 0x0f8f);
}

/* What a function that ends in a jump to another leaves: the return address of its own call. */
static enum belief believe_jumps(struct remote *remote, const struct callers_function *from,
				 const struct callers_function *to)
{
	enum belief belief = CALLS_ELSEWHERE;
	struct instruction in;
	struct code code;

	if (!code_init(&code, remote_reader(remote), from->begin, from->end))
		return CALLS_SOMETHING;
	while (code_next(&code, &in)) {
		if (is_jump(in.opcode) && !in.vector &&
		    code.at + (uint64_t)in.immediate == to->begin)
			return CALLS_US;
		if (in.opcode == OP_INDIRECT && (in.reg & 7) == OP_INDIRECT_JUMP)
			belief = CALLS_SOMETHING;
	}
	return code.at == code.end ? belief : CALLS_SOMETHING;
}

static enum belief believe_target(struct remote *remote, uint64_t target,
				  const struct callers_function *called)
{
	uint64_t to = target == called->begin ? target : follow_jump(remote_reader(remote), target);
	struct callers_function function;

	if (to == called->begin)
		return CALLS_US;
	/* A stub that is not bound yet goes on in itself, and whatever it calls may be us. */
	if (!callers_function(remote, to, &function) || to != function.begin)
		return CALLS_SOMETHING;
	return believe_jumps(remote, &function, called);
}

static enum belief callers_believe(struct remote *remote, uint64_t pc,
				   const struct callers_function *called)
{
	struct unwind_reader *reader = remote_reader(remote);
	unsigned char before[ARCH_CALL_BYTES];
	uint64_t target;

	if (pc < sizeof(before) || !remote_is_code(remote, pc - 1) ||
	    !reader->read(reader, pc - sizeof(before), before, sizeof(before)) ||
	    !arch_follows_call(before, pc, &target))
		return NOT_A_RETURN;
	return target ? believe_target(remote, target, called) : CALLS_SOMETHING;
}

/* The oracle is tested by a walk that takes the first frame that may be it. */
#ifndef BLOCKED_MUTATE_ANY
#define BLOCKED_MUTATE_ANY 0
#endif

enum {
	SCAN_BYTES = 64 << 10, /* how far above sp a frame of unknown size is searched */
	FRAME_BYTES = 16 << 20,
	CHECKED_FRAMES = 6, /* of the callers that a guess would give */
	MAX_CANDIDATES = 8, /* as good as each other: more than one is too many */
	CALL_ALIGN = 16,    /* of sp, where functions are called */
};

struct search {
	struct remote *remote;
	struct unwind_reader *reader;
	const struct blocked_frame *frame;
	struct callers_function function;
};

/* What no register of a frame holds. */
#define NOWHERE (UINT64_C(1) << 62)

/* What the register may have been. */
struct candidate {
	uint64_t value;
	enum belief belief;
};

struct candidates {
	struct candidate at[MAX_CANDIDATES];
	size_t n;
	bool too_many;
};

/* Where the caller's frame begins, were the register VALUE. */
static bool cfa_of(struct search *search, uint64_t value, uint64_t *ret_cfa)
{
	uint64_t rule = search->function.rule;
	uint64_t cfa = value + (uint64_t)rule_offset(rule);

	if (rule_kind(rule) == RULE_DRAP && !unwind_read_word(search->reader, cfa, &cfa))
		return false;
	*ret_cfa = cfa;
	return cfa % ARCH_WORD == 0 && cfa > search->frame->sp &&
	       cfa - search->frame->sp < FRAME_BYTES;
}

static enum belief judge(struct search *search, uint64_t value, uint64_t *ret_pc, uint64_t *ret_cfa)
{
	if (!cfa_of(search, value, ret_cfa) ||
	    !unwind_read_word(search->reader, *ret_cfa + (uint64_t)ARCH_RETURN_SLOT, ret_pc))
		return NOT_A_RETURN;
	return callers_believe(search->remote, *ret_pc, &search->function);
}

static void add(struct candidates *candidates, uint64_t value, enum belief belief)
{
	if (candidates->n == MAX_CANDIDATES)
		candidates->too_many = true;
	else
		candidates->at[candidates->n++] =
			(struct candidate){.value = value, .belief = belief};
}

/* The only one that is believed most. */
static bool choose(const struct candidates *candidates, enum belief least, uint64_t *ret_value)
{
	enum belief best = least;
	size_t n = 0;

	for (size_t i = 0; i < candidates->n; i++) {
		if (candidates->at[i].belief < best)
			continue;
		n = candidates->at[i].belief > best ? 1 : n + 1;
		best = candidates->at[i].belief;
		*ret_value = candidates->at[i].value;
	}
	return n == 1 && !candidates->too_many;
}

/* The code says how far above sp the register is: at most two answers, or a few words of slack. */
static bool recover_by_depth(struct search *search, const struct frame_depth *depth,
			     uint64_t *ret_value)
{
	bool sure = depth->body == depth->at_pc && depth->slack == 0;
	struct candidates candidates = {0};
	uint64_t starts[2] = {depth->at_pc, depth->body};
	enum belief belief;
	uint64_t pc;
	uint64_t cfa;

	for (size_t i = 0; i < (depth->body == depth->at_pc ? 1 : 2); i++)
		for (uint64_t more = 0; more == 0 || more < depth->slack; more += ARCH_WORD) {
			uint64_t value = search->frame->sp + starts[i] + more;

			belief = judge(search, value, &pc, &cfa);
			if (belief != NOT_A_RETURN && (sure || cfa % CALL_ALIGN == 0))
				add(&candidates, value, belief);
		}
	return choose(&candidates, sure ? CALLS_ELSEWHERE : CALLS_SOMETHING, ret_value);
}

/* A walk that has left what the stack is. */
static bool went_astray(const struct unwind_result *result)
{
	return result->n_pcs < CHECKED_FRAMES && result->stop != UNWIND_END &&
	       result->stop != UNWIND_NO_CFI;
}

/*
 * Whether nothing speaks against what a guess leads to: that it was called frame by frame.  A
 * leftover frame leads back to frames that are real, and these have called another function
 * since: us.
 */
static bool goes_on(struct search *search, uint64_t value, uint64_t pc, uint64_t cfa)
{
	struct unwind_regs regs = {.pc = pc - 1, .sp = cfa, .bp = value, .bx = NOWHERE};
	uint64_t pcs[CHECKED_FRAMES];
	struct unwind_result result;
	struct callers_function function;

	/* Where bp was saved is the rule's: with DRAP it is counted from bp itself. */
	if (search->frame->reg == ARCH_REG_BP && rule_bp_slot(search->function.rule) &&
	    !unwind_read_word(
		    search->reader,
		    rule_slot_address(rule_kind(search->function.rule) == RULE_DRAP ? value : cfa,
				      rule_bp_slot(search->function.rule)),
		    &regs.bp))
		return false;
	result = unwind_walk(search->reader, remote_rules(search->remote), &regs, pcs,
			     CHECKED_FRAMES);
	if (went_astray(&result))
		return false;
	pcs[0] = pc;
	for (size_t i = 1; i < result.n_pcs && !(pcs[i] & UNWIND_EXACT); i++) {
		if (!callers_function(search->remote, pcs[i - 1] - 1, &function))
			break;
		if (callers_believe(search->remote, pcs[i], &function) < CALLS_SOMETHING)
			return false;
	}
	return true;
}

/*
 * The frame's size is not known: what looks like its end and goes on.  Every frame above that was
 * called by a pointer does so too, so several are no answer, unless the first was entered by a
 * call of this function, and no other was.
 */
static bool recover_by_scan(struct search *search, uint64_t least, uint64_t *ret_value)
{
	uint64_t from = search->frame->sp + least;
	enum belief first = NOT_A_RETURN;
	unsigned n_ours = 0;
	unsigned n = 0;

	for (uint64_t at = 0; at < SCAN_BYTES; at += ARCH_WORD) {
		enum belief belief;
		uint64_t pc;
		uint64_t cfa;

		if (!unwind_read_word(search->reader, from + at, &pc))
			break;
		belief = judge(search, from + at, &pc, &cfa);
		if (belief < CALLS_SOMETHING)
			continue;
		if (!BLOCKED_MUTATE_ANY &&
		    (cfa % CALL_ALIGN || !goes_on(search, from + at, pc, cfa)))
			continue;
		n++;
		n_ours += belief == CALLS_US;
		if (n == 1) {
			first = belief;
			*ret_value = from + at;
		}
		if (!BLOCKED_MUTATE_ANY && n > 1 && (first != CALLS_US || n_ours > 1))
			return false;
	}
	return n > 0;
}

/*
 * What the register was in a frame.
 *
 * Return:  false when it is not certain.
 */
static bool blocked_recover(struct remote *remote, const struct blocked_frame *frame,
			    uint64_t *ret_value)
{
	struct search search = {.remote = remote, .reader = remote_reader(remote), .frame = frame};
	struct frame_code code = {.pc = frame->pc, .reg = frame->reg};
	struct frame_depth depth = {0};
	enum rule_kind kind;
	bool found;
	bool read;

	if (!callers_function(remote, frame->pc - !frame->exact, &search.function))
		return false;
	kind = rule_kind(search.function.rule);
	if (kind != RULE_BP && kind != RULE_BX && kind != RULE_DRAP)
		return false;
	code.begin = search.function.begin;
	code.end = search.function.end;
	read = frame_depth_read(search.reader, &code, &depth) && depth.set_up;
	if (read && depth.fixed)
		found = recover_by_depth(&search, &depth, ret_value);
	else
		found = recover_by_scan(&search, read ? depth.body : 0, ret_value);
	/* Of what was not read any more some may have been as good. */
	return found && !remote_is_spent(remote);
}

enum {
	LINE_BYTES = 256, /* nr, six arguments, sp and pc take 200 */
	RECOVERIES = 64,  /* of registers in one walk */
};

/*
 * What an unknown register holds: an address that no memory has, so that reading
 * through it fails and shows which register it was.  The words around each are its own.
 */
#define UNKNOWN_BP    (UINT64_C(1) << 60)
#define UNKNOWN_BX    (UINT64_C(1) << 61)
#define UNKNOWN_REACH (UINT64_C(1) << 32)

static bool take_hex(const char **at, uint64_t *ret_value)
{
	char *end;

	if (strncmp(*at, " 0x", 3) != 0)
		return false;
	*ret_value = strtoull(*at + 1, &end, 16);
	*at = end;
	return true;
}

/* "running", "-1 SP PC", or "NR A0 A1 A2 A3 A4 A5 SP PC". */
static int parse(const char *text, struct blocked_at *ret_at)
{
	struct blocked_at at = {0};
	const char *rest = text;
	char *end;
	long nr;

	if (strncmp(text, "running", 7) == 0)
		return -EBUSY;
	nr = strtol(text, &end, 10);
	if (end == text)
		return -EBADMSG;
	rest = end;
	at.in_syscall = nr != -1;
	at.nr = at.in_syscall ? nr : 0;
	for (int i = 0; at.in_syscall && i < 6; i++)
		if (!take_hex(&rest, &at.args[i]))
			return -EBADMSG;
	if (!take_hex(&rest, &at.sp) || !take_hex(&rest, &at.pc) || *rest != '\n')
		return -EBADMSG;
	*ret_at = at;
	return 0;
}

int blocked_read(int syscall_fd, struct blocked_at *ret_at)
{
	char text[LINE_BYTES];
	/* One read: it is a line, and another would make the kernel read again. */
	ssize_t n = pread(syscall_fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return n == 0 ? -ESRCH : parse(text, ret_at);
}

static bool is_unknown(uint64_t address, uint64_t unknown)
{
	return address - (unknown - UNKNOWN_REACH) < 2 * UNKNOWN_REACH;
}

/* Which register stopped a walk; 0: something else did. */
static unsigned missing_register(struct remote *remote, const struct unwind_result *result)
{
	uint64_t refused = remote_take_refused(remote);

	if (result->stop != UNWIND_BOUNDS && result->stop != UNWIND_BAD_CFI)
		return 0;
	if (is_unknown(refused, UNKNOWN_BP))
		return ARCH_REG_BP;
	return is_unknown(refused, UNKNOWN_BX) ? ARCH_REG_BX : 0;
}

/* On from the frame that the last walk stopped in, whose registers are now known. */
static struct unwind_result walk_on(struct remote *remote, struct unwind_regs *regs, bool exact,
				    uint64_t *pcs, size_t max)
{
	struct unwind_result result;
	uint64_t pc = pcs[0];
	uint64_t sp = regs->sp; /* the CFA of the frame before */

	/* A return address is looked up by the byte before it; a walk starts where it is. */
	regs->pc -= !exact;
	regs->saved = 0;
	(void)remote_take_refused(remote);
	result = unwind_walk(remote_reader(remote), remote_rules(remote), regs, pcs, max);
	pcs[0] = pc;
	if (result.cfa == 0)
		result.cfa = sp;
	return result;
}

static bool recover(struct remote *remote, unsigned reg, struct unwind_regs *regs, bool *ret_exact)
{
	struct blocked_frame frame = {.reg = reg};
	uint64_t value;

	frame.exact = unwind_stopped_at(remote_reader(remote), regs);
	frame.pc = regs->pc;
	frame.sp = regs->sp;
	if (!blocked_recover(remote, &frame, &value))
		return false;
	*(reg == ARCH_REG_BP ? &regs->bp : &regs->bx) = value;
	*ret_exact = frame.exact;
	return true;
}

int blocked_walk(struct remote *remote, const struct blocked_at *at, uint64_t *pcs, size_t max,
		 struct unwind_result *ret_result)
{
	struct unwind_regs regs = {.pc = at->pc, .sp = at->sp, .bp = UNKNOWN_BP, .bx = UNKNOWN_BX};
	struct unwind_result result;
	int r = remote_begin(remote, at->sp);

	if (r < 0)
		return r;
	result = unwind_walk(remote_reader(remote), remote_rules(remote), &regs, pcs, max);
	for (int i = 0; i < RECOVERIES; i++) {
		unsigned reg = missing_register(remote, &result);
		size_t n = result.n_pcs - 1;
		bool exact;

		if (!reg)
			break;
		if (!recover(remote, reg, &regs, &exact)) {
			result.stop = UNWIND_BAD_CFA;
			break;
		}
		result = walk_on(remote, &regs, exact, pcs + n, max - n);
		result.n_pcs += n;
	}
	*ret_result = result;
	return 0;
}
