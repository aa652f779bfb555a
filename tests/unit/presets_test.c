/* presets_test.c - which options of files and the environment a command reads */
#include "folder_fixture.h"
#include "tools/cli/cmd.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_BYTES = 1024, MAX_WORDS = 16 };

static const struct option_spec record_specs[] = {
	{'F', "freq", "HZ", ""},
	{'q', "quiet", NULL, ""},
	{OPTION_LONG_ONLY, "symbol-dir", "DIR", ""},
	{OPTION_HELP, "help", NULL, ""},
	{0, NULL, NULL, NULL},
};
static const struct option_spec report_specs[] = {
	{OPTION_LONG_ONLY, "top", "N", ""},
	{OPTION_LONG_ONLY + 1, "json", NULL, ""},
	{OPTION_HELP, "help", NULL, ""},
	{0, NULL, NULL, NULL},
};
static const struct option_spec no_specs[] = {{0}};
static const struct command commands[] = {
	{"record", "", "[OPTIONS] CMD", record_specs, NULL, NULL, NULL},
	{"report", "", "[OPTIONS] FILE...", report_specs, NULL, NULL, NULL},
	{"help", "", "[COMMAND]", no_specs, NULL, NULL, NULL},
	{.name = "view", .program = "another"},
	{.name = NULL},
};

static char *path;

static void write_file(const char *text)
{
	file_write(path, text, strlen(text));
	assert_int_equal(chmod(path, 0644), 0);
}

/* The arguments that COMMAND reads when WORDS were typed, blanks between them; or the message. */
static void read_words(size_t command, const char *words, char said[TEXT_BYTES])
{
	static char copy[TEXT_BYTES];
	char *argv[MAX_WORDS + 2] = {copy};
	struct cmd_ctx ctx = {.command = &commands[command], .argv = argv};
	struct presets presets = {0};
	struct err err = {0};
	char *save = NULL;

	(void)snprintf(copy, sizeof(copy), "%s", words);
	for (char *word = strtok_r(copy, " ", &save); word && ctx.argc < MAX_WORDS;
	     word = strtok_r(NULL, " ", &save))
		argv[ctx.argc++] = word;
	said[0] = '\0';
	if (presets_add(&presets, commands, &ctx, &err) < 0)
		(void)strncat(said, err.text, TEXT_BYTES - 1);
	else
		for (int i = 1; i < ctx.argc; i++) {
			(void)strncat(said, i > 1 ? " " : "", TEXT_BYTES - strlen(said) - 1);
			(void)strncat(said, ctx.argv[i], TEXT_BYTES - strlen(said) - 1);
		}
	presets_release(&presets);
}

static void assert_reads(size_t command, const char *words, const char *expected)
{
	char said[TEXT_BYTES];

	read_words(command, words, said);
	assert_string_equal(said, expected);
}

static void assert_says(const char *text, const char *expected)
{
	char said[TEXT_BYTES];

	write_file(text);
	read_words(0, "record prog", said);
	if (!strstr(said, expected))
		fail_msg("'%s' is not in '%s'", expected, said);
}

static void takes_the_section_of_its_command(void **state)
{
	(void)state;
	write_file("[record]\nfreq = 199\nquiet = yes\n[report]\ntop = 5\njson = no\n");
	assert_reads(0, "record prog", "--freq=199 --quiet prog");
	assert_reads(1, "report file", "--top=5 file");
	assert_reads(2, "help", "");
}

static void what_was_typed_wins(void **state)
{
	(void)state;
	write_file("[record]\nfreq = 199\nsymbol-dir = a\nsymbol-dir = b\n");
	assert_reads(0, "record -F 7 prog", "--symbol-dir=a --symbol-dir=b -F 7 prog");
	assert_reads(0, "record --symbol-dir c prog", "--freq=199 --symbol-dir c prog");
	/* these are the program's own */
	assert_reads(0, "record prog -F 7", "--freq=199 --symbol-dir=a --symbol-dir=b prog -F 7");
	/* and options may stand behind a file */
	write_file("[report]\ntop = 5\n");
	assert_reads(1, "report file --top 3", "file --top 3");
	assert_reads(1, "report -- --top", "--top=5 -- --top");
}

