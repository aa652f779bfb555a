/* words_test.c - names in files never become markup, formulas or what a terminal obeys */
#include "base/words.h"
#include "tests/unit/one_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define BAD "\xef\xbf\xbd"

static const char *written(void (*write)(struct buf *, const char *), const char *name)
{
	buf_clear(&text);
	write(&text, name);
	return buf_text(&text);
}

static void a_name_is_no_markup(void **state)
{
	(void)state;
	assert_string_equal(written(words_xml, "<script>alert('x')</script>&\""),
			    "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;");
	assert_string_equal(written(words_xml, "a]]>b"), "a]]&gt;b");
	assert_string_equal(written(words_markdown, "a|b`c"), "a\\|b'c");
	/* the backslashes before a | are odd in number, or the cell ends there */
	assert_string_equal(written(words_markdown, "a\\|b"), "a\\\\\\|b");
	assert_string_equal(written(words_markdown, "a\\\\|\\b|"), "a\\\\\\|\\b\\|");
}

static void what_is_no_text_is_marked(void **state)
{
	static const char turned[] = {'\xe2', '\x80', '\xae', 'f', 'd', 'p', '\0'};

	(void)state;
	assert_string_equal(written(words_xml, "a\xff\x01\x1b[31m\n\x7f"),
			    "a" BAD BAD BAD "[31m" BAD BAD);
	assert_string_equal(written(words_plain, "\xc2\x9b"
						 "31m"),
			    BAD "31m");
	/* what turns the direction of what follows */
	assert_string_equal(written(words_plain, turned), BAD "fdp");
	assert_string_equal(written(words_plain, "a\xd8\x9c"
						 "b"),
			    "a" BAD "b");
	/* invisible letters: tags */
	assert_string_equal(written(words_plain, "a\xf3\xa0\x81\xa1"), "a" BAD);
	assert_string_equal(written(words_plain, "gr\xc3\xb6\xc3\x9f"
						 "e"),
			    "gr\xc3\xb6\xc3\x9f"
			    "e");
	assert_string_equal(written(words_xml, "\xef\xbf\xbf"), BAD);
	/* a character that the text's end cuts */
	assert_string_equal(written(words_xml, "x\xe2\x80"), "x" BAD BAD);
}

static void a_command_is_one_line(void **state)
{
	(void)state;
	assert_string_equal(
		written(words_command, "sh -c a%0Ab%09%3Cc%3E%1B[1m 100% %41%2541 %e9%E9"),
		"sh -c a b <c> [1m 100% A%41 %e9%E9");
	assert_string_equal(written(words_command, "a\nb\x7f%"), "a b %");
	assert_string_equal(written(words_command, "%4"), "%4");
}

static void a_spreadsheet_finds_no_formula(void **state)
{
	(void)state;
	assert_string_equal(written(words_csv, "=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
	assert_string_equal(written(words_csv, "a,b"), "\"a,b\"");
	assert_string_equal(written(words_csv, "-x"), "\"'-x\"");
}

static void a_cut_name_keeps_whole_characters(void **state)
{
	(void)state;
	buf_clear(&text);
	words_xml_cut(&text,
		      "gr\xc3\xb6\xc3\x9f"
		      "e<T>",
		      5);
	assert_string_equal(buf_text(&text), "gr\xc3\xb6..");
	buf_clear(&text);
	words_xml_cut(&text, "abc", 3);
	assert_string_equal(buf_text(&text), "abc");
	buf_clear(&text);
	words_xml_cut(&text, "abc", 2);
	assert_string_equal(buf_text(&text), "");
	assert_int_equal(words_width("gr\xc3\xb6\xc3\x9f"
				     "e"),
			 5);
}

static const char *amount(uint64_t value, const char *unit)
{
	buf_clear(&text);
	words_amount(&text, value, unit);
	return buf_text(&text);
}

static void amounts_have_their_units(void **state)
{
	double divisor;

	(void)state;
	assert_string_equal(amount(0, "samples"), "0");
	assert_string_equal(amount(1234567, "samples"), "1,234,567");
	assert_string_equal(amount(UINT64_MAX, "1"), "18,446,744,073,709,551,615");
	assert_string_equal(amount(1500, "ns"), "1.50 us");
	assert_string_equal(amount(12345678, "ns"), "12.3 ms");
	assert_string_equal(amount(3599000000000, "ns"), "3599.0 s");
	assert_string_equal(amount(5400000000000, "ns"), "1.50 h");
	assert_string_equal(amount(403, "us"), "403 us");
	assert_string_equal(amount(0, "ns"), "0 s");
	assert_string_equal(amount(0, "us"), "0 s");
	assert_string_equal(amount(0, "B"), "0 B");
	assert_string_equal(amount(512, "B"), "512 B");
	assert_string_equal(amount(3 * 1024 * 1024, "KiB"), "3.00 GiB");
	assert_string_equal(words_unit(12345678, "ns", &divisor), "ms");
	assert_true(divisor == 1e6);
	assert_string_equal(words_unit(999, "us", &divisor), "us");
	assert_true(divisor == 1);
	assert_string_equal(words_unit(5000, "KiB", &divisor), "MiB");
	assert_true(divisor == 1024);
	assert_string_equal(words_unit(UINT64_MAX, "page-faults", &divisor), "page-faults");
	assert_true(divisor == 1);
	buf_clear(&text);
	words_signed(&text, INT64_MIN, "1");
	assert_string_equal(buf_text(&text), "-9,223,372,036,854,775,808");
	buf_clear(&text);
	words_share(&text, 1, 0);
	assert_string_equal(buf_text(&text), "0.00 %");
	buf_clear(&text);
	words_seconds(&text, 12345678901, 1000000);
	assert_string_equal(buf_text(&text), "12.345");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_no_markup),
		cmocka_unit_test(what_is_no_text_is_marked),
		cmocka_unit_test(a_command_is_one_line),
		cmocka_unit_test(a_spreadsheet_finds_no_formula),
		cmocka_unit_test(a_cut_name_keeps_whole_characters),
		cmocka_unit_test(amounts_have_their_units),
	};

	return cmocka_run_group_tests(tests, text_start, text_release);
}
