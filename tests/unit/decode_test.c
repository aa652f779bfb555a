/* decode_test.c - rings built by hand, and every field of them lying */
#include "sampler/collector/ring/ring_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DATA_BYTES = 4096 };

/* A ring and what its writer has committed. */
struct ring {
	_Alignas(8) unsigned char data[DATA_BYTES];
	uint64_t head;
	uint64_t position;
	union record_copy record;
};

static void put(struct ring *ring, const void *record, size_t bytes)
{
	assert_true(ring->head % DATA_BYTES + bytes <= DATA_BYTES);
	memcpy(ring->data + ring->head % DATA_BYTES, record, bytes);
	ring->head += bytes;
}

/* A record of every type that holds; the sample has N pcs. */
static union record_copy good_sample(uint16_t n_pcs)
{
	union record_copy record = {0};

	record.sample = (struct record_sample){
		.head = {(uint32_t)(sizeof(record.sample) + n_pcs * 8U), RECORD_SAMPLE, 0},
		.time_ns = 1,
		.tid = 42,
		.weight = 1,
		.period_ns = 10101010,
		.n_pcs = n_pcs,
	};
	for (uint16_t i = 0; i < n_pcs; i++)
		record.sample.pcs[i] = 0x400000U + i;
	return record;
}

static const struct record_thread good_thread = {
	.head = {sizeof(good_thread), RECORD_THREAD, 0}, .time_ns = 1, .tid = 42, .comm = "name"};

static const struct record_module good_module = {.head = {sizeof(good_module), RECORD_MODULE, 0},
						 .time_ns = 1,
						 .start = 0x1000,
						 .end = 0x2000,
						 .path = "/lib/x.so"};

static const struct record_unmap good_unmap = {.head = {sizeof(good_unmap), RECORD_UNMAP, 0},
					       .time_ns = 1};

static union record_copy good_event(uint8_t kind)
{
	union record_copy record = {0};

	record.event = (struct record_event){
		.head = {sizeof(record.event) + 2 * 8, RECORD_EVENT, 0},
		.time_ns = 1,
		.tid = 42,
		.n_pcs = 2,
		.kind = kind,
		.amount = 524288,
		.object = 0x7f0000001000,
		.extra = kind == HOOK_LOCK ? RECORD_LOCK_EXTRA(LOCK_SEM, 1, 41) : 48,
	};
	record.event.pcs[0] = 0x400000;
	record.event.pcs[1] = 0x400100;
	return record;
}

static enum decode_result next(struct ring *ring)
{
	return decode_next(ring->data, DATA_BYTES, ring->head, &ring->position, &ring->record);
}

/* The record is refused, and the good one behind it is still read when its length was true. */
static void refuse(const void *record, size_t bytes, bool length_holds)
{
	struct ring ring = {0};

	put(&ring, record, bytes);
	put(&ring, &good_thread, sizeof(good_thread));
	assert_int_equal(next(&ring), DECODE_CORRUPT);
	if (length_holds) {
		assert_int_equal(next(&ring), DECODE_RECORD);
		assert_int_equal(ring.record.head.type, RECORD_THREAD);
	}
	assert_int_equal(next(&ring), DECODE_EMPTY);
	assert_int_equal(ring.position, ring.head);
}

/* A context of BYTES behind the pcs, of this format; the record is REST bytes longer. */
static void add_context(union record_copy *record, size_t pcs_end, uint16_t format, uint16_t bytes,
			uint32_t rest)
{
	struct record_context *context = (void *)(record->bytes + pcs_end);

	memset(context, 7, sizeof(*context) + bytes);
	context->serial = 5;
	context->format = format;
	context->bytes = bytes;
	record->head.bytes += rest;
}

