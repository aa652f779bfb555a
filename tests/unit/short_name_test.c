/* short_name_test.c - long names in narrow terminals */
#include "flamescope/draw/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *name, size_t columns, const char *expected)
{
	struct buf buf;

	buf_init(&buf, 1 << 20);
	short_name(&buf, name, columns);
	assert_string_equal(buf_text(&buf), expected);
	buf_release(&buf);
}

static void what_fits_stays(void **state)
{
	(void)state;
	check("std::map<int, int>::find", 24, "std::map<int, int>::find");
	check("std::map<int, int>::find", 0, "std::map<int, int>::find");
	check("", 5, "");
}

static void arguments_of_templates_go_first(void **state)
{
	(void)state;
	check("std::map<int, int>::find", 23, "std::map<..>::find");
	check("std::map<a<b>, c>::at<d<e>>", 26, "std::map<..>::at<..>");
	check("<alloc::Vec<T> as Clone>::clone", 30, "<..>::clone");
	check("f<int>::operator<<", 17, "f<..>::operator<<");
	check("std::operator< <char, b>", 23, "std::operator< <..>");
	check("call<fn(a) -> b>::x", 18, "call<..>::x");
}

static void then_goes_the_end(void **state)
{
	(void)state;
	check("a_very_long_name", 10, "a_very_l..");
	check("outer::map<int>::find_it", 13, "outer::map<..");
	check("gr\xc3\xb6\xc3\x9f"
	      "er_als_vier",
	      6, "gr\xc3\xb6\xc3\x9f..");
}

static void brackets_that_do_not_pair_are_no_arguments(void **state)
{
	(void)state;
	check("less<than the rest of it", 10, "less<tha..");
	check("more>than the rest of it", 10, "more>tha..");
}

static void control_characters_are_not_passed_on(void **state)
{
	(void)state;
	check("a\x1b[31mvery<long>name", 18, "a\xef\xbf\xbd[31mvery<..>name");
	check("a\x1b[31mvery<long>name", 5, "a\xef\xbf\xbd[..");
}

static void a_name_of_a_megabyte_is_cut(void **state)
{
	size_t len = 1 << 20;
	char *name = malloc(len + 1);

	(void)state;
	assert_non_null(name);
	memset(name, '<', len);
	name[len] = '\0';
	check(name, 8, "<<<<<<..");
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_stays),
		cmocka_unit_test(arguments_of_templates_go_first),
		cmocka_unit_test(then_goes_the_end),
		cmocka_unit_test(brackets_that_do_not_pair_are_no_arguments),
		cmocka_unit_test(control_characters_are_not_passed_on),
		cmocka_unit_test(a_name_of_a_megabyte_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
