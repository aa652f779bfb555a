/* export_test.c - pages for Prometheus, which rows are series, functions by CPU, and sinks */
#include "base/io.h"
#include "tools/export/export.h"
#include "totals_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { MS = 1000000, BYTES = 4 * 1024 * 1024 };

static struct page_maker *new_maker(size_t k)
{
	struct page_maker *maker;

	assert_int_equal(page_maker_new(k, &maker), 0);
	return maker;
}

/* The page, or what of it begins with PREFIX. */
static char *make(struct page_maker *maker, const struct totals *totals,
		  struct functions *functions, bool open_metrics, const char *prefix)
{
	static const struct collector_stats stats = {.samples = 7, .charged_ns = 1000 * MS};
	const struct page_self self = {.stats = &stats, .hz = 99, .effective_hz = 50};
	struct buf page;
	struct buf part;
	char *text;

	buf_init(&page, BYTES);
	buf_init(&part, BYTES);
	assert_int_equal(page_make(maker, totals, functions, &self, open_metrics, &page), 0);
	for (const char *at = buf_text(&page); *at; at = strchr(at, '\n') + 1)
		if (strncmp(at, prefix, strlen(prefix)) == 0)
			(void)buf_append(&part, at, strcspn(at, "\n") + 1);
	text = strdup(buf_text(&part));
	assert_non_null(text);
	buf_release(&page);
	buf_release(&part);
	return text;
}

static void assert_page(struct page_maker *maker, const struct totals *totals, bool open_metrics,
			const char *prefix, const char *expected)
{
	char *text = make(maker, totals, NULL, open_metrics, prefix);

	assert_string_equal(text, expected);
	free(text);
}

/* The numbers of chroprof's test of its collector. */
static void the_three_heaviest_tasks_are_series(void **state)
{
	struct page_maker *maker = new_maker(3);
	struct totals_fixture fixture = {0};

	(void)state;
	(void)fixture_task(&fixture, "a", 144000, 155, 1);
	(void)fixture_task(&fixture, "b", 42106, 100000, 1);
	(void)fixture_task(&fixture, "c", 133579, 0, 1);
	(void)fixture_task(&fixture, "d", 133578, 0, 1);
	(void)fixture_task(&fixture, "zero", 0, 0, 0);
	assert_page(
		maker, &fixture.totals, true, "wick_task_exec_with_children_seconds_total",
		"wick_task_exec_with_children_seconds_total{proc=\"a\",file=\"src/loop.c\","
		"line=\"12\"} 0.000144155\n"
		"wick_task_exec_with_children_seconds_total{proc=\"b\",file=\"src/loop.c\","
		"line=\"12\"} 0.000142106\n"
		"wick_task_exec_with_children_seconds_total{proc=\"c\",file=\"src/loop.c\","
		"line=\"12\"} 0.000133579\n"
		"wick_task_exec_with_children_seconds_total{proc=\"other\",file=\"\",line=\"0\"} "
		"0.000133578\n");
	page_maker_free(maker);
}

static void rows_of_zero_are_no_series(void **state)
{
	struct page_maker *maker = new_maker(3);
	struct totals_fixture fixture = {0};

	(void)state;
	(void)fixture_task(&fixture, "ran", 5, 0, 1);
	(void)fixture_task(&fixture, "zero", 0, 0, 0);
	assert_page(maker, &fixture.totals, false, "wick_task_exec_seconds_total",
		    "wick_task_exec_seconds_total{proc=\"ran\",file=\"src/loop.c\",line=\"12\"} "
		    "0.000000005\n");
	page_maker_free(maker);
}

static void labels_are_utf8_whatever_bytes_a_name_has(void **state)
{
	struct buf buf;

	(void)state;
	buf_init(&buf, BYTES);
	page_label(&buf, "a", "x\"y\\z\nw");
	page_label(&buf, "b", "\xff\xc3\xa4\xc0\x80\xed\xa0\x80\xe2\x82");
	page_label(&buf, "c", "\x01\t");
	assert_string_equal(buf_text(&buf),
			    "a=\"x\\\"y\\\\z\\nw\",b=\"\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd"
			    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\","
			    "c=\"\x01\t\"");
	buf_release(&buf);
}

/* Names that look the same after that are one series: two would be refused. */
static void equal_labels_are_one_series(void **state)
{
	struct page_maker *maker = new_maker(3);
	struct totals_fixture fixture = {0};

	(void)state;
	(void)fixture_task(&fixture, "\xff", 5, 0, 1);
	(void)fixture_task(&fixture, "\xfe", 6, 0, 1);
	assert_page(
		maker, &fixture.totals, true, "wick_task_calls_total",
		"wick_task_calls_total{proc=\"\xef\xbf\xbd\",file=\"src/loop.c\",line=\"12\"} 2\n");
	page_maker_free(maker);
}

