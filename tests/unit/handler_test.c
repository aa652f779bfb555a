/* handler_test.c - slots, rings and the readers, outside any signal */
#include "sampler/handler/memory.h"
#include "sampler/handler/on_sigprof.h"
#include "sampler/handler/sampling.h"
#include "sampler/handler/slot.h"
#include "sampler/handler/sys/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants the four above first */
#include <cmocka.h>

enum { CHUNKS = 3 };

struct fixture {
	struct process *p;
	unsigned char *file;
	uint64_t bytes;
};

/* A process whose rings are a real memfd: chunks are mapped as they are in a target. */
static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd = memfd_create("rings", MFD_CLOEXEC);

	f->bytes = RING_HEADER_BYTES + ring_chunk_bytes(0);
	f->p = calloc(1, sizeof(*f->p));
	assert_return_code(ftruncate(fd, (off_t)ring_chunk_offset(CHUNKS)), 0);
	f->file = mmap(NULL, f->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(f->file != MAP_FAILED);
	(void)close(fd);
	f->p->header = (void *)f->file;
	f->p->pid = getpid();
	f->p->max_slots = RING_MAX_SLOTS;
	f->p->max_chunks = CHUNKS;
	f->p->period_ns = 10000000;
	f->p->chunks[0] = (void *)(f->file + RING_HEADER_BYTES);
	f->p->n_chunks = 1;
	f->p->state = AGENT_SAMPLING;
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 1; i < f->p->n_chunks; i++)
		(void)munmap(f->p->chunks[i], ring_chunk_bytes(i));
	(void)munmap(f->file, f->bytes);
	free(f->p);
	free(f);
	return 0;
}

static struct slot claim(void **state, uint32_t tid)
{
	struct fixture *f = *state;
	struct slot slot;

	assert_int_equal(slot_claim(f->p, tid, &slot), 0);
	slot_leave(&slot);
	return slot;
}

static void write_record(struct slot *slot, uint32_t len, uint16_t type)
{
	struct record *record = ring_reserve(slot, len);

	assert_non_null(record);
	*record = (struct record){.bytes = len, .type = type};
	ring_commit(slot, len);
}

static void shows_nothing_before_the_commit(void **state)
{
	struct slot slot = claim(state, 7);
	void *first = ring_reserve(&slot, 64);

	assert_int_equal(slot.ring->head, 0);
	assert_ptr_equal(ring_reserve(&slot, 64), first);
	ring_commit(&slot, 64);
	assert_int_equal(slot.ring->head, 64);
}

static void pads_the_end_instead_of_wrapping(void **state)
{
	struct slot slot = claim(state, 7);
	const struct record *pad;
	uint64_t last = slot.data_bytes - 40;

	slot.ring->head = last;
	slot.ring->tail = last;
	assert_ptr_equal(ring_reserve(&slot, 48), slot.ring->data);
	pad = (const void *)(slot.ring->data + last);
	assert_int_equal(pad->type, RECORD_PAD);
	assert_int_equal(pad->bytes, 40);
	assert_int_equal(slot.ring->head, slot.data_bytes);
}

static void a_record_may_end_where_the_ring_ends(void **state)
{
	struct slot slot = claim(state, 7);
	uint64_t last = slot.data_bytes - 48;

	slot.ring->head = last;
	slot.ring->tail = last;
	assert_ptr_equal(ring_reserve(&slot, 48), slot.ring->data + last);
	assert_int_equal(slot.ring->head, last);
}

static void refuses_when_full_and_accepts_once_drained(void **state)
{
	struct slot slot = claim(state, 7);
	uint64_t n = 0;

	while (ring_reserve(&slot, 48)) {
		write_record(&slot, 48, RECORD_SAMPLE);
		assert_true(slot.ring->head - slot.ring->tail <= slot.data_bytes);
		n++;
	}
	assert_int_equal(n, slot.data_bytes / 48);
	assert_true(ring_half_full(&slot));
	slot.ring->tail = 48 * 2;
	assert_non_null(ring_reserve(&slot, 48));
	slot.ring->tail = slot.ring->head;
	assert_false(ring_half_full(&slot));
}