static void the_environment_wins_over_the_file(void **state)
{
	(void)state;
	write_file("[record]\nfreq = 199\nquiet = yes\n[report]\ntop = 5\n");
	assert_int_equal(setenv("WICK_FREQ", "49", 1), 0);
	assert_int_equal(setenv("WICK_QUIET", "no", 1), 0);
	assert_int_equal(setenv("WICK_TOP", "3", 1), 0);
	assert_reads(0, "record prog", "--freq=49 prog");
	assert_reads(1, "report file", "--top=5 file"); /* its name is longer */
	assert_int_equal(setenv("WICK_RECORD_FREQ", "48", 1), 0);
	assert_int_equal(setenv("WICK_REPORT_TOP", "4", 1), 0);
	assert_reads(0, "record prog", "--freq=48 prog");
	assert_reads(1, "report file", "--top=4 file");
	assert_reads(0, "record -q -F1 prog", "-q -F1 prog");
	assert_int_equal(setenv("WICK_QUIET", "perhaps", 1), 0);
	assert_reads(0, "record prog", "WICK_QUIET: 'perhaps' is neither yes nor no");
	(void)unsetenv("WICK_FREQ");
	(void)unsetenv("WICK_QUIET");
	(void)unsetenv("WICK_TOP");
	(void)unsetenv("WICK_RECORD_FREQ");
	(void)unsetenv("WICK_REPORT_TOP");
}

static void a_later_no_undoes_a_yes(void **state)
{
	(void)state;
	write_file("[record]\nquiet = on\nquiet = off\n");
	assert_reads(0, "record prog", "prog");
	write_file("[record]\nquiet = 0\nquiet = true\n");
	assert_reads(0, "record prog", "--quiet prog");
}

static void a_mistake_anywhere_in_the_file_is_told(void **state)
{
	(void)state;
	assert_says("[record]\nfreqq = 1\n",
		    "line 2: 'freqq' is not an option of wick record, try: freq");
	assert_says("[record]\nhelp = yes\n", "'help' is not an option of wick record");
	assert_says("\n[recrod]\nfreq = 1\n", "line 3: [recrod] is not a command, try: [record]");
	assert_says("[help]\nfreq = 1\n", "[help] is not a command");
	assert_says("[veiw]\nfreq = 1\n", "[veiw] is not a command, try: [view]");
	assert_says("[report]\njson = 2\n", "line 2: '2' is neither yes nor no");
	/* the help tells how to mend it */
	assert_reads(0, "record --help", "--help");
}

static void says_where_an_argument_is_from(void **state)
{
	char *argv[] = {(char *)(uintptr_t) "record", (char *)(uintptr_t) "prog", NULL};
	struct cmd_ctx ctx = {.command = &commands[0], .argc = 2, .argv = argv};
	struct presets presets = {0};
	struct err err = {0};
	char expected[TEXT_BYTES];

	(void)state;
	write_file("[record]\n\nfreq = 199\n");
	assert_int_equal(presets_add(&presets, commands, &ctx, &err), 0);
	(void)snprintf(expected, sizeof(expected), "'%s' line 3", path);
	assert_string_equal(presets_origin(ctx.argv[1]), expected);
	assert_null(presets_origin(ctx.argv[2]));
	presets_release(&presets);
	assert_null(presets_origin(argv[1]));
}

static void what_others_may_write_is_not_read(void **state)
{
	(void)state;
	write_file("[record]\nfreq = 199\n");
	assert_int_equal(chmod(path, 0664), 0);
	assert_reads(0, "record prog", "prog");
	assert_int_equal(chmod(path, 0646), 0);
	assert_reads(0, "record prog", "prog");
	assert_int_equal(chmod(path, 0600), 0);
	assert_reads(0, "record prog", "--freq=199 prog");
}

static void a_file_that_was_asked_for_is_there(void **state)
{
	char said[TEXT_BYTES];

	(void)state;
	assert_int_equal(setenv("WICK_CONFIG", "/nowhere/wick.ini", 1), 0);
	read_words(0, "record prog", said);
	assert_non_null(strstr(said, "open '/nowhere/wick.ini'"));
	assert_int_equal(setenv("WICK_CONFIG", "", 1), 0);
	assert_reads(0, "record prog", "prog");
	assert_int_equal(setenv("WICK_CONFIG", path, 1), 0);
}

static int set_up(void **state)
{
	(void)state;
	path = file_make("", 0);
	return setenv("WICK_CONFIG", path, 1);
}

static int tear_down(void **state)
{
	(void)state;
	file_remove(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_section_of_its_command),
		cmocka_unit_test(what_was_typed_wins),
		cmocka_unit_test(the_environment_wins_over_the_file),
		cmocka_unit_test(a_later_no_undoes_a_yes),
		cmocka_unit_test(a_mistake_anywhere_in_the_file_is_told),
		cmocka_unit_test(says_where_an_argument_is_from),
		cmocka_unit_test(what_others_may_write_is_not_read),
		cmocka_unit_test(a_file_that_was_asked_for_is_there),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
