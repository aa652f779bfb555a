/* event_order_test.c - nodes come out in the order of their times */
#include "sampler/collector/event/event.h"
#include "sampler/collector/process/process_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct event *push(struct event_order *merge, enum event_kind kind, uint64_t time_ns)
{
	struct event *node = event_new(kind, NULL, time_ns, 0);

	assert_non_null(node);
	assert_int_equal(event_order_insert(merge, node), 0);
	return node;
}

static void sorts_by_time(void **state)
{
	struct event_order merge = {0};
	uint64_t last = 0;
	struct event *node;
	size_t n = 0;

	(void)state;
	srandom(3);
	for (int i = 0; i < 5000; i++)
		(void)push(&merge, EVENT_KIND_SAMPLE, (uint64_t)random() % 1000);
	while ((node = event_order_pop(&merge, UINT64_MAX))) {
		assert_true(node->time_ns >= last);
		last = node->time_ns;
		free(node);
		n++;
	}
	assert_int_equal(n, 5000);
	event_order_release(&merge);
}

static void keeps_what_is_younger_than_asked_for(void **state)
{
	struct event_order merge = {0};
	struct event *node;

	(void)state;
	(void)push(&merge, EVENT_KIND_SAMPLE, 30);
	(void)push(&merge, EVENT_KIND_SAMPLE, 10);
	node = event_order_pop(&merge, 10);
	assert_int_equal(node->time_ns, 10);
	free(node);
	assert_null(event_order_pop(&merge, 29));
	event_order_release(&merge);
}

static void gives_mappings_before_and_ends_after_samples_of_the_same_time(void **state)
{
	static const enum event_kind kinds[] = {EVENT_KIND_EXIT, EVENT_KIND_SAMPLE, EVENT_KIND_GONE,
						EVENT_KIND_THREAD, EVENT_KIND_MAPPING};
	static const enum event_kind sorted[] = {EVENT_KIND_MAPPING, EVENT_KIND_THREAD,
						 EVENT_KIND_SAMPLE, EVENT_KIND_GONE,
						 EVENT_KIND_EXIT};
	struct event_order merge = {0};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		(void)push(&merge, kinds[i], 7);
	for (size_t i = 0; i < 5; i++) {
		struct event *node = event_order_pop(&merge, 7);

		assert_int_equal(node->kind, sorted[i]);
		free(node);
	}
	event_order_release(&merge);
}

static void keeps_the_order_of_equal_nodes(void **state)
{
	struct event_order merge = {0};
	struct event *nodes[100];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		nodes[i] = push(&merge, EVENT_KIND_SAMPLE, 5);
	for (size_t i = 0; i < 100; i++)
		assert_ptr_equal(event_order_pop(&merge, 5), nodes[i]);
	for (size_t i = 0; i < 100; i++)
		free(nodes[i]);
	event_order_release(&merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_by_time),
		cmocka_unit_test(keeps_what_is_younger_than_asked_for),
		cmocka_unit_test(gives_mappings_before_and_ends_after_samples_of_the_same_time),
		cmocka_unit_test(keeps_the_order_of_equal_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
