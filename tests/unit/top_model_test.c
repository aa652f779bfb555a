/* top_model_test.c - samples counted by function, moment and thread */
#include "state_fixture.h"
#include "tools/top/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PERIOD_NS UINT64_C(10000000)
#define SECOND_NS UINT64_C(1000000000)
#define START_NS  (100 * SECOND_NS)

enum { MAX_FRAMES = 8 };

/* One sample of thread 7 whose stack is NAMES, innermost first, up to NULL. */
static void add(struct top_model *model, uint64_t time_ns, uint64_t weight,
		const char *const *names)
{
	struct frame frames[MAX_FRAMES] = {{0}};
	struct sample sample = {
		.time_ns = time_ns, .weight = weight, .pid = 6, .tid = 7, .frames = frames};

	for (; names[sample.n_frames]; sample.n_frames++) {
		frames[sample.n_frames].symbol = names[sample.n_frames];
		frames[sample.n_frames].module = "/usr/lib/libx.so";
	}
	top_model_add(model, &sample);
}

static const struct top_function *find(const struct top_model *model, const char *symbol)
{
	for (size_t i = 0; i < model->n_functions; i++)
		if (strcmp(model->functions[i]->symbol, symbol) == 0)
			return model->functions[i];
	return NULL;
}

static void counts_self_and_total_by_weight(void **state)
{
	static const char *const stack[] = {"leaf", "main", NULL};
	static const char *const other[] = {"main", NULL};
	struct top_model *model = *state;

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	add(model, START_NS, 3, stack);
	add(model, START_NS + 1, 1, other);
	assert_int_equal(find(model, "leaf")->self_ns, 3 * PERIOD_NS);
	assert_int_equal(find(model, "leaf")->total_ns, 3 * PERIOD_NS);
	assert_int_equal(find(model, "main")->self_ns, PERIOD_NS);
	assert_int_equal(find(model, "main")->total_ns, 4 * PERIOD_NS);
	assert_string_equal(find(model, "main")->module, "libx.so");
	assert_int_equal(model->sum_ns, 4 * PERIOD_NS);
	assert_int_equal(model->samples, 2);
}

static void recursion_counts_once(void **state)
{
	static const char *const stack[] = {"f", "g", "f", "f", NULL};
	struct top_model *model = *state;

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	add(model, START_NS, 1, stack);
	add(model, START_NS, 1, stack);
	assert_int_equal(find(model, "f")->total_ns, 2 * PERIOD_NS);
	assert_int_equal(find(model, "f")->self_ns, 2 * PERIOD_NS);
	assert_int_equal(find(model, "g")->total_ns, 2 * PERIOD_NS);
}

static void now_is_the_last_two_seconds(void **state)
{
	static const char *const stack[] = {"f", NULL};
	struct top_model *model = *state;
	uint64_t now_ns = START_NS + 10 * SECOND_NS + TOP_LATE_NS;

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	for (uint64_t t = START_NS; t < START_NS + 10 * SECOND_NS; t += PERIOD_NS)
		add(model, t, 1, stack);
	assert_int_equal(top_window_ns(model, now_ns), TOP_WINDOW_NS);
	assert_int_equal(top_recent_ns(&model->recent, now_ns), TOP_WINDOW_NS);
	assert_int_equal(top_recent_ns(&find(model, "f")->self, now_ns), TOP_WINDOW_NS);
	/* what is older than the window is forgotten, half a second at a time */
	assert_int_equal(top_recent_ns(&model->recent, now_ns + SECOND_NS), SECOND_NS);
	assert_int_equal(top_recent_ns(&model->recent, now_ns + 5 * SECOND_NS), 0);
}

static void soon_after_the_start_now_is_shorter(void **state)
{
	struct top_model *model = *state;

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	assert_int_equal(top_window_ns(model, START_NS), 1);
	assert_int_equal(top_window_ns(model, START_NS + SECOND_NS + TOP_LATE_NS), SECOND_NS);
}

