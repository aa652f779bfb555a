/* install.c - our action for SIGPROF */
#include "sampler/handler/install.h"

#include "sampler/handler/on_sigprof.h"

#include "sampler/handler/sigsafe.h"

uint32_t handler_signal;

int handler_install(int signal, bool onstack, struct sys_sigaction *ret_previous)
{
	/*
	 * SIGPROF itself stays open.  When a thread's timer and the process's expire at one tick,
	 * the kernel delivers the thread's first; were SIGPROF blocked from then on, the kernel
	 * would hand the process's to another thread (retarget_shared_pending() in
	 * kernel/signal.c) and end that one's epoll_wait with EINTR.
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
