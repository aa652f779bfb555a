/* live_heap_test.c - what --live follows: releases, ended processes, a limit; and its file */
#include "base/cleanup.h"
#include "output/files/recording.h"
#include "output_fixture.h"
#include "tools/samples/samples.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static struct frame frames[3] = {
	{.addr = 1, .symbol = "leaf"}, {.addr = 2, .symbol = "mid"}, {.addr = 3, .symbol = "main"}};

static struct sample sample_of(const char *op, uint32_t process, uint64_t address, uint64_t weight)
{
	static uint64_t now_ns = 1000;
	struct sample sample = {
		.time_ns = now_ns++,
		.process = process,
		.pid = (pid_t)process,
		.tid = (pid_t)process,
		.event = EVENT_ALLOC,
		.weight = weight,
		.comm = "app",
		.op = op,
		.frames = frames,
		.n_frames = 3,
	};

	(void)snprintf(sample.object, sizeof(sample.object), "%llx", (unsigned long long)address);
	return sample;
}

static void take(struct live_heap *heap, uint32_t process, uint64_t address, uint64_t weight)
{
	struct sample sample = sample_of("alloc", process, address, weight);

	live_heap_sample(heap, &sample);
}

static void give_back(struct live_heap *heap, uint32_t process, uint64_t address)
{
	struct sample sample = sample_of("free", process, address, 0);

	live_heap_sample(heap, &sample);
}

struct seen {
	size_t n;
	uint64_t weight;
	uint64_t last_ns;
};

static void see(void *context, const struct sample *sample)
{
	struct seen *seen = context;

	assert_true(sample->time_ns > seen->last_ns);
	assert_string_equal(sample->op, "alloc");
	assert_string_equal(sample->comm, "app");
	assert_int_equal(sample->n_frames, 3);
	assert_string_equal(sample->frames[0].symbol, "leaf");
	seen->last_ns = sample->time_ns;
	seen->weight += sample->weight;
	seen->n++;
}

static struct seen all_of(const struct live_heap *heap)
{
	struct seen seen = {0};

	live_heap_each(heap, see, &seen);
	assert_int_equal(seen.n, heap->n_blocks);
	assert_int_equal(seen.weight, heap->weight);
	return seen;
}

static void keeps_what_was_not_given_back(void **state)
{
	struct live_heap heap = {.limit = LIVE_HEAP_BYTES};

	(void)state;
	take(&heap, 1, 0x10, 100);
	take(&heap, 1, 0x20, 200);
	take(&heap, 2, 0x10, 400); /* the same address in another process */
	take(&heap, 1, 0x30, 800);
	give_back(&heap, 1, 0x20);
	give_back(&heap, 1, 0x40); /* never taken */
	assert_int_equal(all_of(&heap).weight, 1300);
	take(&heap, 1, 0x10, 1600); /* its release was lost */
	assert_int_equal(all_of(&heap).weight, 2800);
	take(&heap, 1, 0, 3200); /* its release cannot be told */
	assert_int_equal(all_of(&heap).weight, 2800);
	give_back(&heap, 1, 0x10);
	give_back(&heap, 2, 0x10);
	give_back(&heap, 1, 0x30);
	assert_int_equal(all_of(&heap).n, 0);
	assert_int_equal(map_count(&heap.stacks), 0);
	live_heap_exit(&heap, 1);
	live_heap_exit(&heap, 2);
	assert_int_equal(heap.bytes, 0);
	live_heap_release(&heap);
}

static void ended_processes_stay_until_there_is_no_room(void **state)
{
	struct live_heap heap = {.limit = 64 * (size_t)1024};
	uint64_t n = 0;

	(void)state;
	take(&heap, 1, 0x10, 1);
	live_heap_exit(&heap, 1);
	live_heap_exit(&heap, 9);
	assert_int_equal(all_of(&heap).n, 1);
	while (heap.left_out == 0)
		take(&heap, 2, 0x1000 + 0x10 * n++, 100);
	/* The ended one's went, for the newest. */
	assert_int_equal(heap.left_out, 1);
	assert_int_equal(all_of(&heap).weight, n * 100);
	take(&heap, 2, 0x100000, 100);
	take(&heap, 2, 0x100010, 100);
	assert_true(heap.left_out >= 2);
	assert_true(heap.bytes <= heap.limit);
	assert_int_equal(all_of(&heap).weight, (n + 3 - heap.left_out) * 100);
	live_heap_release(&heap);
}

static void file_is_whole_and_of_now(void **state)
{
	struct output_fixture fixture;
	struct snapshot *snapshot = NULL;
	struct err err = {0};

	(void)state;
	output_setup(&fixture, "x.live.perf");
	assert_int_equal(snapshot_new(&fixture.options, &snapshot, &err), 0);
	for (int n = 0; n < 3; n++) {
		_cleanup_free_ char *text = output_text(&fixture, "x.live.perf");

		assert_int_equal(output_count(text, " cpu-clock:"), n);
		assert_int_equal(output_count(text, "# wick-end"), 1);
		assert_int_equal(folder_count(fixture.dir), 1);
		assert_int_equal(snapshot_begin(snapshot), 0);
		for (int i = 0; i <= n; i++) {
			struct sample sample = output_sample(&fixture);

			snapshot_add(snapshot, &sample);
		}
		assert_int_equal(snapshot_end(snapshot, NULL, 0), 0);
	}
	/* One that is given up leaves the last state, and nothing beside it. */
	assert_int_equal(snapshot_begin(snapshot), 0);
	assert_int_equal(folder_count(fixture.dir), 2);
	snapshot_free(snapshot);
	assert_int_equal(folder_count(fixture.dir), 1);
	assert_int_equal(snapshot_new(&fixture.options, &snapshot, &err), -EEXIST);
	output_teardown(&fixture);
}

static void disk_trouble_is_told_once(void **state)
{
	struct output_fixture fixture;
	struct snapshot *snapshot = NULL;
	struct err err = {0};
	char path[PATH_MAX];

	(void)state;
	output_setup(&fixture, "x.live.perf");
	assert_int_equal(snapshot_new(&fixture.options, &snapshot, &err), 0);
	(void)snprintf(path, sizeof(path), "%s/x.live.perf.new", fixture.dir);
	assert_int_equal(mkdir(path, 0700), 0);
	for (int i = 0; i < 2; i++) {
		struct sample sample = output_sample(&fixture);

		assert_int_equal(snapshot_begin(snapshot), -EEXIST);
		snapshot_add(snapshot, &sample);
		assert_int_equal(snapshot_end(snapshot, NULL, 0), -EEXIST);
	}
	assert_int_equal(fixture.n_told, 1);
	assert_true(output_exists(&fixture, "x.live.perf"));
	snapshot_free(snapshot);
	output_teardown(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_was_not_given_back),
		cmocka_unit_test(ended_processes_stay_until_there_is_no_room),
		cmocka_unit_test(file_is_whole_and_of_now),
		cmocka_unit_test(disk_trouble_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
