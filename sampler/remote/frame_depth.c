/* frame_depth.c - how far a function's frame register is above sp, by its code */
#include "sampler/remote/frame_depth.h"

#include "sampler/remote/code.h"

#include <string.h>

enum {
	SP = 4, /* as instructions number it */
	DEPTH_MOST = 1 << 24,
};

/* How an instruction leaves sp and the frame register. */
enum effect {
	NOTHING,
	MOVES,     /* sp, by a constant */
	SETS_SP,   /* to a constant below the register */
	SETS_UP,   /* the register, to a constant above sp */
	ALIGNS,    /* sp, down */
	OBSCURES,  /* sp, by something that is not seen here */
	BRANCHES,  /* or calls: the prologue is over */
	GOES_AWAY, /* what follows is reached from elsewhere */
};

struct sweep {
	const struct frame_code *function;
	struct frame_depth depth;
	unsigned reg; /* as instructions number it */
	int64_t now;  /* register - sp */
	int64_t body; /* the same after the prologue, once that is over */
	bool in_body;
	bool obscure;
	bool found; /* PC was reached */
};

static bool is_any(unsigned opcode, const char *opcodes)
{
	return opcode < 0x100 && opcode != 0 && strchr(opcodes, (int)opcode);
}

static enum effect of_addition(const struct instruction *in, int64_t *by)
{
	switch (in->reg & 7) {
	case 0:
		*by = -in->immediate;
		return MOVES;
	case 5:
		*by = in->immediate;
		return MOVES;
	case 4:
		*by = -in->immediate;
		return ALIGNS;
	default:
		return OBSCURES;
	}
}

/* lea: sp from sp or the register, or the register from sp. */
static enum effect of_address(const struct sweep *sweep, const struct instruction *in, int64_t *by)
{
	unsigned base = in->has_sib ? in->base : in->rm;
	bool plain = in->mod != 0 && !in->has_index && in->wide;

	if (in->reg == sweep->reg && base == SP && plain) {
		*by = in->displacement;
		return SETS_UP;
	}
	if (in->reg != SP)
		return NOTHING;
	if (!plain || (base != SP && base != sweep->reg))
		return OBSCURES;
	*by = -in->displacement;
	return base == SP ? MOVES : SETS_SP;
}

static enum effect of_copy(const struct sweep *sweep, unsigned from, unsigned to, int64_t *by)
{
	*by = 0;
	if (to == sweep->reg && from == SP)
		return SETS_UP;
	if (to != SP)
		return NOTHING;
	return from == sweep->reg ? SETS_SP : OBSCURES;
}

/* Arithmetic, copies and comparisons with a register and modrm. */
static enum effect of_operands(const struct sweep *sweep, const struct instruction *in, int64_t *by)
{
	bool registers = in->mod == 3;

	switch (in->opcode) {
	case 0x81:
	case 0x83:
		return registers && in->rm == SP ? of_addition(in, by) : NOTHING;
	case 0x8d:
		return of_address(sweep, in, by);
	case 0x89:
		return registers ? of_copy(sweep, in->reg, in->rm, by) : NOTHING;
	case 0x8b:
		return of_copy(sweep, registers ? in->rm : UINT32_MAX, in->reg, by);
	default:
		break;
	}
	/* add, or, adc, sbb, and, sub, xor, xchg; comparing sp is for touching pages in a loop */
	if (is_any(in->opcode, "\x01\x09\x11\x19\x21\x29\x31\x39\x87"))
		return registers && (in->rm == SP || (in->opcode >= 0x39 && in->reg == SP))
			       ? OBSCURES
			       : NOTHING;
	if (is_any(in->opcode, "\x03\x0b\x13\x1b\x23\x2b\x33\x3b"))
		return in->reg == SP || (in->opcode == 0x3b && registers && in->rm == SP) ? OBSCURES
											  : NOTHING;
	return NOTHING;
}

/* push and pop, in their many forms */
static enum effect of_stack(const struct instruction *in, int64_t *by)
{
	unsigned opcode = in->opcode;

