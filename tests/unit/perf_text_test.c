/* perf_text_test.c - wick's dialect and perf's own text, and what is neither */
#include "perf_text_fixture.h"

#include "base/json.h"
#include "folder_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

static const char dialect[] =
	"# ========\n"
	"# hostname : vm\n"
	"# wick : {\"hz\":99}\n"
	"# ========\n"
	"#\n"
	"# s st=sleeping wait=futex cpu_ns=12,-3 rss_kib=5,0 comm=Worker%203\n"
	"Worker_3  4000/4001  [001] 12345.020202:          2 cpu-clock: \n"
	"\t            7f01 leaf+0x1a (/lib/libc.so.6)\n"
	"\t            7f03 inner (inlined)\n"
	"\t            4011 [app]+0x2b (/opt/app)\n"
	"\n"
	"# wick-end : {\"samples\":1}\n";

static void reads_its_own_dialect(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(fixture_read_text(seen, dialect),
			    "comment # ========\n"
			    "comment # hostname : vm\n"
			    "header {\"hz\":99}\n"
			    "comment # ========\n"
			    "comment #\n"
			    "sample 'Worker_3' 4000/4001 [1] 12345020202000 2 cpu-clock "
			    "st=sleeping wait=futex comm=Worker 3 cpu_ns=12,-3 rss_kib=5,0\n"
			    "  7f01 'leaf'+1a '/lib/libc.so.6'\n"
			    "  7f03 'inner' inlined\n"
			    "  4011 '[app]'+2b '/opt/app'\n"
			    "end {\"samples\":1}\n");
	assert_int_equal(seen->stats.bad_lines, 0);
	assert_int_equal(seen->stats.samples, 1);
	assert_false(seen->stats.unended);
}

static void reads_what_a_thread_waits_for(void **state)
{
	assert_string_equal(
		fixture_read_text(*state, "# s st=disk wait=open on=/tmp/a%20b=%25%zz cpu_ns=1,0\n"
					  "ab 1/1 [000] 1.5: 1 wall-clock: \n\n"
					  "# s st=sleeping wait=sleep on= onx=2,3\n"
					  "ab 1/1 [000] 1.6: 1 wall-clock: \n\n"
					  "# s st=running\n"
					  "ab 1/1 [000] 1.7: 1 wall-clock: \n\n"),
		"sample 'ab' 1/1 [0] 1500000000 1 wall-clock "
		"st=disk wait=open on=/tmp/a b=%%zz cpu_ns=1,0\n"
		"sample 'ab' 1/1 [0] 1600000000 1 wall-clock st=sleeping wait=sleep on= onx=2,3\n"
		"sample 'ab' 1/1 [0] 1700000000 1 wall-clock st=running\n");
}

/* Nothing that stands in one is a sample, however it looks. */
static void passes_over_exact_counts(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(fixture_read_text(seen, "# s st=running tier=db\n"
						    "# req : {\"x 1/1 [000] 1.5: 1 cpu-clock: \n"
						    "ab 1/1 [000] 1.6: 1 cpu-clock: \n\n"
						    "# req : {\"tier\":\"db\"}\n"
						    "# req : nothing\n"),
			    "comment # req : {\"x 1/1 [000] 1.5: 1 cpu-clock: \n"
			    "sample 'ab' 1/1 [0] 1600000000 1 cpu-clock st=running\n"
			    "comment # req : {\"tier\":\"db\"}\n"
			    "comment # req : nothing\n");
	assert_int_equal(seen->stats.bad_lines, 0);
}

