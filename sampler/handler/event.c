/* event.c - writes an event of a hook, with the stack of the call, to the thread's ring */
#include "sampler/handler/event.h"

#include "sampler/handler/context.h"
#include "sampler/handler/sampling.h"
#include "sampler/handler/sys/clock.h"

#include "sampler/handler/sys/sigsafe.h"

enum { NAME_EVERY = 16 /* events between two checks of the thread's name */ };

static void count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* SIGPROF may arrive anywhere here: the slot is entered, so the handler counts a loss. */
static bool enter(struct process *p, uint32_t tid, struct slot *slot)
{
	if (slot_find(p, tid, slot) == 0) {
		if (slot_enter(slot))
			return true;
		count(&p->header->event_nested);
		return false;
	}
	if (slot_claim(p, tid, slot) == 0)
		return true;
	count(&p->header->event_noslot);
	return false;
}

/* The frames of the hook and of the agent are left out: the stack starts with the program's call.
 */
static uint32_t own_frames(const uint64_t *pcs, uint32_t n_pcs, uint64_t caller)
{
	for (uint32_t i = 0; i < n_pcs; i++)
		if (pcs[i] == caller)
			return i;
	return 0;
}

static void shift(struct record_event *record, uint32_t n)
{
	if (!n)
		return;
	record->n_pcs = (uint16_t)(record->n_pcs - n);
	for (uint32_t i = 0; i < record->n_pcs; i++)
		record->pcs[i] = record->pcs[i + n];
}

/* A frame that a signal handler interrupted has an exact pc. */
static bool is_plain(const struct record_event *record, const struct stack *stack)
{
	bool plain = stack->stop == UNWIND_END && !stack->guessed;

	for (uint32_t i = 1; i < record->n_pcs; i++)
		plain &= !(record->pcs[i] & PC_EXACT);
	return plain;
}

/* PLAIN: see event_take(). */
static struct record_event *walk(struct process *p, struct slot *slot, const struct event *event,
				 uint64_t now_ns, bool *ret_plain)
{
	struct stack stack = {.now_ns = now_ns, .head_bytes = sizeof(struct record_event)};
	struct memory *memory = memory_acquire(slot->index);
	struct record_event *record;

	if (!memory) {
		count(&p->header->event_nested);
		return NULL;
	}
	memory->regs = event->regs;
	record = stack_walk(p, slot, memory, &stack);
	memory_release(memory);
	if (!record) {
		count(&p->header->event_full);
		sampling_wake(p);
		return NULL;
	}
	record->n_pcs = stack.n_pcs;
	record->stop = stack.stop;
	*ret_plain = is_plain(record, &stack);
	shift(record, own_frames(record->pcs, record->n_pcs, event->caller));
	return record;
}

/* Appends the tail; if both are too deep, the outermost frames of the stack are dropped. */
static void append(struct record_event *record, const struct event *event)
{
	uint32_t n = event->n_tail < EVENT_MAX_TAIL ? event->n_tail : EVENT_MAX_TAIL;

	if (record->n_pcs > RECORD_MAX_PCS - n) {
		record->n_pcs = (uint16_t)(RECORD_MAX_PCS - n);
		record->stop = UNWIND_DEPTH;
	}
	for (uint32_t i = 0; i < n; i++)
		record->pcs[record->n_pcs + i] = event->tail[i];
	record->n_pcs = (uint16_t)(record->n_pcs + n);
}

// NOLINTNEXTLINE(*-function-size): five are where and when
static enum event_written write_event(struct process *p, struct slot *slot,
				      const struct event *event, uint32_t tid, uint64_t now_ns,
				      bool *ret_plain)
{
	struct record_event *record;

	slot_populate(slot);
	if (slot->own->n_events++ % NAME_EVERY == 0)
		sampling_name(slot, tid, now_ns);
	record = walk(p, slot, event, now_ns, ret_plain);
	if (!record)
		return EVENT_LOST;
	append(record, event);
	record->head = (struct record){
		.bytes = (uint32_t)sizeof(*record) + record->n_pcs * 8U +
			 context_append(p, slot, (void *)(record->pcs + record->n_pcs)),
		.type = RECORD_EVENT,
	};
	record->time_ns = now_ns;
	record->tid = tid;
	record->cpu = clock_cpu();
	record->kind = (uint8_t)event->kind;
	record->pad = 0;
	record->amount = event->amount < RECORD_MAX_AMOUNT ? event->amount : RECORD_MAX_AMOUNT;
	record->object = event->object;
	record->extra = event->extra;
	ring_commit(slot, record->head.bytes);
	if (!ring_half_full(slot))
		return EVENT_WRITTEN;
	sampling_wake(p);
	return ring_nearly_full(slot) ? EVENT_NEARLY_FULL : EVENT_HALF_FULL;
}

/* Return:  the process, with its thread's slot entered; NULL: nothing can be written. */
static struct process *begin(struct slot *slot, uint32_t *ret_tid)
{
	struct process *p = handler_process;

	if (!p || !p->header)
		return NULL;
	if (process_forbids_syscalls(p)) {
		count(&p->header->event_noslot);
		return NULL;
	}
	if (!process_is_self() || process_state(p) != AGENT_SAMPLING)
		return NULL;
	*ret_tid = (uint32_t)sys0(__NR_gettid);
	if (!enter(p, *ret_tid, slot))
		return NULL;
	/* seq_cst, as in slot_enter(): the thread that changes the state waits for us, or we see
	 * the new state. */
	if (atomic_load_explicit(&p->state, memory_order_seq_cst) == AGENT_SAMPLING)
		return p;
	slot_leave(slot);
	return NULL;
}

static bool is_paused(void)
{
	struct process *p = handler_process;

	return p && p->header && process_is_paused(p);
}

enum event_written event_take(const struct event *event, bool *ret_plain)
{
	struct slot slot;
	uint32_t tid;
	struct process *p;
	enum event_written written;
	uint64_t start_ns;
	uint64_t now_ns;

	/* While sampling is paused only releases of sampled memory are reported. */
	if (event->kind != HOOK_FREE && is_paused())
		return EVENT_LOST;
	p = begin(&slot, &tid);
	if (!p)
		return EVENT_LOST;
	start_ns = clock_now_ns();
	written = write_event(p, &slot, event, tid, start_ns, ret_plain);
	now_ns = clock_now_ns();
	atomic_fetch_add_explicit(&slot.ring->hooks_ns, now_ns - start_ns, memory_order_relaxed);
	slot_leave(&slot);
	if (process_state(p) == AGENT_SAMPLING)
		process_check(p, now_ns);
	return written;
}

/* The walk uses free bytes of the ring as a buffer; nothing is committed. */
uint32_t event_stack(const struct event *event, uint64_t *ret_pcs, uint32_t max, uint32_t *ret_tid)
{
	struct slot slot;
	uint32_t tid;
	struct process *p = begin(&slot, &tid);
	struct record_event *record;
	bool plain;
	uint32_t n = 0;

	if (!p)
		return 0;
	slot_populate(&slot);
	record = walk(p, &slot, event, clock_now_ns(), &plain);
	for (; record && n < record->n_pcs && n < max; n++)
		ret_pcs[n] = record->pcs[n];
	slot_leave(&slot);
	if (n)
		*ret_tid = tid;
	return n;
}
