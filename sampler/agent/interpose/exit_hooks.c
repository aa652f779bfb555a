/* exit_hooks.c - interposes _exit(): reports what the process has used and counted when it ends */
#include "sampler/agent/agent.h"
#include "sampler/handler/process.h"
#include "sampler/handler/sys/clock.h"

static void stamp(void)
{
	struct process *p = process_is_self();

	if (!p || process_state(p) == AGENT_NO_SYSCALLS)
		return;
	agent_leave();
	atomic_store_explicit(&p->header->cpu_ns, clock_process_cpu_ns(), memory_order_relaxed);
	/* Sampling continues to the end: only the state that the collector reads changes. */
	atomic_store_explicit(&p->header->state, AGENT_EXITED, memory_order_release);
}

static void __attribute__((destructor)) agent_destructor(void)
{
	stamp();
}

AGENT_EXPORT void _exit(int status) __attribute__((noreturn));
AGENT_EXPORT void _Exit(int status) __attribute__((noreturn));

void _exit(int status)
{
	stamp();
	for (;;)
		(void)sys1(__NR_exit_group, status);
}

void _Exit(int status)
{
	_exit(status);
}
