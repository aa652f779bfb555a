/* sampling.c - walks a stack straight into the thread's ring, and writes one sample with the
 * records that must precede it */
#include "sampler/handler/sampling.h"

#include "sampler/handler/context.h"
#include "sampler/handler/memory.h"
#include "sampler/handler/nearly_idle.h"
#include "sampler/handler/sys/clock.h"

#include <sys/resource.h>

#include "sampler/handler/sys/sigsafe.h"

/* The loader's string: the module was loaded a moment ago and a frame is in it. */
static void copy_path(char *to, const char *from)
{
	uint32_t i = 0;

	for (; i < RECORD_PATH_BYTES - 1 && from[i]; i++)
		to[i] = from[i];
	for (; i < RECORD_PATH_BYTES; i++)
		to[i] = '\0';
}

/* Looked up again instead of stored: the stack belongs to the program. */
static __attribute__((noinline)) void write_module(struct process *p, struct slot *slot,
						   uint64_t pc, uint64_t now_ns)
{
	struct record_module *record = ring_reserve(slot, sizeof(*record));
	struct unwind_module module;
	struct module_seen seen;

	if (!record || !modules_find(p, pc, &module, &seen))
		return;
	record->head = (struct record){.bytes = sizeof(*record), .type = RECORD_MODULE};
	record->time_ns = now_ns;
	record->start = seen.start;
	record->end = seen.end;
	record->bias = seen.bias;
	copy_path(record->path, seen.path);
	ring_commit(slot, sizeof(*record));
}

/*
 * A module that the walk saw for the first time is announced before the sample: its record
 * overwrites the unfinished sample, and the walk is repeated, then from cached rules.
 */
void *stack_walk(struct process *p, struct slot *slot, struct memory *memory, struct stack *stack)
{
	struct unwind_result result;
	unsigned char *record;

	for (;;) {
		record = ring_reserve(slot, RECORD_MAX_BYTES);
		if (!record)
			return NULL;
		memory_init(memory, p, slot->own, memory->regs.sp);
		result = unwind_walk(&memory->reader, &p->rules, &memory->regs,
				     (void *)(record + stack->head_bytes), RECORD_MAX_PCS);
		if (!memory->n_seen)
			break;
		while (memory->n_seen)
			write_module(p, slot, memory->seen[--memory->n_seen], stack->now_ns);
	}
	stack->n_pcs = (uint16_t)result.n_pcs;
	stack->stop = (uint8_t)result.stop;
	stack->guessed = result.guessed;
	stack->bytes = result.cfa > memory->regs.sp ? result.cfa - memory->regs.sp : 0;
	return record;
}

/* NOLINTNEXTLINE(misc-redundant-expression): it is there to stay redundant */
_Static_assert(PC_EXACT == UNWIND_EXACT, "the unwinder's mark travels as it is");

enum {
	NAME_EVERY = 8, /* samples between two checks of the thread's name */
	GET_NAME = 16,  /* PR_GET_NAME */
	OF_THREAD = 1,  /* RUSAGE_THREAD */
	FUTEX_WAKE_OP = 1,
};

/* memops.c must not be called by name here (sigsafe.h), and 16 bytes need no call. */
static void copy_words(void *to, const void *from, uint32_t n_words)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	while (n_words--)
		*t++ = *f++;
}

static void count_loss(struct slot *slot, uint32_t weight)
{
	atomic_fetch_add_explicit(&slot->ring->lost_full, weight, memory_order_relaxed);
}

__attribute__((noinline)) void sampling_name(struct slot *slot, uint32_t tid, uint64_t now_ns)
{
	struct record_thread *record;
	uint64_t name[2] = {0};

	if (sys2(__NR_prctl, GET_NAME, name) < 0)
		return;
	if (slot->own->named && name[0] == ((const uint64_t *)(const void *)slot->own->comm)[0] &&
	    name[1] == ((const uint64_t *)(const void *)slot->own->comm)[1])
		return;
	record = ring_reserve(slot, sizeof(*record));
	if (!record)
		return;
	*record = (struct record_thread){
		.head = {.bytes = sizeof(*record), .type = RECORD_THREAD},
		.time_ns = now_ns,
		.tid = tid,
	};
	copy_words(record->comm, name, 2);
	copy_words(slot->own->comm, name, 2);
	ring_commit(slot, sizeof(*record));
	slot->own->named = 1;
}

