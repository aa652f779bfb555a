/* perf_script_test.c - the writer's inputs at the end of a page, stamps, depths, encodings */
#include "base/json.h"
#include "base/utf8.h"
#include "output/text/perf_script.h"
#include "state_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* TEXT with its NUL as the last byte before a page that cannot be read. */
static char *at_page_end(const char *text, void **ret_page)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t len = strlen(text) + 1;
	char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(two != MAP_FAILED);
	assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);
	memcpy(two + page - len, text, len);
	*ret_page = two;
	return two + page - len;
}

static const char *const odd[] = {
	"",
	" ",
	"12",
	"12:",
	"a 12:",
	"a 12",
	"->",
	"-",
	"(",
	"(anonymous",
	"(anonymous namespace)",
	"\xe2",
	"\xe2\x82",
	"\xf0\x9f\x98",
	"<",
	"<htm",
	"\\begi",
	"%",
	"%4",
	"%41",
	"x (deleted)",
	" (deleted)",
	"/",
	"a/",
	"[",
};

static void reads_no_byte_past_the_end_of_a_name(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		void *map;
		const char *text = at_page_end(odd[i], &map);
		char comm[SANITISED_COMM_SIZE];
		struct buf buf;

		buf_init(&buf, 4096);
		(void)sanitise_symbol(&buf, text);
		(void)sanitise_module(&buf, text);
		(void)sanitise_basename(&buf, text);
		(void)sanitise_comm(text, strlen(text), 1, comm);
		sanitise_word(&buf, text, strlen(text));
		sanitise_line(&buf, text);
		json_add_string(&buf, text);
		assert_false(buf.failed);
		buf_release(&buf);
		assert_int_equal(munmap(map, 2 * page), 0);
	}
}

static void tells_code_points_from_other_bytes(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		uint32_t code;
	} cases[] = {
		{"a", 1, 'a'},
		{"\xc3\xa9", 2, 0xe9},
		{"\xe2\x86\x92", 3, 0x2192},
		{"\xf0\x9f\x98\x80", 4, 0x1f600},
		{"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
		{"\xc1\xbf", 0, 0},
		{"\xe0\x9f\xbf", 0, 0},
		{"\xed\xa0\x80", 0, 0},
		{"\xf0\x8f\xbf\xbf", 0, 0},
		{"\xf4\x90\x80\x80", 0, 0},
		{"\x80", 0, 0},
		{"\xff", 0, 0},
		{"\xe2\x86", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t code = 0;

		assert_int_equal(utf8_next(cases[i].text, strlen(cases[i].text), &code),
				 cases[i].len);
		assert_int_equal(code, cases[i].code);
	}
}

static struct sample sample_at(uint64_t time_ns)
{
	return (struct sample){.time_ns = time_ns, .pid = 1, .tid = 1, .weight = 2, .comm = "app"};
}

static void a_stamp_never_runs_back_and_is_never_whole(void **state)
{
	const struct perf_script_options options = {.bare = true};
	struct perf_script_file file = {0};
	struct buf *buf = *state;

	buf_init(buf, 65536);
	for (int i = 0; i < 3; i++) {
		static const uint64_t times[] = {7000000999U, 6999999999U, 7000002999U};
		struct sample sample = sample_at(times[i]);

		perf_script_sample(&options, &file, &sample, buf);
	}
	assert_int_equal(file.n_late, 1);
	assert_int_equal(file.n_samples, 3);
	assert_int_equal(file.weight, 6);
	const char *text = buf_text(buf);

	text = strstr(text, "     7.000001: ");
	assert_non_null(text);
	text = strstr(text + 1, "     7.000002: ");
	assert_non_null(text);
	assert_non_null(strstr(text + 1, "     7.000003: "));
}

/* The stamp of a sample that is written now, in units of the last digit behind a whole second. */
static unsigned stamp_of(const struct perf_script_options *options, struct perf_script_file *file,
			 uint64_t time_ns, pid_t tid)
{
	struct sample sample = sample_at(time_ns);
	const char *dot;
	struct buf buf;
	unsigned stamp;

	buf_init(&buf, 4096);
	sample.tid = tid;
	perf_script_sample(options, file, &sample, &buf);
	dot = strchr(buf_text(&buf), '.');
	assert_non_null(dot);
	stamp = (unsigned)strtoul(dot + 1, NULL, 10);
	buf_release(&buf);
	return stamp;
}

static void samples_of_a_thread_have_stamps_of_their_own(void **state)
{
	static const struct {
		unsigned time_ns; /* behind 7 s */
		pid_t tid;
		unsigned us;
		unsigned ns; /* with --ns */
		unsigned copy;
	} steps[] = {
		{5000, 1, 5, 5000, 5},        {5000, 1, 6, 5001, 5},
		{5100, 1, 7, 5100, 5},        {5100, 2, 7, 5100, 5},
		{5200, 3, 7, 5200, 5},        {5200, 2, 8, 5200, 5},
		{6999, 2, 9, 6999, 6},        {9000, 2, 10, 9000, 9},
		{12000, 2, 12, 12000, 12},    {999999999, 2, 999999, 999999999, 999999},
		{999999999, 2, 1, 1, 999999}, /* not the whole second */
	};
	const struct perf_script_options options[] = {
		{.bare = true}, {.bare = true, .ns = true}, {.bare = true, .own_times = true}};

	(void)state;
	for (size_t mode = 0; mode < 3; mode++) {
		struct perf_script_file file = {0};

		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			unsigned want[] = {steps[i].us, steps[i].ns, steps[i].copy};

			assert_int_equal(stamp_of(&options[mode], &file,
						  7000000000U + steps[i].time_ns, steps[i].tid),
					 want[mode]);
		}
		assert_int_equal(file.n_late, 0);
	}
}

