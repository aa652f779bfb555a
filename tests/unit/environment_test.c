/* environment_test.c - the agent goes out of an environment and into it without a trace */
#include "sampler/agent/environment.h"

#include "sampler/agent/agent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct agent agent = {.socket = "/run/wick/socket", .preload = "/run/wick/libwick-agent.so"};

#define SOCKET  "WICK_SOCKET=/run/wick/socket"
#define PRELOAD "LD_PRELOAD=/run/wick/libwick-agent.so"

enum { ENTRIES = 8 };

/* Writable copies of ENTRIES, as exec makes them, and what stands behind them. */
static void hides(const char *const *entries, const char *const *expected)
{
	char *envp[ENTRIES + 1] = {NULL};
	char *copies[ENTRIES] = {NULL};
	size_t n = 0;

	for (; entries[n]; n++) {
		copies[n] = strdup(entries[n]);
		envp[n] = copies[n];
	}
	environment_hide(envp);
	for (size_t i = 0; expected[i] || envp[i]; i++) {
		assert_non_null(expected[i]);
		assert_non_null(envp[i]);
		assert_string_equal(envp[i], expected[i]);
	}
	assert_null(envp[n]);
	for (size_t i = 0; i < n; i++)
		free(copies[i]);
}

static void hides_what_wick_put_in(void **state)
{
	(void)state;
	hides((const char *[]){"A=1", PRELOAD, "B=2", SOCKET, "C", NULL},
	      (const char *[]){"A=1", "B=2", "C", NULL});
	hides((const char *[]){PRELOAD, SOCKET, NULL}, (const char *[]){NULL});
}

static void leaves_the_user_s_value_in_its_place(void **state)
{
	(void)state;
	hides((const char *[]){"A=1", PRELOAD ":x.so", "B=2", SOCKET, NULL},
	      (const char *[]){"A=1", "LD_PRELOAD=x.so", "B=2", NULL});
	hides((const char *[]){"LD_PRELOAD=other.so", "WICK_SOCKETS=1", NULL},
	      (const char *[]){"LD_PRELOAD=other.so", "WICK_SOCKETS=1", NULL});
}

/* Programs find the auxiliary vector behind the NULL; a pair of type 1 is to be ignored. */
static void leaves_a_pair_to_ignore_behind_the_end(void **state)
{
	char a[] = "A=1", preload[] = PRELOAD, socket[] = SOCKET;
	char *envp[] = {a, preload, socket, NULL, (char *)33, (char *)44};

	(void)state;
	environment_hide(envp);
	assert_ptr_equal(envp[0], a);
	assert_null(envp[1]);
	assert_int_equal((uintptr_t)envp[2], 1);
	assert_null(envp[3]);
	assert_int_equal((uintptr_t)envp[4], 33);
}

static void comes_back(const char *const *entries, const char *asan)
{
	size_t bytes = environment_bytes((char *const *)(uintptr_t)entries, asan);
	void *block = malloc(bytes); /* exactly, so that ASan sees one more */
	char **built = environment_build((char *const *)(uintptr_t)entries, asan, block);
	size_t n = 0;

	assert_non_null(environment_get(built, "WICK_SOCKET"));
	assert_non_null(strstr(environment_get(built, "LD_PRELOAD"), agent.preload));
	environment_hide(built);
	for (; entries[n]; n++)
		assert_string_equal(built[n], entries[n]);
	assert_null(built[n]);
	free(block);
}

static void gives_back_the_environment_that_it_built(void **state)
{
	static const char *const asans[] = {"", "libasan.so.8"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		comes_back((const char *[]){NULL}, asans[i]);
		comes_back((const char *[]){"A=1", "B=", NULL}, asans[i]);
		comes_back((const char *[]){"A=1", "LD_PRELOAD=x.so", "B=", NULL}, asans[i]);
		comes_back((const char *[]){"LD_PRELOAD=", "B=", NULL}, asans[i]);
		comes_back((const char *[]){"B=", "LD_PRELOAD=libasan.so.8:y", NULL}, asans[i]);
	}
}

static void takes_no_environment_for_an_empty_one(void **state)
{
	void *block = malloc(environment_bytes(NULL, ""));
	char **built = environment_build(NULL, "", block);

	(void)state;
	assert_string_equal(built[0], PRELOAD);
	assert_string_equal(built[1], SOCKET);
	assert_null(built[2]);
	environment_hide(NULL);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hides_what_wick_put_in),
		cmocka_unit_test(leaves_the_user_s_value_in_its_place),
		cmocka_unit_test(leaves_a_pair_to_ignore_behind_the_end),
		cmocka_unit_test(gives_back_the_environment_that_it_built),
		cmocka_unit_test(takes_no_environment_for_an_empty_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
