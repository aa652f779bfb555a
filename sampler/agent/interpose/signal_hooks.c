/*
 * signal_hooks.c - interposes the functions by which a program sets or blocks SIGPROF
 *
 * Other signals are passed on unchanged. Threads in sigsuspend, ppoll and similar calls have
 * SIGPROF blocked while they wait, as they requested: they use no CPU there.
 */
#define _GNU_SOURCE 1
#include "sampler/agent/hooks.h"
#include "sampler/agent/signals.h"
#include "sampler/handler/chain.h"
#include "sampler/handler/on_sigprof.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* Obsolete functions, interposed for old programs. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { SA_INTERRUPT_OLD = 0x20000000 }; /* sysv_signal() sets it; the kernel ignores it */

/* The last siginterrupt(SIGPROF), for signal(). */
static _Atomic bool interrupts;

AGENT_EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler);
AGENT_EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler);
AGENT_EXPORT int __sigaction(int sig, const struct sigaction *action, struct sigaction *old);

static bool is_virtual(int sig)
{
	return signals_started() && sig == (int)handler_signal;
}

static struct sys_sigaction from_libc(const struct sigaction *action)
{
	return (struct sys_sigaction){
		.handler = action->sa_sigaction,
		/* As libc passes it to the kernel. */
		.flags = (unsigned long)(unsigned int)action->sa_flags | SYS_SA_RESTORER,
		.mask = action->sa_mask.__val[0],
	};
}

static void to_libc(const struct sys_sigaction *from, struct sigaction *to)
{
	to->sa_sigaction = from->handler;
	to->sa_flags = (int)from->flags;
	to->sa_mask = (sigset_t){.__val = {from->mask}};
	to->sa_restorer = NULL;
}

static int next_sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
	__typeof__(&sigaction) next = NEXT(sigaction);

	return next ? next(sig, action, old) : agent_set_errno(ENOSYS);
}

AGENT_EXPORT int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
	struct sys_sigaction wanted, was;
	enum signals_verdict verdict;
	int r = 0;

	if (!is_virtual(sig))
		return next_sigaction(sig, action, old);
	if (action)
		wanted = from_libc(action);
	verdict = signals_action(action ? &wanted : NULL, &was);
	if (verdict == SIGNALS_KERNEL)
		return next_sigaction(sig, action, old);
	if (verdict == SIGNALS_KERNEL_BUT_OLD)
		r = next_sigaction(sig, action, NULL);
	if (r == 0 && old)
		to_libc(&was, old);
	return r;
}

AGENT_EXPORT int __sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
	return sigaction(sig, action, old);
}

static sighandler_t set_handler(sighandler_t handler, int flags, bool with_mask)
{
	struct sigaction action = {.sa_flags = flags};
	struct sigaction old = {0};

	if (handler == SIG_ERR) {
		agent_set_errno(EINVAL);
		return SIG_ERR;
	}
	action.sa_handler = handler;
	if (with_mask)
		action.sa_mask.__val[0] = SYS_SIGBIT(handler_signal);
	return sigaction((int)handler_signal, &action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

static sighandler_t set_bsd(sighandler_t handler)
{
	return set_handler(handler, atomic_load(&interrupts) ? 0 : SA_RESTART, true);
}

static sighandler_t set_sysv(sighandler_t handler)
{
	return set_handler(handler, (int)(SA_RESETHAND | SA_NODEFER | SA_INTERRUPT_OLD), false);
}

AGENT_EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	__typeof__(&signal) next = NEXT(signal);

	return is_virtual(sig) ? set_bsd(handler) : next ? next(sig, handler) : SIG_ERR;
}

AGENT_EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler)
{
	__typeof__(&bsd_signal) next = NEXT(bsd_signal);

	return is_virtual(sig) ? set_bsd(handler) : next ? next(sig, handler) : SIG_ERR;
}

AGENT_EXPORT sighandler_t ssignal(int sig, sighandler_t handler)
{
	__typeof__(&ssignal) next = NEXT(ssignal);

	return is_virtual(sig) ? set_bsd(handler) : next ? next(sig, handler) : SIG_ERR;
}

AGENT_EXPORT sighandler_t sysv_signal(int sig, sighandler_t handler)
{
	__typeof__(&sysv_signal) next = NEXT(sysv_signal);

	return is_virtual(sig) ? set_sysv(handler) : next ? next(sig, handler) : SIG_ERR;
}

AGENT_EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	__typeof__(&__sysv_signal) next = NEXT(__sysv_signal);

	return is_virtual(sig) ? set_sysv(handler) : next ? next(sig, handler) : SIG_ERR;
}