/* However many there are of one moment: stamps run ahead by 10 ms, and no further. */
static void stamps_do_not_run_away(void **state)
{
	const struct perf_script_options options = {.bare = true};
	struct perf_script_file file = {0};
	unsigned stamp = 0;

	(void)state;
	for (int i = 0; i < 20000; i++)
		stamp = stamp_of(&options, &file, 7000005000U, 1);
	assert_int_equal(stamp, 5 + 10000);
	assert_int_equal(stamp_of(&options, &file, 7020000000U, 1), 20000);
	for (pid_t tid = 2; tid < 1000; tid++) /* as many threads as it does not remember */
		stamp = stamp_of(&options, &file, 7020000000U, tid);
	assert_in_range(stamp, 20000, 20000 + 1000 / PERF_SCRIPT_MAX_EQUAL);
}

/* What is released is no sample to any consumer but wick: nothing of it is outside comments. */
static void a_release_is_a_comment(void **state)
{
	static const char text[] = "# s st=running on=7f00 op=free\n"
				   "# f app     1/1         7.000005:          0 alloc: \n"
				   "# f \t            7f01 give+0x2 (/m)\n"
				   "# f\n";
	struct perf_script_options options = {.n_metrics = 0};
	struct perf_script_file file = {.event = "alloc"};
	struct frame frame = {.addr = 0x7f01, .symbol = "give", .offset = 2, .module = "/m"};
	struct sample sample = sample_at(7000005000U);
	struct buf *buf = *state;

	buf_init(buf, 4096);
	sample.op = "free";
	sample.weight = 0;
	sample.cpu = SAMPLE_NO_CPU;
	sample.frames = &frame;
	sample.n_frames = 1;
	(void)strcpy(sample.object, "7f00");
	perf_script_sample(&options, &file, &sample, buf);
	assert_string_equal(buf_text(buf), text);
	buf_clear(buf);
	perf_script_end(&options, &file, NULL, 0, buf);
	assert_string_equal(buf_text(buf), "# wick-end : {\"samples\":1,\"weight\":0,\"late\":0,"
					   "\"releases\":1}\n");
	/* the flame_prof dialect is for what changes metrics; a bare text has no comments */
	buf_clear(buf);
	options.metrics_as = METRICS_AS_INLINE;
	perf_script_sample(&options, &file, &sample, buf);
	assert_null(strstr(buf_text(buf), "# f"));
	assert_non_null(strstr(buf_text(buf), "alloc:"));
	buf_clear(buf);
	options = (struct perf_script_options){.bare = true};
	perf_script_sample(&options, &file, &sample, buf);
	assert_int_equal(buf->len, 0);
}

