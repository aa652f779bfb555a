/* namespace_tids_test.c - the threads of a process that is the first of its own pid namespace */
#include "sampler/procfs/task.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ENDED = 1, READS = 40 };

static struct {
	int to_it[2];
	int from_it[2];
	pid_t pid;   /* as it is numbered here, */
	pid_t other; /* another process of the namespace */
	pid_t maker; /* of that */
} inside;

static void say(int fd, uint32_t word)
{
	if (write(fd, &word, sizeof(word)) != sizeof(word))
		_exit(1);
}

static uint32_t hear(int fd)
{
	uint32_t word = 0;

	return read(fd, &word, sizeof(word)) == sizeof(word) ? word : 0;
}

/* Says how it is numbered, and ends when it is told to. */
static void *live(void *argument)
{
	pid_t *tid = argument;

	*tid = (pid_t)syscall(SYS_gettid);
	say(inside.from_it[1], (uint32_t)*tid);
	(void)hear(inside.to_it[0]);
	return NULL;
}

/* One thread for each word. Its number is still in use for a moment after it was joined. */
static void run(void)
{
	pthread_t thread;
	pid_t tid;

	(void)close(inside.to_it[1]);
	while (hear(inside.to_it[0])) {
		if (pthread_create(&thread, NULL, live, &tid) != 0 ||
		    pthread_join(thread, NULL) != 0)
			_exit(1);
		while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
			(void)sched_yield();
		say(inside.from_it[1], ENDED);
	}
	_exit(0);
}

static void wait_for_signal(void)
{
	(void)pause();
	_exit(0);
}

/* Its children are in another namespace than itself; it has none where that may not be. */
static void make(void)
{
	pid_t first = -1;
	pid_t other = -1;

	if (unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0) {
		first = fork();
		if (first == 0)
			run();
		other = fork();
		if (other == 0)
			wait_for_signal();
	}
	say(inside.from_it[1], first > 0 && other > 0 ? (uint32_t)first : 0);
	say(inside.from_it[1], (uint32_t)other);
	/* The first of a namespace ends when all others have been waited for. */
	while (waitpid(-1, NULL, 0) > 0)
		continue;
	_exit(0);
}

static int set_up(void **state)
{
	(void)state;
	if (pipe(inside.to_it) < 0 || pipe(inside.from_it) < 0)
		return -1;
	inside.maker = fork();
	if (inside.maker == 0)
		make();
	inside.pid = (pid_t)hear(inside.from_it[0]);
	inside.other = (pid_t)hear(inside.from_it[0]);
	return inside.maker < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (inside.pid)
		(void)kill(inside.pid, SIGKILL);
	(void)waitpid(inside.maker, NULL, 0);
	(void)close(inside.to_it[0]);
	(void)close(inside.to_it[1]);
	(void)close(inside.from_it[0]);
	(void)close(inside.from_it[1]);
	return 0;
}

static uint32_t begin_thread(void)
{
	say(inside.to_it[1], 1);
	return hear(inside.from_it[0]);
}

static void end_thread(void)
{
	say(inside.to_it[1], 1);
	assert_int_equal(hear(inside.from_it[0]), ENDED);
}

static bool is_thread(uint32_t tid)
{
	return tid && syscall(SYS_tgkill, inside.pid, (pid_t)tid, 0) == 0;
}

/* At another time. */
static bool is_gone(struct namespace_tid *who, struct namespace_tids *tids, uint32_t inner)
{
	tids->next_ns = 0;
	return namespace_tid_gone(who, tids, inner);
}

static void live_and_end(struct namespace_tids *tids)
{
	struct namespace_tid who;
	struct namespace_tid late;
	uint32_t inner = begin_thread();

	namespace_tid_begin(&who, tids, inner);
	assert_true(is_thread(who.outer));
	assert_int_not_equal(who.outer, inside.pid);
	assert_int_equal(namespace_tids_find(tids, 1), inside.pid);
	for (int i = 0; i < READS; i++)
		assert_false(is_gone(&who, tids, inner));
	/* One that was not found at first is found later. */
	late = (struct namespace_tid){.n_reads = tids->n_reads};
	assert_false(is_gone(&late, tids, inner));
	assert_int_equal(late.outer, who.outer);
	end_thread();
	assert_true(is_gone(&who, tids, inner));
	assert_true(is_gone(&late, tids, inner));
	assert_int_not_equal(who.outer, 0); /* what is still to be read is its */
}

/* It was there for too short a time to be found. */
static int reads_until_gone(struct namespace_tids *tids)
{
	uint32_t inner = begin_thread();
	struct namespace_tid who;
	int n = 1;

	end_thread();
	tids->next_ns = 0;
	namespace_tid_begin(&who, tids, inner);
	assert_int_equal(who.outer, 0);
	while (!is_gone(&who, tids, inner) && n < READS)
		n++;
	return n;
}

static void skip_unless_inside(void)
{
	if (inside.pid)
		return;
	print_message("skipped: no pid namespace can be made\n");
	skip();
}

static void the_kernel_translates_thread_ids(void **state)
{
	struct namespace_tids tids;

	(void)state;
	skip_unless_inside();
	namespace_tids_init(&tids, inside.pid);
	namespace_tids_open(&tids);
	if (tids.ns_fd < 0) {
		print_message("skipped: this kernel does not translate thread ids\n");
		skip();
	}
	live_and_end(&tids);
	assert_int_equal(reads_until_gone(&tids), 1);
	assert_int_equal(tids.n_reads, 0);
	namespace_tids_release(&tids);
}

static void without_that_all_threads_are_read(void **state)
{
	struct namespace_tids tids;

	(void)state;
	skip_unless_inside();
	namespace_tids_init(&tids, inside.pid);
	live_and_end(&tids);
	assert_in_range(reads_until_gone(&tids), 2, READS - 1);
	namespace_tids_release(&tids);
}

static void an_unused_number_is_not_found(void **state)
{
	struct namespace_tids tids;

	(void)state;
	skip_unless_inside();
	namespace_tids_init(&tids, inside.pid);
	namespace_tids_open(&tids);
	assert_int_equal(namespace_tids_find(&tids, 0), 0);
	assert_int_equal(namespace_tids_find(&tids, INT32_MAX), 0);
	assert_int_equal(namespace_tids_find(&tids, UINT32_MAX), 0);
	/* Nor that of another process: it is numbered here, and not inside. */
	assert_int_equal(namespace_tids_find(&tids, (uint32_t)getpid()), 0);
	namespace_tids_release(&tids);
}

static void another_process_of_the_namespace_is_not_found(void **state)
{
	struct namespace_tids tids;

	(void)state;
	skip_unless_inside();
	namespace_tids_init(&tids, inside.other);
	namespace_tids_open(&tids);
	assert_int_equal(namespace_tids_find(&tids, 1), 0);
	namespace_tids_release(&tids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kernel_translates_thread_ids),
		cmocka_unit_test(without_that_all_threads_are_read),
		cmocka_unit_test(an_unused_number_is_not_found),
		cmocka_unit_test(another_process_of_the_namespace_is_not_found),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
