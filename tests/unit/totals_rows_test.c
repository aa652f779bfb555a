/* totals_rows_test.c - exact counts as rows of JSON, added up, and as tables */
#include "tools/totals/totals.h"
#include "totals_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000000, BYTES = 1024 * 1024 };

static void fill(struct totals_fixture *fixture)
{
	struct total_tier *db;

	(void)fixture_task(fixture, "fetch", 40 * MS, 20 * MS, 4);
	fixture_task(fixture, "log", 10 * MS, 0, 2)->kind = TOTAL_FUNCTION;
	(void)fixture_tier(fixture, "request", "_total", 10, 5 * MS);
	(void)fixture_tier(fixture, "request", "GET /a", 10, 5 * MS);
	(void)fixture_tier(fixture, "db", "_total", 10, 2 * MS);
	db = fixture_tier(fixture, "db", "GET /a", 10, 2 * MS);
	db->exemplar_ns = 2 * MS;
	db->exemplar_trace[0] = 0xab;
}

static void assert_equal_text(struct buf *buf, const char *expected)
{
	assert_string_equal(buf_text(buf), expected);
	buf_release(buf);
}

static void rows_say_what_was_counted(void **state)
{
	struct totals_fixture fixture = {0};
	struct buf buf;

	(void)state;
	fill(&fixture);
	buf_init(&buf, BYTES);
	totals_row_task(&buf, &fixture.totals, &fixture.tasks[0]);
	buf_add_char(&buf, '\n');
	totals_row_tier(&buf, &fixture.totals, &fixture.tiers[3], true);
	assert_equal_text(
		&buf,
		"{\"since_ns\":1000,\"time_ns\":2000000000,\"task\":\"fetch\",\"file\":\"src/"
		"loop.c\","
		"\"line\":12,\"exec_ns\":40000000,\"exec_max_ns\":10000000,\"run_max_ns\":"
		"4000000,\"children_ns\":20000000,"
		"\"exec_with_children_ns\":60000000,\"wall_ns\":80000000,\"calls\":4,\"live\":0,"
		"\"stillborn\":0,\"cancelled\":0,\"failed\":0,\"stalls\":0}\n"
		"{\"since_ns\":1000,\"time_ns\":2000000000,\"tier\":\"db\",\"identity\":\"GET /a\","
		"\"count\":10,\"sum_ns\":20000000,\"self_ns\":20000000,\"mean_ns\":2000000,\"sd_"
		"ns\":0,"
		"\"min_ns\":2000000,\"max_ns\":2000000,\"p25_ns\":2000000,\"p50_ns\":2000000,"
		"\"p75_ns\":2000000,\"p90_ns\":2000000,\"p99_ns\":2000000,\"p999_ns\":2000000,"
		"\"buckets\":[[954,10]],\"trace\":\"ab000000000000000000000000000000\","
		"\"trace_ns\":2000000}");
}

static void sum_rows(struct totals_sum **ret_sum, const struct totals *totals, int times)
{
	struct buf buf;
	size_t bad;

	buf_init(&buf, BYTES);
	totals_all_rows(&buf, totals, true);
	assert_int_equal(totals_sum_new(ret_sum), 0);
	for (int i = 0; i < times; i++) {
		assert_int_equal(totals_sum_add_lines(*ret_sum, buf.data, buf.len, &bad), 0);
		assert_int_equal(bad, 0);
		(void)totals_sum_get(*ret_sum); /* sorting between them changes nothing */
	}
	buf_release(&buf);
}

static void rows_come_back_whole(void **state)
{
	struct totals_fixture fixture = {0};
	struct totals_sum *sum;
	struct buf before;
	struct buf after;

	(void)state;
	fill(&fixture);
	sum_rows(&sum, &fixture.totals, 1);
	buf_init(&before, BYTES);
	buf_init(&after, BYTES);
	totals_all_rows(&before, &fixture.totals, true);
	totals_all_rows(&after, totals_sum_get(sum), true);
	assert_string_equal(buf_text(&after), buf_text(&before));
	buf_release(&before);
	buf_release(&after);
	totals_sum_free(sum);
}

static void intervals_add_up(void **state)
{
	struct totals_fixture fixture = {0};
	const struct totals *totals;
	struct totals_sum *sum;

	(void)state;
	fill(&fixture);
	sum_rows(&sum, &fixture.totals, 3);
	totals = totals_sum_get(sum);
	assert_int_equal(totals->n_tasks, 2);
	assert_int_equal(totals->tasks[0].exec_ns, 120 * MS);
	assert_int_equal(totals->tasks[0].exec_max_ns, 10 * MS);
	assert_int_equal(totals->tasks[0].run_max_ns, 4 * MS);
	assert_int_equal(totals->tasks[1].kind, TOTAL_FUNCTION);
	assert_int_equal(totals->n_tiers, 4);
	assert_string_equal(totals->tiers[0].tier, "request");
	assert_string_equal(totals->tiers[0].identity, "_total");
	assert_int_equal(totals->tiers[0].count, 30);
	assert_int_equal(histogram_count(&totals->tiers[3].durations), 30);
	assert_int_equal(totals->tiers[3].min_ns, 2 * MS);
	totals_sum_free(sum);
}

