/* merge_test.c - nodes come out in the order of their times */
#include "sampler/collector/event/event_order.h"
#include "sampler/collector/process/process_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct node *push(struct merge *merge, enum node_kind kind, uint64_t time_ns)
{
	struct node *node = node_new(kind, NULL, time_ns, 0);

	assert_non_null(node);
	assert_int_equal(merge_push(merge, node), 0);
	return node;
}

static void sorts_by_time(void **state)
{
	struct merge merge = {0};
	uint64_t last = 0;
	struct node *node;
	size_t n = 0;

	(void)state;
	srandom(3);
	for (int i = 0; i < 5000; i++)
		(void)push(&merge, NODE_SAMPLE, (uint64_t)random() % 1000);
	while ((node = merge_pop(&merge, UINT64_MAX))) {
		assert_true(node->time_ns >= last);
		last = node->time_ns;
		free(node);
		n++;
	}
	assert_int_equal(n, 5000);
	merge_release(&merge);
}

static void keeps_what_is_younger_than_asked_for(void **state)
{
	struct merge merge = {0};
	struct node *node;

	(void)state;
	(void)push(&merge, NODE_SAMPLE, 30);
	(void)push(&merge, NODE_SAMPLE, 10);
	node = merge_pop(&merge, 10);
	assert_int_equal(node->time_ns, 10);
	free(node);
	assert_null(merge_pop(&merge, 29));
	merge_release(&merge);
}

static void gives_mappings_before_and_ends_after_samples_of_the_same_time(void **state)
{
	static const enum node_kind kinds[] = {NODE_EXIT, NODE_SAMPLE, NODE_GONE, NODE_THREAD,
					       NODE_MAPPING};
	static const enum node_kind sorted[] = {NODE_MAPPING, NODE_THREAD, NODE_SAMPLE, NODE_GONE,
						NODE_EXIT};
	struct merge merge = {0};

	(void)state;
	for (size_t i = 0; i < 5; i++)
		(void)push(&merge, kinds[i], 7);
	for (size_t i = 0; i < 5; i++) {
		struct node *node = merge_pop(&merge, 7);

		assert_int_equal(node->kind, sorted[i]);
		free(node);
	}
	merge_release(&merge);
}

static void keeps_the_order_of_equal_nodes(void **state)
{
	struct merge merge = {0};
	struct node *nodes[100];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		nodes[i] = push(&merge, NODE_SAMPLE, 5);
	for (size_t i = 0; i < 100; i++)
		assert_ptr_equal(merge_pop(&merge, 5), nodes[i]);
	for (size_t i = 0; i < 100; i++)
		free(nodes[i]);
	merge_release(&merge);
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
