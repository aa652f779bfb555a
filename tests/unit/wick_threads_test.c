/* wick_threads_test.c - blocks of threads: many at once, one after another, and over fork */
#include "tests/unit/wick_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 8, ROUNDS = 3000, CHURN = 1000 };

static const struct tables *tables_now(void)
{
	return (const struct tables *)wick_state_1.tables;
}

/* The fixture's clock does not move while several threads read it. */
static void *work(void *argument)
{
	char identity[16];
	struct wick_task task;

	(void)snprintf(identity, sizeof(identity), "of %d", (int)(intptr_t)argument);
	wick_task_create(&task, "work");
	for (int i = 0; i < ROUNDS; i++) {
		struct wick_request request;

		wick_task_run(&task);
		wick_request_begin(&request, i % 2 ? identity : "shared");
		WICK_TIER("db")
		{
			WICK_TIER("disk")
			{
			}
		}
		wick_request_end(&request);
		wick_task_suspend(&task);
	}
	wick_task_finish(&task, WICK_COMPLETED);
	return NULL;
}

static void eight_threads_count_at_once(void **state)
{
	pthread_t threads[THREADS];
	char identity[16];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i), 0);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	assert_int_equal(wick_fixture_cell(NULL, "shared").count, THREADS * ROUNDS / 2);
	assert_int_equal(wick_fixture_cell("db", "shared").count, THREADS * ROUNDS / 2);
	for (int i = 0; i < THREADS; i++) {
		(void)snprintf(identity, sizeof(identity), "of %d", i);
		assert_int_equal(wick_fixture_cell(NULL, identity).count, ROUNDS / 2);
		assert_int_equal(wick_fixture_buckets("disk", identity), ROUNDS / 2);
	}
	assert_int_equal(wick_fixture_row("work").calls, THREADS);
	assert_int_equal(wick_state_1.lost_threads, 0);
	for (int i = 0; i < TABLES_MISUSES; i++)
		assert_int_equal(wick_state_1.misuse[i], 0);
}

static void *count_one(void *argument)
{
	struct wick_request request;

	wick_request_begin(&request, "one");
	wick_request_end(&request);
	return argument;
}

static void blocks_of_ended_threads_are_used_again(void **state)
{
	pthread_t thread;

	(void)state;
	for (int i = 0; i < CHURN; i++) {
		assert_int_equal(pthread_create(&thread, NULL, count_one, NULL), 0);
		(void)pthread_join(thread, NULL);
	}
	assert_int_equal(wick_fixture_cell(NULL, "one").count, CHURN);
	assert_in_range(tables_now()->n_threads, 1, 4);
}

static void *hand_over(void *argument)
{
	struct wick_request *request = argument;

	(void)wick_context_set(request->own);
	WICK_TIER("there")
	{
	}
	wick_request_end(request);
	return NULL;
}

static void a_request_may_end_in_another_thread(void **state)
{
	struct wick_request request;
	pthread_t thread;

	(void)state;
	wick_request_begin(&request, "handed");
	assert_int_equal(pthread_create(&thread, NULL, hand_over, &request), 0);
	(void)pthread_join(thread, NULL);
	assert_int_equal(wick_fixture_cell(NULL, "handed").count, 1);
	assert_int_equal(wick_fixture_cell("there", "handed").count, 1);
	assert_int_equal(wick_state_1.misuse[MISUSE_REQUEST_END], 0);
}

static void *run_and_go(void *argument)
{
	wick_task_run(argument);
	wick_task_suspend(argument);
	return NULL;
}

static void a_task_may_run_in_one_thread_after_another(void **state)
{
	struct wick_task task;
	pthread_t thread;

	(void)state;
	wick_task_create(&task, "moves");
	for (int i = 0; i < 5; i++) {
		assert_int_equal(pthread_create(&thread, NULL, run_and_go, &task), 0);
		(void)pthread_join(thread, NULL);
		wick_task_run(&task);
		wick_fixture_pass(1);
		wick_task_suspend(&task);
	}
	wick_task_finish(&task, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("moves").exec, 5);
	assert_int_equal(wick_fixture_row("moves").calls, 1);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_RUN], 0);
}

static void *run_elsewhere(void *argument)
{
	wick_task_run(argument);
	wick_task_suspend(argument);
	return NULL;
}

static void a_task_that_runs_elsewhere_does_not_run_here(void **state)
{
	struct wick_task task;
	pthread_t thread;

	(void)state;
	wick_fixture_run(&task, "here");
	assert_int_equal(pthread_create(&thread, NULL, run_elsewhere, &task), 0);
	(void)pthread_join(thread, NULL);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_RUN], 1);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_SUSPEND], 1);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("here").calls, 1);
}

/* What the child of fork sees: 0 when all is as it should be, else which it is not. */
static int in_child(const struct wick_request *request)
{
	if (wick_fixture_cell(NULL, "before").count != 0)
		return 1;
	if (memcmp(wick_context_get().trace_id, request->own.trace_id, 16) != 0)
		return 2;
	WICK_TIER("db")
	{
	}
	if (wick_fixture_cell("db", "over").count != 1)
		return 3;
	if (strcmp(wick_fixture_attr(CONTEXT_IDENTITY), "over") != 0)
		return 4;
	if (((const struct table_thread *)wick_thread_1.block)->tid != (uint32_t)getpid())
		return 5;
	return 0;
}

static void a_child_of_fork_counts_anew_in_the_same_context(void **state)
{
	struct wick_request before;
	struct wick_request request;
	int status = -1;
	pid_t pid;

	(void)state;
	wick_request_begin(&before, "before");
	wick_request_end(&before);
	wick_request_begin(&request, "over");
	pid = fork();
	if (pid == 0)
		_exit(in_child(&request));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	wick_request_end(&request);
	assert_int_equal(wick_fixture_cell(NULL, "before").count, 1);
	assert_int_equal(wick_fixture_cell(NULL, "over").count, 1);
	assert_int_equal(wick_fixture_cell("db", "over").count, 0);
}

static int without_memory(void)
{
	struct rlimit none = {0, 0};

	if (setrlimit(RLIMIT_AS, &none) != 0)
		return 1;
	for (int i = 0; i < 3; i++) {
		(void)count_one(NULL);
		WICK_TIER("db")
		{
		}
	}
	if (wick_state_1.lost_threads != 1 || wick_thread_1.block || wick_state_1.tables)
		return 2;
	return 0;
}

static void without_memory_nothing_counts_but_the_loss(void **state)
{
	int status = -1;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(without_memory());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(eight_threads_count_at_once, wick_fixture_setup),
		cmocka_unit_test_setup(blocks_of_ended_threads_are_used_again, wick_fixture_setup),
		cmocka_unit_test_setup(a_request_may_end_in_another_thread, wick_fixture_setup),
		cmocka_unit_test_setup(a_task_may_run_in_one_thread_after_another,
				       wick_fixture_setup),
		cmocka_unit_test_setup(a_task_that_runs_elsewhere_does_not_run_here,
				       wick_fixture_setup),
		cmocka_unit_test_setup(a_child_of_fork_counts_anew_in_the_same_context,
				       wick_fixture_setup),
		cmocka_unit_test_setup(without_memory_nothing_counts_but_the_loss,
				       wick_fixture_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
