/* convert_test.c - a selection in the formats of other programs */
#include "flamescope/convert/internal.h"
#include "flamescope/text/text.h"
#include "tests/unit/convert_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static void folds_stacks_by_their_values(void **state)
{
	struct fixture *fixture = *state;

	assert_string_equal(fixture_convert(fixture, CONVERT_FOLDED),
			    "main;work:or \"play\" 2\n"
			    "main;work:or \"play\";inner 1\n"
			    "main;read 4\n");
	assert_int_equal(fixture->report.n_samples, 4);
}

static void folds_a_sample_without_frames(void **state)
{
	struct fixture *fixture = *state;
	uint32_t none[] = {0, 0, NODE_GROUP, NODE_GROUP};

	fixture->selection.stacks = none;
	assert_string_equal(fixture_convert(fixture, CONVERT_FOLDED), "[no frames] 4\nrunning 3\n");
}

static void counts_what_is_below_zero(void **state)
{
	static const enum convert_format formats[] = {CONVERT_FOLDED, CONVERT_SPEEDSCOPE,
						      CONVERT_PERF};

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct fixture *fixture = fixture_init();

		fixture->selection.measure = QUERY_DELTA;
		for (size_t k = 0; k < 4; k++)
			fixture->values[k] = k == 1 ? -3 : 1;
		fixture->options.replicate = true;
		assert_non_null(fixture_convert(fixture, formats[i]));
		assert_int_equal(fixture->report.n_negative, 1);
		assert_null(strstr(fixture_convert(fixture, formats[i]), "-3"));
		fixture_release(fixture);
	}
}

/* C1 is two bytes of UTF-8, or one that is none; terminals obey both. */
static void no_text_orders_a_terminal_about(void **state)
{
	static const char evil[] = "a;\x1b]0;x\x07\x7f\xc2\x9b\x9b\xff\xc3\xa9";
	static const enum convert_format formats[] = {CONVERT_FOLDED, CONVERT_PERF};

	(void)state;
	for (size_t format = 0; format < 4; format++) {
		struct fixture *fixture = fixture_init();
		struct profile *profile = &fixture->profile;
		const char **strings = calloc(profile->n_strings, sizeof(*strings));
		const char *text;

		assert_non_null(strings);
		for (size_t i = 0; i < profile->n_strings; i++)
			strings[i] = i ? evil : "";
		profile->strings = strings;
		fixture->options.inline_metrics = format == 2;
		fixture->options.bare = format == 3;
		text = fixture_convert(fixture, formats[format > 0]);
		assert_non_null(text);
		for (; *text; text++) {
			const unsigned char byte = (unsigned char)*text;

			assert_true(byte >= ' ' || byte == '\n' || byte == '\t');
			assert_true(byte != 0x7f && byte != 0xff);
			assert_false(byte == 0xc2 && (unsigned char)text[1] < 0xa0);
			assert_false(byte == 0x9b && (unsigned char)text[-1] < 0x80);
		}
		fixture_release(fixture);
		free(strings);
	}
}

static void gives_speedscope_a_profile_a_thread(void **state)
{
	struct fixture *fixture = *state;
	const char *text = fixture_convert(fixture, CONVERT_SPEEDSCOPE);

	assert_non_null(text);
	assert_non_null(
		strstr(text, "{\"name\":\"work;or \\u0022play\\u0022\",\"file\":\"/opt/app\"}"));
	assert_non_null(strstr(text, "\"name\":\"app pid: 4000 tid: 4000 on box\","
				     "\"unit\":\"nanoseconds\",\"startValue\":0,"
				     "\"samples\":[[0,1,2],[0,1]],\n"
				     "\"weights\":[10000000,20000000],\n\"endValue\":30000000}"));
	assert_non_null(strstr(text, "\"samples\":[[0,3],[0,3]]"));
}

