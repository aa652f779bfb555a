/* lock_waits_test.c - conditions and semaphores behave under the hooks as without them, though the
 * threads that wait for them are signalled, cancelled, left behind by fork */
#include "child_fixture.h"
#include "lock_agent.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	bool open;
};

#define GATE                                                                                       \
	{                                                                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER               \
	}

static int pass(void *data)
{
	struct gate *gate = data;
	int r = pthread_mutex_lock(&gate->mutex);

	while (r == 0 && !gate->open)
		r = pthread_cond_wait(&gate->cond, &gate->mutex);
	(void)pthread_mutex_unlock(&gate->mutex);
	return r;
}

static int pass_until(void *data)
{
	const struct timespec at = in_ms(CLOCK_REALTIME, 30);
	struct gate *gate = data;
	int r = pthread_mutex_lock(&gate->mutex);

	while (r == 0 && !gate->open)
		r = pthread_cond_timedwait(&gate->cond, &gate->mutex, &at);
	(void)pthread_mutex_unlock(&gate->mutex);
	return r;
}

static int pass_by_clock(void *data)
{
	const struct timespec at = in_ms(CLOCK_MONOTONIC, 30);
	struct gate *gate = data;
	int r = pthread_mutex_lock(&gate->mutex);

	while (r == 0 && !gate->open)
		r = pthread_cond_clockwait(&gate->cond, &gate->mutex, CLOCK_MONOTONIC, &at);
	(void)pthread_mutex_unlock(&gate->mutex);
	return r;
}

static void open_gate(struct gate *gate, int (*tell)(pthread_cond_t *))
{
	assert_int_equal(pthread_mutex_lock(&gate->mutex), 0);
	gate->open = true;
	assert_int_equal(tell(&gate->cond), 0);
	assert_int_equal(pthread_mutex_unlock(&gate->mutex), 0);
}

static void a_wait_for_a_condition_learns_the_signaller(void **state)
{
	int (*const ways[])(pthread_cond_t *) = {pthread_cond_signal, pthread_cond_broadcast};
	struct worker worker;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct gate gate = GATE;

		atomic_store(&n_waits, 0);
		begin_to_wait(&worker, pass, &gate);
		open_gate(&gate, ways[i]);
		assert_int_equal(end(&worker), 0);
		assert_told(0, LOCK_COND, &gate.cond, getpid());
	}
}

static void a_timed_wait_for_a_condition_times_out(void **state)
{
	int (*const ways[])(void *) = {pass_until, pass_by_clock};
	struct gate gate = GATE;
	struct worker worker;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		begin(&worker, ways[i], &gate);
		assert_int_equal(end(&worker), ETIMEDOUT);
		assert_told(i, LOCK_COND, &gate.cond, 0);
		assert_in_range(waits[i].ns, 25000000, 2000000000);
	}
}

/* The mutex of a condition is let go of inside libc. */
static void a_wait_for_a_condition_releases_the_mutex(void **state)
{
	struct gate gate = GATE;
	struct worker worker;

	(void)state;
	assert_int_equal(pthread_mutex_lock(&gate.mutex), 0);
	begin_to_wait(&worker, lock_and_unlock, &gate.mutex);
	{
		const struct timespec at = in_ms(CLOCK_REALTIME, 30);

		assert_int_equal(pthread_cond_timedwait(&gate.cond, &gate.mutex, &at), ETIMEDOUT);
	}
	assert_int_equal(pthread_mutex_unlock(&gate.mutex), 0);
	assert_int_equal(end(&worker), 0);
	assert_told(0, LOCK_MUTEX, &gate.mutex, getpid());
}

static int take_one(void *sem)
{
	return sem_wait(sem);
}

static int take_one_until(void *sem)
{
	const struct timespec at = in_ms(CLOCK_REALTIME, 30);

	return sem_timedwait(sem, &at);
}

static void a_wait_for_a_semaphore_learns_the_poster(void **state)
{
	struct worker worker;
	sem_t sem;

	(void)state;
	assert_int_equal(sem_init(&sem, 0, 1), 0);
	assert_int_equal(sem_wait(&sem), 0);
	assert_int_equal(n_waits, 0);
	begin_to_wait(&worker, take_one, &sem);
	assert_int_equal(sem_post(&sem), 0);
	assert_int_equal(end(&worker), 0);
	assert_told(0, LOCK_SEM, &sem, getpid());
	begin(&worker, take_one_until, &sem);
	assert_int_equal(end(&worker), -1);
	assert_int_equal(worker.number, ETIMEDOUT);
	assert_told(1, LOCK_SEM, &sem, 0);
}

