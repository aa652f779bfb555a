/*
 * seccomp_hooks.c - stops the agent's system calls before a seccomp filter takes effect
 *
 * From then on the handler may make only the call with which every handler ends: rt_sigreturn. If a
 * filter forbids that as well, sampling stops.
 */
#define _GNU_SOURCE 1
#include "sampler/agent/hooks.h"
#include "sampler/agent/interpose/bpf.h"
#include "sampler/agent/syscall_hook.h"
#include "sampler/handler/chain.h"
#include "sampler/handler/on_sigprof.h"

#include <errno.h>
#include <linux/audit.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
enum { OWN_AUDIT_ARCH = AUDIT_ARCH_X86_64, RESTORER_BYTES = 9 };
#else
#error "name this machine's audit architecture and the length of its signal restorer"
#endif

static bool allows_sigreturn(const struct sock_fprog *filter)
{
	struct seccomp_data data = {
		.nr = __NR_rt_sigreturn,
		.arch = (uint32_t)OWN_AUDIT_ARCH,
		/* The address that the kernel sees: after the instruction. */
		.instruction_pointer = (uint64_t)(uintptr_t)handler_restorer + RESTORER_BYTES,
	};
	uint32_t said = bpf_run(filter->filter, filter->len, &data) & SECCOMP_RET_ACTION_FULL;

	return said == SECCOMP_RET_ALLOW || said == SECCOMP_RET_LOG;
}

/* Kept by fork, as the filter is. */
static _Atomic bool entered;

bool seccomp_entered(void)
{
	return atomic_load_explicit(&entered, memory_order_relaxed);
}

void seccomp_before(unsigned long mode, const void *filter)
{
	const struct sock_fprog *program = filter;

	/* Programs set a filter at NULL to see from EFAULT that filters are supported. */
	if (mode == SECCOMP_MODE_FILTER && (!program || !program->filter || !program->len))
		return;
	if (mode != SECCOMP_MODE_FILTER && mode != SECCOMP_MODE_STRICT)
		return;
	/* A vfork child's filter is not its parent's. */
	if (!chain_in_vfork_child())
		atomic_store(&entered, true);
	if (mode == SECCOMP_MODE_FILTER && allows_sigreturn(program))
		agent_quiesce();
	else
		agent_stop(AGENT_SECCOMP);
}

void seccomp_before_syscall(unsigned long operation, const void *filter)
{
	if (operation == SECCOMP_SET_MODE_FILTER)
		seccomp_before(SECCOMP_MODE_FILTER, filter);
	else if (operation == SECCOMP_SET_MODE_STRICT)
		seccomp_before(SECCOMP_MODE_STRICT, NULL);
}

/* prctl() has five arguments, and libc's prototype is variadic: they are in registers either way.
 */
int prctl_hook(int option, unsigned long a, const void *b, unsigned long c,
	       unsigned long d) __asm__("prctl");

AGENT_EXPORT int prctl_hook(int option, unsigned long a, const void *b, unsigned long c,
			    unsigned long d)
{
	long r;

	if (option == PR_SET_SECCOMP)
		seccomp_before(a, b);
	r = sys5(__NR_prctl, option, a, b, c, d);
	return r < 0 ? agent_set_errno((int)-r) : (int)r;
}
