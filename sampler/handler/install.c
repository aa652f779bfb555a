/* install.c - installs wick's SIGPROF handler */
#include "sampler/handler/install.h"

#include "sampler/handler/on_sigprof.h"

#include <stdatomic.h>

#include "sampler/handler/sys/sigsafe.h"

uint32_t handler_signal;
uint64_t handler_min_altstack;
_Atomic bool handler_small_altstack;

int handler_install(int signal, bool onstack, struct sys_sigaction *ret_previous)
{
	/*
	 * SIGPROF itself stays unblocked. When a thread's timer and the process timer expire at one
	 * tick, the kernel delivers the thread's signal first. If SIGPROF were then blocked, the
	 * kernel would give the process's signal to another thread (retarget_shared_pending() in
	 * kernel/signal.c), whose epoll_wait would fail with EINTR.
	 */
	const struct sys_sigaction action = {
		.handler = on_sigprof,
		.flags = SA_SIGINFO | SA_RESTART | SA_NODEFER | SYS_SA_RESTORER |
			 (onstack ? SA_ONSTACK : 0UL),
		.restorer = handler_restorer,
		.mask = ~SYS_SIGBIT(signal),
	};

	handler_signal = (uint32_t)signal;
	return (int)sys4(__NR_rt_sigaction, signal, &action, ret_previous, 8);
}

/* Keeps an action that the program has installed meanwhile. */
static void stop_using_altstacks(void)
{
	struct sys_sigaction action;
	struct sys_sigaction was = {.handler = on_sigprof};

	if (sys4(__NR_rt_sigaction, handler_signal, NULL, &action, 8) < 0 ||
	    action.handler != on_sigprof)
		return;
	action.flags &= ~(unsigned long)SA_ONSTACK;
	(void)sys4(__NR_rt_sigaction, handler_signal, &action, &was, 8);
	if (was.handler != on_sigprof)
		(void)sys4(__NR_rt_sigaction, handler_signal, &was, NULL, 8);
}

bool handler_overflows(const ucontext_t *uc)
{
	uint64_t at = (uint64_t)uc - (uint64_t)uc->uc_stack.ss_sp;

	if ((uc->uc_stack.ss_flags & SS_DISABLE) || at >= uc->uc_stack.ss_size ||
	    uc->uc_stack.ss_size >= handler_min_altstack)
		return false;
	atomic_store_explicit(&handler_small_altstack, true, memory_order_relaxed);
	stop_using_altstacks();
	return true;
}
