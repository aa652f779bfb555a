/* syscall_hook.c - interposes syscall(), for calls that a program makes by number */
#define _GNU_SOURCE 1
#include "sampler/agent/syscall_hook.h"

#include "sampler/agent/agent.h"
#include "sampler/agent/signals.h"
#include "sampler/handler/chain.h"
#include "sampler/handler/on_sigprof.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { KERNEL_MASK_BYTES = 8 };

/* libc's syscall(); read by syscall_hook_x86_64.S. */
extern long (*_Atomic syscall_real)(long nr, ...) __attribute__((visibility("hidden")));
long (*_Atomic syscall_real)(long nr, ...);

/* A number and the kernel's six arguments. NOLINTNEXTLINE(readability-function-size) */
static long raw(long nr, long a, long b, long c, long d, long e, long f)
{
	long r = sys6(nr, a, b, c, d, e, f);

	return sys_failed(r) ? agent_set_errno((int)-r) : r;
}

// NOLINTNEXTLINE(readability-function-size): as raw()
long syscall_next(long nr, long a, long b, long c, long d, long e, long f)
{
	long (*next)(long, ...) = atomic_load_explicit(&syscall_real, memory_order_relaxed);

	if (!next) {
		next = (long (*)(long, ...))agent_next("syscall");
		atomic_store_explicit(&syscall_real, next, memory_order_relaxed);
	}
	return next ? next(nr, a, b, c, d, e, f) : raw(nr, a, b, c, d, e, f);
}

static long change_mask(int how, const uint64_t *set, uint64_t *old, size_t size)
{
	bool was_blocked;
	uint64_t changed;
	long r;

	if (!signals_started() || size != KERNEL_MASK_BYTES || (!set && !old))
		return raw(__NR_rt_sigprocmask, how, (long)set, (long)old, (long)size, 0, 0);
	if (set) {
		changed = *set;
		was_blocked = signals_mask_before(how, &changed);
	} else {
		was_blocked = chain_blocked();
	}
	r = raw(__NR_rt_sigprocmask, how, set ? (long)&changed : 0, (long)old, (long)size, 0, 0);
	if (r == 0 && old && was_blocked)
		*old |= SYS_SIGBIT(SIGPROF);
	return r;
}

static long change_action(int sig, const struct sys_sigaction *action, struct sys_sigaction *old,
			  size_t size)
{
	enum signals_verdict verdict = SIGNALS_KERNEL;
	struct sys_sigaction was;
	long r = 0;

	if (sig == (int)handler_signal && size == KERNEL_MASK_BYTES && signals_started())
		verdict = signals_action(action, &was);
	if (verdict == SIGNALS_KERNEL)
		return raw(__NR_rt_sigaction, sig, (long)action, (long)old, (long)size, 0, 0);
	if (verdict == SIGNALS_KERNEL_BUT_OLD)
		r = raw(__NR_rt_sigaction, sig, (long)action, 0, (long)size, 0, 0);
	if (r == 0 && old)
		*old = was;
	return r;
}

// NOLINTNEXTLINE(readability-function-size): as raw()
long syscall_chosen(long nr, long a, long b, long c, long d, long e, long f)
{
	switch (nr) {
	case __NR_rt_sigprocmask:
		return change_mask((int)a, (const uint64_t *)b, (uint64_t *)c, (size_t)d);
	case __NR_rt_sigaction:
		return change_action((int)a, (const struct sys_sigaction *)b,
				     (struct sys_sigaction *)c, (size_t)d);
	case __NR_execve:
		return exec_by_syscall((const char *)a, (char *const *)b, (char *const *)c);
	case __NR_execveat:
		return execveat((int)a, (const char *)b, (char *const *)c, (char *const *)d,
				(int)e);
	case __NR_sigaltstack:
		signals_before_altstack((const stack_t *)a);
		break;
	case __NR_seccomp:
		seccomp_before_syscall((unsigned long)a, (const void *)c);
		break;
	case __NR_prctl:
		if ((int)a == PR_SET_SECCOMP)
			seccomp_before((unsigned long)b, (const void *)c);
		break;
	default:
		break;
	}
	return syscall_next(nr, a, b, c, d, e, f);
}
