/* two_locks.c - five threads wait for two mutexes and know for how long, and which thread unlocked
 * usage: two_locks SECONDS
 * prints a line for every wait of 10 us or more: LOCK WAITER WAKER WAKER'S-FUNCTION US END-NS */
#include "burn.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	N_THREADS = 5,
	MAX_WAITS = 65536,
	LEAST_US = 10,
};

struct turn {
	pid_t tid;
	int number;
};

struct lock {
	pthread_mutex_t mutex;
	char name;
	uint32_t hold_us;
	struct turn last; /* the thread that unlocked it; the mutex guards it */
};

struct wait {
	char lock;
	pid_t waiter;
	struct turn waker;
	uint64_t us;
	uint64_t end_ns;
};

static struct lock lock_a = {.mutex = PTHREAD_MUTEX_INITIALIZER, .name = 'a', .hold_us = 3000};
static struct lock lock_b = {.mutex = PTHREAD_MUTEX_INITIALIZER, .name = 'b', .hold_us = 700};
static pthread_mutex_t nobodys = PTHREAD_MUTEX_INITIALIZER;
static struct wait waits[N_THREADS][MAX_WAITS];
static size_t n_waits[N_THREADS];
static double seconds;

static void pause_us(uint32_t us)
{
	const struct timespec pause = {.tv_nsec = us * 1000L};

	(void)nanosleep(&pause, NULL);
}

/* What follows a call keeps its frame on the stack. */
#define WAIT_FOR(which)                                                                            \
	static __attribute__((noinline, noclone)) void wait_for_##which(void)                      \
	{                                                                                          \
		(void)pthread_mutex_lock(&lock_##which.mutex);                                     \
		__asm__ volatile("" ::: "memory");                                                 \
	}

#define LET_GO(number)                                                                             \
	static __attribute__((noinline, noclone)) void let_go_##number(pthread_mutex_t *mutex)     \
	{                                                                                          \
		(void)pthread_mutex_unlock(mutex);                                                 \
		__asm__ volatile("" ::: "memory");                                                 \
	}

WAIT_FOR(a)
WAIT_FOR(b)
LET_GO(0)
LET_GO(1)
LET_GO(2)
LET_GO(3)
LET_GO(4)

static void (*const let_go[N_THREADS])(pthread_mutex_t *) = {let_go_0, let_go_1, let_go_2, let_go_3,
							     let_go_4};

static void take_turn(struct lock *lock, struct turn self)
{
	uint64_t begin_ns = now_ns();
	uint64_t end_ns;
	struct turn waker;

	if (lock == &lock_a)
		wait_for_a();
	else
		wait_for_b();
	end_ns = now_ns();
	waker = lock->last;
	pause_us(lock->hold_us);
	lock->last = self;
	let_go[self.number](&lock->mutex);
	if (end_ns - begin_ns < LEAST_US * 1000 || n_waits[self.number] == MAX_WAITS)
		return;
	waits[self.number][n_waits[self.number]++] = (struct wait){
		.lock = lock->name,
		.waiter = self.tid,
		.waker = waker,
		.us = (end_ns - begin_ns) / 1000,
		.end_ns = end_ns,
	};
}

/* Two threads for one lock, three for the other; a third mutex is free whenever it is taken. */
static void *run(void *number)
{
	struct turn self = {.tid = (pid_t)syscall(SYS_gettid), .number = (int)(intptr_t)number};
	struct lock *lock = self.number < 2 ? &lock_a : &lock_b;
	uint32_t random = 2463534242U + (uint32_t)self.number;
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;

	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		take_turn(lock, self);
		pause_us(100 + next_random(&random) % 2000);
		if (self.number == 0) {
			(void)pthread_mutex_lock(&nobodys);
			(void)pthread_mutex_unlock(&nobodys);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_THREADS];

	seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	for (intptr_t i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
			return 1;
	for (int i = 0; i < N_THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	for (int i = 0; i < N_THREADS; i++)
		for (size_t k = 0; k < n_waits[i]; k++)
			printf("%c %d %d let_go_%d %" PRIu64 " %" PRIu64 "\n", waits[i][k].lock,
			       waits[i][k].waiter, waits[i][k].waker.tid, waits[i][k].waker.number,
			       waits[i][k].us, waits[i][k].end_ns);
	return 0;
}
