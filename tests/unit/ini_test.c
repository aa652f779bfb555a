/* ini_test.c - the text of wick.ini */
#include "tools/cli/cmd.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT_BYTES = 1024 };

/* "section.key=value@line;" of every entry. */
static int note(void *context, const struct ini_entry *entry, struct err *err)
{
	char *at = (char *)context + strlen(context);

	if (strcmp(entry->key, "refused") == 0)
		return err_set(err, 0, "I refuse");
	(void)snprintf(at, TEXT_BYTES - (size_t)(at - (char *)context), "%s.%s=%s@%u;",
		       entry->section, entry->key, entry->value, entry->line);
	return 0;
}

static void assert_read(const char *text, const char *entries)
{
	char copy[TEXT_BYTES];
	char noted[TEXT_BYTES] = "";
	struct err err = {0};

	(void)snprintf(copy, sizeof(copy), "%s", text);
	assert_int_equal(ini_read("x.ini", copy, note, noted, &err), 0);
	assert_string_equal(noted, entries);
}

static void assert_refused(const char *text, const char *message)
{
	char copy[TEXT_BYTES];
	char noted[TEXT_BYTES] = "";
	struct err err = {0};

	(void)snprintf(copy, sizeof(copy), "%s", text);
	assert_int_equal(ini_read("x.ini", copy, note, noted, &err), -EINVAL);
	assert_string_equal(err.text, message);
}

static void reads_sections_keys_and_values(void **state)
{
	(void)state;
	assert_read("", "");
	assert_read("[a]\nk = v\n", "a.k=v@2;");
	assert_read("# all\n\n [ a ] \r\n\tk=v=w\r\n;no\nother = 1 2\n[b]\nk=",
		    "a.k=v=w@4;a.other=1 2@6;b.k=@8;");
}

static void what_stands_behind_a_value_is_part_of_it(void **state)
{
	(void)state;
	assert_read("[a]\nk = a # b ; c\n", "a.k=a # b ; c@2;");
}

static void quotes_keep_blanks(void **state)
{
	(void)state;
	assert_read("[a]\nk = \"  v \"\nl = \"\nm = \"\"\nn = a\"b\"\n",
		    "a.k=  v @2;a.l=\"@3;a.m=@4;a.n=a\"b\"@5;");
}

static void names_the_line_that_makes_no_sense(void **state)
{
	(void)state;
	assert_refused("k = v\n",
		       "'x.ini' line 1: 'k' is outside of any section, try: [record] above it");
	assert_refused("[a]\n\nword\n",
		       "'x.ini' line 3: 'word' has no = and value, try: word = VALUE");
	assert_refused("[a\nk = v\n", "'x.ini' line 1: '[a' has no ] at its end");
	assert_refused("[a]\n = v\n", "'x.ini' line 2: there is no key before the =");
	assert_refused("[a]\nk=v\nrefused=1\n", "'x.ini' line 3: I refuse");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_sections_keys_and_values),
		cmocka_unit_test(what_stands_behind_a_value_is_part_of_it),
		cmocka_unit_test(quotes_keep_blanks),
		cmocka_unit_test(names_the_line_that_makes_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
