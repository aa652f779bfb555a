/* install.c - our action for SIGPROF */
#include "sampler/handler/install.h"

#include "sampler/handler/on_sigprof.h"

#include "sampler/handler/sigsafe.h"

int handler_install(bool onstack, struct sys_sigaction *ret_previous)
{
	const struct sys_sigaction action = {
		.handler = on_sigprof,
		.flags = SA_SIGINFO | SA_RESTART | SYS_SA_RESTORER | (onstack ? SA_ONSTACK : 0UL),
		.restorer = handler_restorer,
		.mask = ~UINT64_C(0),
	};

	return (int)sys4(__NR_rt_sigaction, SIGPROF, &action, ret_previous, 8);
}
