/* file_name_test.c - templates of file names */
#include "output/files/internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct file_name name_of(const char *pattern)
{
	return (struct file_name){.pattern = pattern,
				  .comm = "my app.1",
				  .host = "box",
				  .pid = 42,
				  .time_ns = 1795256100000000000U};
}

static void expect(struct file_name name, const char *want)
{
	char path[PATH_MAX];

	assert_int_equal(file_name_make(&name, path, NULL), 0);
	assert_string_equal(path, want);
}

static void fills_in_every_letter(void **state)
{
	(void)state;
	expect(name_of("d/%c-%p-%h-%t-100%%.perf"), "d/myapp.1-42-box-20261121T101500Z-100%.perf");
}

static void numbers_come_before_the_ending(void **state)
{
	struct file_name name = name_of("x.perf");

	(void)state;
	expect(name, "x.perf");
	name.number = 1;
	expect(name, "x.0001.perf");
	name.number = 12345;
	expect(name, "x.12345.perf");
	name.copy = 2;
	expect(name, "x-2.12345.perf");
	name.pattern = "d.ir/x";
	expect(name, "d.ir/x-2.12345");
	name.pattern = "%n/x.perf";
	expect(name, "12345/x-2.perf");
	name.pattern = ".hidden";
	name.copy = 0;
	expect(name, ".hidden.12345");
	name.pattern = "%%n.perf";
	expect(name, "%n.12345.perf");
}

static void a_name_never_leaves_its_directory(void **state)
{
	struct file_name name = name_of("%c/x");

	(void)state;
	name.comm = "../..";
	expect(name, "unnamed/x");
	name.comm = "/etc/pass wd";
	expect(name, "etcpasswd/x");
	name.comm = "..\n\xff";
	expect(name, "unnamed/x");
	name.comm = NULL;
	expect(name, "unnamed/x");
	name.comm = "--rf-x.y";
	expect(name, "rf-x.y/x");
	name.pattern = "%h.perf";
	name.host = "-.-";
	expect(name, "unnamed.perf");
}

static void refuses_letters_that_it_does_not_know(void **state)
{
	static const char *const patterns[] = {"x.%q", "x.%", "%", "%%%", "%N"};

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct file_name name = name_of(patterns[i]);
		struct err err = {0};
		char path[PATH_MAX];

		assert_int_equal(file_name_make(&name, path, &err), -EINVAL);
		assert_non_null(strstr(err.text, patterns[i]));
	}
}

static void refuses_what_is_no_name(void **state)
{
	static char longest[2 * PATH_MAX];
	struct file_name name = name_of("");
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(file_name_make(&name, path, NULL), -ENOENT);
	memset(longest, 'x', sizeof(longest) - 1);
	name.pattern = longest;
	assert_int_equal(file_name_make(&name, path, NULL), -ENAMETOOLONG);
	longest[PATH_MAX - 2] = '\0';
	name.number = 1;
	assert_int_equal(file_name_make(&name, path, NULL), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_in_every_letter),
		cmocka_unit_test(numbers_come_before_the_ending),
		cmocka_unit_test(a_name_never_leaves_its_directory),
		cmocka_unit_test(refuses_letters_that_it_does_not_know),
		cmocka_unit_test(refuses_what_is_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
