/* metric_list_test.c - what --metrics takes */
#include "tools/options/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct metric_list parsed(const char *text)
{
	struct metric_list list = {0};
	struct err err = {0};

	if (metric_list_parse(text, &list, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	return list;
}

static void auto_takes_what_costs_less_than_a_microsecond(void **state)
{
	const struct metric_fact *facts = metrics_facts();
	struct metric_list list = parsed("auto");

	(void)state;
	for (size_t i = 0; i < METRIC_BUILTIN; i++)
		if (i != METRIC_FD_COUNT) /* as the kernel allows */
			assert_int_equal(list.mask >> i & 1, facts[i].cost_ns < 1000);
	assert_int_equal(list.mask >> METRIC_BUILTIN, 0);
	assert_true(list.mask >> METRIC_RUN_DELAY_NS & 1);
	assert_false(list.mask >> METRIC_SWAP_KIB & 1);
}

static void names_are_bits_in_any_order(void **state)
{
	(void)state;
	assert_int_equal(parsed("none").mask, 0);
	assert_int_equal(parsed("cpu_ns").mask, 1);
	assert_int_equal(parsed("threads,cpu_ns").mask, 1U << METRIC_THREADS | 1);
	assert_int_equal(parsed("auto,swap_kib").mask, metrics_auto() | 1U << METRIC_SWAP_KIB);
	assert_int_equal(parsed("cpu_ns,cpu_ns").mask, 1);
}

static void other_names_are_gauges_of_the_program(void **state)
{
	struct metric_list list = parsed("auto,queue_len,hits:counter,queue_len");
	struct metric_columns columns;

	(void)state;
	assert_int_equal(list.n_gauges, 2);
	assert_int_equal(list.mask, metrics_auto() | 3U << METRIC_BUILTIN);
	metric_list_columns(&list, &columns);
	assert_int_equal(columns.n, METRIC_BUILTIN + 2);
	assert_string_equal(columns.metrics[METRIC_CPU_NS].name, "cpu_ns");
	assert_string_equal(columns.metrics[METRIC_BUILTIN].name, "queue_len");
	assert_int_equal(columns.metrics[METRIC_BUILTIN].kind, METRIC_GAUGE);
	assert_string_equal(columns.metrics[METRIC_BUILTIN + 1].name, "hits");
	assert_int_equal(columns.metrics[METRIC_BUILTIN + 1].kind, METRIC_COUNTER);
	assert_string_equal(columns.gauges[1], "hits");
}

static void a_copy_of_a_list_has_its_own_names(void **state)
{
	struct metric_list copy;
	struct metric_columns columns;

	(void)state;
	{
		struct metric_list list = parsed("depth");

		copy = list;
		memset(&list, 'x', sizeof(list));
	}
	metric_list_columns(&copy, &columns);
	assert_string_equal(columns.gauges[0], "depth");
}

static void refuses_names_that_no_column_can_have(void **state)
{
	static const char *const wrong[] = {"",
					    "cpu_ns,",
					    ",cpu_ns",
					    "a,,b",
					    "Queue",
					    "queue-len",
					    "a b",
					    "auto,none",
					    "none,a",
					    "x:counters",
					    ":counter",
					    "a:gauge",
					    "abcdefghijklmnopqrstuvwx"};
	struct metric_list list;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct err err = {0};

		if (metric_list_parse(wrong[i], &list, &err) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
		assert_non_null(strstr(err.text, "is not a metric"));
	}
	(void)parsed("abcdefghijklmnopqrstuvw");
}

static void there_is_room_for_so_many_gauges(void **state)
{
	struct metric_list list;
	struct err err = {0};
	char text[512] = "";

	(void)state;
	for (int i = 0; i < METRIC_MAX_GAUGES; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sgauge%d",
			       i ? "," : "", i);
	assert_int_equal(metric_list_parse(text, &list, &err), 0);
	assert_int_equal(list.n_gauges, METRIC_MAX_GAUGES);
	(void)strcat(text, ",more");
	assert_int_equal(metric_list_parse(text, &list, &err), -EINVAL);
	assert_non_null(strstr(err.text, "'more'"));
}

static void a_misspelt_metric_has_a_near_one(void **state)
{
	(void)state;
	assert_string_equal(metric_list_nearest("rss_kb"), "rss_kib");
	assert_string_equal(metric_list_nearest("thread"), "threads");
	assert_null(metric_list_nearest("queue_len"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_takes_what_costs_less_than_a_microsecond),
		cmocka_unit_test(names_are_bits_in_any_order),
		cmocka_unit_test(other_names_are_gauges_of_the_program),
		cmocka_unit_test(a_copy_of_a_list_has_its_own_names),
		cmocka_unit_test(refuses_names_that_no_column_can_have),
		cmocka_unit_test(there_is_room_for_so_many_gauges),
		cmocka_unit_test(a_misspelt_metric_has_a_near_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
