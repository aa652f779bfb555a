/* wick_requests_test.c - requests, contexts, tiers and functions under a virtual clock */
#include "tests/unit/wick_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t misuses(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < TABLES_MISUSES; i++)
		sum += wick_state_1.misuse[i];
	return sum;
}

static int has_context(void)
{
	static const struct wick_context none;

	return memcmp(&wick_thread_1.value, &none, sizeof(none)) != 0;
}

static void serve(const char *identity, uint64_t ticks)
{
	struct wick_request request;

	wick_request_begin(&request, identity);
	wick_fixture_pass(ticks);
	wick_request_end(&request);
}

static void a_request_counts_at_its_end(void **state)
{
	struct table_cell_row cell;

	(void)state;
	serve("GET /x", 100);
	serve("GET /x", 300);
	serve("GET /y", 7);
	cell = wick_fixture_cell(NULL, "GET /x");
	assert_int_equal(cell.count, 2);
	assert_int_equal(cell.sum_ns, 400);
	assert_int_equal(cell.min_ns, 100);
	assert_int_equal(cell.max_ns, 300);
	assert_int_equal(cell.self_ns, 400);
	assert_int_equal(cell.exemplar_ns, 300);
	assert_int_equal(cell.exemplar_ticks, 1400);
	assert_int_equal(wick_fixture_cell(NULL, "GET /y").count, 1);
	assert_int_equal(wick_fixture_buckets(NULL, "GET /x"), 2);
	assert_int_equal(misuses(), 0);
}

static void ticks_become_ns(void **state)
{
	(void)state;
	wick_state_1.mult = (UINT64_C(1) << 32) / 4;
	serve("r", 400);
	assert_int_equal(wick_fixture_cell(NULL, "r").sum_ns, 100);
}

static void durations_are_in_the_buckets_that_the_layout_names(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < TABLES_OCTAVES; k++)
		for (uint32_t i = 0; i < TABLES_STEPS; i++) {
			uint64_t low = k ? (uint64_t)(TABLES_STEPS + i) << k : 2 * i;
			uint64_t high = (k ? (uint64_t)(TABLES_STEPS + i + 1) << k : 2 * i + 2) - 1;

			assert_int_equal(wick_bucket(low), k * TABLES_STEPS + i);
			assert_int_equal(wick_bucket(high), k * TABLES_STEPS + i);
		}
	assert_int_equal(wick_bucket(UINT64_MAX), TABLES_OCTAVES * TABLES_STEPS - 1);
}

static void a_request_inside_another_is_its_child(void **state)
{
	struct wick_request outer;
	struct wick_request inner;

	(void)state;
	wick_request_begin(&outer, "outer");
	wick_request_begin(&inner, "inner");
	assert_memory_equal(outer.own.trace_id, inner.own.trace_id, 16);
	assert_memory_not_equal(outer.own.span_id, inner.own.span_id, 8);
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "inner");
	wick_request_end(&inner);
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "outer");
	assert_memory_equal(wick_thread_1.value.span_id, outer.own.span_id, 8);
	wick_request_end(&outer);
	assert_false(has_context());
}

static void requests_of_a_loop_may_interleave(void **state)
{
	struct wick_request a;
	struct wick_request b;
	struct wick_context of_a;
	struct wick_context none = wick_context_get();

	(void)state;
	wick_request_begin(&a, "a");
	of_a = wick_context_set(none);
	wick_fixture_pass(10);
	wick_request_begin(&b, "b");
	assert_memory_not_equal(a.own.trace_id, b.own.trace_id, 16);
	wick_fixture_pass(10);
	(void)wick_context_set(of_a);
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "a");
	wick_request_end(&b); /* not what the thread works for now */
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "a");
	wick_request_end(&a);
	assert_int_equal(wick_fixture_cell(NULL, "a").sum_ns, 20);
	assert_int_equal(wick_fixture_cell(NULL, "b").sum_ns, 10);
	assert_false(has_context());
}

static void the_record_is_as_opentelemetry_has_it(void **state)
{
	const struct otel_record *record;
	struct wick_request request;

	(void)state;
	wick_request_begin(&request, "GET /users");
	record = (const struct otel_record *)otel_thread_ctx_v1;
	assert_non_null(record);
	assert_int_equal(record->valid, 1);
	assert_memory_equal(record->trace_id, request.own.trace_id, 16);
	assert_memory_equal(record->span_id, request.own.span_id, 8);
	assert_int_equal(record->trace_flags, 1);
	assert_memory_equal(record->attrs, "\0\12GET /users", 12);
	assert_int_equal(record->attrs_bytes, 12);
	assert_int_equal((uintptr_t)record % 2, 0);
	wick_request_end(&request);
	assert_int_equal(record->attrs_bytes, 0);
	assert_int_equal(record->trace_id[0] | record->trace_id[15], 0);
}