static void reads_contexts(void **state)
{
	const struct {
		uint16_t format;
		uint16_t bytes;
	} good[] = {{CONTEXT_OTEL, OTEL_RECORD_HEAD},
		    {CONTEXT_OTEL, CONTEXT_MAX_BYTES},
		    {CONTEXT_WICK, sizeof(struct context_value)},
		    {CONTEXT_LABELS, 5},
		    {CONTEXT_LABELS, CONTEXT_MAX_ATTRS}};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		union record_copy sample = good_sample(RECORD_MAX_PCS);
		union record_copy event = good_event(HOOK_LOCK);
		uint32_t rest = 8 + (good[i].bytes + 7U) / 8 * 8;
		const struct record_context *context;
		struct ring ring = {0};

		assert_null(record_context_of(&sample.head, sample.sample.pcs + RECORD_MAX_PCS));
		add_context(&sample, sample.head.bytes, good[i].format, good[i].bytes, rest);
		add_context(&event, event.head.bytes, good[i].format, good[i].bytes, rest);
		put(&ring, &sample, sample.head.bytes);
		put(&ring, &event, event.head.bytes);
		assert_int_equal(next(&ring), DECODE_RECORD);
		context = record_context_of(&ring.record.head,
					    ring.record.sample.pcs + RECORD_MAX_PCS);
		assert_non_null(context);
		assert_int_equal(context->bytes, good[i].bytes);
		assert_int_equal(context->data[good[i].bytes - 1], 7);
		assert_int_equal(next(&ring), DECODE_RECORD);
		context = record_context_of(&ring.record.head, ring.record.event.pcs + 2);
		assert_non_null(context);
		assert_int_equal(context->format, good[i].format);
	}
}

static void refuses_contexts_that_lie(void **state)
{
	const struct {
		uint16_t format;
		uint16_t bytes;
		uint32_t rest;
	} bad[] = {{CONTEXT_OTEL, OTEL_RECORD_HEAD - 1, 40},
		   {CONTEXT_OTEL, 32, 32},
		   {CONTEXT_OTEL, 32, 48},
		   {CONTEXT_OTEL, 32, 0x10000},
		   {CONTEXT_OTEL, CONTEXT_MAX_BYTES + 8, CONTEXT_MAX_BYTES + 16},
		   {CONTEXT_OTEL, UINT16_MAX, 8},
		   {CONTEXT_WICK, 24, 32},
		   {CONTEXT_LABELS, CONTEXT_MAX_ATTRS + 1, CONTEXT_MAX_ATTRS + 12},
		   {0, 32, 40},
		   {4, 32, 40}};
	union record_copy sample = good_sample(2);
	union record_copy large[4] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ring ring = {0};

		large[0] = good_sample(2);
		add_context(large, large->head.bytes, bad[i].format, 8, bad[i].rest);
		((struct record_context *)(void *)(large->sample.pcs + 2))->bytes = bad[i].bytes;
		put(&ring, large, large->head.bytes < 3000 ? large->head.bytes : 3000);
		assert_int_equal(next(&ring), DECODE_CORRUPT);
	}
	add_context(&sample, sample.head.bytes, CONTEXT_LABELS, 8, 16);
	((struct record_context *)(void *)(sample.sample.pcs + 2))->serial = 0;
	refuse(&sample, sample.head.bytes, true);
}

static void reads_every_type(void **state)
{
	union record_copy sample = good_sample(3);
	struct ring ring = {0};

	(void)state;
	put(&ring, &good_thread, sizeof(good_thread));
	put(&ring, &good_module, sizeof(good_module));
	put(&ring, &sample, sample.head.bytes);
	put(&ring, &good_unmap, sizeof(good_unmap));
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_string_equal(ring.record.thread.comm, "name");
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_string_equal(ring.record.module.path, "/lib/x.so");
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_int_equal(ring.record.sample.pcs[2], 0x400002);
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_int_equal(ring.record.head.type, RECORD_UNMAP);
	assert_int_equal(next(&ring), DECODE_EMPTY);
}

static void skips_padding_at_the_end_of_the_ring(void **state)
{
	struct record pad = {.bytes = 96, .type = RECORD_PAD};
	struct ring ring = {.head = DATA_BYTES * 3 - 96, .position = DATA_BYTES * 3 - 96};

	(void)state;
	put(&ring, &pad, sizeof(pad));
	ring.head += 96 - sizeof(pad);
	put(&ring, &good_thread, sizeof(good_thread));
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_int_equal(ring.record.head.type, RECORD_THREAD);
	assert_int_equal(next(&ring), DECODE_EMPTY);
}

static void reads_the_deepest_stack(void **state)
{
	union record_copy sample = good_sample(RECORD_MAX_PCS);
	struct ring ring = {0};

	(void)state;
	put(&ring, &sample, sample.head.bytes);
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_int_equal(ring.record.sample.pcs[RECORD_MAX_PCS - 1], 0x4000ff);
}