static void tiers_are_histograms_with_exemplars(void **state)
{
	struct page_maker *maker = new_maker(3);
	struct totals_fixture fixture = {0};
	struct total_tier *all;
	char *text;

	(void)state;
	all = fixture_tier(&fixture, "db", "_total", 3, 2 * MS);
	all->exemplar_ns = 2 * MS;
	all->exemplar_trace[15] = 0x7f;
	text = make(maker, &fixture.totals, NULL, true, "wick_tier_duration_seconds_bucket");
	assert_non_null(strstr(text, "{tier=\"db\",identity=\"_total\",le=\"1.6384e-05\"} 0\n"));
	assert_non_null(strstr(text, "le=\"0.001048576\"} 0\n"));
	assert_non_null(strstr(text, "le=\"0.002097152\"} 3 # {trace_id="
				     "\"0000000000000000000000000000007f\"} 0.002000000 "));
	assert_non_null(strstr(text, "le=\"8.589934592\"} 3\n"));
	assert_non_null(strstr(text, "le=\"+Inf\"} 3\n"));
	free(text);
	assert_page(
		maker, &fixture.totals, false, "wick_tier_duration_seconds_",
		(text = make(maker, &fixture.totals, NULL, false, "wick_tier_duration_seconds_")));
	assert_null(strchr(text, '#')); /* 0.0.4 has no exemplars */
	assert_non_null(strstr(text, "_sum{tier=\"db\",identity=\"_total\"} 0.006000000\n"));
	assert_non_null(strstr(text, "_count{tier=\"db\",identity=\"_total\"} 3\n"));
	free(text);
	page_maker_free(maker);
}

static void both_formats_are_as_they_are_written_down(void **state)
{
	struct page_maker *maker = new_maker(3);
	struct totals_fixture fixture = {0};
	char *text;

	(void)state;
	(void)fixture_task(&fixture, "t", 5, 0, 1);
	assert_page(maker, &fixture.totals, true, "# TYPE wick_task",
		    "# TYPE wick_task_exec_seconds counter\n"
		    "# TYPE wick_task_exec_with_children_seconds counter\n"
		    "# TYPE wick_task_wall_seconds counter\n"
		    "# TYPE wick_task_calls counter\n"
		    "# TYPE wick_task_stalls counter\n"
		    "# TYPE wick_task_exec_max_seconds gauge\n");
	assert_page(maker, &fixture.totals, false, "# TYPE wick_task_c",
		    "# TYPE wick_task_calls_total counter\n");
	assert_page(maker, &fixture.totals, true, "# UNIT wick_task_w",
		    "# UNIT wick_task_wall_seconds seconds\n");
	assert_page(maker, &fixture.totals, false, "# UNIT", "");
	assert_page(maker, &fixture.totals, false, "# EOF", "");
	text = make(maker, &fixture.totals, NULL, true, "");
	assert_string_equal(text + strlen(text) - strlen("\n# EOF\n"), "\n# EOF\n");
	free(text);
	page_maker_free(maker);
}

/* A top of rows that a test can change. */
struct ranks {
	struct series top;
	struct series_row rows[8];
	size_t n;
	struct series_choice choice;
};

static int by_rank(const void *a, const void *b)
{
	const struct series_row *left = a;
	const struct series_row *right = b;

	return (left->rank < right->rank) - (left->rank > right->rank);
}

static void choose(struct ranks *ranks, const char *const *names, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ranks->rows[i] = (struct series_row){
			.labels = names[i], .rank = values[i], .values = {values[i]}};
	qsort(ranks->rows, n, sizeof(ranks->rows[0]), by_rank);
	assert_int_equal(series_choose(&ranks->top, ranks->rows, n, &ranks->choice), 0);
}

/* The value of a series; -1: there is none. */
static int64_t value_of(const struct ranks *ranks, const char *name)
{
	for (size_t i = 0; i < ranks->choice.n; i++)
		if (strcmp(ranks->rows[ranks->choice.rows[i]].labels, name) == 0)
			return (int64_t)ranks->choice.values[i][0];
	return -1;
}