static void what_is_no_row_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"7",
		"{\"tier\":\"db\"}",
		"{\"tier\":7,\"identity\":\"x\"}",
		"{\"tier\":\"a\",\"identity\":\"b\",\"buckets\":[[2304,1]]}",
		"{\"tier\":\"a\",\"identity\":\"b\",\"buckets\":[[-1,1]]}",
		"{\"tier\":\"a\",\"identity\":\"b\",\"buckets\":[[1,0]]}",
		"{\"tier\":\"a\",\"identity\":\"b\",\"buckets\":[[1,1,1]]}",
		"{\"task\":\"a\",\"task\":\"b\"}",
		"{\"task\":\"a\\u0000b\"}",
	};
	struct totals_sum *sum;

	(void)state;
	assert_int_equal(totals_sum_new(&sum), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(totals_sum_add(sum, texts[i], strlen(texts[i])), -EINVAL);
	assert_int_equal(totals_sum_add(sum, "", TOTALS_ROW_BYTES + 1), -E2BIG);
	totals_sum_free(sum);
}

static void numbers_of_others_do_not_wrap(void **state)
{
	static const char row[] = "{\"task\":\"a\",\"exec_ns\":9223372036854775807,\"calls\":-5}";
	const struct totals *totals;
	struct totals_sum *sum;

	(void)state;
	assert_int_equal(totals_sum_new(&sum), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(totals_sum_add(sum, row, sizeof(row) - 1), 0);
	totals = totals_sum_get(sum);
	assert_true(totals->tasks[0].exec_ns == UINT64_MAX);
	assert_int_equal(totals->tasks[0].calls, 0);
	totals_sum_free(sum);
}

static void assert_table(struct totals_view view, const char *expected)
{
	struct totals_fixture fixture = {0};
	struct buf buf;

	fill(&fixture);
	buf_init(&buf, BYTES);
	assert_true(totals_table(&buf, &fixture.totals, &view) > 0);
	assert_equal_text(&buf, expected);
}

static void tables_are_for_people(void **state)
{
	(void)state;
	assert_table(
		(struct totals_view){.subject = TOTALS_TASKS},
		"calls     exec  exec max  run max  children  with children     wall  location\n"
		"    4  40.0 ms   10.0 ms  4.00 ms   20.0 ms        60.0 ms  80.0 ms  fetch "
		"loop.c:12\n"
		"    2  10.0 ms   5.00 ms        -       0 s        10.0 ms  20.0 ms  log() "
		"loop.c:12\n");
	assert_table(
		(struct totals_view){.subject = TOTALS_REQUESTS},
		"count     time    share     mean      p50      p99      max  identity  by tier\n"
		"   10  50.0 ms  100.0 %  5.00 ms  5.00 ms  5.00 ms  5.00 ms  _total    db 40.0 %\n"
		"   10  50.0 ms  100.0 %  5.00 ms  5.00 ms  5.00 ms  5.00 ms  GET /a    db 40.0 "
		"%\n");
	assert_table((struct totals_view){.subject = TOTALS_TIERS, .columns = 70, .rows = 1},
		     "count     time     mean      p50      p99  tier  identity\n"
		     "   10  20.0 ms  2.00 ms  2.00 ms  2.00 ms  db    _total\n");
	assert_table((struct totals_view){.subject = TOTALS_TASKS, .columns = 50, .rows = 1},
		     "calls     exec  with children  location\n"
		     "    4  40.0 ms        60.0 ms  fetch loop.c:12\n"
		     "and 1 more\n");
}

/* JSON has numbers of any size, and its readers do not. */
static void full_counters_come_back(void **state)
{
	struct totals_fixture fixture = {0};
	struct totals_sum *sum;
	const struct totals *read;
	struct buf buf;
	size_t bad;

	(void)state;
	*fixture_task(&fixture, "full", 1, 1, 1) = (struct total_task){.kind = TOTAL_TASK,
								       .name = "full",
								       .file = "x.c",
								       .exec_ns = UINT64_MAX,
								       .children_ns = UINT64_MAX,
								       .wall_ns = UINT64_MAX,
								       .calls = UINT64_MAX};
	fixture_tier(&fixture, "db", "GET /a", UINT64_MAX, 1)->sum_ns = UINT64_MAX;
	buf_init(&buf, BYTES);
	assert_int_equal(totals_rows_that_fit(&buf, &fixture.totals), 0);
	assert_int_equal(totals_sum_new(&sum), 0);
	assert_int_equal(totals_sum_add_lines(sum, buf.data, buf.len, &bad), 0);
	assert_int_equal(bad, 0);
	read = totals_sum_get(sum);
	assert_int_equal(read->n_tasks, 1);
	assert_int_equal(read->n_tiers, 1);
	assert_true(read->tasks[0].exec_ns == INT64_MAX);
	totals_sum_free(sum);
	buf_release(&buf);
}

static void rows_without_room_for_histograms_have_none(void **state)
{
	struct totals_fixture fixture = {0};
	struct buf buf;
	size_t len;

	(void)state;
	(void)fixture_tier(&fixture, "db", "GET /a", 1, 1);
	buf_init(&buf, BYTES);
	totals_all_rows(&buf, &fixture.totals, true);
	len = buf.len;
	buf_release(&buf);
	buf_init(&buf, len - 2);
	assert_int_equal(totals_rows_that_fit(&buf, &fixture.totals), 0);
	assert_null(strstr(buf_text(&buf), "buckets"));
	buf_release(&buf);
	buf_init(&buf, len / 2);
	assert_int_equal(totals_rows_that_fit(&buf, &fixture.totals), 1);
	assert_int_equal(buf.len, 0);
	buf_release(&buf);
}

/* However many tiers a program makes, and whatever it calls them. */
static void requests_have_room_before_tiers(void **state)
{
	enum { TIERS = 20, ROOM = 4096 };
	struct totals_fixture fixture = {0};
	char names[TIERS][16];
	const char *text;
	size_t left_out;
	struct buf buf;

	(void)state;
	for (size_t i = 0; i < TIERS; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "%02zu", i);
		(void)fixture_tier(&fixture, names[i], "GET /a", 1, MS);
	}
	(void)fixture_tier(&fixture, TOTALS_REQUEST, "GET /a", 1, MS);
	buf_init(&buf, ROOM);
	left_out = totals_rows_that_fit(&buf, &fixture.totals);
	text = buf_text(&buf);
	assert_non_null(strstr(text, "\"tier\":\"request\""));
	assert_non_null(strstr(text, "buckets"));
	assert_in_range(left_out, 1, TIERS - 1);
	assert_int_equal(buf.data[buf.len - 1], '\n');
	for (size_t i = 0; i < TIERS; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "\"tier\":\"%02zu\"", i);
		assert_int_equal(strstr(text, name) != NULL, i < TIERS - left_out);
	}
	buf_release(&buf);
}