static void refuses_a_tail_that_lies(void **state)
{
	struct slot slot = claim(state, 7);

	slot.ring->head = 480;
	slot.ring->tail = 960; /* ahead of head */
	assert_null(ring_reserve(&slot, 48));
	slot.ring->tail = 0;
	slot.ring->head = UINT64_MAX / 2;
	assert_null(ring_reserve(&slot, 48));
}

static void gives_each_thread_a_slot_and_finds_it_again(void **state)
{
	struct fixture *f = *state;
	struct slot a = claim(state, 100);
	struct slot b = claim(state, 200);
	struct slot found;

	assert_int_not_equal(a.index, b.index);
	assert_int_equal(slot_find(f->p, 200, &found), 0);
	assert_int_equal(found.index, b.index);
	assert_int_equal(slot_find(f->p, 300, &found), -1);
	assert_int_equal(f->p->header->n_slots, 2);
}

static void reuses_a_dead_slot_and_forgets_its_thread(void **state)
{
	struct fixture *f = *state;
	struct slot a = claim(state, 100);
	struct slot b;

	write_record(&a, 48, RECORD_SAMPLE);
	a.own->window_lo = 4096;
	a.own->sampled_ns = 9;
	a.own->populated = 1;
	f->p->header->tids[a.index] = RING_TID_DEAD;
	b = claim(state, 200);
	assert_int_equal(b.index, a.index);
	assert_int_equal(b.own->window_lo, 0);
	assert_int_equal(b.own->sampled_ns, 0);
	assert_int_equal(b.own->populated, 1);
	assert_int_equal(b.ring->head, 48);
	assert_int_equal(b.own->claimed_head, 48);
}

static void admits_one_writer(void **state)
{
	struct slot slot = claim(state, 7);

	assert_true(slot_enter(&slot));
	assert_false(slot_enter(&slot));
	slot_leave(&slot);
	assert_true(slot_enter(&slot));
}

static void maps_as_many_chunks_again_when_half_are_taken(void **state)
{
	struct fixture *f = *state;
	struct slot slot;

	for (uint32_t tid = 1; tid <= 8; tid++)
		(void)claim(state, tid);
	assert_int_equal(f->p->n_chunks, 1);
	(void)claim(state, 9);
	assert_int_equal(f->p->n_chunks, 2);
	for (uint32_t tid = 10; tid <= 17; tid++)
		slot = claim(state, tid);
	assert_int_equal(slot.index, 16);
	assert_int_equal(f->p->n_chunks, CHUNKS < 4 ? CHUNKS : 4);
	slot_populate(&slot);
	write_record(&slot, 48, RECORD_SAMPLE);
	/* The file goes on where the last chunk ended: its first page is not seen twice. */
	f->p->chunks[0]->head = 4242;
	assert_int_equal(slot.ring->head, 48);
}

static void has_no_slot_beyond_the_file(void **state)
{
	struct fixture *f = *state;
	struct slot slot;
	uint32_t tid = 1;

	while (slot_claim(f->p, tid, &slot) == 0)
		tid++;
	assert_int_equal(tid - 1, CHUNKS * RING_CHUNK_SLOTS);
	assert_int_equal(f->p->n_chunks, CHUNKS);
}

static void keeps_to_the_collectors_limit(void **state)
{
	struct fixture *f = *state;
	struct slot slot;

	f->p->max_slots = 3;
	for (uint32_t tid = 1; tid <= 3; tid++)
		(void)claim(state, tid);
	assert_int_equal(slot_claim(f->p, 4, &slot), -1);
}

