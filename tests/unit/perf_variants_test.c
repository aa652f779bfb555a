/* perf_variants_test.c - all that perf script and other tools write, and where a line is cut off */
#include "perf_text_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* perf script of what was recorded without -g: one line a sample, names padded with blanks */
static void reads_the_frame_on_the_header_line(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(
		fixture_read_text(
			seen,
			"              dd 11 1.5:    2004008 cpu-clock:ppp:  ffffffff815f6f78 "
			"do_mprotect_pkey+0x308 ([kernel.kallsyms])\n"
			"              dd 11 1.6:    2004008 cpu-clock:ppp:      5613842402a4 "
			"leaf work+0x1a (/tmp/fn)\n"
			"              fn 11 1.7:            401136 f\n"
			"              fn 11 1.8:    2004008  ffffffff815f6f78 g\n"
			"              fn 11 1.9: cycles:            401136\n"
			"              fn 11 2.0: cycles:             7ffd0            401136 h "
			"(/a)\n"
			"              fn 11 2.1: sched:sched_switch: prev_comm=fn 5 (x)\n"),
		"sample 'dd' -1/11 [-1] 1500000000 2004008 cpu-clock:ppp\n"
		"  ffffffff815f6f78 'do_mprotect_pkey'+308 '[kernel.kallsyms]'\n"
		"sample 'dd' -1/11 [-1] 1600000000 2004008 cpu-clock:ppp\n"
		"  5613842402a4 'leaf work'+1a '/tmp/fn'\n"
		"sample 'fn' -1/11 [-1] 1700000000 1 \n"
		"  401136 'f' ''\n"
		"sample 'fn' -1/11 [-1] 1800000000 2004008 \n"
		"  ffffffff815f6f78 'g' ''\n"
		"sample 'fn' -1/11 [-1] 1900000000 1 cycles\n"
		"  401136 '[unknown]' ''\n"
		"sample 'fn' -1/11 [-1] 2000000000 1 cycles\n"
		"  401136 'h' '/a'\n"
		"sample 'fn' -1/11 [-1] 2100000000 1 sched:sched_switch\n");
	assert_int_equal(seen->stats.bad_lines, 0);
}

static void a_sample_of_one_line_is_whole(void **state)
{
	struct seen *seen = *state;

	(void)fixture_read_text(seen, "    fn 11 1.5: cycles:  ffffffff815f6f78 f ([kernel])\n");
	assert_false(seen->stats.unended);
	(void)fixture_read_text(seen, "    fn 11 1.5: cycles: \n");
	assert_true(seen->stats.unended);
}

/* -F misc, ip and srcline, and --show-mmap-events */
static void reads_what_more_perf_script_can_print(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(
		fixture_read_text(
			seen,
			"fn 11 1.2: PERF_RECORD_COMM: fn:11/11\n"
			"fn 11 1.3: PERF_RECORD_MMAP2 11/11: [0x5(0x2) @ 0x2 fe:00 1 2]: r-xp /a\n"
			"fn 11/11 [003] K     1.5: cycles: \n"
			"             cc1 11 1.5: PERF_RECORD_MMAP2 11/11: [0x5(0x2)]: r-xp /a\n"
			"\tffffffff815f6f78 f ([kernel])\n"
			"  dl-lookup.c:180\n"
			"\t          152619 operator()+0x3c (inlined)\n"
			"  a.h:12 (inlined)\n"
			"\t          15271a h (/a)\n"
			"  a[15271a]\n"
			"\t          15271e\n"
			"\n"
			"fn 11 1.6:    2004008 \n"
			"\t          15271a h\n"
			"\n"
			"fn 11 1.6: PERF_RECORD_EXIT(1:1):(1:1)\n"),
		"sample 'fn' 11/11 [3] 1500000000 1 cycles\n"
		"  ffffffff815f6f78 'f' '[kernel]'\n"
		"  152619 'operator()' inlined\n"
		"  15271a 'h' '/a'\n"
		"  15271e '[unknown]' ''\n"
		"sample 'fn' -1/11 [-1] 1600000000 2004008 \n"
		"  15271a 'h' ''\n");
	assert_int_equal(seen->stats.bad_lines, 0);
	(void)fixture_read_text(seen, "  no line of a source\n  a.c:\n  12]\n");
	assert_int_equal(seen->stats.bad_lines, 3);
}