static void refuses_a_length_that_lies(void **state)
{
	static const uint32_t lengths[] = {0, 1, 7, 41, 1U << 31, UINT32_MAX, DATA_BYTES + 8, 2048};
	struct record_thread record = good_thread;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		record.head.bytes = lengths[i];
		refuse(&record, sizeof(record), false);
	}
}

static void refuses_a_record_that_wraps(void **state)
{
	struct ring ring = {.head = DATA_BYTES - 16, .position = DATA_BYTES - 16};
	struct record record = {.bytes = sizeof(good_thread), .type = RECORD_THREAD};

	(void)state;
	put(&ring, &record, sizeof(record));
	ring.head += sizeof(good_thread) - sizeof(record);
	assert_int_equal(next(&ring), DECODE_CORRUPT);
	assert_int_equal(ring.position, ring.head);
}

static void refuses_an_unknown_type(void **state)
{
	struct record_thread record = good_thread;

	(void)state;
	record.head.type = 0;
	refuse(&record, sizeof(record), true);
	record.head.type = RECORD_EVENT + 1;
	refuse(&record, sizeof(record), true);
	record.head.type = RECORD_SAMPLE;
	refuse(&record, sizeof(record), true);
	record.head.type = RECORD_MODULE;
	refuse(&record, sizeof(record), true);
	record.head.type = RECORD_UNMAP;
	refuse(&record, sizeof(record), true);
	record.head.type = RECORD_EVENT;
	refuse(&record, sizeof(record), true);
}

static void refuses_a_sample_that_lies(void **state)
{
	union record_copy record = good_sample(2);

	(void)state;
	record.sample.n_pcs = 0;
	refuse(&record, record.head.bytes, true);
	record.sample.n_pcs = 3;
	refuse(&record, record.head.bytes, true);
	record.sample.n_pcs = UINT16_MAX;
	refuse(&record, record.head.bytes, true);
	record = good_sample(2);
	record.sample.tid = 0;
	refuse(&record, record.head.bytes, true);
	record.sample.tid = RING_TID_DEAD;
	refuse(&record, record.head.bytes, true);
	record = good_sample(2);
	record.sample.weight = 0;
	refuse(&record, record.head.bytes, true);
	record = good_sample(2);
	record.sample.vcsw = INT64_MAX;
	refuse(&record, record.head.bytes, true);
	record = good_sample(2);
	record.sample.pcs[1] = UINT64_C(1) << 56;
	refuse(&record, record.head.bytes, true);
	record.sample.pcs[1] = UINT64_MAX;
	refuse(&record, record.head.bytes, true);
}

static void reads_every_kind_of_event(void **state)
{
	(void)state;
	for (int kind = HOOK_ALLOC; kind <= HOOK_LOCK; kind++) {
		union record_copy record = good_event((uint8_t)kind);
		struct ring ring = {0};

		put(&ring, &record, record.head.bytes);
		assert_int_equal(next(&ring), DECODE_RECORD);
		assert_int_equal(ring.record.event.kind, kind);
		assert_int_equal(ring.record.event.amount, 524288);
		assert_int_equal(ring.record.event.pcs[1], 0x400100);
	}
}

static void refuses_an_event_that_lies(void **state)
{
	static const uint16_t counts[] = {0, 1, 3, RECORD_MAX_PCS + 1, UINT16_MAX};
	union record_copy record = good_event(HOOK_ALLOC);
	uint32_t bytes = record.head.bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		record.event.n_pcs = counts[i];
		refuse(&record, bytes, true);
	}
	record = good_event(0);
	refuse(&record, bytes, true);
	record = good_event(HOOK_LOCK + 1);
	refuse(&record, bytes, true);
	record = good_event(HOOK_FREE);
	record.event.tid = RING_TID_DEAD;
	refuse(&record, bytes, true);
	record = good_event(HOOK_FREE);
	record.event.amount = RECORD_MAX_AMOUNT + 1;
	refuse(&record, bytes, true);
	record = good_event(HOOK_LOCK);
	record.event.object = UINT64_MAX;
	refuse(&record, bytes, true);
	record = good_event(HOOK_LOCK);
	record.event.pcs[0] = UINT64_C(1) << 57;
	refuse(&record, bytes, true);
}

