/* preload_test.c - what a user had in LD_PRELOAD comes back exactly */
#include "sampler/program/preload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char AGENT[] = "/run/wick.Xy/libwick-agent.so";
static const char ASAN[] = "libasan.so.8";

static void builds(const char *user, const char *asan, const char *expected)
{
	struct preload preload = {.agent = AGENT, .user = user, .asan = asan};
	char *value = malloc(preload_length(&preload)); /* exactly, so that ASan sees one more */

	assert_non_null(value);
	preload_build(&preload, value);
	assert_string_equal(value, expected);
	assert_true(strlen(value) < preload_length(&preload));
	free(value);
}

static void comes_back(const char *user, const char *asan)
{
	struct preload preload = {.agent = AGENT, .user = user, .asan = asan};
	const char *start = NULL;
	char value[256];
	size_t len = 0;
	int r;

	preload_build(&preload, value);
	r = preload_split(value, AGENT, &start, &len);
	assert_int_equal(r, user != NULL);
	if (!user)
		return;
	assert_int_equal(len, strlen(user));
	assert_memory_equal(start, user, len);
}

static void joins_with_and_without_a_user_s_value(void **state)
{
	(void)state;
	builds(NULL, NULL, "/run/wick.Xy/libwick-agent.so");
	builds("", NULL, "/run/wick.Xy/libwick-agent.so:");
	builds("a.so b.so", NULL, "/run/wick.Xy/libwick-agent.so:a.so b.so");
}

static void puts_asan_first(void **state)
{
	(void)state;
	builds(NULL, ASAN, "libasan.so.8:/run/wick.Xy/libwick-agent.so:");
	builds("a.so", ASAN, "libasan.so.8:/run/wick.Xy/libwick-agent.so::a.so");
	builds("/lib/libasan.so.8", ASAN, "/lib/libasan.so.8:/run/wick.Xy/libwick-agent.so");
}

static void gives_back_what_the_user_had(void **state)
{
	static const char *const users[] = {
		NULL, "",  "a.so",         "a.so:b.so",        ":a.so", "a.so:", "a b c",
		"::", " ", "libasan.so.8", "libasan.so.8:a.so"};

	(void)state;
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		comes_back(users[i], NULL);
		comes_back(users[i], "");
		comes_back(users[i], ASAN);
	}
}

static void leaves_a_value_without_the_agent_alone(void **state)
{
	const char *start;
	size_t len;

	(void)state;
	assert_int_equal(preload_split("", AGENT, &start, &len), -1);
	assert_int_equal(preload_split("a.so:b.so", AGENT, &start, &len), -1);
	assert_int_equal(preload_split("/run/wick.Xy/libwick-agent.so2", AGENT, &start, &len), -1);
	assert_int_equal(preload_split("x/run/wick.Xy/libwick-agent.so", AGENT, &start, &len), -1);
	assert_int_equal(preload_split("a.so", "", &start, &len), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_with_and_without_a_user_s_value),
		cmocka_unit_test(puts_asan_first),
		cmocka_unit_test(gives_back_what_the_user_had),
		cmocka_unit_test(leaves_a_value_without_the_agent_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
