/* json_test.c - whatever a name holds, it is a string of JSON, and no markup */
#include "base/json.h"
#include "tests/unit/one_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *literal(const char *name)
{
	buf_clear(&text);
	json_add_string(&text, name);
	return buf_text(&text);
}

static void a_name_ends_no_string_and_opens_nothing(void **state)
{
	(void)state;
	assert_string_equal(literal("</script>\"\\"), "\"\\u003c/script\\u003e\\u0022\\u005c\"");
	assert_string_equal(literal("a & b, caf\xc3\xa9"), "\"a & b, caf\xc3\xa9\"");
	assert_string_equal(literal(""), "\"\"");
}

static void what_is_not_seen_is_escaped(void **state)
{
	/* a line separator, and a mark that turns what follows */
	static const char turned[] = {'\xe2', '\x80', '\xa8', '\xe2', '\x80', '\xae', '\0'};

	(void)state;
	assert_string_equal(literal("\x1b[1m\n\x7f"), "\"\\u001b[1m\\u000a\\u007f\"");
	assert_string_equal(literal(turned), "\"\\u2028\\u202e\"");
	/* a tag of plane 14, in the two units of UTF-16 */
	assert_string_equal(literal("\xf3\xa0\x81\xa1"), "\"\\udb40\\udc61\"");
}

static void bytes_that_are_no_utf8_are_marked(void **state)
{
	(void)state;
	/* a byte of none, a surrogate, an overlong form, and a sequence that the end cuts */
	assert_string_equal(literal("a\xff"), "\"a\\ufffd\"");
	assert_string_equal(literal("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
	assert_string_equal(literal("\xc0\xaf"), "\"\\ufffd\\ufffd\"");
	assert_string_equal(literal("x\xe2\x80"), "\"x\\ufffd\\ufffd\"");
}

static void members_have_commas_between_them(void **state)
{
	(void)state;
	buf_clear(&text);
	buf_add_char(&text, '{');
	json_add_text(&text, "name", "a\"b");
	json_add_number(&text, "most", UINT64_MAX);
	json_add_bool(&text, "cut", false);
	buf_add_char(&text, '}');
	assert_string_equal(buf_text(&text),
			    "{\"name\":\"a\\u0022b\",\"most\":18446744073709551615,\"cut\":false}");
}

static int64_t decimal(const char *number, int digits)
{
	int64_t value = 42;

	assert_true(json_decimal(number, digits, &value));
	return value;
}

static void numbers_are_decimals_of_any_size(void **state)
{
	int64_t value;

	(void)state;
	assert_int_equal(decimal(" 12", 0), 12);
	assert_int_equal(decimal("-0.0015", 6), -1500);
	assert_int_equal(decimal("1.5e3", 0), 1500);
	assert_int_equal(decimal("12.5e-1", 0), 1);
	assert_int_equal(decimal("2.5", 0), 3);
	assert_int_equal(decimal("0.049", 1), 0);
	assert_int_equal(decimal("99999999999999999999", 0), INT64_MAX);
	assert_int_equal(decimal("1e999999999999999999999", 3), INT64_MAX);
	assert_int_equal(decimal("0e999999999", 3), 0);
	assert_int_equal(decimal("-1e-999999999", 3), 0);
	assert_false(json_decimal("null", 0, &value));
	assert_false(json_decimal("\"1\"", 0, &value));
	assert_false(json_decimal("-", 0, &value));
	assert_false(json_decimal(NULL, 0, &value));
}

static const char *string(const char *value)
{
	buf_clear(&text);
	return json_string(value, &text) ? buf_text(&text) : NULL;
}

static void strings_are_utf8_whatever_they_escape(void **state)
{
	(void)state;
	assert_string_equal(string(" \"a\\n\\\"\\u00e9\\ud83d\\ude00\\/\""),
			    "a\n\"\xc3\xa9\xf0\x9f\x98\x80/");
	/* half of a character, none at all, and a NUL */
	assert_string_equal(string("\"\\ud83d \\ude00 \\u0000 \\uXY\""),
			    "\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbdXY");
	assert_null(string("12"));
	assert_null(string("\"open"));
	assert_null(string(NULL));
}

static void values_are_found_by_name_and_in_order(void **state)
{
	static const char object[] = "{\"a\":[1,{\"b\":\"]}\"}, 3] ,\"b\" : {\"a\":7}, \"c\":null}";
	const char *at = json_first(json_find(object, "a"));

	(void)state;
	assert_int_equal(decimal(at, 0), 1);
	at = json_next(at);
	assert_string_equal(string(json_find(at, "b")), "]}");
	at = json_next(at);
	assert_int_equal(decimal(at, 0), 3);
	assert_null(json_next(at));
	assert_int_equal(decimal(json_find(json_find(object, "b"), "a"), 0), 7);
	assert_null(json_find(object, "d"));
	assert_null(json_find(json_find(object, "d"), "e"));
	assert_null(json_first(json_find(object, "c")));
	assert_null(json_first("[]"));
	assert_string_equal(json_skip(object), "");
}

static void what_ends_early_is_no_value(void **state)
{
	static const char *const damaged[] = {
		"", "{", "[1,", "\"a", "{\"a\":", "[[[[[[", "{\"a\\", "{\"a\":[1", "]", ",", ":"};

	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
		assert_null(json_skip(damaged[i]));
	assert_null(json_find("{\"a\" 1}", "a"));
	assert_null(json_find("{a:1}", "a"));
	assert_null(json_next("1 2"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_ends_no_string_and_opens_nothing),
		cmocka_unit_test(what_is_not_seen_is_escaped),
		cmocka_unit_test(bytes_that_are_no_utf8_are_marked),
		cmocka_unit_test(members_have_commas_between_them),
		cmocka_unit_test(numbers_are_decimals_of_any_size),
		cmocka_unit_test(strings_are_utf8_whatever_they_escape),
		cmocka_unit_test(values_are_found_by_name_and_in_order),
		cmocka_unit_test(what_ends_early_is_no_value),
	};

	return cmocka_run_group_tests(tests, text_start, text_release);
}
