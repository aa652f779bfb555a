/* top_view_test.c - what is shown of the model, in which order, and in which words */
#include "tools/top/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PERIOD_NS UINT64_C(10000000)
#define SECOND_NS UINT64_C(1000000000)
#define START_NS  (100 * SECOND_NS)
#define NOW_NS    (START_NS + 4 * SECOND_NS + TOP_LATE_NS)

enum { LINE = 256, LEVELS = 8 };

struct picture {
	struct top_model model;
	struct top_view view;
	struct top_keys keys;
};

static void add(struct top_model *model, uint64_t time_ns, uint64_t weight, const char *leaf,
		const char *root)
{
	struct frame frames[2] = {{.symbol = leaf, .module = "/p/prog"},
				  {.symbol = root, .module = "/p/prog"}};
	struct sample sample = {.time_ns = time_ns,
				.weight = weight,
				.pid = 6,
				.tid = 7,
				.n_frames = 2,
				.frames = frames};

	top_model_add(model, &sample);
}

/* old: 3 s of CPU in the first second; now: 1 s in the last two. */
static int set_up(void **state)
{
	static struct picture picture;

	picture = (struct picture){0};
	*state = &picture;
	if (top_model_init(&picture.model, PERIOD_NS, START_NS) < 0)
		return -1;
	add(&picture.model, START_NS, 300, "old", "main");
	add(&picture.model, START_NS + 3 * SECOND_NS, 100, "now", "main");
	return top_view_take(&picture.view, &picture.model, NOW_NS);
}

static int tear_down(void **state)
{
	struct picture *picture = *state;

	top_keys_release(&picture->keys);
	top_view_release(&picture->view);
	top_model_release(&picture->model);
	return 0;
}

static const char *shown(const struct picture *picture, size_t i)
{
	return picture->view.rows[picture->view.shown[i]].symbol;
}

static void rows_are_sorted_by_each_column(void **state)
{
	static const char *const first[N_TOP_ORDERS] = {
		[TOP_BY_SELF] = "now",
		[TOP_BY_TOTAL] = "main",
		[TOP_BY_SELF_SUM] = "old",
		[TOP_BY_TOTAL_SUM] = "main",
	};
	struct picture *picture = *state;

	for (enum top_order order = 0; order < N_TOP_ORDERS; order++) {
		assert_int_equal(top_view_order_rows(&picture->view, order, NULL), 0);
		assert_int_equal(picture->view.n_shown, 3);
		assert_string_equal(shown(picture, 0), first[order]);
	}
}

static void percent_are_of_one_cpu_now(void **state)
{
	struct picture *picture = *state;
	const struct top_row *row = NULL;

	assert_int_equal(top_view_order_rows(&picture->view, TOP_BY_SELF, NULL), 0);
	row = &picture->view.rows[picture->view.shown[0]];
	assert_true(row->self_pct == 50.0);
	assert_int_equal(row->self_ns, SECOND_NS);
	assert_true(picture->view.cpu_pct == 50.0);
	picture->view.whole = true;
	assert_int_equal(top_view_take(&picture->view, &picture->model, START_NS + 8 * SECOND_NS),
			 0);
	assert_true(picture->view.cpu_pct == 50.0); /* 4 s of 8 */
}

static void a_filter_leaves_names_out(void **state)
{
	struct picture *picture = *state;

	for (const char *key = "/^n"; *key; key++)
		assert_int_equal(top_keys_press(&picture->keys, *key, 10), TOP_DRAW);
	assert_int_equal(top_view_order_rows(&picture->view, TOP_BY_SELF, picture->keys.pattern),
			 0);
	assert_int_equal(picture->view.n_shown, 1);
	assert_string_equal(shown(picture, 0), "now");
}

static void threads_are_sorted_and_know_their_function(void **state)
{
	static const struct top_thread threads[] = {
		{.pid = 6, .tid = 7, .comm = "beta", .state = 'S', .cpu_pct = 1, .cpu_ns = 5},
		{.pid = 6, .tid = 8, .comm = "alpha", .state = 'R', .cpu_pct = 0, .cpu_ns = 9},
	};
	static const pid_t first[N_TOP_ORDERS] = {7, 8, 8, 8};
	struct picture *picture = *state;

	assert_int_equal(top_view_threads(&picture->view, &picture->model, threads, 2), 0);
	for (enum top_order order = 0; order < N_TOP_ORDERS; order++) {
		assert_int_equal(top_view_order_threads(&picture->view, order, NULL), 0);
		assert_int_equal(picture->view.threads[picture->view.shown[0]].tid, first[order]);
	}
	assert_string_equal(picture->view.threads[0].symbol, "now");
	assert_null(picture->view.threads[1].symbol);
}

