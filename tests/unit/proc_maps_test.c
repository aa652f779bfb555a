/* proc_maps_test.c - lines of /proc/PID/maps, odd ones included */
#include "sampler/procfs/proc_maps.h"
#include "sampler/remote/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

static bool parse(const char *text, struct maps_line *ret_line)
{
	return proc_maps_line(text, strlen(text), ret_line);
}

static void assert_path(const struct maps_line *line, const char *expected)
{
	char path[4096];
	size_t n = proc_maps_path(line, path);

	assert_int_equal(n, strlen(expected));
	assert_memory_equal(path, expected, n);
}

static void reads_every_field(void **state)
{
	struct maps_line line;

	(void)state;
	assert_true(parse("7f00a000-7f00c000 r-xp 00001000 fd:1f 123456    /lib/libc.so.6", &line));
	assert_int_equal(line.start, 0x7f00a000);
	assert_int_equal(line.end, 0x7f00c000);
	assert_int_equal(line.pgoff, 0x1000);
	assert_int_equal(line.dev, makedev(0xfd, 0x1f));
	assert_int_equal(line.inode, 123456);
	assert_true(line.executable);
	assert_false(line.deleted);
	assert_path(&line, "/lib/libc.so.6");
}

static void reads_paths_with_anything_in_them(void **state)
{
	struct maps_line line;

	(void)state;
	assert_true(parse("1000-2000 r-xp 0 08:01 5   /tmp/a b  c", &line));
	assert_path(&line, "/tmp/a b  c");
	assert_true(parse("1000-2000 r-xp 0 08:01 5   /tmp/x (deleted)", &line));
	assert_true(line.deleted);
	assert_path(&line, "/tmp/x");
	assert_true(parse("1000-2000 r-xp 0 08:01 5   /tmp/x (deleted) (deleted)", &line));
	assert_path(&line, "/tmp/x (deleted)");
	assert_true(parse("1000-2000 r-xp 0 08:01 5   /tmp/\\012in\\012\\01", &line));
	assert_path(&line, "/tmp/\nin\n\\01");
	assert_true(parse("1000-2000 r-xp 0 00:00 0 [vdso]", &line));
	assert_path(&line, "[vdso]");
	assert_true(parse("1000-2000 rwxp 0 00:00 0", &line));
	assert_path(&line, "");
	assert_true(parse("1000-2000 --xp 0 00:00 0 ", &line));
	assert_path(&line, "");
}

static void refuses_what_is_no_line(void **state)
{
	static const char *const bad[] = {
		"",
		"1000",
		"1000-2000",
		"1000-2000 r-xp",
		"1000-2000 r-x 0 08:01 5 /x",
		"1000-2000 rqxp 0 08:01 5 /x",
		"1000-2000 r-xp 0 08:01 x /x",
		"1000-2000 r-xp 0 0801 5 /x",
		"1000-2000 r-xp 0 08:01 5/x",
		"2000-1000 r-xp 0 08:01 5 /x",
		"1000-1000 r-xp 0 08:01 5 /x",
		"g000-h000 r-xp 0 08:01 5 /x",
		"11111111111111111-2000 r-xp 0 08:01 5 /x",
		"1000-2000 r-xp 0 08:01 123456789012345678901 /x",
		"-2000 r-xp 0 08:01 5 /x",
	};
	struct maps_line line;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], &line))
			fail_msg("took '%s'", bad[i]);
}

static bool count(void *context, const struct maps_line *line)
{
	(void)line;
	return ++*(int *)context < 3;
}

static void leaves_out_a_line_that_was_cut_off(void **state)
{
	static const char text[] = "1000-2000 r-xp 0 08:01 5 /a\n"
				   "rubbish\n"
				   "3000-4000 r-xp 0 08:01 5 /b";
	int n = 0;

	(void)state;
	proc_maps_each(text, sizeof(text) - 1, count, &n);
	assert_int_equal(n, 1);
}

static void stops_when_the_visitor_says_so(void **state)
{
	static const char line[] = "1000-2000 r-xp 0 08:01 5 /a\n";
	char text[sizeof(line) * 8] = "";
	int n = 0;

	(void)state;
	for (int i = 0; i < 8; i++)
		strcat(text, line);
	proc_maps_each(text, strlen(text), count, &n);
	assert_int_equal(n, 3);
}

static void keeps_executable_ranges_in_order(void **state)
{
	static const char text[] = "1000-2000 r-xp 0 08:01 5 /a\n"
				   "2000-3000 rw-p 0 08:01 5 /a\n"
				   "1800-3800 r-xp 0 08:01 6 /overlaps\n"
				   "4000-5000 rwxp 0 00:00 0 \n"
				   "ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]\n";
	struct ranges ranges;
	struct intern paths = {0};

	(void)state;
	assert_int_equal(ranges_parse(&ranges, &paths, text, sizeof(text) - 1), 0);
	assert_int_equal(ranges.n, 2);
	assert_string_equal(ranges.at[0].path, "/a");
	assert_string_equal(ranges.at[1].path, "");
	assert_null(ranges_find(&ranges, 0xfff));
	assert_ptr_equal(ranges_find(&ranges, 0x1000), &ranges.at[0]);
	assert_ptr_equal(ranges_find(&ranges, 0x1fff), &ranges.at[0]);
	assert_null(ranges_find(&ranges, 0x2000));
	assert_ptr_equal(ranges_find(&ranges, 0x4fff), &ranges.at[1]);
	assert_null(ranges_find(&ranges, 0x5000));
	ranges_release(&ranges);
	intern_release(&paths);
}

static void takes_no_more_ranges_than_the_limit(void **state)
{
	struct ranges ranges = {0};
	struct range range = {.path = ""};

	(void)state;
	for (uint64_t i = 0; i < MAPS_MAX_RANGES; i++) {
		range.start = i * 0x1000;
		range.end = range.start + 0x1000;
		assert_int_equal(ranges_insert(&ranges, ranges.n, &range), 0);
	}
	assert_int_not_equal(ranges_insert(&ranges, ranges.n, &range), 0);
	assert_int_equal(ranges.n, MAPS_MAX_RANGES);
	ranges_release(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_field),
		cmocka_unit_test(reads_paths_with_anything_in_them),
		cmocka_unit_test(refuses_what_is_no_line),
		cmocka_unit_test(leaves_out_a_line_that_was_cut_off),
		cmocka_unit_test(stops_when_the_visitor_says_so),
		cmocka_unit_test(keeps_executable_ranges_in_order),
		cmocka_unit_test(takes_no_more_ranges_than_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
