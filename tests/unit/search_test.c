/* search_test.c - the number of entries up to a key: none, equal keys, and every place between */
#include "base/search.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct entry {
	uint64_t start;
	char name[4];
};

static void counts_the_entries_up_to_a_key(void **state)
{
	const struct entry entries[] = {{.start = 3}, {.start = 5}, {.start = 5}, {.start = 9}};
	const size_t counts[] = {0, 0, 0, 1, 1, 3, 3, 3, 3, 4, 4};

	(void)state;
	for (uint64_t key = 0; key < sizeof(counts) / sizeof(counts[0]); key++)
		assert_int_equal(search_up_to(entries, 4, sizeof(entries[0]), key), counts[key]);
	assert_int_equal(search_up_to(entries, 4, sizeof(entries[0]), UINT64_MAX), 4);
}

static void an_empty_array_has_none(void **state)
{
	(void)state;
	assert_int_equal(search_up_to(NULL, 0, sizeof(struct entry), UINT64_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_the_entries_up_to_a_key),
		cmocka_unit_test(an_empty_array_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
