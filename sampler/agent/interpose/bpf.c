/* bpf.c - interprets classic BPF programs, as far as seccomp filters use it */
#include "sampler/agent/interpose/bpf.h"

#include <stdbool.h>

struct machine {
	const struct seccomp_data *data;
	uint32_t a;
	uint32_t x;
	uint32_t memory[BPF_MEMWORDS];
};

/* One word that LD or LDX loads. Return: false where the kernel would not allow it. */
static bool load(const struct machine *m, const struct sock_filter *at, uint32_t *to)
{
	switch (BPF_MODE(at->code)) {
	case BPF_IMM:
		*to = at->k;
		return true;
	case BPF_LEN:
		*to = sizeof(*m->data);
		return true;
	case BPF_MEM:
		if (at->k >= BPF_MEMWORDS)
			return false;
		*to = m->memory[at->k];
		return true;
	case BPF_ABS:
		if (BPF_CLASS(at->code) != BPF_LD || BPF_SIZE(at->code) != BPF_W || at->k % 4 ||
		    at->k >= sizeof(*m->data))
			return false;
		*to = ((const uint32_t *)(const void *)m->data)[at->k / 4];
		return true;
	default:
		return false;
	}
}

static bool compute(struct machine *m, const struct sock_filter *at)
{
	uint32_t by = BPF_SRC(at->code) == BPF_X ? m->x : at->k;

	switch (BPF_OP(at->code)) {
	case BPF_ADD:
		m->a += by;
		return true;
	case BPF_SUB:
		m->a -= by;
		return true;
	case BPF_MUL:
		m->a *= by;
		return true;
	case BPF_DIV:
		m->a = by ? m->a / by : 0;
		return by != 0;
	case BPF_AND:
		m->a &= by;
		return true;
	case BPF_OR:
		m->a |= by;
		return true;
	case BPF_XOR:
		m->a ^= by;
		return true;
	case BPF_LSH:
		m->a = by < 32 ? m->a << by : 0;
		return by < 32;
	case BPF_RSH:
		m->a = by < 32 ? m->a >> by : 0;
		return by < 32;
	case BPF_NEG:
		m->a = -m->a;
		return true;
	default:
		return false;
	}
}

/* How many instructions a jump skips. Return: false for an unknown jump. */
static bool jump(const struct machine *m, const struct sock_filter *at, uint32_t *ret_by)
{
	uint32_t with = BPF_SRC(at->code) == BPF_X ? m->x : at->k;
	bool holds;

	switch (BPF_OP(at->code)) {
	case BPF_JA:
		*ret_by = at->k;
		return true;
	case BPF_JEQ:
		holds = m->a == with;
		break;
	case BPF_JGT:
		holds = m->a > with;
		break;
	case BPF_JGE:
		holds = m->a >= with;
		break;
	case BPF_JSET:
		holds = (m->a & with) != 0;
		break;
	default:
		return false;
	}
	*ret_by = holds ? at->jt : at->jf;
	return true;
}

static bool store(struct machine *m, const struct sock_filter *at)
{
	if (at->k >= BPF_MEMWORDS)
		return false;
	m->memory[at->k] = BPF_CLASS(at->code) == BPF_STX ? m->x : m->a;
	return true;
}

/* Any instruction but a return.  *RET_BY: how many instructions it skips. */
static bool step(struct machine *m, const struct sock_filter *at, uint32_t *ret_by)
{
	*ret_by = 0;
	switch (BPF_CLASS(at->code)) {
	case BPF_LD:
		return load(m, at, &m->a);
	case BPF_LDX:
		return load(m, at, &m->x);
	case BPF_ST:
	case BPF_STX:
		return store(m, at);
	case BPF_ALU:
		return compute(m, at);
	case BPF_JMP:
		return jump(m, at, ret_by);
	case BPF_MISC:
		if (BPF_MISCOP(at->code) == BPF_TAX)
			m->x = m->a;
		else
			m->a = m->x;
		return true;
	default:
		return false;
	}
}

uint32_t bpf_run(const struct sock_filter *program, size_t len, const struct seccomp_data *data)
{
	struct machine m = {.data = data};
	uint32_t by = 0;

	/* Jumps only go forward, so this ends. */
	for (uint64_t at = 0; at < len; at += 1 + (uint64_t)by) {
		const struct sock_filter *here = &program[at];

		if (BPF_CLASS(here->code) == BPF_RET)
			return BPF_RVAL(here->code) == BPF_A ? m.a : here->k;
		if (!step(&m, here, &by))
			break;
	}
	return SECCOMP_RET_KILL_PROCESS;
}
