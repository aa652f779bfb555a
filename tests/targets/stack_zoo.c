/*
 * stack_zoo.c - N threads, each blocked for ever under callers of its own, which count their EINTRs
 *
 * For every line on standard input it says how many calls a signal or a stop has ended so far.
 */
#include <alloca.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1000, DEEPEST = 9, DAY_S = 86400 };

static struct {
	int pipe[2];
	int socket[2];
	int patient[2]; /* its reads have a time limit, so that a signal ends them */
	int epoll;
	int msg;
	int sem;
	sem_t semaphore;
	pthread_mutex_t mutex;
	pthread_mutex_t cond_mutex;
	pthread_cond_t cond;
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER,
	    .cond_mutex = PTHREAD_MUTEX_INITIALIZER,
	    .cond = PTHREAD_COND_INITIALIZER};

static _Atomic unsigned n_interrupted;
static _Atomic unsigned n_blocking;
static volatile uint64_t sink;

struct task {
	unsigned number;
	uint32_t state;
};

#define BLOCKS __attribute__((noinline, noclone))

static uint32_t next(struct task *task)
{
	task->state ^= task->state << 13;
	task->state ^= task->state >> 17;
	task->state ^= task->state << 5;
	return task->state;
}

BLOCKS static long wait_pipe(void)
{
	char byte;
	long r = read(shared.pipe[0], &byte, 1);

	sink++;
	return r;
}

BLOCKS static long wait_epoll(void)
{
	struct epoll_event event;
	long r = epoll_wait(shared.epoll, &event, 1, -1);

	sink++;
	return r;
}

BLOCKS static long wait_poll(void)
{
	struct pollfd fd = {.fd = shared.pipe[0], .events = POLLIN};
	long r = poll(&fd, 1, -1);

	sink++;
	return r;
}

BLOCKS static long wait_select(void)
{
	fd_set set;
	long r;

	FD_ZERO(&set);
	FD_SET(shared.pipe[0], &set);
	r = select(shared.pipe[0] + 1, &set, NULL, NULL, NULL);
	sink++;
	return r;
}

BLOCKS static long wait_sleep(void)
{
	struct timespec day = {.tv_sec = DAY_S};
	long r = nanosleep(&day, NULL);

	sink++;
	return r;
}

BLOCKS static long wait_recv(void)
{
	char byte;
	long r = recv(shared.socket[0], &byte, 1, 0);

	sink++;
	return r;
}

BLOCKS static long wait_patiently(void)
{
	char byte;
	long r = recv(shared.patient[0], &byte, 1, 0);

	sink++;
	return r;
}

BLOCKS static long wait_msg(void)
{
	struct {
		long type;
		char text[8];
	} message;
	long r = msgrcv(shared.msg, &message, sizeof(message.text), 0, 0);

	sink++;
	return r;
}

BLOCKS static long wait_sem(void)
{
	struct sembuf down = {.sem_op = -1};
	long r = semop(shared.sem, &down, 1);

	sink++;
	return r;
}

BLOCKS static long wait_signal(void)
{
	struct timespec day = {.tv_sec = DAY_S};
	sigset_t set;
	long r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR2);
	r = sigtimedwait(&set, NULL, &day);
	sink++;
	return r;
}

BLOCKS static long wait_mutex(void)
{
	(void)pthread_mutex_lock(&shared.mutex);
	return 0;
}

BLOCKS static long wait_cond(void)
{
	(void)pthread_mutex_lock(&shared.cond_mutex);
	(void)pthread_cond_wait(&shared.cond, &shared.cond_mutex);
	return 0;
}

BLOCKS static long wait_semaphore(void)
{
	long r = sem_wait(&shared.semaphore);

	sink++;
	return r;
}

static long (*const waits[])(void) = {
	wait_pipe, wait_epoll, wait_poll,   wait_select, wait_sleep, wait_recv,      wait_patiently,
	wait_msg,  wait_sem,   wait_signal, wait_mutex,  wait_cond,  wait_semaphore,
};

enum { N_WAITS = sizeof(waits) / sizeof(waits[0]) };

static void go_down(struct task *task, int left);

BLOCKS static void plain(struct task *task, int left)
{
	go_down(task, left - 1);
	sink++;
}

BLOCKS static void big(struct task *task, int left)
{
	volatile char bytes[2000];

	bytes[next(task) % sizeof(bytes)] = 1;
	go_down(task, left - 1);
	sink += (uint64_t)bytes[5];
}

BLOCKS static void sized(struct task *task, int left)
{
	size_t size = next(task) % 500 + 16;
	// cppcheck-suppress allocaCalled ; a frame whose size is not known before
	volatile char *bytes = alloca(size);

	bytes[size - 1] = 1;
	go_down(task, left - 1);
	sink += (uint64_t)bytes[size - 1];
}

static inline __attribute__((always_inline)) void inlined(struct task *task, int left)
{
	go_down(task, left - 1);
	sink += (uint64_t)left;
}

BLOCKS static void with_inlined(struct task *task, int left)
{
	inlined(task, left);
	sink++;
}

static __thread struct task *sorting;
static __thread int sorting_left;

static int compare(const void *a, const void *b)
{
	go_down(sorting, sorting_left - 1);
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

static void (*const ways[])(struct task *, int) = {plain, big, sized, with_inlined, called_back};

BLOCKS static void go_down(struct task *task, int left)
{
	if (left > 0) {
		ways[next(task) % (sizeof(ways) / sizeof(ways[0]))](task, left);
	} else {
		n_blocking++;
		for (;;)
			if (waits[task->number % N_WAITS]() < 0 && errno == EINTR)
				n_interrupted++;
	}
	sink++;
}

static void *run(void *arg)
{
	struct task *task = arg;

	go_down(task, (int)(next(task) % DEEPEST));
	return NULL;
}

static int set_up(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct timeval day = {.tv_sec = DAY_S};
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR2);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	shared.epoll = epoll_create1(EPOLL_CLOEXEC);
	shared.msg = msgget(IPC_PRIVATE, 0600);
	shared.sem = semget(IPC_PRIVATE, 1, 0600);
	if (shared.epoll < 0 || shared.msg < 0 || shared.sem < 0 || pipe(shared.pipe) < 0 ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, shared.socket) < 0 ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, shared.patient) < 0 ||
	    setsockopt(shared.patient[0], SOL_SOCKET, SO_RCVTIMEO, &day, sizeof(day)) < 0 ||
	    sem_init(&shared.semaphore, 0, 0) < 0 || pthread_mutex_lock(&shared.mutex) != 0)
		return -1;
	return epoll_ctl(shared.epoll, EPOLL_CTL_ADD, shared.pipe[0], &event);
}

static void clean_up(void)
{
	(void)msgctl(shared.msg, IPC_RMID, NULL);
	(void)semctl(shared.sem, 0, IPC_RMID);
}

int main(int argc, char **argv)
{
	static struct task tasks[MOST];
	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	pthread_t thread;
	char byte;

	if (n == 0 || n > MOST || set_up() < 0)
		return 1;
	for (unsigned i = 0; i < n; i++) {
		tasks[i] = (struct task){.number = i, .state = 7919 * (i + 1)};
		if (pthread_create(&thread, NULL, run, &tasks[i]) != 0)
			return 1;
	}
	while (n_blocking < n)
		(void)usleep(1000);
	(void)usleep(50000);
	do {
		(void)printf("%u\n", n_interrupted);
		(void)fflush(stdout);
	} while (read(STDIN_FILENO, &byte, 1) > 0);
	clean_up();
	_exit(0);
}