/* A release ends with its own mark, or with the next sample; other comments are none. */
static void reads_releases_in_comments(void **state)
{
	static const char text[] = "# s st=running\n"
				   "app  1/2  [000] 1.000001:  7 alloc: \n"
				   "\t  7f01 take+0x1 (/m)\n"
				   "# f of others, inside a sample\n"
				   "# f\n"
				   "\t  7f02 main+0x1 (/m)\n"
				   "\n"
				   "# s st=running cpu_ns=1,-7\n"
				   "# f app  1/2  [000] 1.000002:  0 alloc: \n"
				   "# f \t  7f03 give+0x1 (/m)\n"
				   "# f \t  7f02 main+0x1 (/m)\n"
				   "# f\n"
				   "# f \t  7f02 stray+0x1 (/m)\n"
				   "# f app  1/2  [000] 1.000003:  0 alloc: \n"
				   "# f \t  7f03 give+0x1 (/m)\n"
				   "app  1/2  [000] 1.000004:  8 alloc: \n"
				   "\t  7f01 take+0x1 (/m)\n"
				   "\n"
				   "# f app  1/2  [000] 1.000005:  0 alloc: \n"
				   "# f \t  7f03 give+0x1 (/m)\n"
				   "# f\n";
	struct seen *seen = *state;

	assert_string_equal(fixture_read_text(seen, text),
			    "sample 'app' 1/2 [0] 1000001000 7 alloc st=running\n"
			    "  7f01 'take'+1 '/m'\n"
			    "  7f02 'main'+1 '/m'\n"
			    "sample 'app' 1/2 [0] 1000002000 0 alloc st=running cpu_ns=1,-7\n"
			    "  7f03 'give'+1 '/m'\n"
			    "  7f02 'main'+1 '/m'\n"
			    "sample 'app' 1/2 [0] 1000003000 0 alloc\n"
			    "  7f03 'give'+1 '/m'\n"
			    "sample 'app' 1/2 [0] 1000004000 8 alloc\n"
			    "  7f01 'take'+1 '/m'\n"
			    "sample 'app' 1/2 [0] 1000005000 0 alloc\n"
			    "  7f03 'give'+1 '/m'\n");
	assert_int_equal(seen->stats.bad_lines, 0);
	assert_int_equal(seen->stats.unended, 0);
}

static void reads_metrics_of_the_header_line(void **state)
{
	assert_string_equal(
		fixture_read_text(*state,
				  "running  4000/4001  [001] 1.5:  2 cpu-clock:"
				  "\tmetric_wick_cpu_ns: 12, -3\tmetric_wick_rss_kib: 5, 0\n\n"),
		"sample 'running' 4000/4001 [1] 1500000000 2 cpu-clock cpu_ns=12,-3 rss_kib=5,0\n");
	/* flame_prof's own names; what is nearly a metric is none */
	buf_clear(&((struct seen *)*state)->text);
	assert_string_equal(
		fixture_read_text(
			*state,
			"S 1/2 [001] 1.5: 2 cpu-clock:\tmetric_heap-x: 7 ,\t-8 metric_b:\t1,2"
			" xmetric_c: 1, 2 metric_: 1, 2 metric_d:3, 4 metric_e: 1.5, 2"
			" metric_f: 1, 2x metric_wick_: 5, 6 metric_g: 9, 9\n\n"),
		"sample 'S' 1/2 [1] 1500000000 2 cpu-clock heap-x=7,-8 b=1,2 wick_=5,6 g=9,9\n");
}

static void a_header_line_ends_the_sample_before_it(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(fixture_read_text(seen, "ab 1/1 [000] 1.5: 1 e: \n\t1 f (m)\n"
						    "cd 2/2 [000] 2.5: 1 e: \n\t2 g (m)\n"),
			    "sample 'ab' 1/1 [0] 1500000000 1 e\n  1 'f' 'm'\n"
			    "sample 'cd' 2/2 [0] 2500000000 1 e\n  2 'g' 'm'\n");
	assert_true(seen->stats.unended);
}

static void bad_lines_are_counted_and_passed_over(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(fixture_read_text(seen, "garbage\n"
						    "ab 1/1 [000] 1.5: 1 e: \n"
						    "\tnothex f (m)\n"
						    "\t1 f (m)\n"
						    "no time here\n"
						    "\t2 g (m)\n"
						    "\n"
						    "\t3 stray (m)\n"),
			    "sample 'ab' 1/1 [0] 1500000000 1 e\n  1 'f' 'm'\n  2 'g' 'm'\n");
	assert_int_equal(seen->stats.bad_lines, 4);
	assert_int_equal(seen->stats.bad[0], 1);
	assert_int_equal(seen->stats.bad[1], 3);
	assert_int_equal(seen->stats.bad[2], 5);
	assert_int_equal(seen->stats.bad[3], 8);
}

