/*
 * attach.c - starts or restarts sampling in a running process
 *
 * The collector calls agent_attach() on a thread that it has stopped. All signals are blocked and a
 * system call of the thread may be interrupted. So nothing here sleeps, polls or waits with a
 * timeout: the kernel keeps the restart state of only one such call per thread.
 */
#include "sampler/wire/attach.h"
#include "sampler/agent/agent.h"
#include "sampler/agent/event_hook.h"
#include "sampler/agent/signals.h"
#include "sampler/agent/start.h"
#include "sampler/handler/on_sigprof.h"
#include "sampler/handler/sys/clock.h"

#include <sys/auxv.h>

extern unsigned long weak_getauxval(unsigned long type) __asm__("getauxval") __attribute__((weak));

enum {
	NO_MEMORY = -12, /* -ENOMEM */
	BUSY = -16,      /* -EBUSY */
	PROTOCOL = -71,  /* -EPROTO */
	SECCOMP = -1,    /* -EPERM: seccomp */
};

int agent_attach(const struct attach_request *request);

/*
 * A note with the address of agent_attach(), for the collector. The section's flags put it into a
 * PT_NOTE segment that the kernel maps.
 */
__asm__(".pushsection .note.wick.attach, \"a\", @note\n"
	".balign 4\n"
	".long 5, 24, 0x6a\n" /* ATTACH_NOTE */
	".asciz \"wick\"\n"
	".balign 4\n"
	".long 7, 0\n" /* WIRE_VERSION */
	".quad agent_attach - .\n"
	".quad handler_signal - .\n"
	".popsection\n");

_Static_assert(ATTACH_NOTE == 0x6a && WIRE_VERSION == 7, "what the note above says");

/* Return:  whether a collector drains these rings. */
static bool is_served(struct process *p)
{
	struct ring_header *header = p->header;
	uint64_t now_ns = clock_now_ns();
	uint64_t drained_ns = atomic_load_explicit(&header->drained_ns, memory_order_relaxed);

	return process_state(p) == AGENT_SAMPLING &&
	       !atomic_load_explicit(&header->stop, memory_order_relaxed) &&
	       (now_ns < drained_ns || now_ns - drained_ns < PROCESS_STALE_MS * UINT64_C(1000000));
}

static int take_rings(int fd)
{
	struct process *p = handler_process;

	if (!p)
		p = handler_process = process_map();
	if (!p)
		return NO_MEMORY;
	if (!p->header)
		return rings_map(p, fd);
	if (process_forbids_syscalls(p))
		return SECCOMP;
	if (is_served(p))
		return BUSY;
	process_stop(p, AGENT_STOPPED);
	return rings_replace(p, fd);
}

/* Without interposition the program's earlier sigaction() calls are not known. */
static void install(void)
{
	struct sys_sigaction previous = {0};

	if (agent_interposes() && signals_started())
		return;
	if (handler_install((int)handler_process->header->signal, signals_altstack_fits(),
			    &previous) == 0 &&
	    previous.handler != on_sigprof)
		signals_start(&previous, false);
}

static int begin(const struct attach_request *request)
{
	static bool fork_hooked;
	int r;

	if (request->magic != WIRE_MAGIC || request->version != WIRE_VERSION)
		return PROTOCOL;
	if (!signals_started())
		clock_start(weak_getauxval ? weak_getauxval(AT_SYSINFO_EHDR) : 0);
	r = take_rings(request->ring_fd);
	if (r < 0)
		return r;
	(void)agent_set_paths(request->socket);
	modules_start_without_loader(handler_process);
	install();
	if (!fork_hooked && !agent_interposes())
		fork_start();
	fork_hooked = true;
	timers_start(handler_process);
	event_hooks_start(handler_process->header);
	return 0;
}

int agent_attach(const struct attach_request *request)
{
	const int32_t fds[] = {request->ring_fd, request->other_fds[0], request->other_fds[1],
			       request->other_fds[2]};
	int r = begin(request);

	for (uint32_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			(void)sys1(__NR_close, fds[i]);
	return r;
}
