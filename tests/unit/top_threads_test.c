/* top_threads_test.c - threads as /proc has them */
#include "tools/top/internal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void reads_a_line_of_stat(void **state)
{
	struct top_thread thread;

	(void)state;
	assert_int_equal(
		top_threads_parse("12 (a) b) (c) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0\n", &thread), 0);
	assert_int_equal(thread.tid, 12);
	assert_string_equal(thread.comm, "a) b) (c");
	assert_int_equal(thread.state, 'R');
	assert_int_equal(thread.cpu_ns, 300 * (1000000000 / sysconf(_SC_CLK_TCK)));
	assert_int_equal(top_threads_parse("12 (a very long name of it) S 1 2 3 4 5 6 7 8 9 10 1 1",
					   &thread),
			 0);
	assert_int_equal(strlen(thread.comm), SAMPLE_COMM_SIZE - 1);
}

static void refuses_what_is_no_such_line(void **state)
{
	static const char *const lines[] = {
		"",        "12",         "12 (a",        "12 (a)",
		"12 a) R", "12 )a( R 1", "12 (a) R 1 2", "x (a) R 1 2 3 4 5 6 7 8 9 10 1 1",
	};
	struct top_thread thread;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(top_threads_parse(lines[i], &thread), -EINVAL);
}

static void *wait_for(void *context)
{
	(void)sem_wait(context);
	return NULL;
}

static long used_ms(void)
{
	struct timespec used = {0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void burn(void)
{
	long until_ms = used_ms() + 30;

	while (used_ms() < until_ms)
		;
}

/* What others than the main thread used at most. */
static double most_of_others(const struct top_threads *threads)
{
	double most = 0;

	for (size_t i = 0; i < threads->n; i++)
		if (threads->at[i].tid != getpid() && threads->at[i].cpu_pct > most)
			most = threads->at[i].cpu_pct;
	return most;
}

static double of_main(const struct top_threads *threads)
{
	for (size_t i = 0; i < threads->n; i++)
		if (threads->at[i].tid == getpid())
			return threads->at[i].cpu_pct;
	return -1;
}

/* With its first thread a sanitizer starts one of its own. */
static void start_a_first_thread(sem_t *end)
{
	pthread_t thread;

	assert_int_equal(sem_post(end), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for, end), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	(void)usleep(100000); /* joined a moment before it is gone */
}

static void sees_threads_come_work_and_go(void **state)
{
	struct top_threads threads = {0};
	pthread_t thread;
	size_t alone;
	sem_t end;

	(void)state;
	top_threads_watch(&threads, getpid());
	top_threads_watch(&threads, getpid());
	top_threads_watch(&threads, 0);
	assert_int_equal(threads.n_pids, 1);
	assert_int_equal(sem_init(&end, 0, 0), 0);
	start_a_first_thread(&end);
	alone = top_threads_read(&threads, 500000000);
	assert_in_range(alone, 1, 2);
	assert_int_equal(pthread_create(&thread, NULL, wait_for, &end), 0);
	assert_int_equal(top_threads_read(&threads, 1000000000), alone + 1);
	burn();
	assert_int_equal(top_threads_read(&threads, 2000000000), alone + 1);
	assert_true(of_main(&threads) >= 1); /* 30 ms in what was said to be a second */
	assert_true(most_of_others(&threads) < of_main(&threads));
	assert_int_equal(sem_post(&end), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	while (top_threads_read(&threads, 3000000000) >
	       alone) /* joined a moment before it is gone */
		(void)usleep(1000);
	assert_int_equal(map_count(&threads.before), alone);
	top_threads_release(&threads);
	(void)sem_destroy(&end);
}

static void a_process_that_is_gone_is_forgotten(void **state)
{
	struct top_threads threads = {0};

	(void)state;
	top_threads_watch(&threads, 0x3fffffff);
	assert_int_equal(top_threads_read(&threads, 1), 0);
	assert_int_equal(threads.n_pids, 0);
	top_threads_release(&threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_line_of_stat),
		cmocka_unit_test(refuses_what_is_no_such_line),
		cmocka_unit_test(sees_threads_come_work_and_go),
		cmocka_unit_test(a_process_that_is_gone_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
