/* locks.c - locks in the places where a hook could be noticed; prints what each of them did
 * usage: locks
 * prints the same every time, whatever stands in front of the locks */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { ERRNO_BEFORE = 4711, PAUSE_US = 20000, N_KEYS = 3 };

static int in_preinit = -1;

/* Before the constructors of all libraries. */
static void lock_before_all(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static sem_t sem;

	in_preinit = pthread_mutex_lock(&mutex) | pthread_mutex_unlock(&mutex);
	in_preinit |= sem_init(&sem, 0, 1) | sem_wait(&sem) | sem_post(&sem);
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const preinit)(void) = lock_before_all;

static void say(const char *what, int r)
{
	printf("%s: %d\n", what, r);
}

static struct timespec soon(clockid_t clock)
{
	struct timespec at;

	(void)clock_gettime(clock, &at);
	at.tv_nsec += PAUSE_US * 1000L;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

/* ---- cancelled while they wait: their handlers run, innermost first, with the mutex held ---- */

struct hall {
	pthread_mutex_t mutex; /* checks its owner */
	pthread_cond_t cond;
	pthread_rwlock_t rwlock;
	sem_t sem;
	_Atomic int n_in;
};

static void hall_init(struct hall *hall)
{
	pthread_mutexattr_t attr;

	(void)pthread_mutexattr_init(&attr);
	(void)pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	(void)pthread_mutex_init(&hall->mutex, &attr);
	(void)pthread_cond_init(&hall->cond, NULL);
	(void)pthread_rwlock_init(&hall->rwlock, NULL);
	(void)sem_init(&hall->sem, 0, 0);
	atomic_store(&hall->n_in, 0);
}

static void say_text(void *text)
{
	printf("  handler: %s\n", (const char *)text);
}

static void unlock_own(void *mutex)
{
	printf("  handler: unlocks its mutex: %d\n", pthread_mutex_unlock(mutex));
}

static void *in_cond_wait(void *data)
{
	struct hall *hall = data;

	pthread_cleanup_push(say_text, (void *)"outer");
	(void)pthread_mutex_lock(&hall->mutex);
	pthread_cleanup_push(unlock_own, &hall->mutex);
	atomic_fetch_add(&hall->n_in, 1);
	for (;;)
		(void)pthread_cond_wait(&hall->cond, &hall->mutex);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_cond_clockwait(void *data)
{
	const struct timespec never = {.tv_sec = INT32_MAX};
	struct hall *hall = data;

	(void)pthread_mutex_lock(&hall->mutex);
	pthread_cleanup_push(unlock_own, &hall->mutex);
	atomic_fetch_add(&hall->n_in, 1);
	for (;;)
		(void)pthread_cond_clockwait(&hall->cond, &hall->mutex, CLOCK_MONOTONIC, &never);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_sem_wait(void *data)
{
	struct hall *hall = data;

	pthread_cleanup_push(say_text, (void *)"of a semaphore");
	atomic_fetch_add(&hall->n_in, 1);
	(void)sem_wait(&hall->sem);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_sem_timedwait(void *data)
{
	const struct timespec never = {.tv_sec = INT32_MAX};
	struct hall *hall = data;

	pthread_cleanup_push(say_text, (void *)"of a semaphore with a time");
	atomic_fetch_add(&hall->n_in, 1);
	(void)sem_timedwait(&hall->sem, &never);
	pthread_cleanup_pop(0);
	return NULL;
}

/* What cannot be cancelled gets on; the request stays until it can. */
static void *in_cond_wait_later(void *data)
{
	struct hall *hall = data;
	int old;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	(void)pthread_mutex_lock(&hall->mutex);
	atomic_fetch_add(&hall->n_in, 1);
	say("  not cancelled", pthread_cond_wait(&hall->cond, &hall->mutex));
	(void)pthread_mutex_unlock(&hall->mutex);
	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	pthread_testcancel();
	say("  reached", 1);
	return NULL;
}

static void cancel(const char *name, void *(*run)(void *), bool signal_it)
{
	struct hall hall;
	pthread_t thread;
	void *end = NULL;
	int value = -1;

	hall_init(&hall);
	(void)pthread_create(&thread, NULL, run, &hall);
	while (!atomic_load(&hall.n_in))
		(void)sched_yield();
	(void)usleep(PAUSE_US);
	(void)pthread_cancel(thread);
	if (signal_it) {
		(void)usleep(PAUSE_US);
		(void)pthread_mutex_lock(&hall.mutex);
		(void)pthread_cond_signal(&hall.cond);
		(void)pthread_mutex_unlock(&hall.mutex);
	}
	(void)pthread_join(thread, &end);
	(void)sem_getvalue(&hall.sem, &value);
	printf("%s: cancelled %d, mutex %d, semaphore %d\n", name, end == PTHREAD_CANCELED,
	       pthread_mutex_trylock(&hall.mutex), value);
}

static void cancelled(void)
{
	cancel("pthread_cond_wait", in_cond_wait, false);
	cancel("pthread_cond_clockwait", in_cond_clockwait, false);
	cancel("sem_wait", in_sem_wait, false);
	cancel("sem_timedwait", in_sem_timedwait, false);
	cancel("later", in_cond_wait_later, true);
}

/* ---- handlers of signals, of fork, of the end of a thread ---- */

static sem_t from_handler;
static sigjmp_buf back;

static void post_it(int number)
{
	int saved = errno;

	(void)number;
	(void)sem_post(&from_handler);
	errno = saved;
}

static void jump_out(int number)
{
	siglongjmp(back, number);
}

static void nothing(int number)
{
	(void)number;
}

static void handle(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	(void)sigaction(SIGALRM, &action, NULL);
	(void)ualarm(PAUSE_US, 0);
}

static void signals(void)
{
	(void)sem_init(&from_handler, 0, 0);
	handle(nothing);
	errno = 0;
	say("sem_wait and a signal", sem_wait(&from_handler));
	say("  errno is EINTR", errno == EINTR);
	handle(post_it);
	while (sem_wait(&from_handler) < 0)
		;
	say("posted by a handler", 0);
	handle(jump_out);
	if (sigsetjmp(back, 1) == 0)
		(void)sem_wait(&from_handler);
	else
		say("left by a jump", 1);
	(void)sem_post(&from_handler);
	say("sem_wait after that", sem_wait(&from_handler));
}

static pthread_mutex_t at_fork = PTHREAD_MUTEX_INITIALIZER;
static int n_fork_handlers;

static void before_fork(void)
{
	n_fork_handlers += pthread_mutex_lock(&at_fork) == 0;
}

static void after_fork(void)
{
	n_fork_handlers += pthread_mutex_unlock(&at_fork) == 0;
}

static void *lock_and_unlock(void *mutex)
{
	long r = pthread_mutex_lock(mutex);

	return (void *)(r ? r : pthread_mutex_unlock(mutex));
}

static void forks(void)
{
	pthread_t thread;
	void *r = NULL;
	int status = -1;
	pid_t pid;

	(void)pthread_atfork(before_fork, after_fork, after_fork);
	for (int i = 0; i < 3; i++) {
		(void)pthread_mutex_lock(&at_fork);
		(void)pthread_create(&thread, NULL, lock_and_unlock, &at_fork);
		(void)usleep(PAUSE_US);
		(void)pthread_mutex_unlock(&at_fork);
		pid = fork();
		if (pid == 0)
			_exit((int)(long)lock_and_unlock(&at_fork) + n_fork_handlers);
		(void)waitpid(pid, &status, 0);
		(void)pthread_join(thread, &r);
		printf("fork: child %d, parent %d, thread %ld\n", WEXITSTATUS(status),
		       n_fork_handlers, (long)r);
	}
}

static pthread_key_t keys[N_KEYS];
static pthread_mutex_t at_end = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int n_ended;

static void end_of_thread(void *round)
{
	(void)pthread_mutex_lock(&at_end);
	(void)usleep(1000);
	n_ended++;
	(void)pthread_mutex_unlock(&at_end);
	if ((long)round < 2)
		(void)pthread_setspecific(keys[0], (void *)((long)round + 1));
}

static void *with_keys(void *unused)
{
	for (int i = 0; i < N_KEYS; i++)
		(void)pthread_setspecific(keys[i], (void *)1L);
	return unused;
}

static void ends_of_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < N_KEYS; i++)
		(void)pthread_key_create(&keys[i], end_of_thread);
	for (int i = 0; i < 4; i++)
		(void)pthread_create(&threads[i], NULL, with_keys, NULL);
	for (int i = 0; i < 4; i++)
		(void)pthread_join(threads[i], NULL);
	say("destructors of threads", n_ended);
}

/* ---- between processes ---- */

struct shared {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sem_t sem;
	int turn;
};

static struct shared *new_shared(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	(void)pthread_mutexattr_init(&mutex);
	(void)pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	(void)pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
	(void)pthread_condattr_init(&cond);
	(void)pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	(void)pthread_mutex_init(&shared->mutex, &mutex);
	(void)pthread_cond_init(&shared->cond, &cond);
	(void)sem_init(&shared->sem, 1, 0);
	return shared;
}

static void take_turns(struct shared *shared, int self)
{
	for (int i = 0; i < 100; i++) {
		(void)pthread_mutex_lock(&shared->mutex);
		while (shared->turn % 2 != self)
			(void)pthread_cond_wait(&shared->cond, &shared->mutex);
		shared->turn++;
		(void)pthread_cond_signal(&shared->cond);
		(void)pthread_mutex_unlock(&shared->mutex);
	}
}

static void die_with_it(struct shared *shared)
{
	take_turns(shared, 1);
	(void)pthread_mutex_lock(&shared->mutex);
	(void)sem_post(&shared->sem);
	(void)usleep(PAUSE_US);
	_exit(0);
}

static void processes(void)
{
	struct shared *shared = new_shared();
	pid_t pid = fork();

	if (pid == 0)
		die_with_it(shared);
	take_turns(shared, 0);
	say("two processes", sem_wait(&shared->sem));
	say("one dies with the lock", pthread_mutex_lock(&shared->mutex));
	say("  consistent", pthread_mutex_consistent(&shared->mutex));
	say("  turns", shared->turn);
	say("  unlock", pthread_mutex_unlock(&shared->mutex));
	(void)waitpid(pid, NULL, 0);
}

/* ---- every call that waits, on what it cannot have: result and errno ---- */

static void say_both(const char *what, int r)
{
	printf("%s: %d, errno %d\n", what, r, errno);
	errno = ERRNO_BEFORE;
}

static void *time_outs(void *data)
{
	struct timespec real = soon(CLOCK_REALTIME);
	struct timespec mono = soon(CLOCK_MONOTONIC);
	const struct timespec wrong = {.tv_nsec = 1000000000};
	struct hall *hall = data;
	pthread_rwlock_t *rwlock = &hall->rwlock; /* taken for reading by main */
	sem_t *sem = &hall->sem;

	errno = ERRNO_BEFORE;
	say_both("timedlock", pthread_mutex_timedlock(&hall->mutex, &real));
	say_both("clocklock", pthread_mutex_clocklock(&hall->mutex, CLOCK_MONOTONIC, &mono));
	say_both("timedlock, wrong", pthread_mutex_timedlock(&hall->mutex, &wrong));
	say_both("clocklock, wrong clock",
		 pthread_mutex_clocklock(&hall->mutex, CLOCK_THREAD_CPUTIME_ID, &mono));
	say_both("timedwrlock", pthread_rwlock_timedwrlock(rwlock, &real));
	say_both("clockwrlock", pthread_rwlock_clockwrlock(rwlock, CLOCK_MONOTONIC, &mono));
	say_both("timedrdlock", pthread_rwlock_timedrdlock(rwlock, &real));
	say_both("clockrdlock", pthread_rwlock_clockrdlock(rwlock, CLOCK_MONOTONIC, &mono));
	say_both("sem_timedwait", sem_timedwait(sem, &real));
	say_both("sem_clockwait", sem_clockwait(sem, CLOCK_MONOTONIC, &mono));
	say_both("sem_timedwait, wrong", sem_timedwait(sem, &wrong));
	say_both("unlock, not mine", pthread_mutex_unlock(&hall->mutex));
	return NULL;
}

static void refusals(void)
{
	struct hall hall;
	pthread_t thread;

	hall_init(&hall);
	(void)pthread_mutex_lock(&hall.mutex);
	(void)pthread_rwlock_rdlock(&hall.rwlock);
	(void)pthread_create(&thread, NULL, time_outs, &hall);
	(void)pthread_join(thread, NULL);
	errno = ERRNO_BEFORE;
	say_both("lock, mine", pthread_mutex_lock(&hall.mutex));
	say_both("unlock", pthread_mutex_unlock(&hall.mutex));
	say_both("unlock again", pthread_mutex_unlock(&hall.mutex));
	say_both("rdlock again", pthread_rwlock_rdlock(&hall.rwlock));
	say_both("rwlock unlock", pthread_rwlock_unlock(&hall.rwlock));
}

/* Who prefers writers lets no new reader in while one waits. */
static void *write_it(void *data)
{
	struct hall *hall = data;

	atomic_store(&hall->n_in, 1);
	(void)pthread_rwlock_wrlock(&hall->rwlock);
	return (void *)(long)pthread_rwlock_unlock(&hall->rwlock);
}

static void preferences(void)
{
	const int kinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP,
			     PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};
	pthread_rwlockattr_t attr;
	pthread_t thread;
	struct hall hall;
	struct timespec at;

	(void)pthread_rwlockattr_init(&attr);
	for (int i = 0; i < 2; i++) {
		hall_init(&hall);
		(void)pthread_rwlockattr_setkind_np(&attr, kinds[i]);
		(void)pthread_rwlock_init(&hall.rwlock, &attr);
		(void)pthread_rwlock_rdlock(&hall.rwlock);
		(void)pthread_create(&thread, NULL, write_it, &hall);
		while (!atomic_load(&hall.n_in))
			(void)sched_yield();
		(void)usleep(PAUSE_US);
		at = soon(CLOCK_REALTIME);
		say("a second reader", pthread_rwlock_timedrdlock(&hall.rwlock, &at));
		if (i == 0)
			(void)pthread_rwlock_unlock(&hall.rwlock);
		(void)pthread_rwlock_unlock(&hall.rwlock);
		(void)pthread_join(thread, NULL);
	}
}

static void priorities(void)
{
	const int protocols[] = {PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT};
	pthread_mutexattr_t attr;
	pthread_mutex_t mutex;

	for (int i = 0; i < 2; i++) {
		(void)pthread_mutexattr_init(&attr);
		(void)pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
		say("protocol", pthread_mutexattr_setprotocol(&attr, protocols[i]));
		say("  init", pthread_mutex_init(&mutex, &attr));
		say("  lock", pthread_mutex_lock(&mutex));
		say("  again", pthread_mutex_lock(&mutex));
		say("  unlock", pthread_mutex_unlock(&mutex));
		say("  unlock", pthread_mutex_unlock(&mutex));
		say("  unlock", pthread_mutex_unlock(&mutex));
	}
}

/* ---- C11's, which reach libc's by names of their own ---- */

static mtx_t c11_mutex;
static cnd_t c11_cond;
static int c11_turn;

static int c11_run(void *self)
{
	for (int i = 0; i < 50; i++) {
		(void)mtx_lock(&c11_mutex);
		while (c11_turn % 2 != (int)(long)self)
			(void)cnd_wait(&c11_cond, &c11_mutex);
		c11_turn++;
		(void)cnd_broadcast(&c11_cond);
		(void)mtx_unlock(&c11_mutex);
	}
	return c11_turn >= 99;
}

static void c11(void)
{
	thrd_t threads[2];
	int r[2] = {-1, -1};

	(void)mtx_init(&c11_mutex, mtx_timed);
	(void)cnd_init(&c11_cond);
	for (long i = 0; i < 2; i++)
		(void)thrd_create(&threads[i], c11_run, (void *)i);
	for (int i = 0; i < 2; i++)
		(void)thrd_join(threads[i], &r[i]);
	printf("C11: %d turns, %d %d\n", c11_turn, r[0], r[1]);
}

int main(void)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	say("before all constructors", in_preinit);
	cancelled();
	signals();
	forks();
	ends_of_threads();
	processes();
	refusals();
	preferences();
	priorities();
	c11();
	return 0;
}