static void refuses_a_wait_that_lies(void **state)
{
	const uint64_t lies[] = {
		RECORD_LOCK_EXTRA(0, 0, 0),
		RECORD_LOCK_EXTRA(LOCK_SEM + 1, 0, 0),
		RECORD_LOCK_EXTRA(LOCK_MUTEX, 2, 41), /* no frame is left for the waiter */
		RECORD_LOCK_EXTRA(LOCK_MUTEX, 0xffff, 41),
		RECORD_LOCK_EXTRA(LOCK_MUTEX, 1, UINT32_MAX),
	};
	union record_copy record = good_event(HOOK_LOCK);

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		record.event.extra = lies[i];
		refuse(&record, record.head.bytes, true);
	}
}

static void refuses_other_records_that_lie(void **state)
{
	struct record_thread thread = good_thread;
	struct record_module module = good_module;

	(void)state;
	thread.tid = 0;
	refuse(&thread, sizeof(thread), true);
	module.start = module.end;
	refuse(&module, sizeof(module), true);
	module = good_module;
	module.end = UINT64_MAX;
	refuse(&module, sizeof(module), true);
}

static void ends_strings_that_have_no_end(void **state)
{
	struct record_thread thread = good_thread;
	struct record_module module = good_module;
	struct ring ring = {0};

	(void)state;
	memset(thread.comm, 'x', sizeof(thread.comm));
	memset(module.path, 'y', sizeof(module.path));
	put(&ring, &thread, sizeof(thread));
	put(&ring, &module, sizeof(module));
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_int_equal(strlen(ring.record.thread.comm), sizeof(thread.comm) - 1);
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_int_equal(strlen(ring.record.module.path), sizeof(module.path) - 1);
}

static void refuses_a_head_that_lies(void **state)
{
	static const uint64_t heads[] = {DATA_BYTES * 2 + 8, 4, 12, UINT64_MAX, UINT64_MAX - 7};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct ring ring = {.head = heads[i], .position = 8};

		assert_int_equal(next(&ring), DECODE_CORRUPT);
		assert_int_equal(ring.position, ring.head);
		assert_int_equal(next(&ring), DECODE_EMPTY);
	}
}

static void comes_back_from_a_head_that_lied(void **state)
{
	struct ring ring = {.head = 16, .position = 1000};

	(void)state;
	/* It went backwards: what was lost is lost, what is written next is read. */
	assert_int_equal(next(&ring), DECODE_CORRUPT);
	put(&ring, &good_thread, sizeof(good_thread));
	assert_int_equal(next(&ring), DECODE_RECORD);
	assert_int_equal(next(&ring), DECODE_EMPTY);
}

/* Whatever stands there, a drain ends, in order and inside the ring (the sanitizers watch). */
static void survives_noise(void **state)
{
	struct ring ring;

	(void)state;
	srandom(7);
	for (int round = 0; round < 2000; round++) {
		size_t n = 0;

		for (size_t i = 0; i < DATA_BYTES; i += 8) {
			struct record head = {(uint32_t)random() % 128 * (random() % 8 ? 8 : 1),
					      (uint16_t)(random() % 8), 0};

			memcpy(ring.data + i, &head, sizeof(head));
		}
		ring.position = (uint64_t)random() % DATA_BYTES / 8 * 8;
		ring.head = ring.position + (uint64_t)random() % DATA_BYTES / 8 * 8;
		while (next(&ring) != DECODE_EMPTY)
			assert_true(++n <= DATA_BYTES / 8);
		assert_int_equal(ring.position, ring.head);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_type),
		cmocka_unit_test(reads_contexts),
		cmocka_unit_test(refuses_contexts_that_lie),
		cmocka_unit_test(skips_padding_at_the_end_of_the_ring),
		cmocka_unit_test(reads_the_deepest_stack),
		cmocka_unit_test(refuses_a_length_that_lies),
		cmocka_unit_test(refuses_a_record_that_wraps),
		cmocka_unit_test(refuses_an_unknown_type),
		cmocka_unit_test(refuses_a_sample_that_lies),
		cmocka_unit_test(reads_every_kind_of_event),
		cmocka_unit_test(refuses_an_event_that_lies),
		cmocka_unit_test(refuses_a_wait_that_lies),
		cmocka_unit_test(refuses_other_records_that_lie),
		cmocka_unit_test(ends_strings_that_have_no_end),
		cmocka_unit_test(refuses_a_head_that_lies),
		cmocka_unit_test(comes_back_from_a_head_that_lied),
		cmocka_unit_test(survives_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
