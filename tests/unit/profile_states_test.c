/* profile_states_test.c - shares of states and waits, as `wick info` has them */
#include "tools/info/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 3 * PROFILE_MAX_SHARES };

struct fixture {
	struct profile_states states;
	struct intern names;
	struct buf text;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	buf_init(&fixture->text, 64 << 20);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	profile_states_release(&fixture->states);
	intern_release(&fixture->names);
	buf_release(&fixture->text);
	free(fixture);
	return 0;
}

static void add(struct fixture *fixture, uint64_t weight, const char *state, const char *wait,
		const char *object)
{
	struct perf_text_sample sample = {
		.head = {.period = weight},
		.facts = {.state = state, .wait = wait, .object = object},
	};

	profile_states_add(&fixture->states, &fixture->names, &sample);
}

static void add_some(struct fixture *fixture)
{
	add(fixture, 20, "running", NULL, NULL);
	add(fixture, 25, "sleeping", "futex", "futex:0x10");
	add(fixture, 15, "sleeping", "futex", "futex:0x20");
	add(fixture, 15, "sleeping", "futex", "futex:0x10");
	add(fixture, 20, "sleeping", "sleep", "");
	add(fixture, 5, "disk", "read", "/a\x1b[1m b");
}

static void shows_shares_by_weight(void **state)
{
	struct fixture *fixture = *state;

	add_some(fixture);
	profile_states_print(&fixture->states, &fixture->text);
	assert_string_equal(buf_text(&fixture->text),
			    "  states     75.0 %  sleeping\n"
			    "             20.0 %  running\n"
			    "             5.0 %  disk\n"
			    "  waits      55.0 %  futex\n"
			    "             20.0 %  sleep\n"
			    "             5.0 %  read\n"
			    "  waits on   40.0 %  futex  futex:0x10\n"
			    "             15.0 %  futex  futex:0x20\n"
			    "             5.0 %  read  /a\xef\xbf\xbd[1m b\n");
}

static void says_nothing_of_a_recording_with_one_state(void **state)
{
	struct fixture *fixture = *state;

	add(fixture, 20, "running", NULL, NULL);
	add(fixture, 20, "running", NULL, NULL);
	add(fixture, 20, NULL, NULL, NULL);
	profile_states_print(&fixture->states, &fixture->text);
	assert_string_equal(buf_text(&fixture->text), "");
	assert_int_equal(fixture->states.weight, 40);
}

static void gives_everything_as_json(void **state)
{
	struct fixture *fixture = *state;

	add_some(fixture);
	profile_states_print_json(&fixture->states, &fixture->text);
	assert_string_equal(
		buf_text(&fixture->text),
		",\"states\":["
		"{\"state\":\"sleeping\",\"samples\":4,\"weight\":75},"
		"{\"state\":\"running\",\"samples\":1,\"weight\":20},"
		"{\"state\":\"disk\",\"samples\":1,\"weight\":5}],"
		"\"waits\":["
		"{\"wait\":\"futex\",\"samples\":3,\"weight\":55},"
		"{\"wait\":\"sleep\",\"samples\":1,\"weight\":20},"
		"{\"wait\":\"read\",\"samples\":1,\"weight\":5}],"
		"\"objects\":["
		"{\"wait\":\"futex\",\"on\":\"futex:0x10\",\"samples\":2,\"weight\":40},"
		"{\"wait\":\"futex\",\"on\":\"futex:0x20\",\"samples\":1,\"weight\":15},"
		"{\"wait\":\"read\",\"on\":\"/a\\u001b[1m b\",\"samples\":1,\"weight\":5}]");
}

/* Objects beyond the limit are left out; what was waited in still adds up. */
static void many_objects_cost_no_more_memory(void **state)
{
	struct fixture *fixture = *state;
	char object[32];

	add(fixture, 1, "running", NULL, NULL);
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(object, sizeof(object), "futex:0x%x", i);
		add(fixture, 1, "sleeping", "futex", object);
	}
	add(fixture, MANY, "sleeping", "sleep", "5s");
	assert_true(fixture->states.n <= PROFILE_MAX_SHARES / 2 + 2);
	assert_int_equal(fixture->states.uncounted, 0);
	profile_states_print(&fixture->states, &fixture->text);
	assert_non_null(strstr(buf_text(&fixture->text), "  waits      50.0 %  futex\n"
							 "             50.0 %  sleep\n"));
	assert_non_null(strstr(buf_text(&fixture->text), " others\n"));
}

static void a_thousand_words_are_counted_as_lost(void **state)
{
	struct fixture *fixture = *state;
	char word[32];

	for (int i = 0; i < MANY; i++) {
		(void)snprintf(word, sizeof(word), "w%d", i);
		add(fixture, 1, "sleeping", word, NULL);
	}
	assert_int_equal(fixture->states.n, PROFILE_MAX_SHARES);
	assert_int_equal(fixture->states.uncounted, MANY - PROFILE_MAX_SHARES);
	assert_int_equal(fixture->states.weight, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(shows_shares_by_weight, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_nothing_of_a_recording_with_one_state, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(gives_everything_as_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_objects_cost_no_more_memory, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_thousand_words_are_counted_as_lost, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