static void reads_the_variants_of_perf(void **state)
{
	assert_string_equal(
		fixture_read_text(*state,
				  "V8 Worker 3 27251 [003] 100.000001:   250000 cpu-clock:u: \n"
				  "\tffffffff8103ce3b do_syscall_64+0x3b ([kernel.kallsyms])\n"
				  "\t    55d0 f(int) const (/tmp/x (deleted))\n"
				  "\t    55d1 [unknown] ([unknown])\n\n"
				  "            perf  1234/1235 100.5: cycles: \n\n"
				  "swapper     0 [???] 7.25: sched:sched_switch: prev_comm=x\n\n"
				  "x -1/-1 [000] 8.5: 1 e:\n\n"),
		"sample 'V8 Worker 3' -1/27251 [3] 100000001000 250000 cpu-clock:u\n"
		"  ffffffff8103ce3b 'do_syscall_64'+3b '[kernel.kallsyms]'\n"
		"  55d0 'f(int) const' '/tmp/x (deleted)'\n"
		"  55d1 '[unknown]' '[unknown]'\n"
		"sample 'perf' 1234/1235 [-1] 100500000000 1 cycles\n"
		"sample 'swapper' -1/0 [-1] 7250000000 1 sched:sched_switch\n"
		"sample 'x' -1/-1 [0] 8500000000 1 e\n");
}

/* perf prints names as they are; the first three are empty, a blank, and not printed (-F tid) */
static void reads_every_name_of_a_thread(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(fixture_read_text(seen, " 26995 35.1:   10 cpu-clock: \n"
						    "\t1 f (m)\n\n"
						    "  26999/27000 [001] 35.2:   10 cpu-clock: \n\n"
						    "1/1 [000] 35.3: 1 e:\n\n"
						    "#x 27000 35.4: 1 e:\n\t2 g (m)\n\n"
						    "# s 27001 35.5: 1 e:\n\t3 h (m)\n\n"
						    "# s st=running\n"
						    "# 27002 36: 1 e:\n\n"
						    "w 12: x 27011 36.5: 1 e:\n\n"
						    "[003] 27013 36.6: 1 e:\n\n"
						    "d.h. 27020 36.7: 1 e:\n\n"
						    "# cmdline : a long one 27001 35.5: 1 e:\n"),
			    "sample ':26995' -1/26995 [-1] 35100000000 10 cpu-clock\n  1 'f' 'm'\n"
			    "sample ':27000' 26999/27000 [1] 35200000000 10 cpu-clock\n"
			    "sample ':1' 1/1 [0] 35300000000 1 e\n"
			    "sample '#x' -1/27000 [-1] 35400000000 1 e\n  2 'g' 'm'\n"
			    "sample '# s' -1/27001 [-1] 35500000000 1 e\n  3 'h' 'm'\n"
			    "sample '#' -1/27002 [-1] 36000000000 1 e st=running\n"
			    "sample 'w 12: x' -1/27011 [-1] 36500000000 1 e\n"
			    "sample '[003]' -1/27013 [-1] 36600000000 1 e\n"
			    "sample 'd.h.' -1/27020 [-1] 36700000000 1 e\n"
			    "comment # cmdline : a long one 27001 35.5: 1 e:\n");
	assert_int_equal(seen->stats.bad_lines, 0);
}

/* What tracers, other tools and perf's many fields put in a header line. */
static void reads_header_lines_that_others_read(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(fixture_read_text(seen, "ab 1/1 [000] d.h. 1.5: 1 e: \n\n"
						    "ab 1/1 [000] 12: 1 e: \n\n"
						    "ab 1 st=R,rss=1 1.6: 1 e: \n\n"
						    "ab 1/1 [000] 1.7: 1 : \n\n"
						    "ab 1/1 [000] 1.8: 1 my own event: \n\n"
						    "ab 1/1 [000] 1.9: my event:u: \n\n"
						    "w 3 12: x: y 5 2.5: 1 e: \n\n"
						    "ab 1 2.6: 99999999999999999999 e: \n\n"),
			    "sample 'ab' 1/1 [0] 1500000000 1 e\n"
			    "sample 'ab' 1/1 [0] 12000000000 1 e\n"
			    "sample 'ab' -1/1 [-1] 1600000000 1 e\n"
			    "sample 'ab' 1/1 [0] 1700000000 1 \n"
			    "sample 'ab' 1/1 [0] 1800000000 1 my own event\n"
			    "sample 'ab' 1/1 [0] 1900000000 1 my event:u\n"
			    "sample 'w 3 12: x: y' -1/5 [-1] 2500000000 1 e\n"
			    "sample 'ab' -1/1 [-1] 2600000000 18446744073709551615 e\n");
	assert_int_equal(seen->stats.bad_lines, 0);
}

