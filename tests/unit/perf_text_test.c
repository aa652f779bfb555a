/* perf_text_test.c - wick's dialect and perf's own text, and what is neither */
#include "flamescope/load/json_scan.h"
#include "flamescope/load/perf_text.h"

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

/* What the visitor saw, in words: "sample comm pid/tid ...; ..." */
struct seen {
	struct buf text;
	struct perf_text_stats stats;
};

static void on_header(void *context, const char *json)
{
	buf_printf(&((struct seen *)context)->text, "header %s\n", json);
}

static void on_end(void *context, const char *json)
{
	buf_printf(&((struct seen *)context)->text, "end %s\n", json);
}

static void on_comment(void *context, const char *text)
{
	buf_printf(&((struct seen *)context)->text, "comment %s\n", text);
}

static void add_facts(struct buf *buf, const struct perf_facts *facts)
{
	if (facts->state)
		buf_printf(buf, " st=%s", facts->state);
	if (facts->wait)
		buf_printf(buf, " wait=%s", facts->wait);
	if (facts->object)
		buf_printf(buf, " on=%s", facts->object);
	if (facts->comm)
		buf_printf(buf, " comm=%s", facts->comm);
	for (size_t i = 0; i < facts->n_metrics; i++)
		buf_printf(buf, " %s=%lld,%lld", facts->metrics[i].name,
			   (long long)facts->metrics[i].value, (long long)facts->metrics[i].delta);
}

static void on_sample(void *context, const struct perf_text_sample *sample)
{
	struct buf *buf = &((struct seen *)context)->text;
	const struct perf_head *head = &sample->head;

	buf_printf(buf, "sample '%s' %lld/%lld [%lld] %llu %llu %s", head->comm,
		   (long long)head->pid, (long long)head->tid, (long long)head->cpu,
		   (unsigned long long)head->time_ns, (unsigned long long)head->period,
		   head->event);
	add_facts(buf, &sample->facts);
	buf_add(buf, sample->cut ? " cut\n" : "\n");
	for (size_t i = 0; i < sample->n_frames && i < 4; i++) {
		const struct perf_frame *frame = &sample->frames[i];

		buf_printf(buf, "  %llx '%s'", (unsigned long long)frame->addr, frame->name);
		if (frame->has_offset)
			buf_printf(buf, "+%llx", (unsigned long long)frame->offset);
		buf_printf(buf, frame->inlined ? " inlined\n" : " '%s'\n", frame->module);
	}
}

static const struct perf_text_visitor visitor = {
	.comment = on_comment, .header = on_header, .sample = on_sample, .end = on_end};

static int setup(void **state)
{
	struct seen *seen = calloc(1, sizeof(*seen));

	if (!seen)
		return -1;
	buf_init(&seen->text, 1 << 20);
	*state = seen;
	return 0;
}

static int teardown(void **state)
{
	struct seen *seen = *state;

	buf_release(&seen->text);
	free(seen);
	return 0;
}

/* Feed LEN bytes as lines. */
static const char *read_bytes(struct seen *seen, const char *bytes, size_t len)
{
	struct perf_text_visitor with = visitor;
	struct perf_text *text = NULL;
	uint64_t number = 0;

	with.context = seen;
	assert_int_equal(perf_text_new(&with, &text), 0);
	for (const char *end = bytes + len; bytes < end;) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		size_t n = (size_t)((newline ? newline : end) - bytes);
		char *copy;
		struct line line = {.len = n, .number = number + 1, .unended = !newline};

		copy = malloc(n + 1);
		assert_non_null(copy);
		memcpy(copy, bytes, n);
		copy[n] = '\0';
		line.text = copy;
		perf_text_line(text, &line);
		free(copy);
		number++;
		bytes += n + 1;
	}
	perf_text_finish(text, &seen->stats);
	perf_text_free(text);
	return buf_text(&seen->text);
}

