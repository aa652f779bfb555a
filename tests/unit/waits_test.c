/* waits_test.c - children that block in real calls, each named as what it is */
#include "sampler/remote/waits.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "child_fixture.h"
#include "sampler/remote/blocked.h"
#include "waits_children.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WAIT_NS = 1000000, TRIES = 5000 };

/* Wait until a thread that is about to block has done so. */
static char find_blocked(pid_t pid, pid_t tid, const atomic_int *ready, struct blocked_at *ret_at)
{
	const struct timespec pause = {0, WAIT_NS};
	char path[64];
	_cleanup_fd_ int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (int i = 0; i < TRIES; i++) {
		char letter = atomic_load(ready) ? thread_letter(pid, tid) : 'R';

		if (letter != 'R' && blocked_read(fd, ret_at) == 0 &&
		    thread_letter(pid, tid) == letter)
			return letter;
		(void)nanosleep(&pause, NULL);
	}
	fail_msg("process %d did not block", (int)pid);
	return '?';
}

static void assert_named(pid_t pid, struct blocked_at *at, const char *word, const char *object)
{
	char text[SAMPLE_OBJECT_SIZE];
	struct remote *remote;

	assert_string_equal(waits_word(at), word);
	assert_int_equal(remote_new(&remote, pid), 0);
	waits_object(remote, at, text);
	remote_free(remote);
	assert_string_equal(text, object);
}

/* One child a row; a call that this kernel does not have is passed over and said. */
static void names_calls_that_block(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer stands before some of the calls */
#endif
	const struct waits_child *child;

	(void)state;
	for (size_t i = 0; (child = waits_child(i)) != NULL; i++) {
		struct waits_place place;
		struct blocked_at at = {0};
		char letter;

		if (waits_child_start(child, &place) < 0) {
			print_message("skipped: %s (%s)\n", child->name, strerror(errno));
			continue;
		}
		letter = find_blocked(place.pid, place.pid, &place.shared->ready, &at);
		if (strcmp(waits_word(&at), child->word) != 0)
			print_message("%s: call %ld\n", child->name, at.nr);
		assert_int_equal(waits_state(letter, &at), STATE_SLEEPING);
		assert_named(place.pid, &at, child->word, place.shared->object);
		waits_child_end(&place);
	}
}

static const struct waits_child *child_named(const char *name)
{
	const struct waits_child *child;

	for (size_t i = 0; (child = waits_child(i)) != NULL; i++)
		if (strcmp(child->name, name) == 0)
			return child;
	fail_msg("no child is called %s", name);
	return NULL;
}

static void tells_a_stopped_thread(void **state)
{
	struct waits_place place;
	struct blocked_at at = {0};
	char letter = 'S';
	int status;

	(void)state;
	assert_int_equal(waits_child_start(child_named("read of a pipe"), &place), 0);
	(void)find_blocked(place.pid, place.pid, &place.shared->ready, &at);
	assert_int_equal(kill(place.pid, SIGSTOP), 0);
	assert_int_equal(waitpid(place.pid, &status, WUNTRACED), place.pid);
	letter = find_blocked(place.pid, place.pid, &place.shared->ready, &at);
	assert_int_equal(letter, 'T');
	assert_int_equal(waits_state(letter, &at), STATE_STOPPED);
	waits_child_end(&place);
}

/* Its code makes all calls, and the number of none stands there. */
static bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

/* After a stop these calls go on under another number. */
static void finds_the_call_that_was_restarted(void **state)
{
	static const char *const names[] = {"clock_nanosleep", "poll of one",
					    "futex with a time-out"};

	(void)state;
	if (under_valgrind())
		skip();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct waits_child *child = child_named(names[i]);
		struct waits_place place;
		struct blocked_at at = {0};
		struct remote *remote;
		int status;

		assert_int_equal(waits_child_start(child, &place), 0);
		(void)find_blocked(place.pid, place.pid, &place.shared->ready, &at);
		assert_int_equal(kill(place.pid, SIGSTOP), 0);
		assert_int_equal(waitpid(place.pid, &status, WUNTRACED), place.pid);
		assert_int_equal(kill(place.pid, SIGCONT), 0);
		assert_int_equal(waitpid(place.pid, &status, WCONTINUED), place.pid);
		(void)find_blocked(place.pid, place.pid, &place.shared->ready, &at);
		assert_string_equal(waits_word(&at), "restart");
		assert_int_equal(remote_new(&remote, place.pid), 0);
		waits_restarted(remote, &at);
		remote_free(remote);
		assert_named(place.pid, &at, child->word, place.shared->object);
		waits_child_end(&place);
	}
}

/* A thread that joins another, in this process. */
struct joiner {
	int pipe[2];
	atomic_int ready;
	pid_t tid;
	pthread_t joined;
};

static void *read_pipe(void *context)
{
	struct joiner *joiner = context;
	char byte;

	(void)!read(joiner->pipe[0], &byte, 1);
	return NULL;
}

static void *join(void *context)
{
	struct joiner *joiner = context;

	joiner->tid = (pid_t)syscall(SYS_gettid);
	atomic_store(&joiner->ready, 1);
	(void)pthread_join(joiner->joined, NULL);
	return NULL;
}

static void a_join_is_a_futex(void **state)
{
	struct joiner joiner = {.tid = 0};
	struct blocked_at at = {0};
	char object[SAMPLE_OBJECT_SIZE];
	struct remote *remote;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe2(joiner.pipe, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&joiner.joined, NULL, read_pipe, &joiner), 0);
	assert_int_equal(pthread_create(&thread, NULL, join, &joiner), 0);
	while (!atomic_load(&joiner.ready))
		(void)sched_yield();
	(void)find_blocked(getpid(), joiner.tid, &joiner.ready, &at);
	assert_string_equal(waits_word(&at), "futex");
	assert_int_equal(remote_new(&remote, getpid()), 0);
	waits_object(remote, &at, object);
	remote_free(remote);
	assert_memory_equal(object, "futex:0x", 8);
	assert_int_equal(write(joiner.pipe[1], "x", 1), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	(void)close(joiner.pipe[0]);
	(void)close(joiner.pipe[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_calls_that_block),
		cmocka_unit_test(tells_a_stopped_thread),
		cmocka_unit_test(finds_the_call_that_was_restarted),
		cmocka_unit_test(a_join_is_a_futex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