	*by = 0;
	if ((opcode >= 0x50 && opcode <= 0x57) || is_any(opcode, "\x68\x6a\x9c") ||
	    opcode == 0x0fa0 || opcode == 0x0fa8 || (opcode == 0xff && (in->reg & 7) == 6))
		*by = ARCH_WORD;
	else if ((opcode >= 0x58 && opcode <= 0x5f) || is_any(opcode, "\x8f\x9d") ||
		 opcode == 0x0fa1 || opcode == 0x0fa9)
		*by = -ARCH_WORD;
	if (opcode == 0x5c && in->rm == SP)
		return OBSCURES;
	return *by ? MOVES : NOTHING;
}

static enum effect of_flow(const struct instruction *in)
{
	unsigned opcode = in->opcode;
	unsigned which = in->reg & 7;

	if (is_any(opcode, "\xc2\xc3\xca\xcb\xcf\xe9\xeb\xf4") || opcode == 0x0f0b ||
	    (opcode == 0xff && (which == 4 || which == 5)))
		return GOES_AWAY;
	if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3) ||
	    opcode == 0xe8 || (opcode >= 0x0f80 && opcode <= 0x0f8f) ||
	    (opcode == 0xff && (which == 2 || which == 3)))
		return BRANCHES;
	return NOTHING;
}

static enum effect effect_of(const struct sweep *sweep, const struct instruction *in, int64_t *by)
{
	enum effect effect;

	if (in->vector)
		return NOTHING;
	if (in->opcode == 0xc9) { /* leave */
		*by = -ARCH_WORD;
		return SETS_SP;
	}
	if (in->opcode == 0xc8 || (in->opcode == 0x94 && in->rm == SP))
		return OBSCURES;
	effect = of_flow(in);
	if (effect == NOTHING)
		effect = of_stack(in, by);
	if (effect == NOTHING && in->has_modrm)
		effect = of_operands(sweep, in, by);
	return effect;
}

static void end_prologue(struct sweep *sweep)
{
	if (sweep->in_body || !sweep->depth.set_up)
		return;
	sweep->in_body = true;
	sweep->body = sweep->now;
}

static void apply(struct sweep *sweep, const struct instruction *in)
{
	int64_t by = 0;
	enum effect effect = effect_of(sweep, in, &by);

	/* Before the register is set nothing counts, but sp is never to be lost. */
	if (!sweep->depth.set_up && effect != SETS_UP)
		return;
	switch (effect) {
	case SETS_UP:
		/* A second time, as on another way into the frame: it is another prologue. */
		sweep->depth.set_up = true;
		sweep->in_body = false;
		sweep->now = by;
		break;
	case MOVES:
		sweep->now += by;
		break;
	case SETS_SP:
		sweep->now = by;
		break;
	case ALIGNS:
		sweep->obscure = sweep->obscure || by <= 0 || by > 4096;
		sweep->depth.slack = (uint64_t)by;
		break;
	case OBSCURES:
		sweep->obscure = true;
		break;
	case GOES_AWAY:
		end_prologue(sweep);
		sweep->now = sweep->body;
		break;
	case BRANCHES:
		end_prologue(sweep);
		break;
	default:
		break;
	}
	sweep->obscure = sweep->obscure || sweep->now < -DEPTH_MOST || sweep->now > DEPTH_MOST;
}

/* What PC finds, before its instruction. */
static void arrive(struct sweep *sweep, uint64_t at)
{
	if (at != sweep->function->pc || sweep->found)
		return;
	sweep->found = true;
	sweep->depth.at_pc = (uint64_t)sweep->now;
	sweep->depth.body = (uint64_t)(sweep->in_body ? sweep->body : sweep->now);
}

bool frame_depth_read(struct unwind_reader *reader, const struct frame_code *function,
		      struct frame_depth *ret_depth)
{
	struct sweep sweep = {.function = function, .reg = function->reg == ARCH_REG_BP ? 5 : 3};
	bool set_up_at_pc = false;
	struct instruction in;
	struct code code;

	if (!code_init(&code, reader, function->begin, function->end))
		return false;
	for (;;) {
		arrive(&sweep, code.at);
		set_up_at_pc = code.at == function->pc ? sweep.depth.set_up : set_up_at_pc;
		if (!code_next(&code, &in))
			break;
		apply(&sweep, &in);
	}
	sweep.depth.set_up = set_up_at_pc;
	sweep.depth.fixed = code.at == code.end && !sweep.obscure;
	*ret_depth = sweep.depth;
	return sweep.found;
}
