/* chain.c - treats a SIGPROF that is not wick's as the kernel would have treated it */
#include "sampler/handler/chain.h"

#include "sampler/handler/process.h"

#include <stdatomic.h>

#include "sampler/handler/sys/sigsafe.h"

enum {
	THREADS = 4096, /* threads that may have SIGPROF blocked at the same time */
	WINDOW = 16,    /* entries in which one of them may be */
	/* fork may copy the version while it is odd; the child has no writer to make it even. */
	SPINS_MAX = 100000,
};

/* Odd while the action is being written. */
static _Atomic uint32_t version;
static _Atomic uint64_t action_handler;
static _Atomic uint64_t action_flags;
static _Atomic uint64_t action_mask;

static _Atomic uint64_t blocked_threads[THREADS];
static _Atomic bool in_use;

/* Acquire and release: a reader that sees a writer's word also sees the odd version. */
static uint64_t load(_Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

static void store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_release);
}

static void read_action(struct sys_sigaction *ret_action)
{
	ret_action->handler = (void (*)(int, siginfo_t *, void *))load(&action_handler);
	ret_action->flags = load(&action_flags);
	ret_action->restorer = NULL;
	ret_action->mask = load(&action_mask);
}

void chain_action(struct sys_sigaction *ret_action)
{
	for (int spins = 0; spins < SPINS_MAX; spins++) {
		uint32_t before = atomic_load_explicit(&version, memory_order_acquire);

		read_action(ret_action);
		if (!(before & 1) && before == atomic_load_explicit(&version, memory_order_relaxed))
			return;
		arch_pause();
	}
}

/* Return:  the odd version to write under. */
static uint32_t lock(void)
{
	uint32_t seen = atomic_load_explicit(&version, memory_order_relaxed);

	for (int spins = 0; spins < SPINS_MAX; spins++) {
		if (!(seen & 1) && atomic_compare_exchange_weak_explicit(&version, &seen, seen + 1,
									 memory_order_acquire,
									 memory_order_relaxed))
			return seen + 1;
		seen = atomic_load_explicit(&version, memory_order_relaxed);
		arch_pause();
	}
	return seen | 1;
}

static void write_action(const struct sys_sigaction *action, struct sys_sigaction *ret_old)
{
	uint32_t odd = lock();

	if (ret_old)
		read_action(ret_old);
	store(&action_handler, (uint64_t)(uintptr_t)action->handler);
	store(&action_flags, action->flags);
	store(&action_mask, action->mask);
	atomic_store_explicit(&version, odd + 1, memory_order_release);
}

