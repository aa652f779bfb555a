/* map_test.c - a hash map from 64-bit keys to pointers */
#include "base/map.h"

#include "state_fixture.h"
#include "tests/unit/failing_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_KEYS = 20000, N_MANY = 200000 };

static int values[N_KEYS];

/* Keys that differ in few bits, high and low: pcs and addresses do. */
static uint64_t key_of(unsigned i)
{
	return ((uint64_t)(i & 0xff) << 56) | ((uint64_t)i << 4);
}

static void an_empty_map_has_nothing(void **state)
{
	struct map *map = *state;

	assert_null(map_get(map, 0));
	assert_null(map_remove(map, 0));
	assert_int_equal(map_count(map), 0);
}

static void gives_back_every_value(void **state)
{
	struct map *map = *state;

	for (unsigned i = 0; i < N_KEYS; i++)
		assert_int_equal(map_put(map, key_of(i), &values[i]), 0);
	assert_int_equal(map_count(map), N_KEYS);
	for (unsigned i = 0; i < N_KEYS; i++)
		assert_ptr_equal(map_get(map, key_of(i)), &values[i]);
	assert_null(map_get(map, key_of(0) + 1));
	map_release(map);
	assert_int_equal(map_count(map), 0);
}

static void has_room_for_many(void **state)
{
	struct map *map = *state;

	for (uint64_t i = 1; i <= N_MANY; i++)
		assert_int_equal(map_put(map, i, &values[0]), 0);
	assert_int_equal(map_count(map), N_MANY);
}

static void a_second_put_replaces_the_value(void **state)
{
	struct map *map = *state;

	assert_int_equal(map_put(map, 7, &values[0]), 0);
	assert_int_equal(map_put(map, 7, &values[1]), 0);
	assert_int_equal(map_count(map), 1);
	assert_ptr_equal(map_get(map, 7), &values[1]);
}

static void forgets_only_what_was_removed(void **state)
{
	struct map *map = *state;

	for (unsigned i = 0; i < N_KEYS; i++)
		assert_int_equal(map_put(map, key_of(i), &values[i]), 0);
	for (unsigned i = 0; i < N_KEYS; i += 3)
		assert_ptr_equal(map_remove(map, key_of(i)), &values[i]);
	for (unsigned i = 0; i < N_KEYS; i++)
		assert_ptr_equal(map_get(map, key_of(i)), i % 3 ? &values[i] : NULL);
}

struct visits {
	struct map *map;
	unsigned n;
	bool remove;
};

static void count_visit(void *context, uint64_t key, void *value)
{
	struct visits *visits = context;

	assert_in_range((uintptr_t)value, (uintptr_t)values, (uintptr_t)(values + N_KEYS));
	if (visits->remove)
		assert_ptr_equal(map_remove(visits->map, key), value);
	visits->n++;
}

static void a_visit_may_remove_its_key(void **state)
{
	struct map *map = *state;
	struct visits visits = {.map = map};

	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(map_put(map, key_of(i), &values[i]), 0);
	map_each(map, count_visit, &visits);
	assert_int_equal(visits.n, 100);
	visits.remove = true;
	map_each(map, count_visit, &visits);
	assert_int_equal(visits.n, 200);
	assert_int_equal(map_count(map), 0);
}

/* Fills a map while the Nth allocation fails; every put that failed has changed nothing. */
static bool survives_failure(unsigned n)
{
	struct map map = {0};
	bool failed;

	memory_fail_at(n);
	for (unsigned i = 0; i < 400; i++) {
		int r = map_put(&map, key_of(i), &values[i]);

		assert_true(r == 0 || r == -ENOMEM);
		assert_ptr_equal(map_get(&map, key_of(i)), r == 0 ? &values[i] : NULL);
		assert_int_equal(map_count(&map), r == 0 ? i + 1 : i);
		if (r == -ENOMEM)
			assert_int_equal(map_put(&map, key_of(i), &values[i]), 0);
	}
	failed = memory_has_failed();
	memory_fail_at(0);
	for (unsigned i = 0; i < 400; i++)
		assert_ptr_equal(map_get(&map, key_of(i)), &values[i]);
	map_release(&map);
	return failed;
}

static void survives_every_failed_allocation(void **state)
{
	(void)state;
	assert_true(memory_fail_each(survives_failure) > 399);
}

STATE_FIXTURE(map, map, map_release(map))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(an_empty_map_has_nothing),
		own_test(gives_back_every_value),
		own_test(has_room_for_many),
		own_test(a_second_put_replaces_the_value),
		own_test(forgets_only_what_was_removed),
		own_test(a_visit_may_remove_its_key),
		cmocka_unit_test(survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
