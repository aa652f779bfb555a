/* flight_ring_test.c - the last samples come back as they were, within time and room */
#include "tools/flight/flight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

enum { DEPTH = 20, MAX_SEEN = 4096 };

static struct {
	struct sample samples[MAX_SEEN];
	struct frame frames[DEPTH];
	size_t n;
} seen;

static void see(void *context, const struct sample *sample)
{
	(void)context;
	assert_true(seen.n < MAX_SEEN);
	assert_true(sample->n_frames + sample->n_waker <= DEPTH);
	memcpy(seen.frames, sample->frames,
	       (sample->n_frames + sample->n_waker) * sizeof(*seen.frames));
	seen.samples[seen.n++] = *sample;
}

static size_t look(struct flight_ring *ring, uint64_t from_ns, uint64_t until_ns)
{
	seen.n = 0;
	flight_ring_each(ring, from_ns, until_ns, see, NULL);
	return seen.n;
}

static struct flight_ring *new_ring(uint64_t window_ns, size_t bytes)
{
	const struct flight_ring_options options = {
		.window_ns = window_ns, .bytes = bytes, .metrics = 5};
	struct flight_ring *ring = flight_ring_new(&options);

	assert_non_null(ring);
	return ring;
}

/* A stack whose leaf is LEAF; its callers are always the same. */
static void add(struct flight_ring *ring, uint64_t time_ns, uint64_t leaf)
{
	struct frame frames[DEPTH];
	struct sample sample = {.time_ns = time_ns, .weight = 1, .n_frames = DEPTH};

	for (size_t i = 0; i < DEPTH; i++)
		frames[i] = (struct frame){.addr = i == 0 ? leaf : 0x1000 + i, .symbol = "f"};
	sample.frames = frames;
	flight_ring_add(ring, &sample);
}

static void a_sample_comes_back_as_it_was(void **state)
{
	struct flight_ring *ring = new_ring(SECOND, 1 << 20);
	struct frame frames[3] = {{.addr = 1, .symbol = "leaf", .line = 7, .exact = true},
				  {.addr = 1, .symbol = "outer", .inlined = true},
				  {.addr = 9, .symbol = "waker", .module = "[vdso]"}};
	struct sample sample = {.time_ns = 5,
				.process = 3,
				.pid = 4,
				.tid = 6,
				.cpu = 8,
				.event = EVENT_WALL,
				.weight = 11,
				.state = STATE_SLEEPING,
				.wait = "futex",
				.object = "futex:0x7f",
				.comm = "worker",
				.n_metrics = 3,
				.metrics = {{1, 2}, {3, 4}, {5, 6}},
				.n_frames = 2,
				.n_waker = 1,
				.waker_tid = 12,
				.op = "alloc",
				.truncated = true,
				.frames = frames};
	struct sample *back = seen.samples;

	(void)state;
	flight_ring_add(ring, &sample);
	memset(frames, 0xee, sizeof(frames)); /* the caller reuses its memory */
	assert_int_equal(look(ring, 0, UINT64_MAX), 1);
	assert_int_equal(back->time_ns, 5);
	assert_int_equal(back->process, 3);
	assert_int_equal(back->pid, 4);
	assert_int_equal(back->tid, 6);
	assert_int_equal(back->cpu, 8);
	assert_int_equal(back->event, EVENT_WALL);
	assert_int_equal(back->weight, 11);
	assert_int_equal(back->state, STATE_SLEEPING);
	assert_string_equal(back->wait, "futex");
	assert_string_equal(back->object, "futex:0x7f");
	assert_string_equal(back->comm, "worker");
	assert_string_equal(back->op, "alloc");
	assert_int_equal(back->waker_tid, 12);
	assert_true(back->truncated);
	assert_int_equal(back->metrics[0].value, 1);
	assert_int_equal(back->metrics[0].delta, 2);
	assert_int_equal(back->metrics[1].value, 0); /* it was not to be kept */
	assert_int_equal(back->metrics[2].delta, 6);
	assert_int_equal(back->n_frames, 2);
	assert_int_equal(back->n_waker, 1);
	assert_string_equal(seen.frames[0].symbol, "leaf");
	assert_int_equal(seen.frames[0].line, 7);
	assert_true(seen.frames[0].exact);
	assert_true(seen.frames[1].inlined);
	assert_string_equal(seen.frames[2].module, "[vdso]");
	flight_ring_free(ring);
}