static void long_names_are_cut_to_the_width(void **state)
{
	struct totals_fixture fixture = {0};
	struct totals_view view = {.subject = TOTALS_TASKS, .columns = 60};
	struct buf buf;

	(void)state;
	(void)fixture_task(&fixture,
			   "a_name_of_a_task_that_is_much_longer_than_any_line_\xff\x1b[m", MS, 0,
			   1);
	buf_init(&buf, BYTES);
	assert_int_equal(totals_table(&buf, &fixture.totals, &view), 1);
	for (const char *at = buf_text(&buf); *at; at = strchr(at, '\n') + 1)
		assert_true(strcspn(at, "\n") <= 60);
	assert_non_null(strstr(buf_text(&buf), "a_name_of_a_task_t"));
	assert_null(strchr(buf_text(&buf), '\x1b'));
	buf_release(&buf);
}

static void each_row_has_a_line_whatever_columns_are_empty(void **state)
{
	const struct totals_view view = {.subject = TOTALS_REQUESTS, .columns = 80};
	struct totals_fixture fixture = {0};
	struct buf buf;

	(void)state;
	(void)fixture_tier(&fixture, "request", "_total", 1, 5 * MS);
	(void)fixture_tier(&fixture, "request",
			   "GET /a/name/that/is/as/long/as/identities/can/be/0123456789abcde", 1,
			   5 * MS);
	buf_init(&buf, BYTES);
	assert_int_equal(totals_table(&buf, &fixture.totals, &view), 2);
	assert_equal_text(&buf,
			  "count     time    share     mean      p50      p99      max  identity\n"
			  "    1  5.00 ms  100.0 %  5.00 ms  5.00 ms  5.00 ms  5.00 ms  _total\n"
			  "    1  5.00 ms  100.0 %  5.00 ms  5.00 ms  5.00 ms  5.00 ms  "
			  "GET /a/name/that/..\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_say_what_was_counted),
		cmocka_unit_test(rows_come_back_whole),
		cmocka_unit_test(intervals_add_up),
		cmocka_unit_test(what_is_no_row_is_refused),
		cmocka_unit_test(numbers_of_others_do_not_wrap),
		cmocka_unit_test(tables_are_for_people),
		cmocka_unit_test(each_row_has_a_line_whatever_columns_are_empty),
		cmocka_unit_test(full_counters_come_back),
		cmocka_unit_test(rows_without_room_for_histograms_have_none),
		cmocka_unit_test(requests_have_room_before_tiers),
		cmocka_unit_test(long_names_are_cut_to_the_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
