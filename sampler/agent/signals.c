/* signals.c - keeps the program's SIGPROF action in chain.c while wick's handler stays installed */
#include "sampler/agent/signals.h"

#include "sampler/agent/agent.h"
#include "sampler/handler/chain.h"
#include "sampler/handler/on_sigprof.h"
#include "sampler/handler/process.h"

#include <stdatomic.h>
#include <sys/auxv.h>

extern unsigned long weak_getauxval(unsigned long type) __asm__("getauxval") __attribute__((weak));

enum {
	OUR_STACK_BYTES = 2048,
	FRAME_BYTES = 4096, /* without AT_MINSIGSTKSZ: AVX-512's is the largest today */
	KERNEL_MASK_BYTES = 8,
};

/* What Linux 5.11 and later keep of sa_flags. */
static const unsigned long KNOWN_FLAGS = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK |
					 SA_RESTART | SA_NODEFER | (unsigned int)SA_RESETHAND |
					 0x800 /* SA_EXPOSE_TAGBITS */ | SYS_SA_RESTORER;

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

#define PROF SYS_SIGBIT(handler_signal)

/* wick's handler as the kernel reports it; NULL: never installed. Kept by fork. */
static void (*_Atomic our_handler)(int sig, siginfo_t *info, void *uc);

static long kernel_action(const struct sys_sigaction *action, struct sys_sigaction *old)
{
	return sys4(__NR_rt_sigaction, handler_signal, action, old, KERNEL_MASK_BYTES);
}

static long kernel_mask(int how, const uint64_t *set, uint64_t *old)
{
	return sys4(__NR_rt_sigprocmask, how, set, old, KERNEL_MASK_BYTES);
}

static long block_signal(uint64_t *old)
{
	const uint64_t set = PROF;

	return kernel_mask(SIG_BLOCK, &set, old);
}

static void unblock_signal(void)
{
	const uint64_t set = PROF;

	kernel_mask(SIG_UNBLOCK, &set, NULL);
}

/* Asks the kernel: a vfork child may have changed an action that its parent still has. */
static bool is_ours(struct sys_sigaction *ret_action)
{
	void (*ours)(int, siginfo_t *, void *) = atomic_load(&our_handler);

	return ours && kernel_action(NULL, ret_action) == 0 && ret_action->handler == ours;
}

/*
 * Copies the flags of the program's action to wick's, where they can be noticed. A program with a
 * SIGPROF handler of its own gets its signals after wick's handler, not nested in it: there could
 * be any number of them (docs/decisions/0008).
 */
static void fit_flags(void)
{
	struct sys_sigaction kernel = {0}, requested;
	unsigned long mirrored = SA_RESTART | SA_ONSTACK | SA_NODEFER;
	unsigned long flags = mirrored;

	if (!is_ours(&kernel))
		return;
	chain_action(&requested);
	if ((uintptr_t)requested.handler != (uintptr_t)SIG_DFL)
		flags &= ~(unsigned long)SA_NODEFER;
	if (chain_handles())
		flags = requested.flags & (SA_RESTART | SA_ONSTACK);
	if (atomic_load(&handler_small_altstack))
		flags &= ~(unsigned long)SA_ONSTACK;
	if ((kernel.flags & mirrored) == flags)
		return;
	kernel.flags = (kernel.flags & ~mirrored) | flags;
	kernel_action(&kernel, NULL);
}

void signals_start(const struct sys_sigaction *inherited, bool blocked)
{
	struct sys_sigaction ours = {0};

	if (kernel_action(NULL, &ours) < 0)
		return;
	chain_set_action(inherited, NULL);
	if (blocked && !chain_set_blocked(true))
		block_signal(NULL);
	atomic_store(&our_handler, ours.handler);
	atomic_store(&handler_chain, chain_on_sigprof);
	fit_flags(); /* SIG_IGN is inherited */
}

bool signals_started(void)
{
	return atomic_load_explicit(&our_handler, memory_order_relaxed) != NULL;
}

/* The program has installed a handler: apply the mask that this thread requested. */
static void apply_mask(void)
{
	if (chain_handles() && chain_blocked()) {
		block_signal(NULL);
		(void)chain_set_blocked(false);
	}
}

