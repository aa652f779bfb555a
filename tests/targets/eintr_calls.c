/*
 * eintr_calls.c - calls that a signal ends, and how often one did
 *
 * usage: eintr_calls SECONDS [CALL]
 *
 * A thread a call, named for it, all at once; or CALL alone, in the main thread, where process-wide
 * timers send their signals.  Every call waits for 50 ms at a time.  A line each: its name,
 * how often it was made, how often it gave EINTR, and how often the thread gave up the CPU: about
 * once a call, if nothing wakes it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { CALL_MS = 50 };

static const struct timespec wait_time = {0, CALL_MS * 1000000L};
static unsigned seconds;

static void call_poll(void)
{
	(void)poll(NULL, 0, CALL_MS);
}

static void call_ppoll(void)
{
	(void)ppoll(NULL, 0, &wait_time, NULL);
}

static void call_select(void)
{
	struct timeval time = {0, CALL_MS * 1000L};

	(void)select(0, NULL, NULL, NULL, &time);
}

static void call_epoll_wait(void)
{
	struct epoll_event event;
	static int fd = -1;

	if (fd < 0)
		fd = epoll_create1(EPOLL_CLOEXEC);
	(void)epoll_wait(fd, &event, 1, CALL_MS);
}

static void call_nanosleep(void)
{
	(void)nanosleep(&wait_time, NULL);
}

static void call_sem_timedwait(void)
{
	static sem_t sem;
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait_time.tv_nsec;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	(void)sem_timedwait(&sem, &until);
}

static void call_recv(void)
{
	static const struct timeval time = {0, CALL_MS * 1000L};
	static int pair[2] = {-1, -1};
	char byte;

	if (pair[0] < 0) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
			exit(2);
		(void)setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	}
	(void)recv(pair[0], &byte, 1, 0);
}

static int queue = -1;
static int semaphores = -1;

/* This one and semop have no time-out: a thread that counts nothing ends their waits. */
static void call_msgrcv(void)
{
	struct {
		long type;
		char text[1];
	} message;

	(void)msgrcv(queue, &message, sizeof(message.text), 0, 0);
}

static void call_semop(void)
{
	struct sembuf take = {0, -1, 0};

	(void)semop(semaphores, &take, 1);
}

static void call_sigtimedwait(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigtimedwait(&set, NULL, &wait_time);
}

/* Ends the waits of msgrcv and semop, with every signal blocked. */
static void *end_waits(void *context)
{
	struct {
		long type;
		char text[1];
	} message = {1, {0}};
	struct sembuf give = {0, 1, 0};

	(void)context;
	for (;;) {
		(void)nanosleep(&wait_time, NULL);
		(void)msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT);
		(void)semop(semaphores, &give, 1);
	}
	return NULL;
}

struct call {
	const char *name;
	void (*make)(void);
	pthread_t thread;
	unsigned long made;
	unsigned long ended; /* by a signal */
	long switches;
};

static struct call calls[] = {
	{.name = "poll", .make = call_poll},
	{.name = "ppoll", .make = call_ppoll},
	{.name = "select", .make = call_select},
	{.name = "epoll_wait", .make = call_epoll_wait},
	{.name = "nanosleep", .make = call_nanosleep},
	{.name = "sem_timedwait", .make = call_sem_timedwait},
	{.name = "recv", .make = call_recv},
	{.name = "msgrcv", .make = call_msgrcv},
	{.name = "semop", .make = call_semop},
	{.name = "sigtimedwait", .make = call_sigtimedwait},
};

enum { N_CALLS = sizeof(calls) / sizeof(calls[0]) };

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *make_calls(void *context)
{
	struct call *call = context;
	double end = now() + seconds;
	struct rusage before;
	struct rusage after;

	(void)prctl(PR_SET_NAME, call->name);
	(void)getrusage(RUSAGE_THREAD, &before);
	while (now() < end) {
		errno = 0;
		call->make();
		call->made++;
		call->ended += errno == EINTR;
	}
	(void)getrusage(RUSAGE_THREAD, &after);
	call->switches = after.ru_nvcsw - before.ru_nvcsw;
	return NULL;
}

static void print_call(const struct call *call)
{
	(void)printf("%s %lu %lu %ld\n", call->name, call->made, call->ended, call->switches);
}

static void make_one(const char *name)
{
	for (size_t i = 0; i < N_CALLS; i++) {
		if (strcmp(calls[i].name, name) != 0)
			continue;
		(void)make_calls(&calls[i]);
		print_call(&calls[i]);
	}
}

static void make_all(void)
{
	for (size_t i = 0; i < N_CALLS; i++)
		if (pthread_create(&calls[i].thread, NULL, make_calls, &calls[i]) != 0)
			exit(2);
	for (size_t i = 0; i < N_CALLS; i++)
		(void)pthread_join(calls[i].thread, NULL);
	for (size_t i = 0; i < N_CALLS; i++)
		print_call(&calls[i]);
}

static void start_ender(void)
{
	pthread_t ender;
	sigset_t all;
	sigset_t old;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&ender, NULL, end_waits, NULL) != 0)
		exit(2);
	(void)pthread_detach(ender);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3) {
		(void)fprintf(stderr, "usage: eintr_calls SECONDS [CALL]\n");
		return 2;
	}
	seconds = (unsigned)strtoul(argv[1], NULL, 10);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (queue < 0 || semaphores < 0) {
		perror("eintr_calls");
		return 2;
	}
	start_ender();
	if (argc == 3)
		make_one(argv[2]);
	else
		make_all();
	(void)msgctl(queue, IPC_RMID, NULL);
	(void)semctl(semaphores, 0, IPC_RMID);
	return 0;
}
