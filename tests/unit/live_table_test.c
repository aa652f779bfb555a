/* live_table_test.c - the hooks' table of live samples: full, emptied, in a child */
#include "child_fixture.h"
#include "sampler/hooks/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Blocks as a heap has them, 1008 bytes apart. */
static const void *block(uint32_t i)
{
	return (const void *)(UINT64_C(0x555500001010) + i * UINT64_C(1008));
}

static void fill(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct live live = {.bytes = i, .amount = 2 * i};

		assert_true(live_add(block(i), &live));
	}
}

static void empty(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct live live;

		assert_true(live_maybe(block(i)));
		assert_true(live_remove(block(i), &live));
		assert_int_equal(live.bytes, i);
		assert_int_equal(live.amount, 2 * i);
		assert_false(live_remove(block(i), &live));
	}
}

static void finds_what_was_added_and_nothing_else(void **state)
{
	struct live live;
	uint32_t maybe = 0;

	(void)state;
	fill(1000);
	for (uint32_t i = 1000; i < 101000; i++) {
		maybe += live_maybe(block(i));
		assert_false(live_remove(block(i), &live));
		assert_int_equal(live_bytes(block(i)), 0);
	}
	assert_true(maybe < 2000); /* as many as a thousand counters of 131,072 explain */
	assert_int_equal(live_bytes(block(7)), 7);
	empty(1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_false(live_maybe(block(i)));
	assert_false(live_remove(NULL, &live));
}

/* Three quarters, where samples are 2^9 times as rare, still find a place each. */
static void gets_rarer_as_it_fills(void **state)
{
	const uint32_t quarter = LIVE_MAX / 4;

	(void)state;
	fill(2 * quarter - 1);
	assert_int_equal(live_shift(), 0);
	empty(2 * quarter - 1);
	fill(2 * quarter);
	assert_int_equal(live_shift(), 1);
	empty(2 * quarter);
	fill(3 * quarter);
	assert_int_equal(live_shift(), 9);
	empty(3 * quarter);
	assert_int_equal(live_shift(), 0);
}

static void refuses_what_has_no_place(void **state)
{
	const struct live live = {.bytes = 1};
	struct live found;
	uint32_t n = 0;
	uint32_t refused = 0;

	(void)state;
	for (uint32_t i = 0; i < 2 * LIVE_MAX; i++)
		n += live_add(block(i), &live);
	assert_true(n <= LIVE_MAX && n > LIVE_MAX / 10 * 9);
	for (uint32_t i = 0; i < 2 * LIVE_MAX; i++)
		refused += !live_remove(block(i), &found);
	assert_int_equal(n + refused, 2 * LIVE_MAX);
	assert_int_equal(live_shift(), 0);
}

static void is_empty_in_a_fork_child(void **state)
{
	struct live live;
	pid_t pid;

	(void)state;
	live_start();
	fill(LIVE_MAX / 2);
	pid = fork();
	if (pid == 0)
		_exit(live_remove(block(1), &live) || live_shift() != 0);
	assert_int_equal(child_status(pid), 0);
	empty(LIVE_MAX / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_added_and_nothing_else),
		cmocka_unit_test(gets_rarer_as_it_fills),
		cmocka_unit_test(refuses_what_has_no_place),
		cmocka_unit_test(is_empty_in_a_fork_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
