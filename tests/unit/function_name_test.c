/* function_name_test.c - copies that a compiler makes of a function, by their names */
#include "base/function_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_original(const char *name, const char *original)
{
	assert_int_equal(function_name_len(name), strlen(original));
	assert_memory_equal(name, original, strlen(original));
}

static void the_marks_of_copies_are_no_part_of_the_name(void **state)
{
	(void)state;
	assert_original("f", "f");
	assert_original("f.isra.0", "f");
	assert_original("f.cold", "f");
	assert_original("f.part.12.lto_priv.0", "f");
	assert_original("f.llvm.1234567890", "f");
	assert_original("a::B<int, long>::f.constprop.0.cold", "a::B<int, long>::f");
}

static void other_dots_are(void **state)
{
	static const char *const names[] = {"",          "f.func1", "f.0",           "f.parts",
					    "f.isra.0x", "main.go", "f.isra.0.more", ".cold",
					    "f."};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_original(names[i], names[i]);
	assert_original("f.part.x.part", "f.part.x");
}

/* 40,000 marks, looked at from each: 10 s and more. */
static void a_name_of_nothing_but_marks_takes_no_time(void **state)
{
	enum { N = 40000 };
	static char name[N * 5 + 2];

	(void)state;
	for (size_t i = 0; i < N; i++)
		memcpy(name + i * 5, ".cold", 5);
	name[sizeof(name) - 2] = 'x';
	assert_int_equal(function_name_len(name), sizeof(name) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_marks_of_copies_are_no_part_of_the_name),
		cmocka_unit_test(other_dots_are),
		cmocka_unit_test(a_name_of_nothing_but_marks_takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
