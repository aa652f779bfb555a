/*
 * blocked.c - threads that block in thirteen ways, each under ever new callers
 *
 * Nobody is signalled.  A thread goes down a chain of functions with frames of many kinds, blocks
 * at its end until the waker pokes it or some ms have passed, comes back and goes down another.
 */
#include <alloca.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	DEEPEST = 14,
	POKE_US = 400,
	BLOCK_MS = 8,
};

/* What the waker and the threads share. */
static struct {
	int pipe[2];
	int socket[2];
	int event;
	int poll_pipe[2];
	int epoll;
	sem_t semaphore;
	pthread_mutex_t mutex;
	pthread_mutex_t cond_mutex;
	pthread_cond_t cond;
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER,
	    .cond_mutex = PTHREAD_MUTEX_INITIALIZER,
	    .cond = PTHREAD_COND_INITIALIZER};

static volatile uint64_t sink;

struct task {
	void (*block)(void);
	uint32_t state;
};

static uint32_t next(struct task *task)
{
	task->state ^= task->state << 13;
	task->state ^= task->state >> 17;
	task->state ^= task->state << 5;
	return task->state;
}

static struct timespec some_ms(void)
{
	return (struct timespec){.tv_nsec = BLOCK_MS * 1000000L};
}

#define BLOCKS __attribute__((noinline, noclone))

BLOCKS static void block_nanosleep(void)
{
	struct timespec time = some_ms();

	(void)nanosleep(&time, NULL);
	sink++;
}

BLOCKS static void block_usleep(void)
{
	(void)usleep(BLOCK_MS * 1000);
	sink++;
}

BLOCKS static void block_pipe(void)
{
	char byte;

	sink += (uint64_t)read(shared.pipe[0], &byte, 1);
}

BLOCKS static void block_eventfd(void)
{
	uint64_t count;

	sink += (uint64_t)read(shared.event, &count, sizeof(count));
}

BLOCKS static void block_recv(void)
{
	char bytes[64];

	sink += (uint64_t)recv(shared.socket[0], bytes, 1, 0);
}

BLOCKS static void block_cond(void)
{
	(void)pthread_mutex_lock(&shared.cond_mutex);
	(void)pthread_cond_wait(&shared.cond, &shared.cond_mutex);
	(void)pthread_mutex_unlock(&shared.cond_mutex);
	sink++;
}

BLOCKS static void block_mutex(void)
{
	(void)pthread_mutex_lock(&shared.mutex);
	(void)pthread_mutex_unlock(&shared.mutex);
	sink++;
}

BLOCKS static void block_semaphore(void)
{
	(void)sem_wait(&shared.semaphore);
	sink++;
}

BLOCKS static void block_epoll(void)
{
	struct epoll_event events[4];

	sink += (uint64_t)epoll_wait(shared.epoll, events, 4, BLOCK_MS);
}

BLOCKS static void block_poll(void)
{
	struct pollfd fd = {.fd = shared.poll_pipe[0], .events = POLLIN};

	sink += (uint64_t)poll(&fd, 1, BLOCK_MS);
}

BLOCKS static void block_ppoll(void)
{
	struct pollfd fd = {.fd = shared.poll_pipe[0], .events = POLLIN};
	struct timespec time = some_ms();

	sink += (uint64_t)ppoll(&fd, 1, &time, NULL);
}

BLOCKS static void block_select(void)
{
	struct timeval time = {.tv_usec = BLOCK_MS * 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(shared.poll_pipe[0], &set);
	sink += (uint64_t)select(shared.poll_pipe[0] + 1, &set, NULL, NULL, &time);
}

static void *short_life(void *arg)
{
	(void)usleep(BLOCK_MS * 1000);
	return arg;
}

BLOCKS static void block_join(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, short_life, NULL) == 0)
		(void)pthread_join(thread, NULL);
	sink++;
}

/* The frames on the way down. */
static void go_down(struct task *task, int left);

BLOCKS static void plain(struct task *task, int left)
{
	go_down(task, left - 1);
	sink += (uint64_t)left;
}

BLOCKS static void saves_all(struct task *task, int left)
{
	uint64_t a = next(task);
	uint64_t b = next(task);
	uint64_t c = next(task);
	uint64_t d = next(task);
	uint64_t e = next(task);

	go_down(task, left - 1);
	sink += a * b + c * d + e;
	go_down(task, 0);
	sink += a ^ b ^ c ^ d ^ e;
}

BLOCKS static void big_frame(struct task *task, int left)
{
	volatile char bytes[3000];

	bytes[next(task) % sizeof(bytes)] = 1;
	go_down(task, left - 1);
	sink += (uint64_t)bytes[5];
}

/* Leaves the frames of its callees below, as later uninitialized locals. */
BLOCKS static void dirty(struct task *task, int left)
{
	volatile char bytes[600];

	bytes[0] = (char)left;
	if (left > 1)
		(void)snprintf((char *)bytes + 1, 32, "%d", left);
	go_down(task, left - 1);
	sink += (uint64_t)bytes[1];
}