static void another_librarys_record_is_left_alone(void **state)
{
	static struct otel_record other;

	(void)state;
	otel_thread_ctx_v1 = &other;
	serve("x", 1);
	assert_ptr_equal(otel_thread_ctx_v1, &other);
	otel_thread_ctx_v1 = NULL;
	serve("x", 1);
	assert_non_null(otel_thread_ctx_v1);
}

static void traceparents_are_read_and_written(void **state)
{
	static const char text[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
	static const char *const bad[] = {
		"",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
		"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
		"00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	};
	struct wick_context c;
	struct wick_request request;
	char out[56];

	(void)state;
	assert_int_equal(wick_traceparent_parse(&c, text), 0);
	assert_int_equal(c.trace_id[0], 0x0a);
	assert_int_equal(c.span_id[7], 0x31);
	wick_traceparent_write(&c, out);
	assert_string_equal(out, text);
	assert_int_equal(wick_traceparent_parse(&c, "  01-0af7651916cd43dd8448eb211c80319c-"
						    "b7ad6b7169203331-00-later"),
			 0);
	assert_int_equal(wick_traceparent_parse(&c, "00-0af7651916cd43dd8448eb211c80319c-"
						    "b7ad6b7169203331-01\r\nHost: x"),
			 0);
	(void)wick_context_set(c);
	wick_request_begin(&request, "served");
	assert_memory_equal(request.own.trace_id, c.trace_id, 16);
	wick_request_end(&request);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(wick_traceparent_parse(&c, bad[i]), -1);
		assert_int_equal(c.trace_id[0], 0);
	}
}

static void misuse_is_counted_and_goes_on(void **state)
{
	struct wick_request *request = malloc(sizeof(*request));

	(void)state;
	assert_non_null(request);
	memset(request, 0x5a, sizeof(*request));
	wick_request_end(request);
	assert_int_equal(wick_state_1.misuse[MISUSE_REQUEST_END], 1);
	wick_request_begin(request, "x");
	wick_request_end(request);
	wick_request_end(request);
	assert_int_equal(wick_state_1.misuse[MISUSE_REQUEST_END], 2);
	wick_request_begin(request, "x");
	memset(request, 0, sizeof(*request)); /* as if it were freed, and another's */
	wick_request_end(request);
	assert_int_equal(wick_state_1.misuse[MISUSE_REQUEST_END], 3);
	free(request);
	assert_int_equal(wick_fixture_cell(NULL, "x").count, 1);
}

static void ten_thousand_identities_are_bounded(void **state)
{
	const struct tables *tables;
	uint64_t sum = 0;
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 10000; i++) {
			(void)snprintf(name, sizeof(name), "GET /item/%d", i);
			serve(name, 10);
		}
	tables = (const struct tables *)wick_state_1.tables;
	for (int i = 0; i < 10000; i++) {
		(void)snprintf(name, sizeof(name), "GET /item/%d", i);
		sum += wick_fixture_cell(NULL, name).count;
	}
	assert_int_equal(sum, 2 * (TABLES_IDENTITIES - 1));
	assert_int_equal(wick_fixture_cell(NULL, "other").count, 20000 - sum);
	assert_true(tables->n_names <= TABLES_IDENTITIES + 1);
	assert_true(tables->lost_names > 0);
}

static void cells_of_too_many_tiers_are_of_other_identities(void **state)
{
	char identity[16];
	char tier[16];
	uint64_t sum = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct wick_request request;

		(void)snprintf(identity, sizeof(identity), "i%d", i);
		wick_request_begin(&request, identity);
		for (int t = 0; t < 8; t++) {
			struct wick_scope scope;

			(void)snprintf(tier, sizeof(tier), "t%d", t);
			scope = wick_tier_enter(tier);
			wick_scope_leave(&scope);
		}
		wick_request_end(&request);
	}
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(identity, sizeof(identity), "i%d", i);
		sum += wick_fixture_cell("t3", identity).count;
	}
	sum += wick_fixture_cell("t3", "other").count;
	assert_int_equal(sum, 1000);
	assert_true(((const struct tables *)wick_state_1.tables)->lost_cells > 0);
}