/* libc would change SA_RESTART in the kernel's action, which is wick's. */
AGENT_EXPORT int siginterrupt(int sig, int interrupt)
{
	__typeof__(&siginterrupt) next = NEXT(siginterrupt);
	struct sigaction action = {0};

	if (!is_virtual(sig))
		return next ? next(sig, interrupt) : agent_set_errno(ENOSYS);
	atomic_store(&interrupts, interrupt != 0);
	if (sigaction(sig, NULL, &action) < 0)
		return -1;
	if (interrupt)
		action.sa_flags &= ~SA_RESTART;
	else
		action.sa_flags |= SA_RESTART;
	return sigaction(sig, &action, NULL);
}

typedef int mask_function(int how, const sigset_t *set, sigset_t *old);

static int change_mask(mask_function *next, int how, const sigset_t *set, sigset_t *old)
{
	sigset_t changed;
	bool was_blocked;
	uint64_t first;
	int r;

	if (!signals_started() || (!set && !old))
		return next(how, set, old);
	if (!set) {
		was_blocked = chain_blocked();
	} else {
		changed = *set;
		first = changed.__val[0];
		was_blocked = signals_mask_before(how, &first);
		changed.__val[0] = first;
	}
	r = next(how, set ? &changed : NULL, old);
	if (r == 0 && old && was_blocked)
		old->__val[0] |= SYS_SIGBIT(handler_signal);
	return r;
}

AGENT_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	mask_function *next = NEXT(sigprocmask);

	return next ? change_mask(next, how, set, old) : agent_set_errno(ENOSYS);
}

AGENT_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	mask_function *next = NEXT(pthread_sigmask);

	return next ? change_mask(next, how, set, old) : ENOSYS;
}

/* The old BSD functions: one word of signals, and the old one is returned. */
static int change_word(int how, int word)
{
	sigset_t set = {.__val = {(unsigned int)word}};
	sigset_t old = {0};

	return pthread_sigmask(how, &set, &old) != 0 ? agent_set_errno(EINVAL) : (int)old.__val[0];
}

AGENT_EXPORT int sigblock(int mask)
{
	return change_word(SIG_BLOCK, mask);
}

AGENT_EXPORT int sigsetmask(int mask)
{
	return change_word(SIG_SETMASK, mask);
}

AGENT_EXPORT int siggetmask(void)
{
	return change_word(SIG_BLOCK, 0);
}

/* The System V functions, for SIGPROF only. */
static int change_prof(int how)
{
	sigset_t set = {.__val = {SYS_SIGBIT(handler_signal)}};

	return pthread_sigmask(how, &set, NULL) != 0 ? agent_set_errno(EINVAL) : 0;
}

AGENT_EXPORT int sighold(int sig)
{
	__typeof__(&sighold) next = NEXT(sighold);

	if (is_virtual(sig))
		return change_prof(SIG_BLOCK);
	return next ? next(sig) : agent_set_errno(ENOSYS);
}

AGENT_EXPORT int sigrelse(int sig)
{
	__typeof__(&sigrelse) next = NEXT(sigrelse);

	if (is_virtual(sig))
		return change_prof(SIG_UNBLOCK);
	return next ? next(sig) : agent_set_errno(ENOSYS);
}

AGENT_EXPORT int sigignore(int sig)
{
	__typeof__(&sigignore) next = NEXT(sigignore);

	if (is_virtual(sig))
		return set_handler(SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
	return next ? next(sig) : agent_set_errno(ENOSYS);
}

static sighandler_t set_sigset(sighandler_t handler)
{
	sigset_t prof = {.__val = {SYS_SIGBIT(handler_signal)}};
	struct sigaction action = {0};
	sighandler_t was;
	sigset_t old = {0};

	if (pthread_sigmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &prof, &old) != 0)
		return SIG_ERR;
	if (handler == SIG_HOLD) {
		if (sigaction((int)handler_signal, NULL, &action) < 0)
			return SIG_ERR;
		was = action.sa_handler;
	} else {
		was = set_handler(handler, 0, false);
	}
	return old.__val[0] & SYS_SIGBIT(handler_signal) ? SIG_HOLD : was;
}

AGENT_EXPORT sighandler_t sigset(int sig, sighandler_t handler)
{
	__typeof__(&sigset) next = NEXT(sigset);

	if (is_virtual(sig))
		return set_sigset(handler);
	return next ? next(sig, handler) : SIG_ERR;
}

/* sigwait() is libc's, which continues after EINTR. */
AGENT_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	__typeof__(&sigtimedwait) next = NEXT(sigtimedwait);
	bool blocked = next && signals_before_wait();
	int r = next ? next(set, info, timeout) : agent_set_errno(ENOSYS);

	if (blocked)
		signals_after_wait();
	return r;
}

AGENT_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	__typeof__(&sigwaitinfo) next = NEXT(sigwaitinfo);
	bool blocked = next && signals_before_wait();
	int r = next ? next(set, info) : agent_set_errno(ENOSYS);

	if (blocked)
		signals_after_wait();
	return r;
}

AGENT_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	long r;

	signals_before_altstack(stack);
	r = sys2(__NR_sigaltstack, stack, old);
	return r < 0 ? agent_set_errno((int)-r) : 0;
}
