/* events.c - engine perf: the signals of events begin when our handler stands and end before it
 * goes */
#include "sampler/agent/agent.h"
#include "sampler/handler/on_event.h"
#include "sampler/handler/process.h"

#include <signal.h>

enum {
	BEGIN_MS = 50, /* how long a new image may be held up; its timers run meanwhile */
	END_MS = 1000, /* an exec may be held up for a busy collector */
	END_TRIES = 10,
	AGAIN_NS = 2000000,
	PROTOCOL = -71, /* -EPROTO */
	REFUSED = -111, /* -ECONNREFUSED */
};

/* What ignore() has put aside. */
static struct sys_sigaction ours;
static _Atomic bool ignoring;

void events_begin(void)
{
	const struct process *p = process_is_self();

	if (p && event_is_possible(p))
		(void)handshake_events(HANDSHAKE_EVENTS_ON, BEGIN_MS);
}

/* One that is pending in this thread, because the thread has blocked it, would outlive the exec. */
static void consume(const struct process *p)
{
	const uint64_t set = SYS_SIGBIT(p->header->signal);
	const struct sys_timespec none = {0};
	siginfo_t info;

	if (sys4(__NR_rt_sigtimedwait, &set, &info, &none, 8) < 0 || event_is_ours(p, &info))
		return;
	/* The program's own: as it was. */
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

/* The last resort: a signal that is ignored ends nobody. */
static void ignore(const struct process *p)
{
	struct sys_sigaction action = {.flags = 0};

	if (atomic_exchange(&ignoring, true))
		return;
	action.handler = (void (*)(int, siginfo_t *, void *))(uintptr_t)SIG_IGN;
	if (sys4(__NR_rt_sigaction, p->header->signal, &action, &ours, 8) < 0)
		atomic_store(&ignoring, false);
}

/* A collector that has no descriptor left hangs up without an answer. */
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
	 * Before it is asked: a thread that goes on meanwhile would have them begun again.  And
	 * before the engine is read: a collector that changes it looks here before it opens an
	 * event.
	 */
	(void)atomic_fetch_add(&p->header->n_in_exec, 1);
	if (atomic_load(&p->header->engine) != RING_ENGINE_PERF)
		return;
	r = ask_end();
	if (r < 0 && r != REFUSED && any_event_open(p))
		ignore(p);
	consume(p);
}

/* Return: whether no thread is about to exec any more. */
static bool leave_exec(_Atomic uint32_t *n_in_exec)
{
	uint32_t old = atomic_load(n_in_exec);

	/* The rings may be those of a later recording. */
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