/* Who lets go again at once, from the same call, is not asked for its stack again. */
static void the_same_call_is_walked_once(void **state)
{
	struct worker workers[4];
	volatile int n_posts = 3; /* a compiler that knew would make three calls of one */
	sem_t sem;

	(void)state;
	lock_agent_freeze();
	assert_int_equal(sem_init(&sem, 0, 0), 0);
	for (int i = 0; i < 4; i++)
		begin_to_wait(&workers[i], take_one, &sem);
	for (int i = 0; i < n_posts; i++)
		assert_int_equal(sem_post(&sem), 0);
	assert_int_equal(n_stacks, 1);
	assert_int_equal(sem_post(&sem), 0);
	assert_int_equal(n_stacks, 2);
	for (int i = 0; i < 4; i++)
		assert_int_equal(end(&workers[i]), 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(waits[i].waker_tid, getpid());
}

static void *post(void *sem)
{
	(void)sem_post(sem);
	return NULL;
}

/* Nor may another thread be taken for it that has got its stack. */
static void a_thread_on_a_used_stack_is_another(void **state)
{
	static _Alignas(16) unsigned char stack[256 * 1024];
	struct worker workers[3];
	pthread_attr_t attr;
	pthread_t thread;
	sem_t sem;

	(void)state;
	lock_agent_freeze();
	assert_int_equal(sem_init(&sem, 0, 0), 0);
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstack(&attr, stack, sizeof(stack)), 0);
	for (int i = 0; i < 3; i++)
		begin_to_wait(&workers[i], take_one, &sem);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&thread, &attr, post, &sem), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(n_stacks, i + 1);
	}
	assert_int_equal(sem_post(&sem), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(end(&workers[i]), 0);
	assert_int_equal(pthread_attr_destroy(&attr), 0);
}

#if defined(__x86_64__) && defined(__GLIBC__)
/* A program from before glibc 2.3.2: its conditions look otherwise, and libc must get them. */
#define OLD(function) __asm__(".symver old_" #function ",pthread_" #function "@GLIBC_2.2.5")
extern int old_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
extern int old_cond_destroy(pthread_cond_t *cond);
extern int old_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
extern int old_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			      const struct timespec *until);
extern int old_cond_signal(pthread_cond_t *cond);
extern int old_cond_broadcast(pthread_cond_t *cond);
OLD(cond_init);
OLD(cond_destroy);
OLD(cond_wait);
OLD(cond_timedwait);
OLD(cond_signal);
OLD(cond_broadcast);

static int pass_the_old_way(void *data)
{
	struct gate *gate = data;
	int r = pthread_mutex_lock(&gate->mutex);

	while (r == 0 && !gate->open)
		r = old_cond_wait(&gate->cond, &gate->mutex);
	(void)pthread_mutex_unlock(&gate->mutex);
	return r;
}

static void conditions_of_old_programs_are_left_to_libc(void **state)
{
	int (*const ways[])(pthread_cond_t *) = {old_cond_signal, old_cond_broadcast};
	const struct timespec past = {.tv_sec = 1};
	struct worker worker;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct gate gate = GATE;

		assert_int_equal(old_cond_init(&gate.cond, NULL), 0);
		assert_int_equal(pthread_mutex_lock(&gate.mutex), 0);
		assert_int_equal(old_cond_timedwait(&gate.cond, &gate.mutex, &past), ETIMEDOUT);
		assert_int_equal(pthread_mutex_unlock(&gate.mutex), 0);
		begin_to_wait(&worker, pass_the_old_way, &gate);
		open_gate(&gate, ways[i]);
		assert_int_equal(end(&worker), 0);
		assert_int_equal(old_cond_destroy(&gate.cond), 0);
	}
	assert_int_equal(n_waits, 0);
}
#endif

static void on_signal(int number)
{
	(void)number;
}

static void a_signal_ends_a_wait_for_a_semaphore(void **state)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct worker worker;
	sem_t sem;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(sem_init(&sem, 0, 0), 0);
	begin_to_wait(&worker, take_one, &sem);
	assert_int_equal(pthread_kill(worker.thread, SIGUSR1), 0);
	assert_int_equal(end(&worker), -1);
	assert_int_equal(worker.number, EINTR);
	assert_told(0, LOCK_SEM, &sem, 0);
}

static void let_mutex_go(void *mutex)
{
	(void)pthread_mutex_unlock(mutex);
}

static int pass_or_be_cancelled(void *data)
{
	struct gate *gate = data;
	int r = pthread_mutex_lock(&gate->mutex);

	pthread_cleanup_push(let_mutex_go, &gate->mutex);
	while (r == 0 && !gate->open)
		r = pthread_cond_wait(&gate->cond, &gate->mutex);
	pthread_cleanup_pop(1);
	return r;
}

static void cancel(struct worker *worker)
{
	void *value;

	assert_int_equal(pthread_cancel(worker->thread), 0);
	assert_int_equal(pthread_join(worker->thread, &value), 0);
	assert_ptr_equal(value, PTHREAD_CANCELED);
}

