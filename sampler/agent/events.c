/* events.c - engine perf: starts and ends the signals of perf events with the life of the handler
 */
#include "sampler/agent/agent.h"
#include "sampler/handler/on_event.h"
#include "sampler/handler/process.h"

#include <signal.h>

enum {
	BEGIN_MS = 50, /* longest delay of a new image; its timers run meanwhile */
	END_MS = 1000, /* longest delay of an exec by a busy collector */
	END_TRIES = 10,
	AGAIN_NS = 2000000,
	PROTOCOL = -71, /* -EPROTO */
	REFUSED = -111, /* -ECONNREFUSED */
};

/* The action that ignore() replaced. */
static struct sys_sigaction ours;
static _Atomic bool ignoring;

void events_begin(void)
{
	const struct process *p = process_is_self();

	if (p && event_is_possible(p))
		(void)handshake_events(HANDSHAKE_EVENTS_ON, BEGIN_MS);
}

/* A signal that is pending and blocked in this thread would survive the exec. */
static void consume(const struct process *p)
{
	const uint64_t set = SYS_SIGBIT(p->header->signal);
	const struct sys_timespec none = {0};
	siginfo_t info;

	if (sys4(__NR_rt_sigtimedwait, &set, &info, &none, 8) < 0 || event_is_ours(p, &info))
		return;
	/* The program's own signal: queue it again. */
	(void)sys4(__NR_rt_tgsigqueueinfo, p->pid, sys0(__NR_gettid), p->header->signal, &info);
}

static bool any_event_open(struct process *p)
{
	uint32_t n = atomic_load_explicit(&p->n_slots, memory_order_acquire);
	struct slot slot;

	for (uint32_t i = 0; i < n; i++)
		if (slot_at(p, i, &slot) == 0 && event_is_open(&slot))
			return true;
	return false;
}

/* Last resort: an ignored signal does no harm. */
static void ignore(const struct process *p)
{
	struct sys_sigaction action = {.flags = 0};

	if (atomic_exchange(&ignoring, true))
		return;
	action.handler = (void (*)(int, siginfo_t *, void *))(uintptr_t)SIG_IGN;
	if (sys4(__NR_rt_sigaction, p->header->signal, &action, &ours, 8) < 0)
		atomic_store(&ignoring, false);
}

/* A collector that has run out of descriptors closes the connection without a reply. */
static int ask_end(void)
{
	const struct sys_timespec pause = {.nsec = AGAIN_NS};
	int r = handshake_events(HANDSHAKE_EVENTS_OFF, END_MS);

	for (int i = 1; r == PROTOCOL && i < END_TRIES; i++) {
		(void)sys2(__NR_nanosleep, &pause, NULL);
		r = handshake_events(HANDSHAKE_EVENTS_OFF, END_MS);
	}
	return r;
}

void events_end(void)
{
	struct process *p = process_is_self();
	int r;

	if (!p)
		return;
	/*
	 * Increment first: otherwise another thread could have events started again meanwhile. And
	 * before the engine is read: a collector that changes the engine reads this before it opens
	 * events.
	 */
	(void)atomic_fetch_add(&p->header->n_in_exec, 1);
	if (atomic_load(&p->header->engine) != RING_ENGINE_PERF)
		return;
	r = ask_end();
	if (r < 0 && r != REFUSED && any_event_open(p))
		ignore(p);
	consume(p);
}

/* Return:  whether no other thread is about to exec. */
static bool leave_exec(_Atomic uint32_t *n_in_exec)
{
	uint32_t old = atomic_load(n_in_exec);

	/* The rings may belong to a later recording. */
	while (old && !atomic_compare_exchange_weak(n_in_exec, &old, old - 1))
		;
	return old <= 1;
}

void events_go_on(void)
{
	struct process *p = process_is_self();

	if (!p || !leave_exec(&p->header->n_in_exec) || !event_is_possible(p))
		return;
	if (atomic_exchange(&ignoring, false))
		(void)sys4(__NR_rt_sigaction, p->header->signal, &ours, NULL, 8);
	(void)handshake_events(HANDSHAKE_EVENTS_ON, 0);
}
