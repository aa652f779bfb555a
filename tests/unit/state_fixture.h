/* state_fixture.h - a struct of zeroes for each test, released after it also when the test fails */
#ifndef UNIT_STATE_FIXTURE_H
#define UNIT_STATE_FIXTURE_H

#include <stdlib.h>

/* The set-up and the tear-down of a program's own_test()s: *STATE is a struct TYPE, which is called
 * NAME in RELEASE, the call that ends its use. */
#define STATE_FIXTURE(type, name, release)                                                         \
	static int state_begin(void **state)                                                       \
	{                                                                                          \
		*state = calloc(1, sizeof(struct type));                                           \
		return *state ? 0 : -1;                                                            \
	}                                                                                          \
                                                                                                   \
	static int state_end(void **state)                                                         \
	{                                                                                          \
		struct type *name = *state; /* NOLINT(bugprone-macro-parentheses) */               \
                                                                                                   \
		release;                                                                           \
		free(name);                                                                        \
		return 0;                                                                          \
	}

#define own_test(test) cmocka_unit_test_setup_teardown(test, state_begin, state_end)

#endif
