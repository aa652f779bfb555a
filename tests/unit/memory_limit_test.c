/* memory_limit_test.c - names have one budget, which no part takes whole */
#include "symbolize/bounds/memory_limit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { LIMIT = 1 << 20 };

static int set_up(void **state)
{
	(void)state;
	memory_set_limit(LIMIT);
	return 0;
}

static void a_claim_grows_and_shrinks(void **state)
{
	struct memory_claim claim = {.use = MEMORY_FILES};

	(void)state;
	assert_int_equal(memory_claim(&claim, LIMIT / 4), 0);
	assert_int_equal(memory_claim(&claim, LIMIT / 2), 0);
	assert_int_equal(memory_claim(&claim, 0), 0);
	assert_int_equal(memory_claim(&claim, LIMIT / 2), 0);
	assert_int_equal(memory_claim(&claim, 0), 0);
}

static void a_refused_claim_is_what_it_was(void **state)
{
	struct memory_claim claim = {.use = MEMORY_FILES};

	(void)state;
	assert_int_equal(memory_claim(&claim, LIMIT / 4), 0);
	assert_int_equal(memory_claim(&claim, LIMIT / 2 + 1), -EFBIG);
	assert_int_equal(claim.bytes, LIMIT / 4);
	assert_int_equal(memory_claim(&claim, 0), 0);
}

static void one_process_leaves_memory_for_others(void **state)
{
	struct memory_claim greedy = {.use = MEMORY_JIT};
	struct memory_claim other = {.use = MEMORY_JIT};

	(void)state;
	assert_int_equal(memory_claim(&greedy, LIMIT / 4 + 1), -EFBIG);
	assert_int_equal(memory_claim(&greedy, LIMIT / 4), 0);
	assert_int_equal(memory_claim(&other, LIMIT / 4), 0);
	assert_int_equal(memory_claim(&greedy, 0), 0);
	assert_int_equal(memory_claim(&other, 0), 0);
}

static void made_code_leaves_memory_for_files(void **state)
{
	struct memory_claim claims[4] = {
		{MEMORY_JIT, 0}, {MEMORY_JIT, 0}, {MEMORY_JIT, 0}, {MEMORY_JIT, 0}};
	struct memory_claim file = {.use = MEMORY_FILES};

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(memory_claim(&claims[i], LIMIT / 4), 0);
	assert_int_equal(memory_claim(&claims[3], 1), -EFBIG);
	assert_int_equal(memory_claim(&file, LIMIT / 4), 0);
	assert_int_equal(memory_claim(&file, LIMIT / 4 + 1), -EFBIG); /* of all */
	for (int i = 0; i < 3; i++)
		assert_int_equal(memory_claim(&claims[i], 0), 0);
	assert_int_equal(memory_claim(&file, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_claim_grows_and_shrinks, set_up),
		cmocka_unit_test_setup(a_refused_claim_is_what_it_was, set_up),
		cmocka_unit_test_setup(one_process_leaves_memory_for_others, set_up),
		cmocka_unit_test_setup(made_code_leaves_memory_for_files, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