static void a_series_stays_until_it_is_clearly_out(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct ranks ranks = {.top = {.k = 2, .n_values = 1}};

	(void)state;
	choose(&ranks, names, (const uint64_t[]){40, 30, 20, 10}, 4);
	assert_int_equal(ranks.choice.n, 2);
	assert_int_equal(ranks.choice.other[0], 30);
	/* c has passed b, which is still third: both are in; c counts from its 20 on */
	choose(&ranks, names, (const uint64_t[]){40, 30, 35, 10}, 4);
	assert_int_equal(value_of(&ranks, "b"), 30);
	assert_int_equal(value_of(&ranks, "c"), 15);
	assert_int_equal(ranks.choice.other[0], 30);
	/* d has passed both: b is fourth, and out, and what it had is in the others */
	choose(&ranks, names, (const uint64_t[]){40, 30, 35, 50}, 4);
	assert_int_equal(value_of(&ranks, "a"), 40);
	assert_int_equal(value_of(&ranks, "b"), -1);
	assert_int_equal(value_of(&ranks, "c"), 15);
	assert_int_equal(value_of(&ranks, "d"), 40);
	assert_int_equal(ranks.choice.other[0], 60);
	series_forget(&ranks.top);
}

static void no_series_goes_down_and_all_add_up(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct ranks ranks = {.top = {.k = 3, .n_values = 1}};
	uint64_t values[8] = {0};
	int64_t last[8];
	uint64_t other = 0;
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		last[i] = -1;
	for (int round = 0; round < 2000; round++) {
		uint64_t total = 0;
		uint64_t sum;

		for (size_t i = 0; i < 8; i++) {
			random = random * 1103515245 + 12345;
			values[i] += (random >> 16) % (round / 50 % 8 == (int)i ? 1000 : 20);
			total += values[i];
		}
		choose(&ranks, names, values, 8);
		sum = ranks.choice.other[0];
		assert_true(ranks.choice.n <= 4 && sum >= other);
		other = sum;
		for (size_t i = 0; i < 8; i++) {
			int64_t value = value_of(&ranks, names[i]);

			assert_true(value < 0 || value >= last[i]);
			last[i] = value;
			sum += value < 0 ? 0 : (uint64_t)value;
		}
		assert_int_equal(sum, total);
	}
	series_forget(&ranks.top);
}

static void a_reset_begins_anew(void **state)
{
	struct page_maker *maker = new_maker(1);
	struct totals_fixture fixture = {0};
	static const char prefix[] = "wick_task_exec_seconds_total{proc=\"a\"";
	char *text;

	(void)state;
	(void)fixture_task(&fixture, "b", 9, 0, 1);
	(void)fixture_task(&fixture, "a", 5, 0, 1);
	assert_page(maker, &fixture.totals, true, prefix, "");
	fixture.totals.n_tasks = 0;
	(void)fixture_task(&fixture, "a", 2, 0, 1);
	fixture.totals.since_ns = 5000;
	text = make(maker, &fixture.totals, NULL, true, prefix);
	assert_non_null(strstr(text, "} 0.000000002\n")); /* not less 5 of before */
	free(text);
	page_maker_free(maker);
}

static void functions_are_counted_in_bounded_memory(void **state)
{
	static char names[3 * FUNCTIONS_MOST][8];
	struct page_maker *maker = new_maker(1);
	const struct function_count *counts;
	struct totals_fixture fixture = {0};
	struct functions *functions;
	uint64_t total_ns;
	char *text;

	(void)state;
	assert_int_equal(functions_new(&functions), 0);
	for (size_t i = 0; i < 3 * FUNCTIONS_MOST; i++) {
		const struct frame hot = {.symbol = "hot", .module = "/usr/lib/libhot.so"};
		const struct frame frame = {.symbol = names[i], .module = "/bin/x"};

		(void)snprintf(names[i], sizeof(names[i]), "f%zu", i);
		functions_add(functions, &frame, 2);
		functions_add(functions, &hot, 10);
	}
	assert_int_equal(functions_sorted(functions, &counts, &total_ns), FUNCTIONS_MOST);
	assert_string_equal(counts[0].symbol, "hot");
	assert_int_equal(counts[0].ns, 30 * FUNCTIONS_MOST);
	assert_int_equal(total_ns, 36 * FUNCTIONS_MOST);
	text = make(maker, &fixture.totals, functions, true, "wick_function_self_seconds_total");
	assert_non_null(strstr(text, "{function=\"hot\",module=\"libhot.so\"} 0.000122880\n"));
	assert_non_null(strstr(text, "{function=\"other\",module=\"\"} "));
	free(text);
	functions_free(functions);
	page_maker_free(maker);
}

static char folder[] = "/tmp/wick-export-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void path_in(char path[static 128], const char *name)
{
	(void)snprintf(path, 128, "%s/%s", folder, name);
}