/* One function has one name, wherever in the file it is. */
static void a_name_that_makes_a_file_of_another_type_is_marked(void **state)
{
	static const char *const names[][2] = {
		{"work<TableRow>", "work<TableRow>"},
		{"work<table>", "work<_table>"},
		{"work<Table *>", "work<_Table *>"},
		{"work<_table>", "work<__table>"},
		{"f<head>::g<body>", "f<_head>::g<body>"},
		{"v<a href=1>", "v<_a href=1>"},
		{"A\\beginB", "A\\_beginB"},
		{"A\\_beginB", "A\\__beginB"},
		{"A\\other", "A\\other"},
		{"x<_y>", "x<_y>"},
		{"f<script", "f<_script"},
	};
	char restored[64];
	struct buf *buf = *state;

	buf_init(buf, 65536);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		buf_clear(buf);
		assert_true(sanitise_symbol(buf, names[i][0]));
		assert_string_equal(buf_text(buf), names[i][1]);
		(void)strcpy(restored, buf_text(buf));
		markup_restore(restored);
		assert_string_equal(restored, names[i][0]);
	}
}

/* The line before a sample's header line. */
static void assert_comment(const struct sample *sample, const char *comment)
{
	const struct perf_script_options options = {.n_metrics = 0};
	struct perf_script_file file = {0};
	struct buf buf;

	buf_init(&buf, 65536);
	perf_script_sample(&options, &file, sample, &buf);
	assert_int_equal(strncmp(buf_text(&buf), comment, strlen(comment)), 0);
	assert_int_equal(buf_text(&buf)[strlen(comment)], '\n');
	buf_release(&buf);
}

