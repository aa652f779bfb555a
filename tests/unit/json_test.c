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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_ends_no_string_and_opens_nothing),
		cmocka_unit_test(what_is_not_seen_is_escaped),
		cmocka_unit_test(bytes_that_are_no_utf8_are_marked),
		cmocka_unit_test(members_have_commas_between_them),
	};

	return cmocka_run_group_tests(tests, text_start, text_release);
}