static unsigned n_reports;
static char last_report[512];

static void on_report(const char *message)
{
	n_reports++;
	(void)snprintf(last_report, sizeof(last_report), "%s", message);
}

static void a_page_takes_the_place_of_the_last(void **state)
{
	char path[128];
	struct buf page;
	struct buf text;
	struct err err = {0};

	(void)state;
	path_in(path, "wick.prom");
	buf_init(&page, BYTES);
	buf_init(&text, BYTES);
	for (int i = 0; i < 2; i++) {
		buf_printf(&page, "# HELP wick_x %d\n", i);
		assert_int_equal(page_write_file(path, &page, &err), 0);
	}
	assert_int_equal(io_read_file(path, &text, &err), 0);
	assert_string_equal(buf_text(&text), "# HELP wick_x 0\n# HELP wick_x 1\n");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(page_write_file("/nowhere/x.prom", &page, &err), -ENOENT);
	buf_release(&page);
	buf_release(&text);
}

static void lines_are_appended_to_a_file(void **state)
{
	char path[128];
	struct sink *sink;
	struct sink_stats stats;
	struct buf text;
	struct err err = {0};

	(void)state;
	path_in(path, "lines");
	buf_init(&text, BYTES);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sink_new(path, on_report, &sink, &err), 0);
		sink_add(sink, "{}\n{}\n", 6);
		sink_free(sink, &stats);
		assert_int_equal(stats.lines, 2);
		assert_int_equal(stats.lost, 0);
	}
	assert_int_equal(io_read_file(path, &text, &err), 0);
	assert_string_equal(buf_text(&text), "{}\n{}\n{}\n{}\n");
	assert_int_equal(unlink(path), 0);
	buf_release(&text);
}

static void a_command_gets_every_line_and_the_end(void **state)
{
	char command[256];
	char path[128];
	struct sink *sink;
	struct buf text;
	struct err err = {0};

	(void)state;
	path_in(path, "counted");
	buf_init(&text, BYTES);
	(void)snprintf(command, sizeof(command), "|wc -l >%s", path);
	assert_int_equal(sink_new(command, on_report, &sink, &err), 0);
	for (int i = 0; i < 100; i++)
		sink_add(sink, "{}\n", 3);
	sink_free(sink, NULL);
	assert_int_equal(io_read_file(path, &text, &err), 0);
	assert_string_equal(buf_text(&text), "100\n");
	assert_int_equal(unlink(path), 0);
	buf_release(&text);
}

/* A reader that never reads: everything beyond the pipe and what may wait is lost, and said once.
 */
static void a_reader_that_blocks_holds_nothing_up(void **state)
{
	static char line[1024 * 1024];
	struct sink *sink;
	struct sink_stats stats;
	struct err err = {0};
	uint64_t begin_ns;

	(void)state;
	n_reports = 0;
	assert_int_equal(sink_new("|exec sleep 4", on_report, &sink, &err), 0);
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\n';
	begin_ns = io_now_ns();
	for (int i = 0; i < 40; i++)
		sink_add(sink, line, sizeof(line));
	assert_true(io_now_ns() - begin_ns < UINT64_C(1000000000));
	sink_free(sink, &stats);
	assert_true(io_now_ns() - begin_ns < UINT64_C(3500000000));
	assert_int_equal(stats.lines, 0);
	assert_int_equal(stats.lost, 40);
	assert_int_equal(n_reports, 1);
	assert_non_null(strstr(last_report, "too slow"));
}

