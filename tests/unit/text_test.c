/* text_test.c - numbers and other people's bytes, as they are printed */
#include "base/words.h"
#include "tools/cli/terminal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BAD "\xef\xbf\xbd"

static void nothing_of_a_name_is_an_order_to_a_terminal(void **state)
{
	static const struct {
		const char *text;
		const char *shown;
	} names[] = {
		{"worker 1", "worker 1"},
		{"\x1b[31mred\n", BAD "[31mred" BAD},
		{"\xc2\x9b"
		 "5m\x7f",
		 BAD "5m" BAD},
		{"caf\xc3\xa9 \xc2\xb5s \xe2\x82\xac", "caf\xc3\xa9 \xc2\xb5s \xe2\x82\xac"},
		{"\xff\xc2", BAD BAD},
		{"\x9b"
		 "5m",
		 BAD "5m"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct buf buf;

		buf_init(&buf, 64);
		words_plain(&buf, names[i].text);
		assert_string_equal(buf_text(&buf), names[i].shown);
		buf_release(&buf);
	}
}

static void a_message_is_no_order_either(void **state)
{
	char message[] = "open 'a\x1b[2J\nwick: \xc2\x9b\x9b\xc3\xa9\xc3'";

	(void)state;
	text_defuse(message);
	assert_string_equal(message, "open 'a?[2J?wick: ???\xc3\xa9?'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_of_a_name_is_an_order_to_a_terminal),
		cmocka_unit_test(a_message_is_no_order_either),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