/* Ignoring a signal discards pending ones. */
static void forget_pending(void)
{
	const struct sys_timespec now = {0};

	const uint64_t set = PROF;

	while (sys4(__NR_rt_sigtimedwait, &set, NULL, &now, KERNEL_MASK_BYTES) ==
	       (long)handler_signal)
		;
}

void signals_report(void)
{
	struct process *p = process_is_self();

	if (p)
		atomic_store_explicit(&p->header->handles_sigprof, chain_handles(),
				      memory_order_relaxed);
}

enum signals_verdict signals_action(const struct sys_sigaction *action, struct sys_sigaction *old)
{
	struct sys_sigaction kept = {0};

	if (!is_ours(&kept))
		return SIGNALS_KERNEL;
	if (!action || chain_in_vfork_child()) {
		chain_action(old);
		return action ? SIGNALS_KERNEL_BUT_OLD : SIGNALS_DONE;
	}
	kept = *action;
	kept.flags &= KNOWN_FLAGS;
	/* What the kernel does to an action before it keeps it. */
	kept.mask &= ~(SYS_SIGBIT(SIGKILL) | SYS_SIGBIT(SIGSTOP));
	chain_set_action(&kept, old);
	if ((uintptr_t)kept.handler == (uintptr_t)SIG_IGN)
		forget_pending();
	fit_flags();
	signals_report();
	apply_mask();
	return SIGNALS_DONE;
}

bool signals_mask_before(int how, uint64_t *set)
{
	bool named = (*set & PROF) != 0;
	bool closes = named && (how == SIG_BLOCK || how == SIG_SETMASK);
	bool opens = named ? how == SIG_UNBLOCK : how == SIG_SETMASK;
	bool blocked = chain_blocked();

	if (opens)
		(void)chain_set_blocked(false);
	if (closes && !chain_handles() && chain_set_blocked(true))
		*set &= ~PROF;
	return blocked;
}

void signals_begin_thread(bool blocked)
{
	if (!chain_set_blocked(blocked))
		block_signal(NULL);
}

bool signals_before_wait(void)
{
	uint64_t old = 0;

	return signals_started() && block_signal(&old) == 0 && !(old & PROF);
}

void signals_after_wait(void)
{
	unblock_signal();
}

bool signals_altstack_fits(void)
{
	unsigned long frame = weak_getauxval ? weak_getauxval(AT_MINSIGSTKSZ) : 0;
	stack_t stack = {.ss_flags = SS_DISABLE};

	if (atomic_load(&handler_small_altstack))
		return false;
	/*
	 * Up to three signal frames can be nested before any handler runs: those of the thread's
	 * timer, its perf event and the process timer, at one tick (on_sigprof.c). Stacks of
	 * sysconf(_SC_SIGSTKSZ) bytes, four frames, have space for them. Erlang's are of that size,
	 * and a signal on any other of its stacks crashes it.
	 */
	handler_min_altstack = 3 * (frame ? frame : FRAME_BYTES) + OUR_STACK_BYTES;
	(void)sys2(__NR_sigaltstack, NULL, &stack);
	if ((stack.ss_flags & SS_DISABLE) || stack.ss_size >= handler_min_altstack)
		return true;
	atomic_store(&handler_small_altstack, true);
	return false;
}

void signals_before_altstack(const stack_t *stack)
{
	if (!stack || (stack->ss_flags & SS_DISABLE) || !signals_started() ||
	    stack->ss_size >= handler_min_altstack)
		return;
	if (!chain_in_vfork_child())
		atomic_store(&handler_small_altstack, true);
	fit_flags();
}

void signals_prepare_exec(struct signals_saved *ret_saved)
{
	struct sys_sigaction requested;
	uint64_t mask = 0;

	*ret_saved = (struct signals_saved){.ignored = false};
	if (!signals_started())
		return;
	chain_action(&requested);
	if ((uintptr_t)requested.handler == (uintptr_t)SIG_IGN && is_ours(&ret_saved->ours)) {
		requested.flags = 0;
		ret_saved->ignored = kernel_action(&requested, NULL) == 0;
	}
	if (chain_blocked() && block_signal(&mask) == 0)
		ret_saved->blocked = !(mask & PROF);
}

void signals_restore(const struct signals_saved *saved)
{
	if (saved->blocked)
		unblock_signal();
	if (saved->ignored)
		kernel_action(&saved->ours, NULL);
}