static void gives_firefox_tables_a_thread(void **state)
{
	struct fixture *fixture = *state;
	const char *text = fixture_convert(fixture, CONVERT_FIREFOX);

	assert_non_null(text);
	assert_non_null(strstr(text, "\"preprocessedProfileVersion\":48"));
	assert_non_null(strstr(text, "\"startTime\":1700012345010.101000"));
	assert_non_null(strstr(text, "\"weightType\":\"tracing-ms\",\"stack\":[2,1],"
				     "\"time\":[0.000000,10.000000],"
				     "\"weight\":[10.000000,20.000000]"));
	assert_non_null(strstr(text, "\"stackTable\":{\"length\":2,\"frame\":[0,1],"
				     "\"prefix\":[null,0],\"category\":[1,2]"));
	assert_non_null(strstr(text, "\"stringArray\":[\"main\",\"read\",\"/opt/app\","
				     "\"[kernel.kallsyms]\"]"));
}

static void writes_perf_text_with_every_word(void **state)
{
	struct fixture *fixture = *state;
	const char *text = fixture_convert(fixture, CONVERT_PERF);

	assert_non_null(text);
	assert_non_null(strstr(text, "# ========\n# captured on    : 2026-11-21T08:16:26Z\n"
				     "# hostname : box\n# cmdline : app --fast\n# wick : {"));
	assert_non_null(strstr(text, "\"epoch_offset_ns\":1700000000000000000,"
				     "\"event\":\"cpu-clock\",\"hz\":100,\"pid\":4000"));
	assert_non_null(strstr(text, "\"keys\":[\"task\",\"comm\"]"));
	assert_non_null(strstr(text, "# s st=running rss_kib=100,0 cpu_ns=10,0\n"
				     "app  4000/4000  [000] 12345.010101:          1 cpu-clock: \n"
				     "\t            4020 inner (inlined)\n"));
	/* no cpu, no rss; then a name that had to be altered */
	assert_non_null(strstr(text, "# s st=running task=50%25%2C%20or%20more cpu_ns=30,20\n"
				     "app  4000/4000  12345.020101:          2 cpu-clock: \n"));
	assert_non_null(strstr(text, "cpu_ns=40,20 comm=a%20worker\na_worker  4000/4001"));
	assert_non_null(strstr(text, "# wick-end : {\"samples\":4,\"weight\":7,\"late\":0,"
				     "\"lost_before\":7}"));
}

static void says_nothing_of_wick_for_others(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	fixture->profile.is_wick = false;
	fixture->profile.n_tags = 0;
	fixture->profile.n_metrics = 0;
	text = fixture_convert(fixture, CONVERT_PERF);
	assert_non_null(strstr(text, "# ========\n#\napp "));
	assert_null(strstr(text, "wick"));
}

static void bare_text_has_no_comment(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	fixture->options.bare = true;
	text = fixture_convert(fixture, CONVERT_PERF);
	assert_non_null(text);
	assert_null(strchr(text, '#'));
	/* Perfetto insists on a cpu */
	assert_non_null(strstr(text, "app  4000/4000  [000] 12345.020101:"));
}

static void inline_metrics_follow_the_event(void **state)
{
	struct fixture *fixture = *state;
	const char *text;

	fixture->options.inline_metrics = true;
	text = fixture_convert(fixture, CONVERT_PERF);
	/* a sample without a value keeps the last one, and has not changed */
	assert_non_null(strstr(text, "cpu-clock:\tmetric_wick_rss_kib: 200, 0\t"
				     "metric_wick_cpu_ns: 30, 20\n"));
	assert_non_null(strstr(text, "\nsleeping  4000/4001"));
	fixture->profile.n_tags = 0;
	text = fixture_convert(fixture, CONVERT_PERF);
	assert_null(strstr(text, "\nrunning "));
}

static void groups_are_outermost(void **state)
{
	struct fixture *fixture = *state;
	static const char *const groups[] = {"state"};
	uint32_t stacks[] = {6, 6, 6, 6};

	fixture->selection.stacks = stacks;
	fixture->options.groups = groups;
	fixture->options.n_groups = 1;
	assert_non_null(strstr(fixture_convert(fixture, CONVERT_PERF),
			       "(/opt/app)\n\t               0 running ([state])\n\n"));
}

/* ---- samples as often as a metric is large */

struct counted {
	uint64_t samples;
	uint64_t weight;
};

static void count_sample(void *context, const struct perf_text_sample *sample)
{
	struct counted *counted = context;

	counted->samples++;
	counted->weight += sample->head.period;
}

static struct counted count(const char *text)
{
	struct counted counted = {0};
	struct perf_text_visitor visitor = {.sample = count_sample, .context = &counted};
	struct perf_text_stats stats;
	struct perf_text *reader;
	char *copy;
	uint64_t number = 1;

