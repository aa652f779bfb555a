/* diff_rule_test.c - `total(f)>+3%`: what it says, and when it is met */
#include "flamescope/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct diff_rule parsed(const char *text)
{
	struct diff_rule rule = {0};
	struct err err = {0};

	assert_int_equal(diff_rule_parse(text, &rule, &err), 0);
	return rule;
}

static void reads_what_is_limited(void **state)
{
	struct diff_rule rule = parsed("total(std::f(int)>::g)>+3%");

	(void)state;
	assert_true(rule.of_total);
	assert_int_equal(rule.n_function, strlen("std::f(int)>::g"));
	assert_memory_equal(rule.function, "std::f(int)>::g", rule.n_function);
	assert_true(fabs(rule.limit - 0.03) < 1e-12);
	rule = parsed("self(f)<-2.5%");
	assert_false(rule.of_total);
	assert_true(fabs(rule.limit + 0.025) < 1e-12);
	assert_true(parsed("self(*)>0%").limit == 0);
	assert_true(signbit(parsed("self(*)<0%").limit));
}

static void refuses_what_is_no_rule(void **state)
{
	static const char *const wrong[] = {"",
					    "total",
					    "total()",
					    "total(f)",
					    "total()>3%",
					    "total(f)>3",
					    "total(f)>-3%",
					    "total(f)<+3%",
					    "total(f)>%",
					    "total(f)>1e2%",
					    "total(f)>3%x",
					    "sum(f)>3%",
					    "total(f)=3%",
					    "total(f)>nan%",
					    "total(f)>101%",
					    "total f>3%",
					    "total(f)>+ 3%",
					    "total(f)>++3%"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct diff_rule rule;
		struct err err = {0};

		assert_int_equal(diff_rule_parse(wrong[i], &rule, &err), -EINVAL);
		assert_non_null(strstr(err.text, "try: "));
	}
}

/* f: +4 points for sure; g: +6, perhaps; h: -5 for sure. */
static const struct diff_function functions[] = {
	{.name = "f", .total_change = 0.04, .self_change = 0.04, .total_p = 0.001, .self_p = 0.001},
	{.name = "g", .total_change = 0.06, .self_change = 0, .total_p = 0.2, .self_p = 1},
	{.name = "h",
	 .total_change = -0.05,
	 .self_change = -0.05,
	 .total_p = 0.002,
	 .self_p = 0.002},
};

static const struct diff diff = {.n_functions = 3, .functions = (struct diff_function *)functions};

static struct diff_verdict judged(const char *text)
{
	struct diff_rule rule = parsed(text);

	return diff_rule_judge(&rule, &diff, 0.01);
}

static void is_met_past_the_limit_only(void **state)
{
	(void)state;
	assert_true(judged("total(f)>+3%").met);
	assert_true(judged("total(f)>+3%").significant);
	assert_false(judged("total(f)>+5%").met);
	assert_false(judged("total(f)<-3%").met);
	assert_true(judged("total(h)<-3%").significant);
	assert_false(judged("total(h)>+3%").met);
	assert_false(judged("self(g)>+0%").met);
}

static void is_not_significant_by_its_size_alone(void **state)
{
	(void)state;
	assert_true(judged("total(g)>+5%").met);
	assert_false(judged("total(g)>+5%").significant);
}

static void takes_the_clearest_of_any_function(void **state)
{
	(void)state;
	assert_string_equal(judged("total(*)>+3%").function->name, "f");
	assert_string_equal(judged("total(*)>+5%").function->name, "g");
	assert_string_equal(judged("self(*)<-1%").function->name, "h");
	assert_false(judged("total(*)>+7%").met);
	assert_string_equal(judged("total(*)>+7%").function->name, "g");
}

static void knows_when_there_is_no_such_function(void **state)
{
	(void)state;
	assert_false(judged("total(nobody)>+0%").known);
	assert_false(judged("total(nobody)>+0%").met);
	assert_true(judged("total(f)>+9%").known);
}

static void writes_names_as_text_in_all_tables(void **state)
{
	static struct diff_function hostile = {.name = "=x|`<script>\"\n",
					       .total_change = 1,
					       .total[DIFF_NEW] = 1,
					       .total_p = 0.5,
					       .self_p = 1};
	struct selection selection = {.unit = "samples", .n = 3};
	const struct selection *recordings[] = {&selection};
	struct diff one = {.sides = {{1, recordings}, {1, recordings}},
			   .unit = "samples",
			   .n_samples = {3, 3},
			   .n_blocks = {3, 3},
			   .block_ns = 1000000000,
			   .smallest_p = 0.001,
			   .n_permutations = 20,
			   .n_functions = 1,
			   .functions = &hostile};
	struct diff_table table = {.diff = &one, .names = {"a.perf", "b.perf"}, .level = 0.01};
	struct buf text;

	(void)state;
	buf_init(&text, 64 * 1024);
	diff_table_text(&table, &text);
	assert_non_null(strstr(buf_text(&text), "+100.00 "));
	assert_non_null(strstr(buf_text(&text), "No function changed"));
	assert_null(strstr(buf_text(&text), "\"\n"));
	buf_clear(&text);
	diff_table_csv(&table, &text);
	assert_non_null(strstr(buf_text(&text), "\"'=x|`<script>\"\""));
	buf_clear(&text);
	diff_table_json(&table, &text);
	assert_null(strstr(buf_text(&text), "<script>"));
	assert_non_null(strstr(buf_text(&text), "\"change\":1.00000000"));
	buf_clear(&text);
	diff_table_markdown(&table, &text);
	assert_null(strstr(buf_text(&text), "=x|"));
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_is_limited),
		cmocka_unit_test(refuses_what_is_no_rule),
		cmocka_unit_test(is_met_past_the_limit_only),
		cmocka_unit_test(is_not_significant_by_its_size_alone),
		cmocka_unit_test(takes_the_clearest_of_any_function),
		cmocka_unit_test(knows_when_there_is_no_such_function),
		cmocka_unit_test(writes_names_as_text_in_all_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