static void refuses_lines_that_are_nearly_right(void **state)
{
	static const char *const heads[] = {
		"ab [000] 1.5: 1 e:",             /* no thread */
		"ab 1/1 [000] 1.: 1 e:",          /* half a fraction */
		"ab 1/1 [000] 1.5 1 e:",          /* no colon */
		"ab 1/1 [000] x y 1.5: 1 e:",     /* more than flags */
		"ab 1/1 [000] 1.5: 1",            /* a period without an event */
		"ab 1/x [000] 1.5: 1 e:",         /* no tid */
		"ab 99999999999 [000] 1.5: 1 e:", /* no pid is so large */
		"ab 1/1 [000] 99999999999999999999.5: 1 e:",
		"ab 1/1 [000] -1.5: 1 e:",
	};
	static const char *const frames[] = {
		"\t",      "\t1",   "\t1 f (m", "\t1 f m)", "1 f", "\t11112222333344445 f (m)",
		"\t1 f )", "1 f()", "\t1 (m",
	};
	struct perf_head head;
	struct perf_frame frame;
	char line[128];

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		(void)strcpy(line, heads[i]);
		if (perf_line_head(line, &head))
			fail_msg("'%s' was taken", heads[i]);
		assert_string_equal(line, heads[i]);
	}
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		(void)strcpy(line, frames[i]);
		if (perf_line_frame(line, &frame))
			fail_msg("'%s' was taken", frames[i]);
		assert_string_equal(line, frames[i]);
	}
}

static void nul_bytes_and_cut_lines_are_bad(void **state)
{
	static const char bytes[] = "ab 1/1 [000] 1.5: 1 e: \n\t1 f\0 (m)\n\n";
	struct seen *seen = *state;

	assert_string_equal(fixture_read_bytes(seen, bytes, sizeof(bytes) - 1),
			    "sample 'ab' 1/1 [0] 1500000000 1 e cut\n");
	assert_int_equal(seen->stats.bad_lines, 1);
}

static void deep_stacks_keep_the_leaf_side(void **state)
{
	struct seen *seen = *state;
	struct buf text;

	buf_init(&text, 1 << 20);
	buf_add(&text, "ab 1/1 [000] 1.5: 1 e: \n");
	for (int i = 0; i < PERF_TEXT_MAX_FRAMES + 10; i++)
		buf_printf(&text, "\t%d f%d (m)\n", i, i);
	buf_add(&text, "\n");
	assert_non_null(strstr(fixture_read_text(seen, buf_text(&text)), " cut\n  0 'f0' 'm'\n"));
	assert_int_equal(seen->stats.bad_lines, 0);
	buf_release(&text);
}

/* The dialect, written to a file by WRITE and read back. */
static void check_file(struct seen *seen, const void *bytes, size_t len, int expected)
{
	char *path = file_make(bytes, len);
	struct perf_text_visitor with = fixture_visitor;
	struct err err = {0};

	with.context = seen;
	buf_clear(&seen->text);
	assert_int_equal(perf_text_read(path, &with, &seen->stats, &err), expected);
	if (expected < 0)
		assert_non_null(strstr(err.text, path));
	file_remove(path);
}