static void names_have_any_bytes_and_end_after_63(void **state)
{
	char longer[200];
	char cut[64] = {0};

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	memcpy(cut, longer, 63);
	serve(longer, 1);
	serve(longer, 1);
	assert_int_equal(wick_fixture_cell(NULL, cut).count, 2);
	serve("\xff\x01\n \"", 1);
	assert_int_equal(wick_fixture_cell(NULL, "\xff\x01\n \"").count, 1);
	serve("", 1);
	assert_int_equal(wick_fixture_cell(NULL, "").count, 1);
	serve(NULL, 1);
	assert_int_equal(wick_fixture_cell(NULL, "").count, 2);
}

static void a_name_may_change_where_it_stands(void **state)
{
	char name[] = "first";

	(void)state;
	serve(name, 1);
	memcpy(name, "other", 5);
	name[0] = 'x';
	serve(name, 1);
	memcpy(name, "first", 5);
	serve(name, 1);
	assert_int_equal(wick_fixture_cell(NULL, "first").count, 2);
	assert_int_equal(wick_fixture_cell(NULL, "xther").count, 1);
}

static int leave_early(int how)
{
	for (int i = 0; i < 3; i++) {
		WICK_TIER("db")
		{
			wick_fixture_pass(10);
			if (how == 0)
				return 1;
			if (how == 1)
				goto out;
			if (how == 2)
				break;
		}
		if (how == 2)
			return 2;
	}
out:
	return 0;
}

static void tiers_are_left_in_every_way(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++)
		(void)leave_early(how);
	assert_int_equal(wick_fixture_cell("db", NULL).count, 6);
	assert_int_equal(wick_fixture_cell("db", NULL).sum_ns, 60);
	assert_string_equal(wick_fixture_attr(CONTEXT_TIER), "");
}

static void tiers_nest_and_self_is_without_what_is_inside(void **state)
{
	struct wick_request request;

	(void)state;
	wick_request_begin(&request, "r");
	wick_fixture_pass(1);
	WICK_TIER("service")
	{
		wick_fixture_pass(10);
		for (int i = 0; i < 2; i++)
			WICK_TIER("db")
			{
				wick_fixture_pass(100);
				assert_string_equal(wick_fixture_attr(CONTEXT_TIER), "db");
			}
		assert_string_equal(wick_fixture_attr(CONTEXT_TIER), "service");
	}
	wick_request_end(&request);
	assert_int_equal(wick_fixture_cell("service", "r").sum_ns, 210);
	assert_int_equal(wick_fixture_cell("service", "r").self_ns, 10);
	assert_int_equal(wick_fixture_cell("db", "r").count, 2);
	assert_int_equal(wick_fixture_cell("db", "r").self_ns, 200);
	assert_int_equal(wick_fixture_cell(NULL, "r").sum_ns, 211);
	assert_int_equal(wick_fixture_cell(NULL, "r").self_ns, 1);
	assert_int_equal(wick_fixture_cell("db", NULL).count, 0);
}

static void recurse(int depth)
{
	WICK_TIER("db")
	{
		wick_fixture_pass(1);
		WICK_TIER("cache")
		{
			wick_fixture_pass(1);
			if (depth > 1)
				recurse(depth - 1);
		}
	}
}

static void a_tier_inside_itself_counts_once(void **state)
{
	(void)state;
	recurse(500);
	assert_int_equal(wick_fixture_cell("db", NULL).count, 1);
	assert_int_equal(wick_fixture_cell("db", NULL).sum_ns, 1000);
	assert_int_equal(wick_fixture_cell("cache", NULL).count, 1);
	assert_int_equal(wick_fixture_cell("cache", NULL).sum_ns, 999);
	assert_true(((const struct tables *)wick_state_1.tables)->n_nodes < 10);
}

static void profiled(int depth)
{
	WICK_PROFILE_FN;
	wick_fixture_pass(10);
	if (depth > 1)
		profiled(depth - 1);
	WICK_TIER("db")
	{
		wick_fixture_pass(5);
	}
}

static void a_function_counts_calls_self_and_whole(void **state)
{
	struct wick_fixture_row row;

	(void)state;
	profiled(1);
	profiled(3);
	row = wick_fixture_row("profiled");
	assert_int_equal(row.calls, 4);
	assert_int_equal(row.exec, 60);
	assert_int_equal(row.wall, 60);
	assert_int_equal(row.max, 45);
	assert_string_equal(wick_fixture_attr(CONTEXT_FUNCTION), "");
}

