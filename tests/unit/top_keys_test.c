/* top_keys_test.c - what the keys of `wick top` do */
#include "tools/top/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE = 10 };

static enum top_action press(struct top_keys *keys, const char *text)
{
	enum top_action action = TOP_NOTHING;

	for (; *text; text++)
		action = top_keys_press(keys, (unsigned char)*text, PAGE);
	return action;
}

static void numbers_sort(void **state)
{
	struct top_keys keys = {.scroll = 5};

	(void)state;
	assert_int_equal(press(&keys, "3"), TOP_DRAW);
	assert_int_equal(keys.order, TOP_BY_SELF_SUM);
	assert_int_equal(keys.scroll, 0);
	assert_string_equal(top_keys_order_name(&keys), "self in all");
	assert_int_equal(press(&keys, "t4"), TOP_DRAW);
	assert_string_equal(top_keys_order_name(&keys), "name");
	assert_int_equal(press(&keys, "5"), TOP_NOTHING);
	assert_int_equal(press(&keys, "x"), TOP_NOTHING);
}

static void switches_go_on_and_off(void **state)
{
	struct top_keys keys = {0};

	(void)state;
	(void)press(&keys, "fth");
	assert_true(keys.frozen && keys.threads && keys.no_heat);
	(void)press(&keys, " th");
	assert_false(keys.frozen || keys.threads || keys.no_heat);
	assert_int_equal(press(&keys, "r"), TOP_RESET);
}

static void any_key_leaves_the_help(void **state)
{
	struct top_keys keys = {0};

	(void)state;
	(void)press(&keys, "?");
	assert_true(keys.help);
	assert_int_equal(top_keys_press(&keys, TOP_KEY_RESIZE, PAGE), TOP_DRAW);
	assert_true(keys.help);
	assert_int_equal(press(&keys, "q"), TOP_DRAW);
	assert_false(keys.help || keys.leaving);
}

static void a_filter_holds_while_it_is_typed(void **state)
{
	struct top_keys keys = {0};

	(void)state;
	(void)press(&keys, "/ab");
	assert_true(keys.typing);
	assert_string_equal(keys.filter, "ab");
	assert_true(pattern_matches(keys.pattern, "cabs", 4));
	(void)press(&keys, "\x7f(");
	assert_string_equal(keys.typed, "a(");
	assert_string_equal(keys.filter, "a"); /* the last that made sense */
	assert_true(keys.message[0]);
	(void)top_keys_press(&keys, TOP_KEY_BACKSPACE, PAGE);
	assert_false(keys.message[0]);
	(void)press(&keys, "q\r");
	assert_false(keys.typing);
	assert_string_equal(keys.filter, "aq");
	assert_int_equal(top_keys_press(&keys, TOP_KEY_ESCAPE, PAGE), TOP_DRAW);
	assert_string_equal(keys.filter, "");
	assert_null(keys.pattern);
	(void)press(&keys, "/x");
	(void)top_keys_press(&keys, TOP_KEY_ESCAPE, PAGE);
	assert_false(keys.typing || keys.pattern);
	top_keys_release(&keys);
}

static void a_filter_has_a_limit(void **state)
{
	struct top_keys keys = {0};

	(void)state;
	(void)press(&keys, "/");
	for (int i = 0; i < 1000; i++)
		(void)press(&keys, "a");
	assert_int_equal(strlen(keys.filter), TOP_FILTER_BYTES - 1);
	top_keys_release(&keys);
}

static void the_starter_of_the_program_is_used(void **state)
{
	struct top_keys keys = {.started = true};

	(void)state;
	assert_int_equal(press(&keys, "q"), TOP_DRAW);
	assert_true(keys.leaving);
	assert_int_equal(press(&keys, "n"), TOP_DRAW);
	assert_false(keys.leaving);
	assert_int_equal(press(&keys, "ql"), TOP_LEAVE);
	assert_int_equal(press(&keys, "qq"), TOP_LEAVE);
	assert_int_equal(press(&keys, "qe"), TOP_END_CMD);
	keys.started = false;
	assert_int_equal(press(&keys, "q"), TOP_LEAVE);
}

static void scrolling_stops_at_the_top(void **state)
{
	struct top_keys keys = {0};

	(void)state;
	(void)top_keys_press(&keys, TOP_KEY_UP, PAGE);
	assert_int_equal(keys.scroll, 0);
	(void)press(&keys, "jj");
	(void)top_keys_press(&keys, TOP_KEY_PAGE_DOWN, PAGE);
	assert_int_equal(keys.scroll, PAGE + 2);
	(void)press(&keys, "k");
	(void)top_keys_press(&keys, TOP_KEY_PAGE_UP, PAGE);
	assert_int_equal(keys.scroll, 1);
	(void)press(&keys, "G");
	assert_true(keys.scroll > 1000000);
	(void)press(&keys, "jg");
	assert_int_equal(keys.scroll, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_sort),
		cmocka_unit_test(switches_go_on_and_off),
		cmocka_unit_test(any_key_leaves_the_help),
		cmocka_unit_test(a_filter_holds_while_it_is_typed),
		cmocka_unit_test(a_filter_has_a_limit),
		cmocka_unit_test(the_starter_of_the_program_is_used),
		cmocka_unit_test(scrolling_stops_at_the_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
