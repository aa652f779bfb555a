/* agent.c - what every hook needs, and the steps around exec and seccomp */
#include "sampler/agent/agent.h"

#include "sampler/agent/hooks.h"
#include "sampler/agent/start.h"
#include "sampler/handler/memory.h"
#include "sampler/handler/sys/clock.h"

#include <dlfcn.h>

extern void *weak_dlsym(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
extern int *weak_errno(void) __asm__("__errno_location") __attribute__((weak));

extern char *weak_dlerror(void) __asm__("dlerror") __attribute__((weak));
/* The linker's names for the ends of the section: no check of names applies. */
#pragma GCC visibility push(hidden)
/* NOLINTBEGIN */
extern struct hook __start_wick_hooks[];
extern struct hook __stop_wick_hooks[];
/* NOLINTEND */
#pragma GCC visibility pop

/* Longest delay of an exit or exec: by a collector that is busy, and by one that no longer drains.
 */
enum { LEAVE_BUSY_MS = 1000, LEAVE_STALE_MS = 200, STALE_MS = 2000 };

struct agent agent;

bool agent_present(void)
{
	return agent.socket[0] != '\0';
}

bool agent_is_self(void)
{
	return process_is_self() != NULL;
}

void *agent_next(const char *name)
{
	/* dlsym() uses its return address: no tail call here. */
	void *next = weak_dlsym ? weak_dlsym(RTLD_NEXT, name) : NULL;

	__asm__ volatile("" : "+r"(next));
	return next;
}

void hooks_find(void)
{
	/* cppcheck-suppress comparePointers ; both are ends of one section */
	for (struct hook *hook = __start_wick_hooks; hook < __stop_wick_hooks; hook++)
		(void)hook_next(hook);
	if (weak_dlerror)
		(void)weak_dlerror();
}

int agent_set_errno(int number)
{
	if (weak_errno)
		*weak_errno() = number;
	return -1;
}

static int leave_ms(struct process *p)
{
	/* Relaxed: only a time. */
	uint64_t drained_ns = atomic_load_explicit(&p->header->drained_ns, memory_order_relaxed);
	uint64_t now_ns = clock_now_ns();

	return now_ns < drained_ns + STALE_MS * UINT64_C(1000000) ? LEAVE_BUSY_MS : LEAVE_STALE_MS;
}

void agent_leave(void)
{
	struct process *p = process_is_self();

	if (p && process_state(p) != AGENT_NO_SYSCALLS &&
	    atomic_load_explicit(&p->header->counts, memory_order_relaxed))
		(void)handshake_events(HANDSHAKE_LEAVING, leave_ms(p));
}

void agent_before_exec(void)
{
	struct process *p = process_is_self();

	if (!p)
		return;
	agent_leave();
	events_end();
	atomic_store_explicit(&p->header->cpu_ns, clock_process_cpu_ns(), memory_order_relaxed);
}

void agent_exec_failed(void)
{
	struct process *p = process_is_self();

	if (!p)
		return;
	atomic_store_explicit(&p->header->cpu_ns, 0, memory_order_relaxed);
	events_go_on();
}

static void prove_own_window(struct process *p, uint32_t tid)
{
	struct slot slot;

	if (slot_find(p, tid, &slot) < 0 || !slot_enter(&slot))
		return;
	slot.own->no_window = 0;
	memory_prove_window(p, slot.own, (uint64_t)__builtin_frame_address(0));
	slot_leave(&slot);
}

void agent_quiesce(void)
{
	struct process *p = process_is_self();
	uint32_t tid = (uint32_t)sys0(__NR_gettid);

	if (!p || process_state(p) != AGENT_SAMPLING)
		return;
	if (!clock_needs_no_syscall()) {
		process_stop(p, AGENT_STOPPED);
		return;
	}
	events_end();
	modules_note_ranges(p);
	prove_own_window(p, tid);
	process_set_state(p, AGENT_NO_SYSCALLS);
	process_wait_handlers(p, tid);
}

void agent_stop(enum agent_state state)
{
	struct process *p = process_is_self();

	if (!p)
		return;
	events_end();
	process_stop(p, state);
	process_wait_handlers(p, (uint32_t)sys0(__NR_gettid));
}