	assert_non_null(text);
	copy = strdup(text);
	assert_non_null(copy);
	assert_int_equal(perf_text_new(&visitor, &reader), 0);
	for (char *at = copy, *end; (end = strchr(at, '\n')); at = end + 1) {
		struct line line = {.text = at, .len = (size_t)(end - at), .number = number};

		*end = '\0';
		perf_text_line(reader, &line);
		number++;
	}
	perf_text_finish(reader, &stats);
	assert_int_equal(stats.bad_lines, 0);
	perf_text_free(reader);
	free(copy);
	return counted;
}

static void repeats_samples_up_to_a_limit(void **state)
{
	struct fixture *fixture = *state;
	struct counted counted;
	const char *text;

	fixture->options.replicate = true;
	fixture->options.max_samples = 1000;
	fixture->selection.measure = QUERY_VALUE;
	fixture->values[0] = 1000000;
	fixture->values[1] = 10;
	fixture->values[2] = 0;
	fixture->values[3] = 3000000;
	text = fixture_convert(fixture, CONVERT_PERF);
	counted = count(text);
	assert_int_equal(fixture->report.quantum, 4001);
	assert_in_range(counted.samples, 990, 1000);
	assert_int_equal(counted.samples, fixture->report.n_samples);
	assert_int_equal(counted.weight, counted.samples * 4001);
}

static void small_values_of_a_stack_add_up(void **state)
{
	struct fixture *fixture = *state;
	uint32_t samples[100] = {0};
	uint32_t stacks[100];
	int64_t values[100];

	for (size_t i = 0; i < 100; i++) {
		stacks[i] = NODE_READ;
		values[i] = 3;
	}
	fixture->selection.measure = QUERY_VALUE;
	fixture->selection.n = 100;
	fixture->selection.samples = samples;
	fixture->selection.stacks = stacks;
	fixture->selection.values = values;
	fixture->options.replicate = true;
	fixture->options.max_samples = 30;
	assert_int_equal(count(fixture_convert(fixture, CONVERT_PERF)).samples, 30);
	assert_int_equal(fixture->report.quantum, 10);
}

static void the_largest_values_do_not_overflow(void **state)
{
	struct fixture *fixture = *state;

	fixture->selection.measure = QUERY_VALUE;
	for (size_t i = 0; i < 4; i++)
		fixture->values[i] = INT64_MAX;
	fixture->options.replicate = true;
	fixture->options.max_samples = 8;
	assert_int_equal(count(fixture_convert(fixture, CONVERT_PERF)).samples, 5);
	assert_non_null(fixture_convert(fixture, CONVERT_SPEEDSCOPE));
	assert_non_null(fixture_convert(fixture, CONVERT_FIREFOX));
	assert_non_null(fixture_convert(fixture, CONVERT_PPROF));
}

/* ---- pprof */

static void writes_numbers_as_varints(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, 1024);
	proto_varint(&buf, 0);
	proto_varint(&buf, 300);
	proto_varint(&buf, UINT64_MAX);
	assert_int_equal(buf.len, 13);
	assert_memory_equal(buf.data, "\0\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
	buf_clear(&buf);
	proto_number(&buf, 3, 0);
	assert_int_equal(buf.len, 0);
	proto_text(&buf, 6,
		   "a\xff"
		   "b");
	assert_int_equal(buf.len, 7);
	assert_memory_equal(buf.data,
			    "\x32\x05"
			    "a\xef\xbf\xbd"
			    "b",
			    7);
	buf_release(&buf);
}

/* Packed fields of the stack main;work;inner: one place for what was inlined, one for main. */
static void an_inlined_call_shares_its_place(void **state)
{
	static const char inlined[] = "\x0a\x02\x03\x01";               /* location_id: 3, 1 */
	static const char place[] = "\x08\x03\x10\x05\x18\xa0\x80\x01"  /* 3, mapping, 0x4020 */
				    "\x22\x02\x08\x03\x22\x02\x08\x02"; /* inner, then work */
	struct fixture *fixture = *state;

	assert_non_null(fixture_convert(fixture, CONVERT_PPROF));
	assert_non_null(memmem(fixture->out.data, fixture->out.len, inlined, 4));
	assert_non_null(memmem(fixture->out.data, fixture->out.len, place, sizeof(place) - 1));
}

