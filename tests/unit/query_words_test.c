/* query_words_test.c - options to a query, and rules of what is left out */
#include "flamescope/query/query.h"
#include "folder_fixture.h"
#include "tools/cli/pattern.h"
#include "tools/view/view.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct query_words options;
static struct err err;

static int take(const char *name, const char *value)
{
	return query_words_take(&options, name, value, &err);
}

static int clean(void **state)
{
	(void)state;
	query_words_release(&options);
	return 0;
}

static void filters_are_dimensions_by_another_name(void **state)
{
	(void)state;
	assert_int_equal(take("thread", "^worker"), 1);
	assert_int_equal(take("where", "state!=running"), 1);
	assert_int_equal(take("where", "op=a=b"), 1);
	assert_int_equal(options.query.n_filters, 3);
	assert_string_equal(options.query.filters[0].dimension, "thread");
	assert_false(options.query.filters[0].exclude);
	assert_string_equal(options.query.filters[1].dimension, "state");
	assert_string_equal(options.query.filters[1].pattern, "running");
	assert_true(options.query.filters[1].exclude);
	assert_string_equal(options.query.filters[2].pattern, "a=b");
}

/* Names of functions have = and !=, too: operator==, and templates of numbers. */
static void only_takes_labels_and_functions(void **state)
{
	static const char *const functions[] = {"operator==", "operator!=", "^tier", "tiers=x",
						"a<b=c>",     "=",          "task!", "thread=x"};

	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		assert_int_equal(take("only", functions[i]), 1);
	assert_int_equal(options.query.n_include, sizeof(functions) / sizeof(functions[0]));
	assert_int_equal(options.query.n_filters, 0);
	assert_int_equal(take("only", "tier=^db$"), 1);
	assert_int_equal(take("only", "req!="), 1);
	assert_int_equal(take("only", "identity=("), -EINVAL);
	assert_int_equal(options.query.n_filters, 2);
	assert_string_equal(options.query.filters[0].dimension, "tier");
	assert_string_equal(options.query.filters[0].pattern, "^db$");
	assert_false(options.query.filters[0].exclude);
	assert_string_equal(options.query.filters[1].dimension, "req");
	assert_true(options.query.filters[1].exclude);
}

static void what_makes_no_sense_is_refused_where_it_stands(void **state)
{
	(void)state;
	assert_int_equal(take("where", "state"), -EINVAL);
	assert_int_equal(take("where", "=x"), -EINVAL);
	assert_int_equal(take("where", "!=x"), -EINVAL);
	assert_int_equal(take("only", "("), -EINVAL);
	assert_non_null(strstr(err.text, "'('"));
	assert_int_equal(take("time", "x"), -EINVAL);
	assert_int_equal(take("every", "1s"), -EINVAL);
	assert_int_equal(take("group", ","), -EINVAL);
	assert_int_equal(take("metric", "a:b"), -EINVAL);
	assert_int_equal(take("output", "x"), 0);
}

static void there_are_limits(void **state)
{
	(void)state;
	for (int i = 0; i < QUERY_MAX_PATTERNS; i++)
		assert_int_equal(take("only", "x"), 1);
	assert_int_equal(take("only", "x"), -E2BIG);
	assert_int_equal(take("group", "a,b,c,d,e,f,g,h,i"), -EINVAL);
}

static void groups_and_metric_are_taken_apart(void **state)
{
	(void)state;
	assert_int_equal(take("group", "state,wait"), 1);
	assert_int_equal(take("group", "thread"), 1);
	assert_int_equal(options.query.n_groups, 3);
	assert_string_equal(options.query.groups[1], "wait");
	assert_string_equal(options.query.groups[2], "thread");
	assert_int_equal(take("metric", "rss_kib:delta"), 1);
	assert_int_equal(options.query.measure, QUERY_DELTA);
	assert_string_equal(options.query.metric, "rss_kib");
	assert_int_equal(take("time", "10-20@0-100ms"), 1);
	assert_int_equal(options.query.n_ranges, 1);
	assert_true(options.query.ranges[0].to_ns == 20000000000);
	assert_int_equal(take("every", "1s:0-100ms"), 1);
	assert_true(options.query.every.to_ns == 100000000);
}

static bool elides(const char *pattern_text, const char *name)
{
	struct pattern *pattern = NULL;
	bool matches;

	assert_int_equal(pattern_new(pattern_text, &pattern, &err), 0);
	matches = pattern_matches(pattern, name, strlen(name));
	pattern_free(pattern);
	return matches;
}

static void wrappers_are_known(void **state)
{
	const char *rules;

	(void)state;
	assert_int_equal(take("elide", "@wrappers"), 1);
	rules = options.query.elide[0];
	assert_true(elides(rules, "std::function<void (int)>::operator()"));
	assert_true(elides(rules, "std::__invoke_impl<void, main::{lambda#1}>"));
	assert_true(elides(rules, "__libc_start_call_main"));
	assert_true(elides(rules, "start_thread"));
	assert_false(elides(rules, "main"));
	assert_false(elides(rules, "std::sort<int*>"));
	assert_false(elides(rules, "my_start"));
}

static void a_file_of_rules_is_one_expression(void **state)
{
	static const char rules[] = "[a]\nframe = ^mine$\nframe = ^yours$\n";
	char *path = file_make(rules, sizeof(rules) - 1);
	char name[FOLDER_BYTES + 1];

	(void)state;
	(void)snprintf(name, sizeof(name), "@%s", path);
	assert_int_equal(take("elide", name), 1);
	file_remove(path);
	assert_int_equal(options.query.n_elide, 1);
	assert_true(elides(options.query.elide[0], "mine"));
	assert_true(elides(options.query.elide[0], "yours"));
	assert_false(elides(options.query.elide[0], "ours"));
	assert_int_equal(take("elide", "@/no/such/file"), -ENOENT);
}

static void the_end_of_a_name_is_the_format(void **state)
{
	(void)state;
	assert_int_equal(view_format_of("a.svg"), VIEW_SVG);
	assert_int_equal(view_format_of("a.json"), VIEW_JSON);
	assert_int_equal(view_format_of("a.speedscope.json"), VIEW_SPEEDSCOPE);
	assert_int_equal(view_format_of("a.pb.gz"), VIEW_PPROF);
	assert_int_equal(view_format_of(".svg"), VIEW_NONE);
	assert_int_equal(view_format_of("svg"), VIEW_NONE);
	assert_int_equal(view_format_named("md"), VIEW_MD);
	assert_int_equal(view_format_named("exe"), VIEW_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(filters_are_dimensions_by_another_name, clean),
		cmocka_unit_test_teardown(only_takes_labels_and_functions, clean),
		cmocka_unit_test_teardown(what_makes_no_sense_is_refused_where_it_stands, clean),
		cmocka_unit_test_teardown(there_are_limits, clean),
		cmocka_unit_test_teardown(groups_and_metric_are_taken_apart, clean),
		cmocka_unit_test_teardown(wrappers_are_known, clean),
		cmocka_unit_test_teardown(a_file_of_rules_is_one_expression, clean),
		cmocka_unit_test(the_end_of_a_name_is_the_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