static void the_newest_second_is_at_the_right_and_time_goes_up(void **state)
{
	enum { ROWS = 4, COLUMNS = 5 };
	struct picture *picture = *state;
	uint8_t levels[ROWS * COLUMNS];

	add(&picture->model, START_NS + 4 * SECOND_NS + SECOND_NS * 9 / 10, 150, "x", "main");
	assert_int_equal(top_view_take(&picture->view, &picture->model, NOW_NS), 0);
	top_view_heat(&picture->view, ROWS, COLUMNS, LEVELS, levels);
	assert_int_equal(levels[3 * COLUMNS + 0], LEVELS - 1); /* the warmest: at 0 ms, 4 s ago */
	assert_int_equal(levels[0 * COLUMNS + 4], 1 + (LEVELS - 2) / 2); /* half of it, at 900 ms */
	assert_int_equal(levels[3 * COLUMNS + 3], 1 + (LEVELS - 2) / 3);
	levels[3 * COLUMNS + 0] = levels[0 * COLUMNS + 4] = levels[3 * COLUMNS + 3] = 0;
	for (size_t i = 0; i < sizeof(levels); i++)
		assert_int_equal(levels[i], 0);
	/* more columns than there was time */
	top_view_heat(&picture->view, 1, 1, LEVELS, levels);
	assert_int_equal(levels[0], LEVELS - 1);
}

static void no_line_is_longer_than_the_terminal(void **state)
{
	struct picture *picture = *state;
	struct top_facts facts = {.command = "a rather long \033[31m name", .output = "/tmp/x"};

	assert_int_equal(top_view_order_rows(&picture->view, TOP_BY_SELF, NULL), 0);
	for (uint32_t columns = 1; columns < 100; columns++) {
		struct buf text;

		buf_init(&text, 65536);
		top_lines_head(&text, &facts, &picture->view, &picture->keys, columns);
		top_lines_titles(&text, &picture->keys, columns);
		top_lines_row(&text, &picture->view, &picture->keys, 0, columns);
		top_lines_foot(&text, &facts, &picture->keys, columns);
		top_lines_help(&text, columns);
		for (const char *line = buf_text(&text); *line; line = strchr(line, '\n') + 1)
			assert_true(strcspn(line, "\n") <=
				    columns + 2); /* U+FFFD has three bytes */
		assert_null(strchr(buf_text(&text), '\033'));
		buf_release(&text);
	}
}

static void assert_line(struct picture *picture, const char *expected)
{
	struct buf text;

	buf_init(&text, 4096);
	top_lines_row(&text, &picture->view, &picture->keys, 0, 80);
	assert_string_equal(buf_text(&text), expected);
	buf_release(&text);
}

static void a_row_has_its_numbers_under_their_titles(void **state)
{
	static const struct top_thread thread = {.pid = 6,
						 .tid = 7,
						 .comm = "beta",
						 .state = 'S',
						 .cpu_pct = 1,
						 .cpu_ns = SECOND_NS};
	struct picture *picture = *state;
	struct buf text;

	assert_int_equal(top_view_order_rows(&picture->view, TOP_BY_SELF, NULL), 0);
	assert_line(picture, "  50.0   50.0   1.00s   1.00s   now (prog)\n");
	buf_init(&text, 4096);
	top_lines_titles(&text, &picture->keys, 80);
	assert_string_equal(buf_text(&text), " %SELF*%TOTAL    SELF   TOTAL   FUNCTION (MODULE)\n");
	buf_clear(&text);
	picture->keys.threads = true;
	top_lines_titles(&text, &picture->keys, 80);
	assert_string_equal(buf_text(&text),
			    "  %CPU* STATE     CPU       TID  NAME             IN\n");
	buf_release(&text);
	assert_int_equal(top_view_threads(&picture->view, &picture->model, &thread, 1), 0);
	assert_int_equal(top_view_order_threads(&picture->view, TOP_BY_SELF, NULL), 0);
	assert_line(picture, "   1.0     S    1.00s        7  beta            now\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_sorted_by_each_column, set_up, tear_down),
		cmocka_unit_test_setup_teardown(percent_are_of_one_cpu_now, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_filter_leaves_names_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_are_sorted_and_know_their_function, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_newest_second_is_at_the_right_and_time_goes_up,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_line_is_longer_than_the_terminal, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_row_has_its_numbers_under_their_titles, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
