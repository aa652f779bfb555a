/* start_offset_test.c - images begin all over a period, and their sum is known better than by
 * chance */
#include "sampler/collector/process/start_offset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS = 16, BLOCKS = 64 };

#define PERIOD UINT64_C(5025125)

struct fixture {
	struct start_offset offset;
	struct ring_header *header;
	uint64_t missed_ns; /* that the image begun last has taken over */
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

	start_offset_begin(&fixture->offset, &process);
	fixture->missed_ns = process.missed_ns;
	if (!process.missed_ns)
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

static void nobody_has_a_part_of_its_own(void **state)
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

	fixture->offset.missed_ns = (int64_t)(3 * PERIOD + PERIOD / 2);
	(void)begin(fixture);
	assert_int_equal(fixture->missed_ns, 3 * PERIOD);
	assert_int_equal(fixture->header->residual_periods, 2);
	assert_int_equal(fixture->header->start_offset_ns, PERIOD - 1);
	(void)begin(fixture);
	assert_int_equal(fixture->missed_ns, 0);
	assert_int_equal(fixture->header->residual_periods, 0);
}

/* Images that end before a tick pass all of it on, however many. */
static void what_nobody_gave_stays_owed(void **state)
{
	struct fixture *fixture = *state;

	fixture->offset.missed_ns = (int64_t)(3 * PERIOD);
	for (int i = 0; i < 100; i++) {
		struct process process = {.began_ns = PERIOD, .ring.header = fixture->header};

		start_offset_begin(&fixture->offset, &process);
		assert_int_equal(process.missed_ns, 3 * PERIOD);
		atomic_store(&fixture->header->cpu_ns, 1);
		start_offset_end(&fixture->offset, &process);
	}
}

/* Put off between two ticks, again and again, it never meets one; what it never gave is not all
 * that. */
static void who_is_put_off_leaves_more_than_a_tick(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t tick_ns = 4000000;
	const struct {
		uint64_t used;
		uint64_t left;
	} images[] = {{20000000, 3 * PERIOD}, {60 * PERIOD, 2 * PERIOD + 10 * tick_ns}};

	fixture->offset.tick_ns = tick_ns;
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		struct process process = {.began_ns = PERIOD,
					  .charged_ns = images[i].used,
					  .ring.header = fixture->header};

		fixture->offset.missed_ns = 0;
		atomic_store(&fixture->header->cpu_ns, images[i].used);
		start_offset_end(&fixture->offset, &process);
		assert_int_equal(fixture->offset.missed_ns, images[i].left);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sixteen_in_a_row_begin_in_sixteen_parts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(nobody_has_a_part_of_its_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_part_of_a_period_is_counted_as_that, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			what_was_missed_is_due_at_the_first_tick_of_the_next, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_nobody_gave_stays_owed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_is_put_off_leaves_more_than_a_tick, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