/* A file writes the chain of each link: a hostile stack must not make it grow by the square. */
static void long_chains_of_inlined_calls_are_parted(void **state)
{
	enum { DEEP = 1000 };
	static struct profile_node nodes[DEEP + 1];
	struct fixture *fixture = *state;
	struct locations locations;
	uint32_t longest = 0;

	for (uint32_t i = 1; i <= DEEP; i++)
		nodes[i] = (struct profile_node){i - 1, 2};
	fixture->selection.nodes = nodes;
	fixture->selection.n_nodes = DEEP + 1;
	assert_int_equal(locations_make(&fixture->selection, &locations), 0);
	for (size_t i = 1; i < locations.n; i++)
		if (locations.at[i].length > longest)
			longest = locations.at[i].length;
	assert_int_equal(longest, LOCATIONS_MAX_CHAIN);
	locations_release(&locations);
}

/* ---- the way out */

static void gzip_is_one_member(void **state)
{
	struct fixture *fixture = *state;
	unsigned char plain[65536];
	z_stream stream = {.next_out = plain, .avail_out = sizeof(plain)};

	fixture->options.gzip = true;
	assert_non_null(fixture_convert(fixture, CONVERT_FOLDED));
	stream.next_in = (unsigned char *)fixture->out.data;
	stream.avail_in = (uInt)fixture->out.len;
	assert_int_equal(inflateInit2(&stream, 31), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	assert_memory_equal(plain, "main;work:or", 12);
	(void)inflateEnd(&stream);
}

static int refuse(void *context, const void *bytes, size_t len)
{
	(void)context;
	(void)bytes;
	(void)len;
	return -ENOSPC;
}

static void a_sink_that_fails_ends_it(void **state)
{
	struct fixture *fixture = *state;

	fixture->sink.write = refuse;
	for (int gzip = 0; gzip < 2; gzip++) {
		fixture->options.gzip = gzip;
		assert_int_equal(convert_write(&fixture->selection, &fixture->options,
					       &fixture->sink, &fixture->report, &fixture->err),
				 -ENOSPC);
	}
}

static void the_end_of_a_name_is_a_format(void **state)
{
	enum convert_format format;
	struct err err = {0};
	bool gzip;

	(void)state;
	assert_int_equal(convert_format_of("a.b/x.firefox.json.gz", &format, &gzip, &err), 0);
	assert_int_equal(format, CONVERT_FIREFOX);
	assert_true(gzip);
	assert_int_equal(convert_format_of("perf", &format, &gzip, &err), 0);
	assert_int_equal(format, CONVERT_PERF);
	assert_false(gzip);
	assert_int_equal(convert_format_of("xperf", &format, &gzip, &err), -ENOENT);
	assert_int_equal(convert_format_of("x.json", &format, &gzip, &err), -ENOENT);
	assert_int_equal(convert_format_of(".gz", &format, &gzip, &err), -ENOENT);
	assert_int_equal(convert_format_of("", &format, &gzip, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(folds_stacks_by_their_values),
		fixture_test(folds_a_sample_without_frames),
		cmocka_unit_test(counts_what_is_below_zero),
		cmocka_unit_test(no_text_orders_a_terminal_about),
		fixture_test(gives_speedscope_a_profile_a_thread),
		fixture_test(gives_firefox_tables_a_thread),
		fixture_test(writes_perf_text_with_every_word),
		fixture_test(says_nothing_of_wick_for_others),
		fixture_test(bare_text_has_no_comment),
		fixture_test(inline_metrics_follow_the_event),
		fixture_test(groups_are_outermost),
		fixture_test(repeats_samples_up_to_a_limit),
		fixture_test(small_values_of_a_stack_add_up),
		fixture_test(the_largest_values_do_not_overflow),
		cmocka_unit_test(writes_numbers_as_varints),
		fixture_test(an_inlined_call_shares_its_place),
		fixture_test(long_chains_of_inlined_calls_are_parted),
		fixture_test(gzip_is_one_member),
		fixture_test(a_sink_that_fails_ends_it),
		cmocka_unit_test(the_end_of_a_name_is_a_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
