/* queue_test.c - the main thread is woken for what is worth it, and by a request */
#include "base/units.h"
#include "sampler/collector/event/event.h"
#include "sampler/collector/process/process_event.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define GATHER_NS (100 * NS_PER_MS)
#define LONG_NS   (60 * NS_PER_S)

static int set_up(void **state)
{
	static struct queue queue;

	if (queue_init(&queue, 1 << 20) < 0)
		return -1;
	queue.gather_ns = GATHER_NS;
	*state = &queue;
	return 0;
}

static int tear_down(void **state)
{
	queue_release(*state);
	return 0;
}

static void put(struct queue *queue, enum event_kind kind, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct event *node = event_new(kind, NULL, 1, 0);

		assert_non_null(node);
		assert_true(queue_admit(queue, node));
		queue_put(queue, node);
	}
}

static size_t count(struct queue *queue)
{
	struct event *node;
	size_t n = 0;

	for (; (node = queue_take(queue, 0)); n++)
		queue_forget(queue, node);
	return n;
}

static void a_few_samples_wait_for_others(void **state)
{
	struct queue *queue = *state;
	uint64_t now_ns = LONG_NS;

	put(queue, EVENT_KIND_SAMPLE, 1);
	queue_offer(queue, now_ns);
	assert_int_equal(count(queue), 1); /* none had been given for long */
	put(queue, EVENT_KIND_SAMPLE, 2);
	queue_offer(queue, now_ns + 1);
	put(queue, EVENT_KIND_SAMPLE, 3);
	queue_offer(queue, now_ns + GATHER_NS - 1);
	assert_int_equal(count(queue), 0);
	queue_offer(queue, now_ns + GATHER_NS);
	assert_int_equal(count(queue), 5);
}

static void many_samples_do_not(void **state)
{
	struct queue *queue = *state;

	queue->offered_ns = LONG_NS;
	put(queue, EVENT_KIND_SAMPLE, QUEUE_GATHER - 1);
	queue_offer(queue, LONG_NS);
	assert_int_equal(count(queue), 0);
	put(queue, EVENT_KIND_SAMPLE, 1);
	queue_offer(queue, LONG_NS);
	assert_int_equal(count(queue), QUEUE_GATHER);
}

static void what_is_no_sample_takes_those_before_it_along(void **state)
{
	static const enum event_kind kinds[] = {EVENT_KIND_MAPPING, EVENT_KIND_EXIT,
						EVENT_KIND_RATE, EVENT_KIND_END};
	struct queue *queue = *state;

	queue->offered_ns = LONG_NS;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		put(queue, EVENT_KIND_SAMPLE, 1);
		put(queue, kinds[i], 1);
		queue_offer(queue, LONG_NS);
		assert_int_equal(count(queue), 2);
	}
}

static void *nudge(void *queue)
{
	queue_nudge(queue);
	return NULL;
}

static void a_nudge_ends_the_wait_once(void **state)
{
	struct queue *queue = *state;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, nudge, queue), 0);
	assert_null(queue_take(queue, LONG_NS)); /* before it or while it waits */
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(queue->nudged);
}

static void a_nudge_takes_nothing_away(void **state)
{
	struct queue *queue = *state;

	put(queue, EVENT_KIND_EXIT, 1);
	queue_hand_over(queue);
	queue_nudge(queue);
	assert_int_equal(count(queue), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_few_samples_wait_for_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_samples_do_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_no_sample_takes_those_before_it_along,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_nudge_ends_the_wait_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_nudge_takes_nothing_away, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