static __attribute__((noinline)) void write_metrics(struct record_sample *record, bool no_syscalls)
{
	struct rusage used;

	if (no_syscalls || sys2(__NR_getrusage, OF_THREAD, &used) < 0) {
		record->head.flags |= SAMPLE_NO_METRICS;
		record->cpu_ns = 0;
		record->minflt = 0;
		record->majflt = 0;
		record->vcsw = 0;
		record->ivcsw = 0;
		return;
	}
	record->cpu_ns = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
			 (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
	record->minflt = (uint64_t)used.ru_minflt;
	record->majflt = (uint64_t)used.ru_majflt;
	record->vcsw = (uint64_t)used.ru_nvcsw;
	record->ivcsw = (uint64_t)used.ru_nivcsw;
}

static struct record_sample *walk_by(struct process *p, struct slot *slot, const struct tick *tick,
				     struct memory *memory)
{
	struct stack stack = {.now_ns = tick->now_ns, .head_bytes = sizeof(struct record_sample)};
	struct record_sample *record;

	memory->regs = arch_regs(tick->uc);
	record = stack_walk(p, slot, memory, &stack);
	if (!record)
		return NULL;
	record->n_pcs = stack.n_pcs;
	record->stop = stack.stop;
	record->pad = 0;
	record->stack_bytes = stack.bytes;
	return record;
}

static __attribute__((noinline, noclone)) struct record_sample *
walk_on_stack(struct process *p, struct slot *slot, const struct tick *tick)
{
	struct memory memory;

	return walk_by(p, slot, tick, &memory);
}

static __attribute__((noinline)) struct record_sample *walk(struct process *p, struct slot *slot,
							    const struct tick *tick)
{
	struct memory *memory = memory_acquire(slot->index);
	struct record_sample *record;

	if (!memory)
		return walk_on_stack(p, slot, tick);
	record = walk_by(p, slot, tick, memory);
	memory_release(memory);
	return record;
}

void sampling_wake(struct process *p)
{
	if (process_state(p) == AGENT_NO_SYSCALLS ||
	    atomic_exchange_explicit(&p->header->wake, 1, memory_order_release))
		return;
	(void)sys3(__NR_futex, &p->header->wake, FUTEX_WAKE_OP, 1);
}

/* Relaxed: only a weight; an addition that is missed is in the next sample. */
static uint32_t take_residual(struct slot_own *own)
{
	if (!atomic_load_explicit(&own->residual, memory_order_relaxed))
		return 0;
	return atomic_exchange_explicit(&own->residual, 0, memory_order_relaxed);
}

void sampling_take(struct process *p, struct slot *slot, const struct tick *tick)
{
	bool no_syscalls = process_state(p) != AGENT_SAMPLING;
	uint32_t used = tick->weight + take_residual(slot->own); /* extra is accounted already */
	uint32_t weight = used + slot->own->extra;
	struct record_sample *record;

	if (!no_syscalls) {
		slot_populate(slot);
		if (slot->own->n_signals % NAME_EVERY == 0)
			sampling_name(slot, tick->tid, tick->now_ns);
	}
	slot->own->n_signals++;
	slot->own->extra = 0;
	slot->own->sampled_ns += (int64_t)(weight * slot->own->period_ns);
	nearly_idle_sampled(p, weight * slot->own->period_ns);
	if (slot->own->accounted_cpu_ns)
		slot->own->accounted_cpu_ns += used * slot->own->period_ns;
	record = walk(p, slot, tick);
	if (!record) {
		count_loss(slot, weight);
		sampling_wake(p);
		return;
	}
	record->head = (struct record){
		.bytes = (uint32_t)sizeof(*record) + record->n_pcs * 8U +
			 context_append(p, slot, (void *)(record->pcs + record->n_pcs)),
		.type = RECORD_SAMPLE,
		.flags = tick->flags,
	};
	record->time_ns = tick->now_ns;
	record->tid = tick->tid;
	record->cpu = clock_cpu();
	record->weight = weight;
	record->period_ns = slot->own->period_ns;
	write_metrics(record, no_syscalls);
	ring_commit(slot, record->head.bytes);
	atomic_fetch_add_explicit(&slot->ring->n_samples, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&slot->ring->n_overruns, weight - 1, memory_order_relaxed);
	if (ring_half_full(slot))
		sampling_wake(p);
}

uint32_t sampling_tid(struct process *p, const struct slot *slot, const struct tick *tick)
{
	uint32_t tid = atomic_load_explicit(&p->header->tids[slot->index], memory_order_relaxed);
	uint64_t sp = arch_regs(tick->uc).sp;

	if (process_state(p) == AGENT_NO_SYSCALLS ||
	    (sp >= slot->own->window_lo && sp < slot->own->window_hi))
		return tid;
	return (uint32_t)sys0(__NR_gettid);
}
