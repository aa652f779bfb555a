/* loader_test.c - jobs end when they are told to, and one that does not is left alone */
#include "symbolize/bounds/loader.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

struct world {
	_Atomic int n_begun;
	_Atomic bool gave_up;
	_Atomic bool dropped;
	int pipe[2]; /* that is not written to until the end */
};

static void work_until_told(void *context)
{
	struct world *world = context;

	atomic_fetch_add(&world->n_begun, 1);
	while (!loader_is_stopping())
		;
	world->gave_up = true;
}

static void wait_for_begun(struct world *world, int n)
{
	while (world->n_begun < n)
		;
}

static void a_job_that_asks_gives_up(void **state)
{
	struct world world = {.n_begun = 0};
	struct loader *loader;

	(void)state;
	assert_int_equal(loader_new(false, &loader), 0);
	assert_int_equal(loader_push(loader, work_until_told, &world), 0);
	wait_for_begun(&world, 1);
	assert_true(loader_free(loader));
	assert_true(world.gave_up);
}

static void *help(void *context)
{
	loader_set_current(context);
	while (!loader_is_stopping())
		;
	return NULL;
}

static void work_with_a_helper(void *context)
{
	struct world *world = context;
	pthread_t helper;

	if (pthread_create(&helper, NULL, help, loader_current()) != 0)
		return;
	atomic_fetch_add(&world->n_begun, 1);
	(void)pthread_join(helper, NULL);
	world->gave_up = true;
}

static void threads_that_a_job_starts_give_up(void **state)
{
	struct world world = {.n_begun = 0};
	struct loader *loader;

	(void)state;
	assert_int_equal(loader_new(false, &loader), 0);
	assert_int_equal(loader_push(loader, work_with_a_helper, &world), 0);
	wait_for_begun(&world, 1);
	assert_true(loader_free(loader));
	assert_true(world.gave_up);
}

static void drop(void *context)
{
	((struct world *)context)->dropped = true;
}

static void jobs_that_wait_are_dropped(void **state)
{
	struct world world = {.n_begun = 0};
	struct loader *loader;

	(void)state;
	assert_int_equal(loader_new(false, &loader), 0);
	for (int i = 0; i < LOADER_THREADS; i++)
		assert_int_equal(loader_push(loader, work_until_told, &world), 0);
	assert_int_equal(loader_push_owned(loader, work_until_told, drop, &world), 0);
	wait_for_begun(&world, LOADER_THREADS);
	assert_true(loader_free(loader));
	assert_true(world.dropped);
	assert_int_equal(world.n_begun, LOADER_THREADS);
}

static void read_a_pipe(void *context)
{
	struct world *world = context;
	char byte;

	atomic_fetch_add(&world->n_begun, 1);
	(void)!read(world->pipe[0], &byte, 1);
	world->gave_up = true;
}

static void a_job_that_does_not_end_is_left_alone(void **state)
{
	static struct world world;
	static struct loader *loader; /* stays */

	(void)state;
	assert_int_equal(pipe(world.pipe), 0);
	assert_int_equal(loader_new(false, &loader), 0);
	assert_int_equal(loader_push(loader, read_a_pipe, &world), 0);
	wait_for_begun(&world, 1);
	assert_false(loader_free(loader));
	assert_false(world.gave_up);
	assert_int_equal(write(world.pipe[1], "x", 1), 1);
	while (!world.gave_up)
		;
}

static void no_other_thread_is_told(void **state)
{
	struct loader *loader;

	(void)state;
	assert_int_equal(loader_new(false, &loader), 0);
	loader_stop(loader);
	assert_false(loader_is_stopping());
	assert_true(loader_free(loader));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_asks_gives_up),
		cmocka_unit_test(threads_that_a_job_starts_give_up),
		cmocka_unit_test(jobs_that_wait_are_dropped),
		cmocka_unit_test(a_job_that_does_not_end_is_left_alone),
		cmocka_unit_test(no_other_thread_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
