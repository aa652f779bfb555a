/* intern_test.c - one copy of each string */
#include "base/intern.h"

#include "tests/unit/failing_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void equal_strings_give_one_pointer(void **state)
{
	struct intern table = {0};
	char other[] = "main";
	const char *name = intern_string(&table, "main");

	(void)state;
	assert_string_equal(name, "main");
	assert_ptr_not_equal(name, other);
	assert_ptr_equal(intern_string(&table, other), name);
	assert_ptr_equal(intern_bytes(&table, "mainly", 4), name);
	intern_release(&table);
}

static void a_prefix_is_another_string(void **state)
{
	struct intern table = {0};
	const char *whole = intern_string(&table, "operator+");
	const char *part = intern_bytes(&table, "operator+", 8);

	(void)state;
	assert_ptr_not_equal(part, whole);
	assert_string_equal(part, "operator");
	assert_string_equal(intern_string(&table, ""), "");
	intern_release(&table);
}

static void addresses_stay_while_the_table_grows(void **state)
{
	enum { N = 20000 };
	static const char *names[N];
	struct intern table = {0};
	char text[32];

	(void)state;
	for (unsigned i = 0; i < N; i++) {
		(void)snprintf(text, sizeof(text), "function_%u", i);
		names[i] = intern_string(&table, text);
		assert_non_null(names[i]);
	}
	for (unsigned i = 0; i < N; i++) {
		(void)snprintf(text, sizeof(text), "function_%u", i);
		assert_string_equal(names[i], text);
		assert_ptr_equal(intern_string(&table, text), names[i]);
	}
	intern_release(&table);
	assert_non_null(intern_string(&table, "usable again"));
	intern_release(&table);
}

/* Fills a table, and several of its chunks, while the Nth allocation fails; what was given stays
 * right. */
static bool survives_failure(unsigned n)
{
	struct intern table = {0};
	char text[512];
	bool failed;

	memory_fail_at(n);
	for (unsigned i = 0; i < 400; i++) {
		const char *name;

		(void)snprintf(text, sizeof(text), "name %400u", i);
		name = intern_string(&table, text);
		if (!name)
			name = intern_string(&table, text);
		assert_string_equal(name, text);
	}
	failed = memory_has_failed();
	memory_fail_at(0);
	assert_string_equal(intern_string(&table, text), text);
	intern_release(&table);
	return failed;
}

static void survives_every_failed_allocation(void **state)
{
	(void)state;
	assert_true(memory_fail_each(survives_failure) > 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_give_one_pointer),
		cmocka_unit_test(a_prefix_is_another_string),
		cmocka_unit_test(addresses_stay_while_the_table_grows),
		cmocka_unit_test(survives_every_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