static void links_and_pipes_are_no_files(void **state)
{
	struct err err = {0};
	struct sink *sink;
	char path[128];

	(void)state;
	path_in(path, "odd");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(sink_new(path, on_report, &sink, &err), -ENXIO);
	assert_int_equal(page_check_file(path, &err), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(sink_new(path, on_report, &sink, &err), -ELOOP);
	assert_int_equal(page_check_file(path, &err), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sink_new("/dev/null", on_report, &sink, &err), -EINVAL);
}

/* FILE of --textfile is removed at the end: it must not be anything else. */
static void only_a_page_of_wick_is_replaced(void **state)
{
	struct err err = {0};
	struct buf text;
	char path[128];

	(void)state;
	path_in(path, "x.prom");
	buf_init(&text, BYTES);
	assert_int_equal(page_check_file(path, &err), 0);
	buf_add(&text, "# HELP wick_samples_total x\n");
	assert_int_equal(page_write_file(path, &text, &err), 0);
	assert_int_equal(page_check_file(path, &err), 0);
	buf_clear(&text);
	buf_add(&text, "# HELP wicket_open x\n");
	assert_int_equal(page_write_file(path, &text, &err), 0);
	assert_int_equal(page_check_file(path, &err), -EEXIST);
	/* It came there while wick recorded. */
	assert_int_equal(page_write_file(path, &text, &err), -EEXIST);
	assert_int_equal(unlink(path), 0);
	buf_release(&text);
}

static void on_nudge(void *context)
{
	++*(int *)context;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 0), 0);
	return fd;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void a_socket_of_others_is_neither_waited_for_nor_removed(void **state)
{
	struct listener *listener;
	struct err err = {0};
	char where[160];
	char path[128];
	int nudges = 0;
	int client;
	int fd;

	(void)state;
	path_in(path, "x.sock");
	(void)snprintf(where, sizeof(where), "unix:%s", path);
	fd = listen_at(path);
	client = connect_to(path); /* its queue is full */
	assert_int_equal(listener_new(where, on_nudge, &nudges, &listener, &err), -EADDRINUSE);
	(void)close(client);
	(void)close(fd);
	/* One that is left of a recording that was killed. */
	assert_int_equal(listener_new(where, on_nudge, &nudges, &listener, &err), 0);
	assert_int_equal(unlink(path), 0);
	fd = listen_at(path);
	listener_free(listener);
	assert_int_equal(unlink(path), 0);
	(void)close(fd);
}

static void a_page_elsewhere_is_not_for_web_pages(void **state)
{
	static const char *const right[] = {"127.0.0.1:9464", "localhost:9464", "[::1]:9464",
					    "localhost",      "127.0.0.1",      "10.0.0.1:1"};
	static const char *const wrong[] = {
		"evil.example:9464",           "evil.example", "", "127.0.0.1.x",
		"localhost.evil.example:9464", "[::1"};

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_true(listener_takes_host(right[i]));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(listener_takes_host(wrong[i]));
}

static void a_reader_that_is_gone_is_reported_once(void **state)
{
	struct sink *sink;
	struct sink_stats stats;
	struct err err = {0};

	(void)state;
	n_reports = 0;
	assert_int_equal(sink_new("unix:/nowhere/socket", on_report, &sink, &err), 0);
	sink_add(sink, "{}\n", 3);
	sink_add(sink, "{}\n", 3);
	sink_free(sink, &stats);
	assert_int_equal(stats.lost, 2);
	assert_int_equal(n_reports, 1);
	assert_int_equal(sink_new("/nowhere/file", on_report, &sink, &err), -ENOENT);
}

static void addresses_are_checked(void **state)
{
	static const char *const right[] = {"127.0.0.1:9464", "9464",        ":9464",
					    "[::1]:9464",     "localhost:0", "0.0.0.0:1",
					    "unix:/tmp/x"};
	static const char *const wrong[] = {
		"",          "x",       "127.0.0.1", "127.0.0.1:",    "::1:9464",       "[::1:9464",
		"host:9464", "1:65536", "unix:",     "1:99999999999", "127.0.0.1:9464x"};
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_int_equal(listener_check(right[i], &err), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (listener_check(wrong[i], &err) == 0)
			fail_msg("'%s' was taken", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_three_heaviest_tasks_are_series),
		cmocka_unit_test(rows_of_zero_are_no_series),
		cmocka_unit_test(labels_are_utf8_whatever_bytes_a_name_has),
		cmocka_unit_test(equal_labels_are_one_series),
		cmocka_unit_test(tiers_are_histograms_with_exemplars),
		cmocka_unit_test(both_formats_are_as_they_are_written_down),
		cmocka_unit_test(a_series_stays_until_it_is_clearly_out),
		cmocka_unit_test(no_series_goes_down_and_all_add_up),
		cmocka_unit_test(a_reset_begins_anew),
		cmocka_unit_test(functions_are_counted_in_bounded_memory),
		cmocka_unit_test(a_page_takes_the_place_of_the_last),
		cmocka_unit_test(lines_are_appended_to_a_file),
		cmocka_unit_test(a_command_gets_every_line_and_the_end),
		cmocka_unit_test(a_reader_that_blocks_holds_nothing_up),
		cmocka_unit_test(links_and_pipes_are_no_files),
		cmocka_unit_test(only_a_page_of_wick_is_replaced),
		cmocka_unit_test(a_socket_of_others_is_neither_waited_for_nor_removed),
		cmocka_unit_test(a_page_elsewhere_is_not_for_web_pages),
		cmocka_unit_test(a_reader_that_is_gone_is_reported_once),
		cmocka_unit_test(addresses_are_checked),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
