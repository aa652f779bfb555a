/* thread_hooks.c - interposes thread creation and exit; with DISCOVERY_HOOKS threads get their
 * timers here */
#include "sampler/agent/hooks.h"
#include "sampler/agent/signals.h"
#include "sampler/agent/start.h"
#include "sampler/handler/chain.h"
#include "sampler/handler/context.h"
#include "sampler/handler/sys/clock.h"
#include "sampler/handler/timer.h"

#include <pthread.h>

AGENT_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
				void *(*begin)(void *), void *arg);
AGENT_EXPORT void pthread_exit(void *value) __attribute__((noreturn));

/* What a new thread needs to know from its creator. */
struct thread_start {
	_Atomic uint32_t taken;
	void *(*begin)(void *);
	void *arg;
	bool blocked; /* whether the thread inherits SIGPROF as blocked */
	bool handed;  /* and a context: whose work it does */
	struct context_value value;
};

enum {
	MAX_STARTS = 256,
	CLAIM_TRIES = 100, /* 10 ms at most */
};

static struct thread_start starts[MAX_STARTS];

static struct thread_start *take_start(void)
{
	for (int i = 0; i < MAX_STARTS; i++)
		if (!atomic_load_explicit(&starts[i].taken, memory_order_relaxed) &&
		    !atomic_exchange_explicit(&starts[i].taken, 1, memory_order_acquire))
			return &starts[i];
	return NULL;
}

static void free_start(struct thread_start *start)
{
	atomic_store_explicit(&start->taken, 0, memory_order_release);
}

void threads_forget_starts(void)
{
	for (int i = 0; i < MAX_STARTS; i++)
		free_start(&starts[i]);
}

/* Many threads that start at once may need slots before another thread has mapped the next chunk.
 */
static int claim_patiently(struct process *p, uint32_t tid, struct slot *ret_slot)
{
	const struct sys_timespec pause = {.nsec = 100000};

	for (int i = 0; i < CLAIM_TRIES; i++) {
		if (slot_claim(p, tid, ret_slot) == 0)
			return 0;
		if (atomic_load(&p->n_chunks) >= p->max_chunks)
			break;
		(void)sys2(__NR_nanosleep, &pause, NULL);
	}
	return -1;
}

void threads_arm_self(struct process *p)
{
	uint32_t tid = (uint32_t)sys0(__NR_gettid);
	struct slot slot;

	if (claim_patiently(p, tid, &slot) < 0)
		return;
	context_begin(&slot);
	(void)timer_arm(p, &slot, tid, timer_take_account(p, &slot));
	slot_leave(&slot);
	if (p->header->non_cpu_event) /* what it counts before its event exists is not seen */
		events_begin();
}

/* A thread that left nothing in its ring frees the slot at once: the collector has nothing to
 * drain, and a program that creates thousands of short threads needs few slots. */
static void release_slot(struct process *p, struct slot *slot)
{
	uint64_t head = atomic_load_explicit(&slot->ring->head, memory_order_relaxed);
	bool unused = head == slot->own->claimed_head &&
		      head == atomic_load_explicit(&slot->ring->tail, memory_order_relaxed);

	/* No thread can claim it before slot_leave(). */
	if (unused)
		atomic_store_explicit(&p->header->tids[slot->index], RING_TID_DEAD,
				      memory_order_release);
	slot_leave(slot);
}

void threads_end_self(void)
{
	struct process *p = process_is_self();
	struct slot slot;

	if (!p || p->discovery != DISCOVERY_HOOKS || process_state(p) != AGENT_SAMPLING ||
	    slot_find(p, (uint32_t)sys0(__NR_gettid), &slot) < 0)
		return;
	timer_delete_id(slot.own->timer);
	slot.own->timer = 0;
	if (!slot.own->armed_cpu_ns || !slot_enter(&slot))
		return;
	timer_return_account(p, &slot);
	release_slot(p, &slot);
}

/* Not inlined: what it takes the address of would keep its caller's frame. */
static __attribute__((noinline)) void take_context(const struct thread_start *start)
{
	struct process *p = start->handed ? process_is_self() : NULL;

	if (p)
		context_hand_on(p, &start->value);
}

/* A tail call, so that no agent's frame stays on the thread's stack. */
static void *thread_main_masked(void *data)
{
	struct thread_start *start = data;
	void *(*begin)(void *) = start->begin;
	void *arg = start->arg;
	bool blocked = start->blocked;

	take_context(start);
	free_start(start);
	signals_begin_thread(blocked);
	return begin(arg);
}

static void *thread_main(void *data)
{
	struct thread_start start = {.begin = ((struct thread_start *)data)->begin,
				     .arg = ((struct thread_start *)data)->arg,
				     .blocked = ((struct thread_start *)data)->blocked};
	struct process *p = process_is_self();
	void *value;

	take_context(data);
	free_start(data);
	signals_begin_thread(start.blocked);
	if (p && process_state(p) == AGENT_SAMPLING)
		threads_arm_self(p);
	value = start.begin(start.arg);
	threads_end_self();
	return value;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*begin)(void *), void *arg)
{
	__typeof__(&pthread_create) next = NEXT(pthread_create);
	struct process *p = process_is_self();
	bool hooks = p && p->discovery == DISCOVERY_HOOKS && !(p->header->hooks & RING_NO_TIMERS);
	struct thread_start *start = NULL;
	struct context_value value;
	bool handed = p && context_of_creator(p, &value);
	int r;

	if (!next)
		return 11; /* EAGAIN: no thread could be made */
	/* With all entries in use the thread starts unarmed; the collector will post it. */
	if (hooks || handed || chain_in_use())
		start = take_start();
	if (!start)
		return next(thread, attr, begin, arg);
	start->begin = begin;
	start->arg = arg;
	start->blocked = chain_blocked();
	start->handed = handed;
	if (handed)
		start->value = value;
	r = next(thread, attr, hooks ? thread_main : thread_main_masked, start);
	if (r != 0)
		free_start(start);
	return r;
}

void pthread_exit(void *value)
{
	__typeof__(&pthread_exit) next = NEXT(pthread_exit);

	threads_end_self();
	if (next)
		next(value);
	for (;;)
		(void)sys1(__NR_exit, 0);
}