void chain_set_action(const struct sys_sigaction *action, struct sys_sigaction *ret_old)
{
	uint64_t every = ~UINT64_C(0);
	uint64_t mask;

	sys4(__NR_rt_sigprocmask, SIG_SETMASK, &every, &mask, sizeof(mask));
	write_action(action, ret_old);
	sys4(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
}

static bool is_function(const struct sys_sigaction *action)
{
	return (uintptr_t)action->handler != (uintptr_t)SIG_DFL &&
	       (uintptr_t)action->handler != (uintptr_t)SIG_IGN;
}

bool chain_handles(void)
{
	struct sys_sigaction action;

	chain_action(&action);
	return is_function(&action);
}

/*
 * An entry is the thread pointer of a thread that asked to block SIGPROF, and in which it is not
 * blocked. A vfork child has its parent's thread pointer and memory. When it unblocks the signal,
 * it adds an entry of its own, tagged with its pid, which the parent removes when it next changes
 * its mask.
 */
enum { TAG_SHIFT = 48 };

static const uint64_t THREAD_MASK = (UINT64_C(1) << TAG_SHIFT) - 1;

static uint64_t own_thread(void)
{
	return (uint64_t)(uintptr_t)__builtin_thread_pointer() & THREAD_MASK;
}

static _Atomic uint64_t *place(uint64_t thread, unsigned int i)
{
	uint64_t hash = (thread >> 6) * UINT64_C(0x9e3779b97f4a7c15);

	return &blocked_threads[((hash >> 40) + i) % THREADS];
}

static bool has_entry(uint64_t thread, uint64_t entry)
{
	for (unsigned int i = 0; i < WINDOW; i++)
		if (load(place(thread, i)) == entry)
			return true;
	return false;
}

static bool add_entry(uint64_t thread, uint64_t entry)
{
	atomic_store_explicit(&in_use, true, memory_order_relaxed);
	if (has_entry(thread, entry))
		return true;
	for (unsigned int i = 0; i < WINDOW; i++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong_explicit(place(thread, i), &none, entry,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return true;
	}
	return false;
}

/* Removes the thread's entry and those of its vfork children. */
static void remove_entries(uint64_t thread)
{
	for (unsigned int i = 0; i < WINDOW; i++)
		if ((load(place(thread, i)) & THREAD_MASK) == thread)
			store(place(thread, i), 0);
}

static uint64_t vfork_entry(uint64_t thread)
{
	return thread | ((uint64_t)sys0(__NR_getpid) << 1 | 1) << TAG_SHIFT;
}

bool chain_in_vfork_child(void)
{
	struct process *p = handler_process;

	return p && p->header && !process_forbids_syscalls(p) &&
	       p->pid != (int32_t)sys0(__NR_getpid);
}

bool chain_blocked(void)
{
	uint64_t thread = own_thread();

	if (!has_entry(thread, thread))
		return false;
	return !chain_in_vfork_child() || !has_entry(thread, vfork_entry(thread));
}

bool chain_in_use(void)
{
	return atomic_load_explicit(&in_use, memory_order_relaxed);
}

bool chain_set_blocked(bool blocked)
{
	uint64_t thread = own_thread();

	if (!blocked && !has_entry(thread, thread))
		return true;
	if (chain_in_vfork_child()) {
		if (!blocked)
			(void)add_entry(thread, vfork_entry(thread));
		return !blocked;
	}
	remove_entries(thread);
	return !blocked || add_entry(thread, thread);
}

/* The default action: the process ends by SIGPROF as soon as the signal is unblocked. */
static void die(int sig)
{
	struct sys_sigaction dfl = {.mask = 0};
	uint64_t bit = SYS_SIGBIT(sig);

	if (sig == SIGURG || sig == SIGWINCH) /* ignored by default */
		return;
	sys4(__NR_rt_sigaction, sig, &dfl, NULL, sizeof(dfl.mask));
	sys3(__NR_tgkill, sys0(__NR_getpid), sys0(__NR_gettid), sig);
	sys4(__NR_rt_sigprocmask, SIG_UNBLOCK, &bit, NULL, sizeof(bit));
}

/*
 * The thread asked to block SIGPROF: block it now, and queue the signal again, for this thread or
 * for any that has it unblocked.
 */
static void postpone(int sig, siginfo_t *info, ucontext_t *uc)
{
	const uint64_t prof = SYS_SIGBIT(sig);
	long pid = sys0(__NR_getpid);

	/* Otherwise the signal would be delivered again at once. */
	sys4(__NR_rt_sigprocmask, SIG_BLOCK, &prof, NULL, sizeof(prof));
	uc->uc_sigmask.__val[0] |= SYS_SIGBIT(sig);
	if (info->si_code == SI_TKILL) {
		sys4(__NR_rt_tgsigqueueinfo, pid, sys0(__NR_gettid), sig, info);
		return;
	}
	if (sys_failed(sys3(__NR_rt_sigqueueinfo, pid, sig, info)))
		sys2(__NR_kill, pid, sig);
}

/* Return:  whether a seccomp filter may end the process for any system call. */
static bool forbids_syscalls(void)
{
	struct process *p = handler_process;

	return p && process_forbids_syscalls(p);
}

static void call(const struct sys_sigaction *action, int sig, siginfo_t *info, ucontext_t *uc)
{
	uint64_t mask = uc->uc_sigmask.__val[0] | action->mask;

	if (!(action->flags & SA_NODEFER))
		mask |= SYS_SIGBIT(sig);
	if (action->flags & SA_RESETHAND) {
		struct sys_sigaction dfl = {.flags = action->flags, .mask = action->mask};

		if (forbids_syscalls())
			write_action(&dfl, NULL);
		else
			chain_set_action(&dfl, NULL);
	}
	/* Under seccomp the program's handler runs with more signals blocked than it requested. */
	if (!forbids_syscalls())
		sys4(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	action->handler(sig, info, uc);
}

void chain_on_sigprof(int sig, siginfo_t *info, void *uc)
{
	struct sys_sigaction action;

	chain_action(&action);
	if (chain_blocked()) {
		if (!forbids_syscalls())
			postpone(sig, info, uc);
		return;
	}
	if ((uintptr_t)action.handler == (uintptr_t)SIG_IGN)
		return;
	if ((uintptr_t)action.handler == (uintptr_t)SIG_DFL)
		die(sig);
	else
		call(&action, sig, info, uc);
}
