/* answers_test.c - answers by address, few and many, and addresses that mean harm */
#include "symbolize/address_cache.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 20000 };

static int put(struct answers *answers, uint64_t vaddr, uint64_t start)
{
	struct answer *answer = answers_new(1);
	int r;

	assert_non_null(answer);
	answer->start = start;
	r = answers_put(answers, vaddr, answer);
	if (r < 0)
		free(answer);
	return r;
}

/* 0: there is none. */
static uint64_t start_at(const struct answers *answers, uint64_t vaddr)
{
	bool wanted;
	const struct answer *answer = answers_find(answers, vaddr, &wanted);

	return answer ? answer->start : 0;
}

static void finds_what_was_put_among_many(void **state)
{
	struct answers answers = {0};

	(void)state;
	assert_int_equal(start_at(&answers, 0), 0);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(put(&answers, i * i, i + 1), 0);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(start_at(&answers, i * i), i + 1);
	assert_int_equal(start_at(&answers, 2), 0);
	answers_release(&answers);
}

static void a_later_answer_stays(void **state)
{
	struct answers answers = {0};

	(void)state;
	assert_int_equal(put(&answers, 7, 1), 0);
	assert_int_equal(put(&answers, 7, 2), 0);
	assert_int_equal(start_at(&answers, 7), 2);
	assert_int_equal(answers.n, 1);
	answers_release(&answers);
}

static void wanted_until_it_is_put(void **state)
{
	struct answers answers = {0};
	uint64_t *list;
	bool wanted;

	(void)state;
	assert_int_equal(answers_want(&answers, 7), 0);
	assert_null(answers_find(&answers, 7, &wanted));
	assert_true(wanted);
	assert_int_equal(answers_take(&answers, &list), 1);
	assert_int_equal(list[0], 7);
	free(list);
	assert_null(answers_find(&answers, 7, &wanted));
	assert_true(wanted); /* it is being looked up */
	assert_int_equal(put(&answers, 7, 3), 0);
	assert_int_equal(start_at(&answers, 7), 3);
	assert_int_equal(answers_take(&answers, &list), 0);
	free(list);
	answers_release(&answers);
}

/* The inverse of the table's factor: such addresses have hashes that differ in the last bits. */
static uint64_t hashed_to(uint64_t hash)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t inverse = factor;

	for (int i = 0; i < 5; i++)
		inverse *= 2 - factor * inverse;
	return hash * inverse;
}

static void chosen_addresses_cannot_make_it_slow(void **state)
{
	struct answers answers = {0};
	uint64_t n_kept = 0;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		int r = put(&answers, hashed_to(i), i + 1);

		assert_true(r == 0 || r == -E2BIG);
		n_kept += r == 0;
	}
	assert_in_range(n_kept, 1, 1000);
	assert_int_equal(put(&answers, hashed_to(UINT64_C(1) << 63), 5), 0);
	assert_int_equal(start_at(&answers, hashed_to(UINT64_C(1) << 63)), 5);
	answers_release(&answers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_put_among_many),
		cmocka_unit_test(a_later_answer_stays),
		cmocka_unit_test(wanted_until_it_is_put),
		cmocka_unit_test(chosen_addresses_cannot_make_it_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
