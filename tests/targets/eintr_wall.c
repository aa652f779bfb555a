/*
 * eintr_wall.c - a thread in each of the calls that a signal makes fail, and how often one did
 *
 * eintr_wall SECONDS [itimer].  Says for every call how often it was made and how often it returned
 * EINTR: "NAME TID CALLS EINTR".  With `itimer` it samples itself as real-time profilers do: a
 * signal every 10 ms from setitimer(ITIMER_REAL).
 */
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { WAIT_MS = 15 };

static const struct timespec wait_time = {.tv_nsec = WAIT_MS * 1000000L};
static volatile int stop;
static int epoll_fd;
static int pipe_fds[2];
static int sockets[2];
static int messages;
static int semaphores;
static sem_t posix_semaphore;

static int call_poll(void)
{
	struct pollfd fd = {.fd = pipe_fds[0], .events = POLLIN};

	return poll(&fd, 1, WAIT_MS);
}

static int call_ppoll(void)
{
	struct pollfd fd = {.fd = pipe_fds[0], .events = POLLIN};

	return ppoll(&fd, 1, &wait_time, NULL);
}

static int call_select(void)
{
	struct timeval time = {.tv_usec = WAIT_MS * 1000};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	return select(pipe_fds[0] + 1, &set, NULL, NULL, &time);
}

static int call_epoll_wait(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, WAIT_MS);
}

static int call_nanosleep(void)
{
	return nanosleep(&wait_time, NULL);
}

static int call_sem_timedwait(void)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	return sem_timedwait(&posix_semaphore, &until);
}

static int call_recv(void)
{
	char byte;

	return (int)recv(sockets[0], &byte, 1, 0);
}

static int call_msgrcv(void)
{
	struct {
		long type;
		char text[8];
	} message;

	return (int)msgrcv(messages, &message, sizeof(message.text), 0, 0);
}

static int call_semop(void)
{
	struct sembuf take = {.sem_op = -1};

	return semop(semaphores, &take, 1);
}

static int call_sigtimedwait(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &wait_time);
}

static struct waiter {
	const char *name;
	int (*call)(void);
	pthread_t thread;
	pid_t tid;
	unsigned long calls;
	unsigned long interrupted;
} waiters[] = {
	{.name = "poll", .call = call_poll},
	{.name = "ppoll", .call = call_ppoll},
	{.name = "select", .call = call_select},
	{.name = "epoll_wait", .call = call_epoll_wait},
	{.name = "nanosleep", .call = call_nanosleep},
	{.name = "sem_timedwait", .call = call_sem_timedwait},
	{.name = "recv", .call = call_recv},
	{.name = "msgrcv", .call = call_msgrcv},
	{.name = "semop", .call = call_semop},
	{.name = "sigtimedwait", .call = call_sigtimedwait},
};

enum { N_WAITERS = sizeof(waiters) / sizeof(waiters[0]) };

static void *wait_on(void *argument)
{
	struct waiter *waiter = argument;

	waiter->tid = (pid_t)syscall(SYS_gettid);
	(void)pthread_setname_np(pthread_self(), waiter->name);
	while (!stop) {
		errno = 0;
		waiter->interrupted += waiter->call() < 0 && errno == EINTR;
		waiter->calls++;
	}
	return NULL;
}

/* Ends the waits that have no time of their own. */
static void feed(void)
{
	struct {
		long type;
		char text[8];
	} message = {.type = 1};
	struct sembuf give = {.sem_op = 1};

	(void)msgsnd(messages, &message, sizeof(message.text), IPC_NOWAIT);
	(void)semop(semaphores, &give, 1);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* The main thread takes none of the signals: it is the ones that wait who are asked. */
static void sample_by_itimer(void)
{
	struct itimerval every = {{0, 10000}, {0, 10000}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	sigset_t set;

	(void)sigaction(SIGALRM, &action, NULL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGALRM);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)setitimer(ITIMER_REAL, &every, NULL);
}

static int prepare(void)
{
	struct timeval time = {.tv_usec = WAIT_MS * 1000};
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR2);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	messages = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	return epoll_fd < 0 || messages < 0 || semaphores < 0 || pipe(pipe_fds) < 0 ||
	       socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) < 0 ||
	       setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) < 0 ||
	       sem_init(&posix_semaphore, 0, 0) < 0;
}

int main(int argc, char **argv)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 1);

	if (prepare())
		return 1;
	for (int i = 0; i < N_WAITERS; i++)
		if (pthread_create(&waiters[i].thread, NULL, wait_on, &waiters[i]) != 0)
			return 1;
	if (argc > 2 && strcmp(argv[2], "itimer") == 0)
		sample_by_itimer();
	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		struct timespec left = wait_time;

		while (nanosleep(&left, &left) < 0 && errno == EINTR) {
		}
		feed();
	}
	stop = 1;
	for (int i = 0; i < N_WAITERS; i++) {
		feed();
		feed();
		(void)pthread_join(waiters[i].thread, NULL);
		printf("%s %d %lu %lu\n", waiters[i].name, waiters[i].tid, waiters[i].calls,
		       waiters[i].interrupted);
	}
	(void)msgctl(messages, IPC_RMID, NULL);
	(void)semctl(semaphores, 0, IPC_RMID);
	return 0;
}