static void a_reset_forgets_all_but_the_heatmap(void **state)
{
	static const char *const stack[] = {"f", NULL};
	struct top_model *model = *state;
	const struct top_second *second = NULL;

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	add(model, START_NS + SECOND_NS / 2, 2, stack);
	top_model_reset(model, START_NS + SECOND_NS);
	assert_int_equal(model->n_functions, 0);
	assert_int_equal(model->sum_ns, 0);
	add(model, START_NS + SECOND_NS / 2, 1, stack); /* was on its way */
	assert_int_equal(model->samples, 0);
	add(model, START_NS + SECOND_NS, 1, stack);
	assert_int_equal(find(model, "f")->self_ns, PERIOD_NS);
	second = &model->seconds[START_NS / SECOND_NS % TOP_SECONDS];
	assert_int_equal(second->ns[TOP_PARTS / 2], 2 * PERIOD_NS);
}

static void the_heatmap_goes_round(void **state)
{
	static const char *const stack[] = {"f", NULL};
	struct top_model *model = *state;
	uint64_t late_ns = START_NS + TOP_SECONDS * SECOND_NS;
	const struct top_second *second = NULL;

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	second = &model->seconds[START_NS / SECOND_NS % TOP_SECONDS];
	add(model, START_NS, 1, stack);
	add(model, late_ns, 5, stack); /* the same place, one round later */
	assert_int_equal(second->number, late_ns / SECOND_NS);
	assert_int_equal(second->ns[0], 5 * PERIOD_NS);
	add(model, START_NS, 1, stack); /* too old by now */
	assert_int_equal(second->ns[0], 5 * PERIOD_NS);
}

static void what_has_no_name_is_known_by_its_module(void **state)
{
	struct frame frame = {.module = "/bin/stripped"};
	struct frame nowhere = {0};
	struct sample sample = {.time_ns = START_NS, .weight = 1, .n_frames = 1, .frames = &frame};
	struct top_model *model = *state;

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	top_model_add(model, &sample);
	sample.frames = &nowhere;
	top_model_add(model, &sample);
	sample.n_frames = 0;
	top_model_add(model, &sample);
	assert_non_null(find(model, "[stripped]"));
	assert_non_null(find(model, "[unknown]"));
	assert_int_equal(model->samples, 3);
}

static void a_thread_is_known_by_its_last_sample(void **state)
{
	static const char *const first[] = {"f", NULL};
	static const char *const second[] = {"g", NULL};
	const struct top_seen *seen = NULL;
	struct top_model *model = *state;

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	add(model, START_NS, 1, first);
	add(model, START_NS + 1, 1, second);
	seen = map_get(&model->threads, 7);
	assert_string_equal(seen->symbol, "g");
	assert_int_equal(seen->pid, 6);
	assert_int_equal(map_count(&model->threads), 1);
}

static void names_without_end_are_counted_together(void **state)
{
	struct top_model *model = *state;
	char name[32];
	const char *stack[] = {name, NULL};

	assert_int_equal(top_model_init(model, PERIOD_NS, START_NS), 0);
	for (unsigned i = 0; i < TOP_MAX_FUNCTIONS + 10; i++) {
		(void)snprintf(name, sizeof(name), "f%u", i);
		add(model, START_NS, 1, stack);
	}
	assert_true(model->full);
	assert_int_equal(model->n_functions, TOP_MAX_FUNCTIONS + 1);
	assert_int_equal(find(model, "[others]")->self_ns, 10 * PERIOD_NS);
}

STATE_FIXTURE(top_model, model, top_model_release(model))

int main(void)
{
	const struct CMUnitTest tests[] = {
		own_test(counts_self_and_total_by_weight),
		own_test(recursion_counts_once),
		own_test(now_is_the_last_two_seconds),
		own_test(soon_after_the_start_now_is_shorter),
		own_test(a_reset_forgets_all_but_the_heatmap),
		own_test(the_heatmap_goes_round),
		own_test(what_has_no_name_is_known_by_its_module),
		own_test(a_thread_is_known_by_its_last_sample),
		own_test(names_without_end_are_counted_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