static void reads_the_clock_that_libc_reads(void **state)
{
	struct timespec before, after;
	uint64_t now;

	(void)state;
	(void)clock_gettime(CLOCK_MONOTONIC, &before);
	now = clock_now_ns();
	(void)clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(now >= (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
	assert_true(now <= (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
}

static void reads_the_stack_and_never_faults(void **state)
{
	struct fixture *f = *state;
	unsigned char *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct slot slot = claim(state, 7);
	struct memory m;
	uint64_t value = 0;

	(void)munmap(pages + 4096, 4096);
	pages[4088] = 42;
	memory_init(&m, f->p, slot.own, (uint64_t)&value);
	assert_true(m.reader.read(&m.reader, (uint64_t)pages + 4088, &value, 8));
	assert_int_equal(value, 42);
	assert_false(m.reader.read(&m.reader, (uint64_t)pages + 4092, &value, 8));
	assert_false(m.reader.read(&m.reader, (uint64_t)pages + 4096, &value, 8));
	assert_false(m.reader.read(&m.reader, 0, &value, 8));
	assert_false(m.reader.read(&m.reader, 8, &value, 8));
	assert_false(m.reader.read(&m.reader, UINT64_MAX - 3, &value, 8));
	assert_false(m.reader.read(&m.reader, UINT64_C(1) << 63, &value, 8));
	(void)munmap(pages, 3 * 4096);
}

static void keeps_a_window_only_without_a_gap(void **state)
{
	struct fixture *f = *state;
	unsigned char *pages =
		mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct slot slot = claim(state, 7);
	uint64_t sp = (uint64_t)pages + 100;
	struct memory m;

	f->p->stack_top = (uint64_t)pages + 4UL * 4096;
	memory_init(&m, f->p, slot.own, sp);
	assert_int_equal(m.reader.lo, sp);
	assert_int_equal(m.reader.hi, f->p->stack_top);

	*slot.own = (struct slot_own){0};
	(void)mprotect(pages + 2UL * 4096, 4096, PROT_NONE);
	memory_init(&m, f->p, slot.own, sp);
	assert_int_equal(m.reader.hi, 0);
	assert_int_equal(slot.own->window_lo, 0);
	assert_true(slot.own->no_window > 0);
	(void)munmap(pages, 4UL * 4096);
}

static void makes_no_call_when_quiet(void **state)
{
	struct fixture *f = *state;
	struct slot slot = claim(state, 7);
	struct memory m;
	uint64_t value = 0;

	f->p->state = AGENT_NO_SYSCALLS;
	memory_init(&m, f->p, slot.own, (uint64_t)&value);
	assert_true(m.no_syscalls);
	assert_int_equal(m.reader.hi, 0);
	/* Readable, but only a call could tell. */
	assert_false(m.reader.read(&m.reader, (uint64_t)f->p, &value, 8));
}

static void tells_where_the_interrupted_registers_are(void **state)
{
	/* DWARF's numbers of ax, r10 and the pc */
	static const struct {
		unsigned dwarf;
		int greg;
	} cases[] = {{0, REG_RAX}, {10, REG_R10}, {16, REG_RIP}};
	ucontext_t uc;
	struct unwind_regs regs;

	(void)state;
	for (int i = 0; i < NGREG; i++)
		uc.uc_mcontext.gregs[i] = 1000 + i;
	__asm__ volatile("" : : "r"(&uc) : "memory"); /* the kernel's stores are not seen either */
	regs = arch_regs(&uc);
	assert_int_equal(regs.pc, 1000 + REG_RIP);
	assert_int_equal(regs.sp, 1000 + REG_RSP);
	assert_int_equal(regs.bp, 1000 + REG_RBP);
	assert_int_equal(regs.bx, 1000 + REG_RBX);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			*(uint64_t *)(regs.saved + (uint64_t)arch_saved_offset(cases[i].dwarf)),
			1000 + cases[i].greg);
}

static void lends_a_room_to_one_walk_at_a_time(void **state)
{
	struct memory *rooms[MEMORY_BUFFERS];

	(void)state;
	for (uint32_t i = 0; i < MEMORY_BUFFERS; i++) {
		rooms[i] = memory_acquire(5);
		assert_non_null(rooms[i]);
		for (uint32_t j = 0; j < i; j++)
			assert_ptr_not_equal(rooms[i], rooms[j]);
	}
	assert_null(memory_acquire(5));
	memory_release(rooms[7]);
	assert_ptr_equal(memory_acquire(0), rooms[7]);
	for (uint32_t i = 0; i < MEMORY_BUFFERS; i++)
		memory_release(rooms[i]);
}

static void samples_the_same_stack_with_and_without_a_room(void **state)
{
	struct fixture *f = *state;
	struct slot slot = claim(state, 7);
	struct memory *rooms[MEMORY_BUFFERS];
	const struct record_sample *samples[2];
	ucontext_t uc;
	struct tick tick = {.uc = &uc, .tid = 7, .weight = 1};

	f->p->rules = (struct unwind_cache){.entries = f->p->entries, .n = PROCESS_RULES};
	(void)getcontext(&uc);
	for (int i = 0; i < 2; i++) {
		uint64_t head;

		sampling_take(f->p, &slot, &tick); /* what precedes a first sample */
		head = slot.ring->head;
		sampling_take(f->p, &slot, &tick);
		samples[i] = (const void *)(slot.ring->data + head);
		for (uint32_t j = 0; i == 0 && j < MEMORY_BUFFERS; j++)
			rooms[j] = memory_acquire(j);
	}
	for (uint32_t j = 0; j < MEMORY_BUFFERS; j++)
		memory_release(rooms[j]);
	assert_int_equal(samples[0]->head.type, RECORD_SAMPLE);
	assert_true(samples[0]->n_pcs > 2);
	assert_int_equal(samples[0]->n_pcs, samples[1]->n_pcs);
	assert_memory_equal(samples[0]->pcs, samples[1]->pcs, samples[0]->n_pcs * 8UL);
}

/* What the samples written since then stand for; 0: there is none. */
static __attribute__((noinline)) uint32_t weight_since(const struct slot *slot, uint64_t at)
{
	uint32_t weight = 0;

	while (at < slot->ring->head) {
		const struct record *record = (const void *)(slot->ring->data + at);

		if (record->type == RECORD_SAMPLE)
			weight += ((const struct record_sample *)(const void *)record)->weight;
		at += record->bytes;
	}
	return weight;
}

/* Return: what its sample stands for. */
static uint32_t send_timer(struct process *p, const struct slot *slot, int overrun)
{
	siginfo_t info = {.si_code = SI_TIMER};
	uint64_t head = slot->ring->head;
	ucontext_t uc;

	info.si_overrun = overrun;
	info.si_value.sival_ptr = (void *)((uint64_t)p->cookie << 32 | slot->index);
	(void)getcontext(&uc);
	on_sigprof(SIGPROF, &info, &uc);
	return weight_since(slot, head);
}

static void a_signal_in_a_sample_weighs_on_the_next_one(void **state)
{
	struct fixture *f = *state;
	struct slot slot = claim(state, (uint32_t)gettid());

	f->p->rules = (struct unwind_cache){.entries = f->p->entries, .n = PROCESS_RULES};
	f->p->cookie = 77;
	handler_process = f->p;
	assert_int_equal(send_timer(f->p, &slot, 0), 1);
	assert_true(slot_enter(&slot));
	assert_int_equal(send_timer(f->p, &slot, 2), 0);
	assert_int_equal(send_timer(f->p, &slot, 0), 0);
	slot_leave(&slot);
	slot.own->period_ns = slot.own->accounted_cpu_ns = 1000;
	assert_int_equal(send_timer(f->p, &slot, 1), 2 + 3 + 1);
	assert_int_equal(slot.own->accounted_cpu_ns, 7000); /* else an event would give it again */
	assert_int_equal(send_timer(f->p, &slot, 0), 1);
	assert_int_equal(f->p->header->lost_nested, 0);
	assert_true(slot_enter(&slot)); /* it is lost when none follows */
	assert_int_equal(send_timer(f->p, &slot, 4), 0);
	slot_leave(&slot);
	f->p->header->tids[slot.index] = RING_TID_DEAD;
	slot = claim(state, 8);
	assert_int_equal(f->p->header->lost_nested, 5);
	handler_process = NULL;
}

static void announces_a_module_once_and_again_after_it_went(void **state)
{
	struct fixture *f = *state;
	struct unwind_module module;
	struct module_seen seen;

	assert_true(modules_find(f->p, (uint64_t)(uintptr_t)&getpid, &module, &seen));
	assert_non_null(strstr(seen.path, "libc"));
	assert_true(modules_announce(f->p, seen.start));
	assert_false(modules_announce(f->p, seen.start));
	assert_true(modules_announce(f->p, 0x1000));
	modules_forget_gone(f->p); /* nothing is loaded at 0x1000; libc stays */
	assert_false(modules_announce(f->p, seen.start));
	assert_true(modules_announce(f->p, 0x1000));
}

static void stops_announcing_when_the_table_is_full(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= PROCESS_MODULES; i++)
		assert_true(modules_announce(f->p, i << 12));
	assert_false(modules_announce(f->p, UINT64_C(1) << 40));
}

static void stops_only_after_silence_seen_twice(void **state)
{
	struct fixture *f = *state;
	const uint64_t s = 1000000000;

	f->p->header->drained_ns = 10 * s;
	process_check(f->p, 14 * s);
	process_check(f->p, 16 * s);
	assert_int_equal(process_state(f->p), AGENT_SAMPLING);
	f->p->header->drained_ns = 16 * s; /* the stopped job goes on */
	process_check(f->p, 17 * s);
	process_check(f->p, 22 * s);
	assert_int_equal(process_state(f->p), AGENT_SAMPLING);
	process_check(f->p, 24 * s);
	assert_int_equal(process_state(f->p), AGENT_STOPPED);
}

static void stops_when_told(void **state)
{
	struct fixture *f = *state;

	f->p->header->stop = 1;
	process_check(f->p, 1);
	assert_int_equal(process_state(f->p), AGENT_STOPPED);
	assert_int_equal(f->p->header->state, AGENT_STOPPED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(shows_nothing_before_the_commit),
		TEST(pads_the_end_instead_of_wrapping),
		TEST(a_record_may_end_where_the_ring_ends),
		TEST(refuses_when_full_and_accepts_once_drained),
		TEST(refuses_a_tail_that_lies),
		TEST(gives_each_thread_a_slot_and_finds_it_again),
		TEST(reuses_a_dead_slot_and_forgets_its_thread),
		TEST(admits_one_writer),
		TEST(maps_as_many_chunks_again_when_half_are_taken),
		TEST(has_no_slot_beyond_the_file),
		TEST(keeps_to_the_collectors_limit),
		cmocka_unit_test(reads_the_clock_that_libc_reads),
		TEST(reads_the_stack_and_never_faults),
		TEST(keeps_a_window_only_without_a_gap),
		TEST(makes_no_call_when_quiet),
		cmocka_unit_test(tells_where_the_interrupted_registers_are),
		cmocka_unit_test(lends_a_room_to_one_walk_at_a_time),
		TEST(samples_the_same_stack_with_and_without_a_room),
		TEST(a_signal_in_a_sample_weighs_on_the_next_one),
		TEST(announces_a_module_once_and_again_after_it_went),
		TEST(stops_announcing_when_the_table_is_full),
		TEST(stops_only_after_silence_seen_twice),
		TEST(stops_when_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