static const char *read_text(struct seen *seen, const char *text)
{
	return read_bytes(seen, text, strlen(text));
}

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

	assert_string_equal(read_text(seen, dialect),
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

/* perf script of what was recorded without -g: one line a sample, names padded with blanks */
static void reads_the_frame_on_the_header_line(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(
		read_text(seen,
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

	(void)read_text(seen, "    fn 11 1.5: cycles:  ffffffff815f6f78 f ([kernel])\n");
	assert_false(seen->stats.unended);
	(void)read_text(seen, "    fn 11 1.5: cycles: \n");
	assert_true(seen->stats.unended);
}

/* -F misc, ip and srcline, and --show-mmap-events */
static void reads_what_more_perf_script_can_print(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(
		read_text(
			seen,
			"fn 11 1.2: PERF_RECORD_COMM: fn:11/11\n"
			"fn 11 1.3: PERF_RECORD_MMAP2 11/11: [0x5(0x2) @ 0x2 fe:00 1 2]: r-xp /a\n"
			"fn 11/11 [003] K     1.5: cycles: \n"
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
	(void)read_text(seen, "  no line of a source\n  a.c:\n  12]\n");
	assert_int_equal(seen->stats.bad_lines, 3);
}

static void reads_what_a_thread_waits_for(void **state)
{
	assert_string_equal(
		read_text(*state, "# s st=disk wait=open on=/tmp/a%20b=%25%zz cpu_ns=1,0\n"
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

	assert_string_equal(read_text(seen, text),
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
		read_text(*state, "running  4000/4001  [001] 1.5:  2 cpu-clock:"
				  "\tmetric_wick_cpu_ns: 12, -3\tmetric_wick_rss_kib: 5, 0\n\n"),
		"sample 'running' 4000/4001 [1] 1500000000 2 cpu-clock cpu_ns=12,-3 rss_kib=5,0\n");
	/* flame_prof's own names; what is nearly a metric is none */
	buf_clear(&((struct seen *)*state)->text);
	assert_string_equal(
		read_text(*state,
			  "S 1/2 [001] 1.5: 2 cpu-clock:\tmetric_heap-x: 7 ,\t-8 metric_b:\t1,2"
			  " xmetric_c: 1, 2 metric_: 1, 2 metric_d:3, 4 metric_e: 1.5, 2"
			  " metric_f: 1, 2x metric_wick_: 5, 6 metric_g: 9, 9\n\n"),
		"sample 'S' 1/2 [1] 1500000000 2 cpu-clock heap-x=7,-8 b=1,2 wick_=5,6 g=9,9\n");
}

static void reads_the_variants_of_perf(void **state)
{
	assert_string_equal(
		read_text(*state, "V8 Worker 3 27251 [003] 100.000001:   250000 cpu-clock:u: \n"
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

static void a_header_line_ends_the_sample_before_it(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(read_text(seen, "ab 1/1 [000] 1.5: 1 e: \n\t1 f (m)\n"
					    "cd 2/2 [000] 2.5: 1 e: \n\t2 g (m)\n"),
			    "sample 'ab' 1/1 [0] 1500000000 1 e\n  1 'f' 'm'\n"
			    "sample 'cd' 2/2 [0] 2500000000 1 e\n  2 'g' 'm'\n");
	assert_true(seen->stats.unended);
}

static void bad_lines_are_counted_and_passed_over(void **state)
{
	struct seen *seen = *state;

	assert_string_equal(read_text(seen, "garbage\n"
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
		"1/1 [000] 1.5: 1 e:",            /* no comm */
		"ab 1/1 [000] 1: 1 e:",           /* no fraction */
		"ab 1/1 [000] 1.5 1 e:",          /* no colon */
		"ab 1/1 [000] 1.5: 1",            /* a period without an event */
		"ab 1/x [000] 1.5: 1 e:",         /* no tid */
		"ab 99999999999 [000] 1.5: 1 e:", /* no pid is so large */
		"ab 1/1 [000] 99999999999999999999.5: 1 e:",
		"ab 1/1 [000] -1.5: 1 e:",
	};
	static const char *const frames[] = {
		"\t",       "\t1",     "\t1 f (m",
		"\t1 f m)", "\t1 (m)", "\t11112222333344445 f (m)",
		"1 f (m)",  "\t1 f )",
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

	assert_string_equal(read_bytes(seen, bytes, sizeof(bytes) - 1),
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
	assert_non_null(strstr(read_text(seen, buf_text(&text)), " cut\n  0 'f0' 'm'\n"));
	assert_int_equal(seen->stats.bad_lines, 0);
	buf_release(&text);
}

/* The dialect, written to a file by WRITE and read back. */
static void check_file(struct seen *seen, const void *bytes, size_t len, int expected)
{
	char path[] = "/tmp/perf_text_test.XXXXXX";
	struct perf_text_visitor with = visitor;
	struct err err = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	(void)close(fd);
	with.context = seen;
	buf_clear(&seen->text);
	assert_int_equal(perf_text_read(path, &with, &seen->stats, &err), expected);
	(void)unlink(path);
	if (expected < 0)
		assert_non_null(strstr(err.text, path));
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

	assert_int_equal(perf_text_read("/no/such/file", &visitor, &seen->stats, &err), -ENOENT);
	assert_int_equal(perf_text_read("/tmp", &visitor, &seen->stats, &err), -EISDIR);
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
		cmocka_unit_test_setup_teardown(reads_its_own_dialect, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_the_frame_on_the_header_line, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_sample_of_one_line_is_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_what_more_perf_script_can_print, setup,
						teardown),
		cmocka_unit_test_setup_teardown(reads_what_a_thread_waits_for, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_releases_in_comments, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_metrics_of_the_header_line, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_the_variants_of_perf, setup, teardown),
		cmocka_unit_test_setup_teardown(a_header_line_ends_the_sample_before_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(bad_lines_are_counted_and_passed_over, setup,
						teardown),
		cmocka_unit_test(refuses_lines_that_are_nearly_right),
		cmocka_unit_test_setup_teardown(nul_bytes_and_cut_lines_are_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(deep_stacks_keep_the_leaf_side, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_plain_gzip_and_zstd, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_files_that_are_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(long_lines_are_cut_in_bounded_memory, setup,
						teardown),
		cmocka_unit_test(json_gives_names_and_plain_values),
		cmocka_unit_test(json_that_is_broken_ends_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
