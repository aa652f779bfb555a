/* address_cache_test.c - entries by address, few and many, and addresses chosen to collide */
#include "symbolize/address_cache.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MANY = 20000 };

static int add(struct address_cache *cache, uint64_t vaddr, uint64_t start)
{
	struct address_entry *entry = address_entry_new(1);
	int r;

	assert_non_null(entry);
	entry->start = start;
	r = address_cache_add(cache, vaddr, entry);
	if (r < 0)
		free(entry);
	return r;
}

/* 0: there is none. */
static uint64_t start_at(const struct address_cache *cache, uint64_t vaddr)
{
	bool requested;
	const struct address_entry *entry = address_cache_find(cache, vaddr, &requested);

	return entry ? entry->start : 0;
}

static void finds_each_of_many_entries(void **state)
{
	struct address_cache cache = {0};

	(void)state;
	assert_int_equal(start_at(&cache, 0), 0);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(add(&cache, i * i, i + 1), 0);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(start_at(&cache, i * i), i + 1);
	assert_int_equal(start_at(&cache, 2), 0);
	address_cache_release(&cache);
}

static void a_later_entry_replaces_an_earlier_one(void **state)
{
	struct address_cache cache = {0};

	(void)state;
	assert_int_equal(add(&cache, 7, 1), 0);
	assert_int_equal(add(&cache, 7, 2), 0);
	assert_int_equal(start_at(&cache, 7), 2);
	assert_int_equal(cache.n, 1);
	address_cache_release(&cache);
}

static void requested_until_it_is_added(void **state)
{
	struct address_cache cache = {0};
	uint64_t *list;
	bool requested;

	(void)state;
	assert_int_equal(address_cache_request(&cache, 7), 0);
	assert_null(address_cache_find(&cache, 7, &requested));
	assert_true(requested);
	assert_int_equal(address_cache_take_requests(&cache, &list), 1);
	assert_int_equal(list[0], 7);
	free(list);
	assert_null(address_cache_find(&cache, 7, &requested));
	assert_true(requested); /* it is being looked up */
	assert_int_equal(add(&cache, 7, 3), 0);
	assert_int_equal(start_at(&cache, 7), 3);
	assert_int_equal(address_cache_take_requests(&cache, &list), 0);
	free(list);
	address_cache_release(&cache);
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
	struct address_cache cache = {0};
	uint64_t n_kept = 0;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		int r = add(&cache, hashed_to(i), i + 1);

		assert_true(r == 0 || r == -E2BIG);
		n_kept += r == 0;
	}
	assert_in_range(n_kept, 1, 1000);
	assert_int_equal(add(&cache, hashed_to(UINT64_C(1) << 63), 5), 0);
	assert_int_equal(start_at(&cache, hashed_to(UINT64_C(1) << 63)), 5);
	address_cache_release(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_of_many_entries),
		cmocka_unit_test(a_later_entry_replaces_an_earlier_one),
		cmocka_unit_test(requested_until_it_is_added),
		cmocka_unit_test(chosen_addresses_cannot_make_it_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
