/* follow_test.c - which children it attaches to, and when */
#include "base/units.h"
#include "sampler/collector/drain/follow.h"

#include "child_fixture.h"
#include "sampler/collector/drain/state.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_stat.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char **environ;

/* This process has joined, and no drain thread runs. */
struct our_children {
	struct collector *collector;
	struct process process;
	struct follow follow;
	uint64_t now_ns;
	pid_t asked;
	int n_asked;
	int answer;
};

static int ask(void *context, pid_t pid)
{
	struct our_children *ours = context;

	ours->asked = pid;
	ours->n_asked++;
	return ours->answer;
}

static void scan(struct our_children *ours)
{
	const struct follow_ops ops = {.attach = ask, .context = ours};

	ours->now_ns = ours->follow.next_ns;
	follow_scan(&ours->follow, ours->collector, &ops, ours->now_ns);
}

static int begin(void **state)
{
	struct our_children *ours = calloc(1, sizeof(*ours));

	assert_non_null(ours);
	ours->collector = calloc(1, sizeof(*ours->collector));
	assert_non_null(ours->collector);
	(void)pthread_mutex_init(&ours->collector->drain.pids_lock, NULL);
	ours->process = (struct process){.pid = getpid(), .alive = true, .unhooked = true};
	ours->collector->drain.processes = &ours->process;
	*state = ours;
	return 0;
}

static int end(void **state)
{
	struct our_children *ours = *state;

	follow_release(&ours->follow);
	(void)pthread_mutex_destroy(&ours->collector->drain.pids_lock);
	free(ours->collector);
	free(ours);
	return 0;
}

/* Before that, while it is executed, its image's stack begins here and there. */
static bool sleeps(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_of(pid, STAT_STACK, &stat) == 0 && stat.state == 'S' &&
	       stat.at[STAT_STACK] != proc_stack_start(getpid());
}

/* It has an image of its own when this returns. */
static pid_t start_sleep(void)
{
	char name[] = "sleep";
	char time[] = "60";
	char *argv[] = {name, time, NULL};
	pid_t pid;

	assert_int_equal(posix_spawnp(&pid, name, NULL, NULL, argv, environ), 0);
	while (!sleeps(pid))
		(void)usleep(1000);
	return pid;
}

static void a_child_with_an_image_of_its_own_is_asked_at_the_second_look(void **state)
{
	struct our_children *ours = *state;
	pid_t child = start_sleep();

	scan(ours);
	assert_int_equal(ours->n_asked, 0);
	scan(ours);
	assert_int_equal(ours->n_asked, 1);
	assert_int_equal(ours->asked, child);
	child_end(child);
	scan(ours);
	assert_int_equal(map_count(&ours->follow.children), 0);
}

static void one_with_its_parents_image_is_left_alone(void **state)
{
	struct our_children *ours = *state;
	pid_t child = fork();

	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	for (int i = 0; i < 5; i++)
		scan(ours);
	assert_int_equal(ours->n_asked, 0);
	child_end(child);
}

static void one_that_is_recorded_is_not_asked(void **state)
{
	struct our_children *ours = *state;
	pid_t child = start_sleep();

	assert_int_equal(map_put(&ours->collector->drain.by_pid, (uint64_t)child, ours), 0);
	scan(ours);
	scan(ours);
	assert_int_equal(ours->n_asked, 0);
	map_release(&ours->collector->drain.by_pid);
	child_end(child);
}

static void a_permanent_error_is_tried_once_and_a_temporary_one_again(void **state)
{
	struct our_children *ours = *state;
	pid_t child = start_sleep();

	ours->answer = -EPERM;
	for (int i = 0; i < 100; i++)
		scan(ours);
	assert_int_equal(ours->n_asked, 1);
	follow_release(&ours->follow);
	ours->answer = -EAGAIN;
	scan(ours);
	scan(ours); /* asked; again after two seconds, and after four more */
	assert_int_equal(ours->n_asked, 2);
	for (uint64_t end_ns = ours->now_ns + 5 * NS_PER_S; ours->now_ns < end_ns;)
		scan(ours);
	assert_int_equal(ours->n_asked, 3);
	child_end(child);
}

static void looks_are_no_more_often_than_is_due(void **state)
{
	struct our_children *ours = *state;
	const struct follow_ops ops = {.attach = ask, .context = ours};

	follow_scan(&ours->follow, ours->collector, &ops, NS_PER_S);
	assert_true(ours->follow.next_ns >= NS_PER_S + FOLLOW_MS * NS_PER_MS);
	follow_scan(&ours->follow, ours->collector, &ops, ours->follow.next_ns - 1);
	assert_int_equal(ours->follow.scan, 1);
}

struct listed {
	pid_t pid;
	int n;
};

static void count(void *context, pid_t child)
{
	struct listed *listed = context;

	listed->n += child == listed->pid;
}

static void *start_and_wait(void *argument)
{
	*(_Atomic pid_t *)argument = start_sleep();
	(void)pause();
	return NULL;
}

static void a_threads_child_is_listed_too(void **state)
{
	struct listed listed = {0};
	_Atomic pid_t child = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, start_and_wait, &child), 0);
	while (!child)
		(void)usleep(1000);
	listed.pid = child;
	children_each(getpid(), count, &listed);
	assert_int_equal(listed.n, 1);
	(void)pthread_cancel(thread);
	assert_int_equal(pthread_join(thread, NULL), 0);
	child_end(child);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_child_with_an_image_of_its_own_is_asked_at_the_second_look),
		TEST(one_with_its_parents_image_is_left_alone),
		TEST(one_that_is_recorded_is_not_asked),
		TEST(a_permanent_error_is_tried_once_and_a_temporary_one_again),
		TEST(looks_are_no_more_often_than_is_due),
		cmocka_unit_test(a_threads_child_is_listed_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
