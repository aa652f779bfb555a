/* spans_test.c - what was mapped where, and when */
#include "state_fixture.h"
#include "symbolize/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Modules are told apart by address only. */
static struct module *module(uintptr_t number)
{
	return (struct module *)(number * 64);
}

static int map(struct spans *spans, uint64_t start, uint64_t end, uint64_t from_ns, int number)
{
	struct span span = {.start = start,
			    .end = end,
			    .base = start,
			    .bytes = end - start,
			    .from_ns = from_ns,
			    .until_ns = SPAN_FOREVER,
			    .module = module((uintptr_t)number)};

	return spans_add(spans, &span);
}

/* The number of the module at an address, 0 for none. */
static int at(struct spans *spans, uint64_t addr, uint64_t time_ns)
{
	const struct span *span = spans_find(spans, addr, time_ns);

	return span ? (int)((uintptr_t)span->module / 64) : 0;
}

static void finds_by_address(void **state)
{
	struct spans *spans = *state;

	assert_int_equal(at(spans, 5, 0), 0);
	assert_int_equal(map(spans, 30, 40, 0, 3), 0);
	assert_int_equal(map(spans, 10, 20, 0, 1), 0);
	assert_int_equal(at(spans, 9, 0), 0);
	assert_int_equal(at(spans, 10, 0), 1);
	assert_int_equal(at(spans, 19, 0), 1);
	assert_int_equal(at(spans, 20, 0), 0);
	assert_int_equal(at(spans, 39, 0), 3);
}

static void a_library_in_anothers_place_is_told_by_time(void **state)
{
	struct spans *spans = *state;

	assert_int_equal(map(spans, 10, 20, 100, 1), 0);
	assert_int_equal(spans_unmap(spans, 10, 20, 200), 0);
	assert_int_equal(map(spans, 10, 20, 300, 2), 0);
	assert_int_equal(at(spans, 15, 100), 1);
	assert_int_equal(at(spans, 15, 199), 1);
	assert_int_equal(at(spans, 15, 300), 2);
	assert_int_equal(at(spans, 15, 999), 2);
	/* Between them nothing was told yet: news of the second may have come late. */
	assert_int_equal(at(spans, 15, 250), 2);
	/* Before the first, the earliest. */
	assert_int_equal(at(spans, 15, 50), 1);
}

static void a_new_mapping_covers_part_of_an_old_one(void **state)
{
	struct spans *spans = *state;

	assert_int_equal(map(spans, 10, 50, 100, 1), 0);
	assert_int_equal(map(spans, 20, 30, 200, 2), 0);
	assert_int_equal(at(spans, 25, 150), 1);
	assert_int_equal(at(spans, 25, 250), 2);
	assert_int_equal(at(spans, 15, 250), 1);
	assert_int_equal(at(spans, 35, 250), 1);
	/* When it goes, the old one does not come back. */
	assert_int_equal(spans_unmap(spans, 20, 30, 300), 0);
	assert_int_equal(at(spans, 25, 350), 0);
	assert_int_equal(at(spans, 45, 350), 1);
}

static void the_same_mapping_told_twice_is_one(void **state)
{
	struct spans *spans = *state;

	assert_int_equal(map(spans, 10, 50, 100, 1), 0);
	assert_int_equal(map(spans, 10, 50, 90, 1), 0);
	assert_int_equal(spans->n_spans, 1);
	assert_int_equal(spans->spans[0].from_ns, 90);
}

static void agrees_with_a_simple_model(void **state)
{
	enum { PAGES = 64, TIMES = 400 };
	static int model[TIMES + 1][PAGES];
	struct spans *spans = *state;
	unsigned seed = 12345;

	for (int time = 1; time <= TIMES; time++) {
		unsigned start;
		unsigned end;
		int number = time;

		seed = seed * 1103515245 + 12345;
		start = (seed >> 16) % PAGES;
		end = start + 1 + (seed >> 8) % 16;
		end = end > PAGES ? PAGES : end;
		for (int page = 0; page < PAGES; page++)
			model[time][page] = model[time - 1][page];
		if (seed >> 28 & 1) {
			number = 0;
			assert_int_equal(spans_unmap(spans, start, end, (uint64_t)time), 0);
		} else {
			assert_int_equal(map(spans, start, end, (uint64_t)time, number), 0);
		}
		for (unsigned page = start; page < end; page++)
			model[time][page] = number;
	}
	for (int time = 1; time <= TIMES; time++)
		for (int page = 0; page < PAGES; page++)
			if (model[time][page])
				assert_int_equal(at(spans, (uint64_t)page, (uint64_t)time),
						 model[time][page]);
}

static void a_loop_of_dlopen_does_not_grow_without_end(void **state)
{
	struct spans *spans = *state;

	for (int i = 1; i <= 12000; i++) {
		assert_int_equal(map(spans, 10, 20, (uint64_t)i * 2, 1 + i % 2), 0);
		assert_int_equal(spans_unmap(spans, 10, 20, (uint64_t)i * 2 + 1), 0);
	}
	assert_true(spans->n_spans < 10000);
	assert_int_equal(at(spans, 15, 24000), 1);
}

STATE_FIXTURE(spans, spans, spans_release(spans))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(finds_by_address),
		own_test(a_library_in_anothers_place_is_told_by_time),
		own_test(a_new_mapping_covers_part_of_an_old_one),
		own_test(the_same_mapping_told_twice_is_one),
		own_test(agrees_with_a_simple_model),
		own_test(a_loop_of_dlopen_does_not_grow_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