static void says_what_a_thread_waits_for(void **state)
{
	struct sample sample = sample_at(1);

	(void)state;
	sample.state = STATE_RUNNABLE;
	assert_comment(&sample, "# s st=runnable");
	sample.state = STATE_SLEEPING;
	sample.wait = "read";
	assert_comment(&sample, "# s st=sleeping wait=read");
	(void)strcpy(sample.object, "pipe:[7]");
	assert_comment(&sample, "# s st=sleeping wait=read on=pipe:[7]");
	(void)strcpy(sample.object, "/a b%\n<\xff");
	assert_comment(&sample, "# s st=sleeping wait=read on=/a%20b%25%0A%3C%FF");
	memset(sample.object, 'x', sizeof(sample.object)); /* no NUL */
	assert_comment(&sample, "# s st=sleeping wait=read on="
				"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
				"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

static void labels_stand_behind_the_object(void **state)
{
	const struct sample_label labels[] = {{"zone", "a=b,c d\n"}, {"tier", "db"},
					      {"span", "02"},        {"identity", "GET /%,"},
					      {"trace", "01"},       {"task", "t@a.c:1"}};
	struct sample sample = sample_at(1);

	(void)state;
	sample.state = STATE_RUNNABLE;
	(void)strcpy(sample.object, "x");
	sample.labels = labels;
	sample.n_labels = 6;
	assert_comment(&sample, "# s st=runnable on=x trace=01 span=02 identity=GET%20/%25%2C "
				"task=t@a.c:1 tier=db zone=a=b%2Cc%20d%0A");
}

static void a_full_buffer_is_noticed(void **state)
{
	const struct perf_script_options options = {.bare = true};
	struct perf_script_file file = {0};
	struct sample sample = sample_at(1);
	struct buf *buf = *state;

	buf_init(buf, 20);
	perf_script_sample(&options, &file, &sample, buf);
	assert_true(buf->failed);
}

/* Samples of 300 functions, every other one with a call inlined. */
static void lines_are_bounded_and_functions_too(void **state)
{
	const struct perf_script_options options = {.bare = true};
	static struct frame frames[600];
	struct sample sample = sample_at(1000000001);
	struct perf_script_file file = {0};
	size_t n_lines = 0;
	size_t n_inlined = 0;
	struct buf *buf = *state;

	for (size_t i = 0; i < 600; i++)
		frames[i] = (struct frame){
			.addr = 1, .symbol = "f", .module = "/m", .inlined = i % 2 == 0};
	sample.frames = frames;
	sample.n_frames = 500; /* 250 functions: too many lines with their calls */
	buf_init(buf, 1024 * 1024);
	perf_script_sample(&options, &file, &sample, buf);
	for (const char *at = buf_text(buf); (at = strstr(at, "\n\t")); at++) {
		n_lines++;
		n_inlined +=
			strstr(at, "(inlined)") && strstr(at, "(inlined)") < strchr(at + 1, '\n');
	}
	assert_int_equal(n_lines, PERF_SCRIPT_MAX_LINES);
	assert_int_equal(n_inlined, PERF_SCRIPT_MAX_LINES / 2);
	assert_non_null(strstr(buf_text(buf), "[truncated]"));
	buf_clear(buf);
	sample.n_frames = 480; /* just so many lines */
	perf_script_sample(&options, &file, &sample, buf);
	assert_null(strstr(buf_text(buf), "[truncated]"));
}

static void source_lines_are_a_comment(void **state)
{
	const struct perf_script_options options = {.srcline = true};
	struct frame frames[] = {
		{.addr = 1,
		 .symbol = "in",
		 .module = "/m",
		 .file = "/a b/c.c",
		 .line = 7,
		 .inlined = true},
		{.addr = 1, .symbol = "out", .module = "/m"},
		{.addr = 2, .symbol = "main", .module = "/m", .file = "m.c"},
	};
	struct sample sample = sample_at(1000000001);
	struct perf_script_file file = {0};
	struct buf *buf = *state;

	sample.frames = frames;
	sample.n_frames = 3;
	buf_init(buf, 4096);
	perf_script_sample(&options, &file, &sample, buf);
	assert_non_null(strstr(buf_text(buf), "\n# l /a%20b/c.c:7 - m.c:0\n"));
	buf_clear(buf);
	sample.n_frames = 0;
	perf_script_sample(&options, &file, &sample, buf);
	assert_non_null(strstr(buf_text(buf), "\n# l -\n"));
}

static void the_end_line_lists_modules(void **state)
{
	static const struct perf_script_module at[] = {
		{"/a \"b\"", "00ff", "debug", "", ""},
		{"/c", "", "none", "names", "its package"},
	};
	const struct perf_script_modules modules = {at, 2};
	const struct perf_script_options options = {.modules = &modules};
	struct perf_script_file file = {0};
	struct buf *buf = *state;

	buf_init(buf, 4096);
	perf_script_end(&options, &file, NULL, 0, buf);
	assert_string_equal(
		buf_text(buf),
		"# wick-end : {\"samples\":0,\"weight\":0,\"late\":0,\"modules\":[{"
		"\"path\":\"/a \\u0022b\\u0022\",\"build_id\":\"00ff\",\"names\":\"debug\"},{"
		"\"path\":\"/c\",\"build_id\":\"\",\"names\":\"none\",\"missing\":\"names\","
		"\"try\":\"its package\"}]}\n");
}

STATE_FIXTURE(buf, buf, buf_release(buf))

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_no_byte_past_the_end_of_a_name),
		cmocka_unit_test(tells_code_points_from_other_bytes),
		own_test(a_stamp_never_runs_back_and_is_never_whole),
		cmocka_unit_test(samples_of_a_thread_have_stamps_of_their_own),
		cmocka_unit_test(stamps_do_not_run_away),
		own_test(a_release_is_a_comment),
		own_test(labels_stand_behind_the_object),
		own_test(a_name_that_makes_a_file_of_another_type_is_marked),
		cmocka_unit_test(says_what_a_thread_waits_for),
		own_test(a_full_buffer_is_noticed),
		own_test(lines_are_bounded_and_functions_too),
		own_test(source_lines_are_a_comment),
		own_test(the_end_line_lists_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