static void reads_plain_gzip_and_zstd(void **state)
{
	struct seen *seen = *state;
	unsigned char packed[4096];
	z_stream gz = {.next_in = (unsigned char *)(uintptr_t)dialect,
		       .avail_in = sizeof(dialect) - 1,
		       .next_out = packed,
		       .avail_out = sizeof(packed)};
	size_t n;

	check_file(seen, dialect, sizeof(dialect) - 1, 0);
	assert_int_equal(seen->stats.samples, 1);
	assert_int_equal(deflateInit2(&gz, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&gz, Z_FINISH), Z_STREAM_END);
	check_file(seen, packed, gz.total_out, 0);
	assert_int_equal(seen->stats.samples, 1);
	assert_int_equal(seen->stats.bad_lines, 0);
	check_file(seen, packed, gz.total_out - 20, -EIO);
	(void)deflateEnd(&gz);
	n = ZSTD_compress(packed, sizeof(packed), dialect, sizeof(dialect) - 1, 3);
	assert_false(ZSTD_isError(n));
	check_file(seen, packed, n, 0);
	assert_int_equal(seen->stats.samples, 1);
	check_file(seen, packed, n - 5, -EIO);
}

static void refuses_files_that_are_not_there(void **state)
{
	struct err err = {0};
	struct seen *seen = *state;

	assert_int_equal(perf_text_read("/no/such/file", &fixture_visitor, &seen->stats, &err),
			 -ENOENT);
	assert_int_equal(perf_text_read("/tmp", &fixture_visitor, &seen->stats, &err), -EISDIR);
}

static void long_lines_are_cut_in_bounded_memory(void **state)
{
	size_t len = LINES_MAX_BYTES + 5000;
	struct seen *seen = *state;
	char *bytes = malloc(len);

	assert_non_null(bytes);
	memset(bytes, 'x', len);
	(void)memcpy(bytes + len - sizeof(dialect), "\n", 1);
	(void)memcpy(bytes + len - sizeof(dialect) + 1, dialect, sizeof(dialect) - 1);
	check_file(seen, bytes, len, 0);
	assert_int_equal(seen->stats.samples, 1);
	assert_int_equal(seen->stats.bad_lines, 1);
	assert_int_equal(seen->stats.bad[0], 1);
	free(bytes);
}

static void json_gives_names_and_plain_values(void **state)
{
	struct json_scan scan = {
		.at = "{\"a\":1, \"b\":[{\"n\":\"x\\\"y\"},{\"n\":\"z\"}],\"c\":{},\"d\":true}"};
	struct json_pair pair;
	uint64_t value;

	(void)state;
	assert_true(json_scan_next(&scan, &pair));
	assert_true(json_scan_is(&pair, "a"));
	assert_true(json_scan_number(&pair, &value));
	assert_int_equal(value, 1);
	assert_int_equal(pair.depth, 1);
	assert_true(json_scan_next(&scan, &pair));
	assert_true(json_scan_is(&pair, "n"));
	assert_int_equal(pair.depth, 3);
	assert_int_equal(pair.value_len, 4);
	assert_false(json_scan_number(&pair, &value));
	assert_true(json_scan_next(&scan, &pair));
	assert_true(json_scan_next(&scan, &pair));
	assert_true(json_scan_is(&pair, "d"));
	assert_false(json_scan_number(&pair, &value));
	assert_false(json_scan_next(&scan, &pair));
}

static void json_that_is_broken_ends_the_walk(void **state)
{
	static const char *const bad[] = {
		"",           "}",      "\"",
		"{\"a",       "{\"a\\", "{\"a\":",
		"{\"a\":\"x", "]]]",    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct json_scan scan = {.at = bad[i]};
		struct json_pair pair;

		assert_false(json_scan_next(&scan, &pair));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_its_own_dialect, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_what_a_thread_waits_for, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(passes_over_exact_counts, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_releases_in_comments, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_metrics_of_the_header_line, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(a_header_line_ends_the_sample_before_it,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(bad_lines_are_counted_and_passed_over,
						fixture_setup, fixture_teardown),
		cmocka_unit_test(refuses_lines_that_are_nearly_right),
		cmocka_unit_test_setup_teardown(nul_bytes_and_cut_lines_are_bad, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(deep_stacks_keep_the_leaf_side, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(reads_plain_gzip_and_zstd, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(refuses_files_that_are_not_there, fixture_setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(long_lines_are_cut_in_bounded_memory, fixture_setup,
						fixture_teardown),
		cmocka_unit_test(json_gives_names_and_plain_values),
		cmocka_unit_test(json_that_is_broken_ends_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
