/* wick_uv_test.c - callbacks of libuv and libevent as tasks, under a virtual clock */
#include "tests/unit/wick_fixture.h"

#include "sampler/include/wick_event.h"
#include "sampler/include/wick_uv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int calls;
static int data;
static char identity[64];

static void see(uint64_t ticks)
{
	const char *now = wick_fixture_attr(CONTEXT_IDENTITY);

	calls++;
	memcpy(identity, now, strlen(now) + 1);
	wick_fixture_pass(ticks);
}

static int setup(void **state)
{
	calls = 0;
	identity[0] = 0;
	return wick_fixture_setup(state);
}

static void assert_all_ended(const char *name, uint64_t n_calls, uint64_t exec)
{
	struct wick_fixture_row row = wick_fixture_row(name);

	assert_int_equal(row.calls + row.stillborn, row.begun);
	assert_int_equal(row.calls, n_calls);
	assert_int_equal(row.exec, exec);
	for (int i = 0; i < TABLES_MISUSES; i++)
		assert_int_equal(wick_state_1.misuse[i], 0);
	for (int i = 0; i < WICK_UV_BUCKETS; i++)
		assert_null(wick_uv_table_1.buckets[i].first);
}

static void on_timer(uv_timer_t *timer)
{
	assert_ptr_equal(timer->data, &data);
	see(5);
	if (calls == 3)
		(void)wick_uv_timer_stop(timer);
}

static void a_timer_is_a_task_until_it_is_stopped(void **state)
{
	struct wick_request request;
	uv_loop_t loop;
	uv_timer_t timer;

	(void)state;
	(void)uv_loop_init(&loop);
	(void)uv_timer_init(&loop, &timer);
	timer.data = &data;
	wick_request_begin(&request, "armed in");
	assert_int_equal(wick_uv_timer_start(&timer, on_timer, 0, 1), 0);
	wick_request_end(&request);
	while (calls < 3)
		(void)uv_run(&loop, UV_RUN_ONCE);
	assert_string_equal(identity, "armed in");
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "");
	assert_all_ended("on_timer", 1, 15);
	uv_close((uv_handle_t *)&timer, NULL);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void on_close(uv_handle_t *handle)
{
	free(handle);
}

static void on_idle(uv_idle_t *idle)
{
	see(1);
	wick_uv_close((uv_handle_t *)idle, on_close);
}

static void a_handle_may_be_closed_by_its_own_callback(void **state)
{
	uv_loop_t loop;
	uv_idle_t *idle = malloc(sizeof(*idle));

	(void)state;
	assert_non_null(idle);
	(void)uv_loop_init(&loop);
	(void)uv_idle_init(&loop, idle);
	assert_int_equal(wick_uv_idle_start(idle, on_idle), 0);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(calls, 1);
	assert_all_ended("on_idle", 1, 1);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void work(uv_work_t *request)
{
	(void)request;
	see(7);
}

static void after_work(uv_work_t *request, int status)
{
	assert_int_equal(status, 0);
	see(2);
	free(request);
}

static void work_of_the_pool_is_of_the_request_that_queued_it(void **state)
{
	struct wick_request request;
	uv_work_t *work_request = malloc(sizeof(*work_request));
	uv_loop_t loop;

	(void)state;
	assert_non_null(work_request);
	(void)uv_loop_init(&loop);
	wick_request_begin(&request, "queued by");
	assert_int_equal(wick_uv_queue_work(&loop, work_request, work, after_work), 0);
	wick_request_end(&request);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(calls, 2);
	assert_string_equal(identity, "queued by");
	assert_all_ended("work", 1, 9);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void on_connect(uv_connect_t *request, int status)
{
	(void)request;
	(void)status;
}

static void what_libuv_refuses_is_not_armed(void **state)
{
	struct sockaddr bad = {.sa_family = AF_UNIX};
	uv_connect_t request;
	uv_timer_t timer;
	uv_loop_t loop;
	uv_tcp_t tcp;

	(void)state;
	(void)uv_loop_init(&loop);
	(void)uv_tcp_init(&loop, &tcp);
	(void)uv_timer_init(&loop, &timer);
	assert_true(wick_uv_tcp_connect(&request, &tcp, &bad, on_connect) < 0);
	assert_int_equal(wick_uv_timer_start(&timer, (uv_timer_cb)NULL, 0, 0), UV_EINVAL);
	assert_all_ended("on_connect", 0, 0);
	assert_int_equal(wick_fixture_row("on_connect").stillborn, 1);
	wick_uv_close((uv_handle_t *)&tcp, NULL);
	wick_uv_close((uv_handle_t *)&timer, NULL);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	assert_ptr_equal(arg, &data);
	see(4);
}

static void events_are_tasks_until_they_are_freed(void **state)
{
	struct event_base *base = event_base_new();
	struct timeval none = {0, 0};
	struct wick_request request;
	struct event *event;

	(void)state;
	wick_request_begin(&request, "made in");
	event = wick_evtimer_new(base, on_event, &data);
	wick_request_end(&request);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(event_add(event, &none), 0);
		(void)event_base_loop(base, EVLOOP_ONCE);
	}
	assert_int_equal(calls, 2);
	assert_string_equal(identity, "made in");
	wick_event_free(event);
	assert_int_equal(wick_event_base_once(base, -1, EV_TIMEOUT, on_event, &data, &none), 0);
	(void)event_base_loop(base, EVLOOP_ONCE);
	assert_int_equal(calls, 3);
	assert_all_ended("on_event", 2, 12);
	event_base_free(base);
}

static void on_read(struct bufferevent *buffer, void *arg)
{
	assert_ptr_equal(arg, &data);
	see(3);
	wick_bufferevent_free(buffer);
}

static void a_bufferevent_may_be_freed_by_its_own_callback(void **state)
{
	struct event_base *base = event_base_new();
	struct bufferevent *pair[2];

	(void)state;
	assert_int_equal(bufferevent_pair_new(base, 0, pair), 0);
	wick_bufferevent_setcb(pair[1], NULL, NULL, NULL, &data);
	wick_bufferevent_setcb(pair[1], on_read, NULL, NULL, &data);
	(void)bufferevent_enable(pair[1], EV_READ);
	(void)bufferevent_write(pair[0], "x", 1);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	assert_int_equal(calls, 1);
	bufferevent_free(pair[0]);
	event_base_free(base);
	assert_all_ended("on_read", 1, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_timer_is_a_task_until_it_is_stopped, setup),
		cmocka_unit_test_setup(a_handle_may_be_closed_by_its_own_callback, setup),
		cmocka_unit_test_setup(work_of_the_pool_is_of_the_request_that_queued_it, setup),
		cmocka_unit_test_setup(what_libuv_refuses_is_not_armed, setup),
		cmocka_unit_test_setup(events_are_tasks_until_they_are_freed, setup),
		cmocka_unit_test_setup(a_bufferevent_may_be_freed_by_its_own_callback, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