static void profiling_is_a_label_until_it_stops(void **state)
{
	(void)state;
	wick_profile_start();
	assert_non_null(strstr(wick_fixture_attr(CONTEXT_FUNCTION),
			       "profiling_is_a_label_until_it_stops@wick_requests_test.c:"));
	WICK_TIER("db")
	{
		wick_profile_start();
	}
	wick_profile_stop();
	assert_string_equal(wick_fixture_attr(CONTEXT_FUNCTION), "");
	wick_profile_stop();
	for (int i = 0; i < 1000; i++)
		wick_profile_start();
	wick_profile_stop();
	assert_string_equal(wick_fixture_attr(CONTEXT_FUNCTION), "");
}

static void a_span_is_of_the_context_that_it_was_given(void **state)
{
	struct wick_request request;
	struct wick_span span;

	(void)state;
	wick_request_begin(&request, "r");
	span = wick_span_begin("queue", wick_context_get());
	wick_request_end(&request);
	wick_fixture_pass(30);
	wick_span_end(&span);
	wick_span_end(&span);
	assert_int_equal(wick_fixture_cell("queue", "r").count, 1);
	assert_int_equal(wick_fixture_cell("queue", "r").sum_ns, 30);
	assert_memory_equal(wick_fixture_cell("queue", "r").exemplar_trace, span.context.trace_id,
			    16);
}

static void a_full_record_takes_no_more(void **state)
{
	static const char name[] =
		"a tier whose name is as long as one may be, sixty-three bytes..";
	struct wick_scope scopes[40];
	struct wick_request request;

	(void)state;
	wick_request_begin(&request, "r");
	for (int i = 0; i < 40; i++)
		scopes[i] = wick_tier_enter(name);
	assert_true(((const struct otel_record *)otel_thread_ctx_v1)->attrs_bytes <=
		    CONTEXT_MAX_ATTRS);
	serve("an identity that is longer than the other one, but not by much", 1);
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "r");
	for (int i = 40; i-- > 0;)
		wick_scope_leave(&scopes[i]);
	wick_request_end(&request);
	assert_int_equal(((const struct otel_record *)otel_thread_ctx_v1)->attrs_bytes, 0);
}

static void recording_may_end_and_begin_in_between(void **state)
{
	struct wick_request request;
	struct wick_scope scope;

	(void)state;
	wick_request_begin(&request, "r");
	scope = wick_tier_enter("db");
	wick_state_1.until = 0;
	wick_scope_leave(&scope);
	wick_request_end(&request);
	assert_false(has_context());
	assert_int_equal(((const struct otel_record *)otel_thread_ctx_v1)->attrs_bytes, 0);
	wick_request_begin(&request, "r");
	scope = wick_tier_enter("db");
	wick_state_1.until = WICK_FIXTURE_END;
	wick_state_1.session++;
	wick_scope_leave(&scope);
	wick_request_end(&request);
	assert_int_equal(wick_fixture_cell(NULL, "r").count, 0);
	assert_int_equal(misuses(), 0);
	serve("r", 1);
	assert_int_equal(wick_fixture_cell(NULL, "r").count, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, wick_fixture_setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_request_counts_at_its_end),
		TEST(ticks_become_ns),
		TEST(durations_are_in_the_buckets_that_the_layout_names),
		TEST(a_request_inside_another_is_its_child),
		TEST(requests_of_a_loop_may_interleave),
		TEST(the_record_is_as_opentelemetry_has_it),
		TEST(another_librarys_record_is_left_alone),
		TEST(traceparents_are_read_and_written),
		TEST(misuse_is_counted_and_goes_on),
		TEST(ten_thousand_identities_are_bounded),
		TEST(cells_of_too_many_tiers_are_of_other_identities),
		TEST(names_have_any_bytes_and_end_after_63),
		TEST(a_name_may_change_where_it_stands),
		TEST(tiers_are_left_in_every_way),
		TEST(tiers_nest_and_self_is_without_what_is_inside),
		TEST(a_tier_inside_itself_counts_once),
		TEST(a_function_counts_calls_self_and_whole),
		TEST(profiling_is_a_label_until_it_stops),
		TEST(a_span_is_of_the_context_that_it_was_given),
		TEST(a_full_record_takes_no_more),
		TEST(recording_may_end_and_begin_in_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
