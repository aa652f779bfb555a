/* err_test.c - messages of failures */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void names_the_thing_and_the_reason(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(err_set(&err, EACCES, "open '%s'", "/proc/7/maps"), -EACCES);
	assert_int_equal(err.code, EACCES);
	assert_string_equal(err.text, "open '/proc/7/maps': Permission denied");
}

static void without_a_code_it_is_invalid_and_gives_no_reason(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(err_set(&err, 0, "a rate of %d", 0), -EINVAL);
	assert_int_equal(err.code, EINVAL);
	assert_string_equal(err.text, "a rate of 0");
}

static void a_second_failure_replaces_the_first(void **state)
{
	struct err err = {0};

	(void)state;
	(void)err_set(&err, ENOENT, "a rather long first message");
	(void)err_set(&err, EIO, "b");
	assert_string_equal(err.text, "b: Input/output error");
}

static void a_hint_follows_the_message(void **state)
{
	struct err err = {0};

	(void)state;
	(void)err_set(&err, EPERM, "attach to %d", 7);
	err_hint(&err, "sysctl %s=0", "kernel.yama.ptrace_scope");
	assert_string_equal(err.text, "attach to 7: Operation not permitted, try: "
				      "sysctl kernel.yama.ptrace_scope=0");
}

static void cuts_what_is_too_long(void **state)
{
	struct err err = {0};
	char path[2 * sizeof(err.text)];

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(err_set(&err, ENAMETOOLONG, "open '%s'", path), -ENAMETOOLONG);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	err_hint(&err, "%s", path);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(err.code, ENAMETOOLONG);
}

static void works_without_a_listener(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, ENOENT, "open"), -ENOENT);
	assert_int_equal(err_set(NULL, 0, "open"), -EINVAL);
	err_hint(NULL, "nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_the_thing_and_the_reason),
		cmocka_unit_test(without_a_code_it_is_invalid_and_gives_no_reason),
		cmocka_unit_test(a_second_failure_replaces_the_first),
		cmocka_unit_test(a_hint_follows_the_message),
		cmocka_unit_test(cuts_what_is_too_long),
		cmocka_unit_test(works_without_a_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