static void a_cancelled_thread_waits_no_more(void **state)
{
	struct gate gate = GATE;
	struct worker worker;
	sem_t sem;

	(void)state;
	assert_int_equal(sem_init(&sem, 0, 0), 0);
	begin_to_wait(&worker, take_one, &sem);
	cancel(&worker);
	begin_to_wait(&worker, pass_or_be_cancelled, &gate);
	cancel(&worker);
	atomic_store(&n_stacks, 0);
	assert_int_equal(sem_post(&sem), 0);
	open_gate(&gate, pthread_cond_broadcast);
	assert_int_equal(n_stacks, 0);
	assert_int_equal(n_waits, 0);
}

static int take_one_when_cancelled(void *sem)
{
	assert_int_equal(pthread_cancel(pthread_self()), 0);
	return sem_wait(sem);
}

static void a_cancelled_thread_takes_nothing(void **state)
{
	struct worker worker;
	void *value;
	int left;
	sem_t sem;

	(void)state;
	assert_int_equal(sem_init(&sem, 0, 1), 0);
	begin(&worker, take_one_when_cancelled, &sem);
	assert_int_equal(pthread_join(worker.thread, &value), 0);
	assert_ptr_equal(value, PTHREAD_CANCELED);
	assert_int_equal(sem_getvalue(&sem, &left), 0);
	assert_int_equal(left, 1);
}

static void a_fork_child_knows_no_waiters(void **state)
{
	struct worker worker;
	sem_t sem;
	pid_t pid;

	(void)state;
	assert_int_equal(sem_init(&sem, 0, 0), 0);
	begin_to_wait(&worker, take_one, &sem);
	pid = fork();
	if (pid == 0) {
		(void)sem_post(&sem);
		_exit(atomic_load(&n_stacks) == 0 ? 0 : 1);
	}
	assert_int_equal(child_status(pid), 0);
	assert_int_equal(sem_post(&sem), 0);
	assert_int_equal(end(&worker), 0);
	assert_told(0, LOCK_SEM, &sem, getpid());
}

/* Many threads, all kinds of locks: nothing is lost, no thread hangs. */
enum { N_RUNNERS = 8, N_TURNS = 2000 };

static pthread_mutex_t storm_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t storm_rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t storm_sem;
static uint64_t storm_counts[2];

static int storm(void *unused)
{
	(void)unused;
	for (int i = 0; i < N_TURNS; i++) {
		(void)pthread_mutex_lock(&storm_mutex);
		storm_counts[0]++;
		if (i % 64 == 0)
			sched_yield();
		(void)pthread_mutex_unlock(&storm_mutex);
		(void)pthread_rwlock_rdlock(&storm_rwlock);
		(void)pthread_rwlock_unlock(&storm_rwlock);
		(void)pthread_rwlock_wrlock(&storm_rwlock);
		storm_counts[1]++;
		(void)pthread_rwlock_unlock(&storm_rwlock);
		(void)sem_wait(&storm_sem);
		(void)sem_post(&storm_sem);
	}
	return 0;
}

static void a_storm_of_locks_loses_nothing(void **state)
{
	struct worker workers[N_RUNNERS];

	(void)state;
	assert_int_equal(sem_init(&storm_sem, 0, 2), 0);
	for (int i = 0; i < N_RUNNERS; i++)
		begin(&workers[i], storm, NULL);
	for (int i = 0; i < N_RUNNERS; i++)
		assert_int_equal(end(&workers[i]), 0);
	assert_int_equal(storm_counts[0], N_RUNNERS * N_TURNS);
	assert_int_equal(storm_counts[1], N_RUNNERS * N_TURNS);
	assert_true(n_waits > 0);
	atomic_store(&n_stacks, 0);
	assert_int_equal(lock_and_unlock(&storm_mutex), 0);
	assert_int_equal(n_stacks, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, lock_agent_clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_wait_for_a_condition_learns_the_signaller),
		TEST(a_timed_wait_for_a_condition_times_out),
		TEST(a_wait_for_a_condition_releases_the_mutex),
		TEST(a_wait_for_a_semaphore_learns_the_poster),
		TEST(the_same_call_is_walked_once),
		TEST(a_thread_on_a_used_stack_is_another),
#if defined(__x86_64__) && defined(__GLIBC__)
		TEST(conditions_of_old_programs_are_left_to_libc),
#endif
		TEST(a_signal_ends_a_wait_for_a_semaphore),
		TEST(a_cancelled_thread_waits_no_more),
		TEST(a_cancelled_thread_takes_nothing),
		TEST(a_fork_child_knows_no_waiters),
		TEST(a_storm_of_locks_loses_nothing),
	};

	return cmocka_run_group_tests_name("lock_waits", tests, NULL, NULL);
}
