/* ours.c - our unwinder over a stopped thread */
#include "sampler/unwind/cfi.h"
#include "tests/oracle/walks.h"

/* Where the interrupted registers seem to be: no address of a program. */
#define SAVED_REGS UINT64_C(0xffffff0000000000)

struct ours {
	struct unwind_reader reader;
	struct target *target;
};

/* As the kernel's sigcontext has them. */
static void saved_regs(const struct user_regs_struct *regs, uint64_t words[17])
{
	const uint64_t in_order[17] = {
		regs->r8,  regs->r9,  regs->r10, regs->r11, regs->r12, regs->r13,
		regs->r14, regs->r15, regs->rdi, regs->rsi, regs->rbp, regs->rbx,
		regs->rdx, regs->rax, regs->rcx, regs->rsp, regs->rip,
	};

	__builtin_memcpy(words, in_order, sizeof(in_order));
}

static bool read_target(struct unwind_reader *reader, uint64_t address, void *to, size_t len)
{
	struct ours *ours = (struct ours *)reader;
	uint64_t words[17];

	if (address < SAVED_REGS)
		return target_read(ours->target, address, to, len);
	saved_regs(&ours->target->regs, words);
	if (address - SAVED_REGS > sizeof(words) - 8 || len != 8)
		return false;
	__builtin_memcpy(to, (unsigned char *)words + (address - SAVED_REGS), 8);
	return true;
}

static bool find_module(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module)
{
	const struct target_module *module;

	module = target_module_at(((struct ours *)reader)->target, pc);
	if (!module)
		return false;
	*ret_module = module->module;
	return true;
}

bool walk_ours_has_fde(struct target *target, uint64_t at)
{
	struct ours ours = {.reader = {.read = read_target, .find = find_module}, .target = target};
	struct unwind_module module;
	struct cfi_fde fde;

	return find_module(&ours.reader, at, &module) &&
	       cfi_find(&ours.reader, &module, at, &fde) != CFI_NONE;
}

struct unwind_result walk_ours(struct target *target, struct unwind_cache *cache, uint64_t *pcs)
{
	struct ours ours = {
		.reader = {.lo = target->stack_lo,
			   .hi = target->stack_hi,
			   .bytes = target->stack,
			   .read = read_target,
			   .find = find_module},
		.target = target,
	};
	struct unwind_regs regs = {
		.pc = target->regs.rip,
		.sp = target->regs.rsp,
		.bp = target->regs.rbp,
		.bx = target->regs.rbx,
		.saved = SAVED_REGS,
	};

	return unwind_walk(&ours.reader, cache, &regs, pcs, WALK_MAX);
}