static void labels_come_back(void **state)
{
	struct flight_ring *ring = new_ring(30 * SECOND, 1 << 20);
	char value[] = "GET /";
	const struct sample_label labels[] = {{"trace", "01"}, {"identity", value}};
	struct sample sample = {.time_ns = SECOND, .weight = 1, .n_labels = 2, .labels = labels};

	(void)state;
	(void)strcpy(sample.object, "pipe:[7]");
	flight_ring_add(ring, &sample);
	value[0] = 'x';
	assert_int_equal(look(ring, 0, UINT64_MAX), 1);
	assert_int_equal(seen.samples[0].n_labels, 2);
	assert_string_equal(seen.samples[0].labels[0].key, "trace");
	assert_string_equal(seen.samples[0].labels[1].value, "GET /");
	assert_string_equal(seen.samples[0].object, "pipe:[7]");
	flight_ring_free(ring);
}

static void what_is_older_than_the_window_is_forgotten(void **state)
{
	struct flight_ring *ring = new_ring(SECOND, 8 << 20);
	struct flight_ring_stats stats;

	(void)state;
	for (uint64_t i = 0; i < 2000; i++)
		add(ring, 10 * SECOND + i * SECOND / 1000, i);
	flight_ring_stats(ring, &stats);
	assert_int_equal(stats.samples, 1001);
	assert_int_equal(stats.oldest_ns, 10 * SECOND + 999 * (SECOND / 1000));
	assert_int_equal(stats.n_forced, 0);
	assert_int_equal(look(ring, 0, UINT64_MAX), 1001);
	assert_int_equal(look(ring, 11 * SECOND, 11 * SECOND + SECOND / 100), 11);
	flight_ring_forget(ring, UINT64_MAX);
	flight_ring_stats(ring, &stats);
	assert_int_equal(stats.samples, 0);
	assert_int_equal(stats.bytes, 0);
	flight_ring_free(ring);
}

static void room_is_never_exceeded_and_the_oldest_go(void **state)
{
	enum { ROOM = 64 * 1024 };
	struct flight_ring *ring = new_ring(3600 * SECOND, ROOM);
	struct flight_ring_stats stats;

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		add(ring, SECOND + i, i);
		flight_ring_stats(ring, &stats);
		assert_true(stats.bytes <= ROOM);
	}
	assert_true(stats.samples > 50);
	assert_int_equal(stats.samples + stats.n_forced, 3000);
	assert_int_equal(stats.newest_ns, SECOND + 2999);
	assert_int_equal(stats.forced_ns, stats.oldest_ns - 1);
	assert_int_equal(look(ring, 0, UINT64_MAX), stats.samples);
	flight_ring_free(ring);
}

static void callers_in_common_are_kept_once(void **state)
{
	struct flight_ring *ring = new_ring(SECOND, 8 << 20);
	struct flight_ring_stats stats;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		add(ring, SECOND + i, i % 10);
	flight_ring_stats(ring, &stats);
	print_message("%zu bytes a sample of %d frames\n", (size_t)(stats.bytes / 1000), DEPTH);
	assert_true(stats.bytes / 1000 < DEPTH * sizeof(struct frame) / 2);
	flight_ring_free(ring);
}

static void a_room_too_small_for_one_sample_holds_none(void **state)
{
	struct flight_ring *ring = new_ring(SECOND, 64);
	struct flight_ring_stats stats;

	(void)state;
	add(ring, SECOND, 1);
	flight_ring_stats(ring, &stats);
	assert_int_equal(stats.samples, 0);
	assert_int_equal(stats.bytes, 0);
	assert_int_equal(stats.n_forced, 1);
	flight_ring_free(ring);
	flight_ring_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_comes_back_as_it_was),
		cmocka_unit_test(labels_come_back),
		cmocka_unit_test(what_is_older_than_the_window_is_forgotten),
		cmocka_unit_test(room_is_never_exceeded_and_the_oldest_go),
		cmocka_unit_test(callers_in_common_are_kept_once),
		cmocka_unit_test(a_room_too_small_for_one_sample_holds_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