/* -F ip,dso; frames that are not indented; parentheses without a partner in a file's name */
static void reads_frames_that_others_read(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(fixture_read_text(seen, "ab 1/1 [000] 1.5: 1 e: \n"
						    "\t         a3b6871 (/lib/x.so)\n"
						    "\t         a3b6872 (/tmp/x (deleted))\n"
						    "7f01 leaf+0x1a (/lib/y.so)\n"
						    "7f02 (/lib/y.so)\n\n"
						    "ab 1/1 [000] 1.6: 1 e: \n"
						    "\t1 f (/tmp/a(b/x)\n"
						    "\t2 g(int) (/tmp/a)b/x)\n"
						    "\t3 h(int (m)\n"
						    "\t4 i (/tmp/x (deleted))\n"
						    "cd 2/2 [000] 1.7: 1 e: \n\n"),
			    "sample 'ab' 1/1 [0] 1500000000 1 e\n"
			    "  a3b6871 '[unknown]' '/lib/x.so'\n"
			    "  a3b6872 '[unknown]' '/tmp/x (deleted)'\n"
			    "  7f01 'leaf'+1a '/lib/y.so'\n"
			    "  7f02 '[unknown]' '/lib/y.so'\n"
			    "sample 'ab' 1/1 [0] 1600000000 1 e\n"
			    "  1 'f' '/tmp/a(b/x'\n"
			    "  2 'g(int)' '/tmp/a)b/x'\n"
			    "  3 'h(int' 'm'\n"
			    "  4 'i' '/tmp/x (deleted)'\n"
			    "sample 'cd' 2/2 [0] 1700000000 1 e\n");
	assert_int_equal(seen->stats.bad_lines, 0);
}

/* perf-map-agent: a caller and the two calls that were inlined there */
static void unfolds_inlined_calls_of_java(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(
		fixture_read_text(seen,
				  "java 1/1 [000] 1.5: 1 e: \n"
				  "\t7f01 La;::run->Lb;::<init>(I)V->c+0x1a (/tmp/perf-1.map)\n"
				  "\t7f02 operator->(x) (m)\n\n"
				  "java 1/1 [000] 1.6: 1 e: \n"
				  "\t7f03 f(a->b) (m)\n"
				  "\t7f04 call(i32) -> T (m)\n"
				  "\t7f05 p::operator->* (m)\n"
				  "\t7f06 end-> (m)\n\n"
				  "  java 11 1.7: cycles:            401136 a->b (m)\n"),
		"sample 'java' 1/1 [0] 1500000000 1 e\n"
		"  7f01 'c' inlined\n"
		"  7f01 'Lb;::<init>(I)V' inlined\n"
		"  7f01 'La;::run'+1a '/tmp/perf-1.map'\n"
		"  7f02 'operator->(x)' 'm'\n"
		"sample 'java' 1/1 [0] 1600000000 1 e\n"
		"  7f03 'f(a->b)' 'm'\n"
		"  7f04 'call(i32) -> T' 'm'\n"
		"  7f05 'p::operator->*' 'm'\n"
		"  7f06 'end->' 'm'\n"
		"sample 'java' -1/11 [-1] 1700000000 1 cycles\n"
		"  401136 'b' inlined\n"
		"  401136 'a' 'm'\n");
}

/* Wherever the last line is cut, it is a frame only when it has come to its module's end. */
static void a_line_that_is_cut_off_makes_no_frame(void **state)
{
	static const char head[] = "ab 1/1 [000] 1.5: 1 e: \n\t7f00 leaf (m)\n";
	static const char last[] = "\t            7f01 f(int)+0x1a (/tmp/x (deleted))";
	static const char one[] = "  ab 1 1.5: e:              7f01 f(int)+0x1a (/tmp/x)";
	struct seen *seen = *state;
	char text[256];

	for (size_t len = 1; len < sizeof(last); len++) {
		bool whole = len == sizeof(last) - 1;

		(void)snprintf(text, sizeof(text), "%s%.*s", head, (int)len, last);
		buf_clear(&seen->text);
		(void)fixture_read_text(seen, text);
		if (!strstr(buf_text(&seen->text), "'leaf' 'm'") ||
		    (strstr(buf_text(&seen->text), "7f01 ") != NULL) != whole)
			fail_msg("'%s' gave %s", text, buf_text(&seen->text));
	}
	for (size_t len = sizeof(one) - 2; len > strlen("  ab 1 1.5: e:"); len--) {
		buf_clear(&seen->text);
		if (strstr(fixture_read_bytes(seen, one, len), "\n  "))
			fail_msg("%zu bytes gave %s", len, buf_text(&seen->text));
	}
	assert_non_null(strstr(fixture_read_text(seen, one), "7f01 'f(int)'+1a '/tmp/x'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_the_frame_on_the_header_line, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_sample_of_one_line_is_whole, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_what_more_perf_script_can_print,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_the_variants_of_perf, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_every_name_of_a_thread, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_header_lines_that_others_read, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_frames_that_others_read, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(unfolds_inlined_calls_of_java, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_line_that_is_cut_off_makes_no_frame,
						fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
