/* weights_test.c - images begin all over a period, and their sum is known better than by
 * chance */
#include "sampler/collector/process/weights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS = 16, BLOCKS = 64 };

#define PERIOD UINT64_C(5025125)

struct fixture {
	struct weights weights;
	struct ring_header *header;
	uint64_t inherited_ns; /* by the image that began last, */
	uint64_t residual_ns;  /* and what its first sample takes of it */
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (fixture)
		fixture->header = calloc(1, sizeof(*fixture->header));
	*state = fixture;
	return fixture && fixture->header ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	free(fixture->header);
	free(fixture);
	return 0;
}

static uint64_t begin(struct fixture *fixture)
{
	struct process process = {.began_ns = PERIOD, .ring.header = fixture->header};

	weights_begin_image(&fixture->weights, &process);
	fixture->inherited_ns = process.inherited_ns;
	fixture->residual_ns = process.residual_ns;
	if (!process.inherited_ns)
		assert_int_equal(process.start_offset_ns, fixture->header->start_offset_ns);
	assert_true(process.start_offset_ns < PERIOD);
	return process.start_offset_ns;
}

static void sixteen_in_a_row_begin_in_sixteen_parts(void **state)
{
	for (int block = 0; block < BLOCKS; block++) {
		uint32_t seen = 0;

		for (int i = 0; i < PARTS; i++)
			seen |= UINT32_C(1) << (begin(*state) * PARTS / PERIOD);
		assert_int_equal(seen, 0xffff);
	}
}

static void no_thread_has_a_part_of_its_own(void **state)
{
	uint32_t seen[PARTS] = {0};

	for (int block = 0; block < BLOCKS; block++)
		for (int i = 0; i < PARTS; i++)
			seen[i] |= UINT32_C(1) << (begin(*state) * PARTS / PERIOD);
	for (int i = 0; i < PARTS; i++)
		assert_true(__builtin_popcount(seen[i]) > PARTS / 2);
}

/* Whoever uses a part of a period has as many samples as that, to one in sixteen of chance. */
static void a_part_of_a_period_is_counted_as_that(void **state)
{
	for (uint64_t used = PERIOD / 7; used < 2 * PERIOD; used += PERIOD / 7) {
		const uint64_t n = PARTS * 4;
		uint64_t due = 0;

		for (uint64_t i = 0; i < n; i++)
			due += (begin(*state) + used) / PERIOD;
		assert_in_range(due, n * used / PERIOD - 4, n * used / PERIOD + 5);
	}
}

/* An image of a millisecond has a tick now and then, and hardly ever one behind an expiry. */
static void what_was_missed_is_due_at_the_first_tick_of_the_next(void **state)
{
	struct fixture *fixture = *state;

	fixture->weights.residual_ns = (int64_t)(3 * PERIOD + PERIOD / 2);
	(void)begin(fixture);
	assert_int_equal(fixture->inherited_ns, 3 * PERIOD);
	assert_int_equal(fixture->residual_ns, 2 * PERIOD);
	assert_int_equal(fixture->header->start_offset_ns, PERIOD - 1);
	(void)begin(fixture);
	assert_int_equal(fixture->inherited_ns, 0);
	assert_int_equal(fixture->residual_ns, 0);
}

/* Images that end before a tick pass all of it on, however many. */
static void what_no_sample_stood_for_stays_in_the_residual(void **state)
{
	struct fixture *fixture = *state;

	fixture->weights.residual_ns = (int64_t)(3 * PERIOD);
	for (int i = 0; i < 100; i++) {
		struct process process = {.began_ns = PERIOD, .ring.header = fixture->header};

		weights_begin_image(&fixture->weights, &process);
		assert_int_equal(process.inherited_ns, 3 * PERIOD);
		atomic_store(&fixture->header->cpu_ns, 1);
		weights_end_image(&fixture->weights, &process);
	}
}

/* Preempted between two ticks, again and again, it never meets one; what it never gave is not all
 * that. */
static void a_preempted_process_leaves_more_than_a_tick(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t tick_ns = 4000000;
	const struct {
		uint64_t used;
		uint64_t left;
	} images[] = {{20000000, 3 * PERIOD}, {60 * PERIOD, 2 * PERIOD + 10 * tick_ns}};

	fixture->weights.tick_ns = tick_ns;
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		struct process process = {.began_ns = PERIOD,
					  .charged_ns = images[i].used,
					  .ring.header = fixture->header};

		fixture->weights.residual_ns = 0;
		atomic_store(&fixture->header->cpu_ns, images[i].used);
		weights_end_image(&fixture->weights, &process);
		assert_int_equal(fixture->weights.residual_ns, images[i].left);
	}
}

static void a_residual_is_added_in_whole_periods(void **state)
{
	struct process process = {.residual_ns = 2 * PERIOD + PERIOD / 2};
	struct record_sample sample = {.weight = 1, .period_ns = PERIOD};

	(void)state;
	weights_add_residual(&process, &sample);
	assert_int_equal(sample.weight, 3);
	assert_int_equal(process.residual_ns, PERIOD / 2);
	weights_add_residual(&process, &sample);
	assert_int_equal(sample.weight, 3);
	sample.period_ns = PERIOD / 4;
	weights_add_residual(&process, &sample);
	assert_int_equal(sample.weight, 5);
	assert_int_equal(process.residual_ns, PERIOD / 2 % (PERIOD / 4));
}

/* Samples of a fifth of the file's period, then of two and a half: nothing is lost. */
static void a_thread_keeps_what_is_less_than_a_period_of_the_file(void **state)
{
	struct thread thread = {.has_residual = false};
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		struct event_sample sample = {.weight = 1,
					      .period_ns = i < 50 ? PERIOD / 5 : PERIOD / 2 * 5};
		bool given = weights_convert(&thread, &sample, i, PERIOD / 5 * 5);

		assert_true(given == (sample.weight > 0));
		sum += sample.weight;
		assert_true(thread.has_residual && thread.residual_ns < PERIOD);
	}
	assert_in_range(sum, 10 + 124, 10 + 126);
}

static void a_weight_in_periods_of_the_file_stays(void **state)
{
	struct thread thread = {.has_residual = false};
	struct event_sample sample = {.weight = 7, .period_ns = PERIOD};

	(void)state;
	assert_true(weights_convert(&thread, &sample, 1, PERIOD));
	assert_true(weights_convert(NULL, &sample, 1, 0));
	assert_int_equal(sample.weight, 7);
	assert_false(thread.has_residual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sixteen_in_a_row_begin_in_sixteen_parts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_thread_has_a_part_of_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_part_of_a_period_is_counted_as_that, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			what_was_missed_is_due_at_the_first_tick_of_the_next, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_no_sample_stood_for_stays_in_the_residual,
						set_up, tear_down),
		cmocka_unit_test(a_residual_is_added_in_whole_periods),
		cmocka_unit_test(a_thread_keeps_what_is_less_than_a_period_of_the_file),
		cmocka_unit_test(a_weight_in_periods_of_the_file_stays),
		cmocka_unit_test_setup_teardown(a_preempted_process_leaves_more_than_a_tick, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