BLOCKS static void variable_frame(struct task *task, int left, size_t size)
{
	// cppcheck-suppress allocaCalled ; a frame whose size is not known before
	volatile char *bytes = alloca(size);

	bytes[size - 1] = 1;
	go_down(task, left - 1);
	sink += (uint64_t)bytes[size - 1];
}

BLOCKS static void sized(struct task *task, int left)
{
	variable_frame(task, left, next(task) % 700 + 16);
	sink++;
}

BLOCKS static void aligned_frame(struct task *task, int left)
{
	_Alignas(64) volatile char bytes[192];

	bytes[next(task) % sizeof(bytes)] = 1;
	go_down(task, left - 1);
	sink += (uint64_t)bytes[7] + (uint64_t)(uintptr_t)bytes % 64;
}

// NOLINTNEXTLINE(*-function-size): some of them are on the stack
BLOCKS static uint64_t many(struct task *task, int left, uint64_t a, uint64_t b, uint64_t c,
			    uint64_t d, uint64_t e, uint64_t f, uint64_t g)
{
	go_down(task, left - 1);
	return a + b + c + d + e + f + g;
}

BLOCKS static void many_arguments(struct task *task, int left)
{
	uint64_t a = next(task);

	sink += many(task, left, a, a + 1, a * 2, 3, 4, a, a ^ 7);
}

/* qsort calls back: frames of libc between ours. */
static __thread struct task *sorting;
static __thread int sorting_left;

static int compare(const void *a, const void *b)
{
	struct task *task = sorting;
	int left = sorting_left;

	sorting = NULL;
	if (task)
		go_down(task, left - 1);
	return *(const int *)a - *(const int *)b;
}

BLOCKS static void called_back(struct task *task, int left)
{
	int values[3] = {3, 1, 2};

	sorting = task;
	sorting_left = left;
	qsort(values, 3, sizeof(values[0]), compare);
	sink += (uint64_t)values[0];
}

BLOCKS static void recursive(struct task *task, int left)
{
	if (left > 1 && next(task) % 2)
		recursive(task, left - 1);
	else
		go_down(task, left - 1);
	sink++;
}

/* Frames of variable size, and those that are aligned by more than calls are, are rare. */
#define USUAL plain, saves_all, big_frame, dirty, many_arguments, called_back, recursive

static void (*const ways[])(struct task *, int) = {USUAL, USUAL, USUAL, sized, aligned_frame};

BLOCKS static void go_down(struct task *task, int left)
{
	if (left > 0)
		ways[next(task) % (sizeof(ways) / sizeof(ways[0]))](task, left);
	else
		task->block();
	sink++;
}

static void *run(void *arg)
{
	struct task *task = arg;

	for (;;)
		go_down(task, (int)(next(task) % DEEPEST));
	return NULL;
}

static void poke(uint32_t which)
{
	uint64_t one = 1;

	switch (which % 5) {
	case 0:
		sink += (uint64_t)write(shared.pipe[1], "x", 1);
		break;
	case 1:
		sink += (uint64_t)write(shared.event, &one, sizeof(one));
		break;
	case 2:
		sink += (uint64_t)send(shared.socket[1], "x", 1, 0);
		break;
	case 3:
		(void)pthread_cond_signal(&shared.cond);
		break;
	default:
		(void)sem_post(&shared.semaphore);
	}
}

/*
 * Holds the mutex most of the time, and releases it for as long as a waiting thread needs to wake:
 * taken again at once it would keep that thread in one place for hundreds of ms.
 */
static void wake(void)
{
	struct task task = {.state = 99};

	for (;;) {
		(void)pthread_mutex_lock(&shared.mutex);
		for (int i = 0; i < 20; i++) {
			(void)usleep(POKE_US);
			poke(next(&task));
		}
		(void)pthread_mutex_unlock(&shared.mutex);
		(void)usleep(POKE_US);
	}
}

static int set_up(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	shared.event = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	shared.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (shared.event < 0 || shared.epoll < 0 || pipe(shared.pipe) < 0 ||
	    pipe(shared.poll_pipe) < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, shared.socket) < 0 ||
	    sem_init(&shared.semaphore, 0, 0) < 0)
		return -1;
	return epoll_ctl(shared.epoll, EPOLL_CTL_ADD, shared.poll_pipe[0], &event);
}

int main(void)
{
	static struct task tasks[] = {
		{.block = block_nanosleep}, {.block = block_usleep}, {.block = block_pipe},
		{.block = block_eventfd},   {.block = block_recv},   {.block = block_cond},
		{.block = block_mutex},     {.block = block_epoll},  {.block = block_poll},
		{.block = block_ppoll},     {.block = block_select}, {.block = block_semaphore},
		{.block = block_join},
	};
	pthread_t thread;

	if (set_up() < 0)
		return 1;
	for (uint32_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		tasks[i].state = 7919 * (i + 1);
		if (pthread_create(&thread, NULL, run, &tasks[i]) != 0)
			return 1;
	}
	wake();
	return 0;
}
