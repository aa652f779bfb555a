/*
 * eintr_calls.c - calls that a signal ends, and how often one did
 *
 * usage: eintr_calls SECONDS [CALL]
 *        eintr_calls -b [-s HZ [-u]] SECONDS
 *
 * A thread a call, named for it, all at once; or CALL alone, in the main thread, where process-wide
 * timers send their signals.  Every call waits for 50 ms at a time.  A line each: its name,
 * how often it was made, how often it gave EINTR, and how often the thread gave up the CPU: about
 * once a call, if nothing wakes it.
 *
 * -b: bursts.  A call waits for 1 to 3 ms, and between two calls the thread works, in user mode or
 * in the kernel, so that profilers of CPU time have something to sample.  Besides, two threads wake
 * each other 100,000 times through epoll and an eventfd; the line "pingpong" has their waits.
 * -s: every thread opens a perf event of its own that sends it HZ signals per second of CPU, with
 * -u of CPU in user mode.  The line "signals" has how many came.
 */
#include "burn.h"
#include "perf_signal.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { CALL_US = 50000, KERNEL_BYTES = 64 * 1024, PINGPONG_ROUNDS = 100000 };

BURN_FUNCTION(burn_between_calls)

static unsigned seconds;
static bool bursts;
static unsigned event_hz;
static bool user_only;
static atomic_ulong n_signals;
static _Thread_local struct timespec wait_time = {0, CALL_US * 1000L};

static int wait_ms(void)
{
	return (int)(wait_time.tv_nsec / 1000000);
}

static struct timeval wait_timeval(void)
{
	return (struct timeval){0, wait_time.tv_nsec / 1000};
}

static void call_poll(void)
{
	(void)poll(NULL, 0, wait_ms());
}

static void call_ppoll(void)
{
	(void)ppoll(NULL, 0, &wait_time, NULL);
}

static void call_select(void)
{
	struct timeval time = wait_timeval();

	(void)select(0, NULL, NULL, NULL, &time);
}

static void call_epoll_wait(void)
{
	struct epoll_event event;
	static int fd = -1;

	if (fd < 0)
		fd = epoll_create1(EPOLL_CLOEXEC);
	(void)epoll_wait(fd, &event, 1, wait_ms());
}

static void call_nanosleep(void)
{
	(void)nanosleep(&wait_time, NULL);
}

static void call_clock_nanosleep(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &wait_time, NULL);
}

static void call_futex(void)
{
	static uint32_t word;

	(void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &wait_time, NULL, 0);
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
	struct timeval time = wait_timeval();
	static int pair[2] = {-1, -1};
	char byte;

	if (pair[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		exit(2);
	(void)setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
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
	if (bursts)
		wait_time.tv_nsec = 2000000;
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
	{.name = "clock_nanosleep", .make = call_clock_nanosleep},
	{.name = "futex", .make = call_futex},
	{.name = "sem_timedwait", .make = call_sem_timedwait},
	{.name = "recv", .make = call_recv},
	{.name = "msgrcv", .make = call_msgrcv},
	{.name = "semop", .make = call_semop},
	{.name = "sigtimedwait", .make = call_sigtimedwait},
};

enum { N_CALLS = sizeof(calls) / sizeof(calls[0]) };

static void on_signal(int signo)
{
	(void)signo;
	n_signals++;
}

/* Of the calling thread; it counts to the end of the thread. */
static void open_event(void)
{
	if (event_hz == 0 || perf_signal_open(event_hz, user_only) >= 0)
		return;
	perror("eintr_calls: perf_event_open");
	exit(2);
}

static void work_in_kernel(bool random)
{
	static _Thread_local char bytes[KERNEL_BYTES];
	int fds[2];

	if (random) {
		(void)!getrandom(bytes, sizeof(bytes), 0);
		return;
	}
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		exit(2);
	for (int i = 0; i < 4; i++)
		if (write(fds[1], bytes, sizeof(bytes)) > 0)
			(void)!read(fds[0], bytes, sizeof(bytes));
	(void)close(fds[0]);
	(void)close(fds[1]);
}

/* Some work, and how long the next call waits. */
static void burst(uint32_t *random)
{
	uint32_t kind = next_random(random) % 4;

	if (kind < 2)
		burn_between_calls(next_random(random) % 300000);
	else
		work_in_kernel(kind == 2);
	wait_time.tv_nsec = (long)(1 + next_random(random) % 3) * 1000000;
}

static void *make_calls(void *context)
{
	struct call *call = context;
	uint32_t random = (uint32_t)(call - calls) * 2654435761U | 1;
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
	struct rusage before;
	struct rusage after;

	(void)prctl(PR_SET_NAME, call->name);
	open_event();
	(void)getrusage(RUSAGE_THREAD, &before);
	while (clock_seconds(CLOCK_MONOTONIC) < end) {
		if (bursts)
			burst(&random);
		errno = 0;
		call->make();
		call->made++;
		call->ended += errno == EINTR;
	}
	(void)getrusage(RUSAGE_THREAD, &after);
	call->switches = after.ru_nvcsw - before.ru_nvcsw;
	return NULL;
}

struct side {
	int epoll;
	int own_fd;
	int other_fd;
	unsigned long ended;
	bool paced;
};

/* As many rounds by now as belong to this part of the time. */
static void keep_pace(unsigned long round, double start)
{
	double due = (double)round * seconds / PINGPONG_ROUNDS;

	while (clock_seconds(CLOCK_MONOTONIC) - start < due)
		(void)usleep(1000);
}

static void *wake_each_other(void *context)
{
	struct side *side = context;
	double start = clock_seconds(CLOCK_MONOTONIC);
	struct epoll_event event;
	uint64_t value = 1;

	(void)prctl(PR_SET_NAME, "pingpong");
	open_event();
	for (unsigned long round = 0; round < PINGPONG_ROUNDS; round++) {
		if (side->paced && round % 200 == 0)
			keep_pace(round, start);
		while (epoll_wait(side->epoll, &event, 1, -1) < 0)
			side->ended += errno == EINTR;
		while (read(side->own_fd, &value, sizeof(value)) < 0)
			side->ended += errno == EINTR;
		burn_between_calls(2000);
		while (write(side->other_fd, &value, sizeof(value)) < 0)
			side->ended += errno == EINTR;
	}
	return NULL;
}

static void start_pingpong(struct side sides[2], pthread_t threads[2])
{
	struct epoll_event event = {.events = EPOLLIN};
	int fds[2] = {eventfd(1, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC)};

	for (int i = 0; i < 2; i++) {
		sides[i] = (struct side){.epoll = epoll_create1(EPOLL_CLOEXEC),
					 .own_fd = fds[i],
					 .other_fd = fds[1 - i],
					 .paced = i == 0};
		if (epoll_ctl(sides[i].epoll, EPOLL_CTL_ADD, fds[i], &event) < 0)
			exit(2);
	}
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, wake_each_other, &sides[i]) != 0)
			exit(2);
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

static void make_all_in_bursts(void)
{
	struct side sides[2];
	pthread_t threads[2];

	start_pingpong(sides, threads);
	make_all();
	for (int i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	(void)printf("pingpong %d %lu 0\n", 2 * PINGPONG_ROUNDS, sides[0].ended + sides[1].ended);
	(void)printf("signals %lu\ncpu %.6f\n", atomic_load(&n_signals),
		     clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
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

/* Whether ARGV says something that can be done. */
static bool parse(int argc, char **argv)
{
	for (int option; (option = getopt(argc, argv, "bs:u")) >= 0;) {
		if (option == 'b')
			bursts = true;
		else if (option == 's')
			event_hz = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'u')
			user_only = true;
		else
			return false;
	}
	if (optind >= argc || argc - optind > (bursts ? 1 : 2))
		return false;
	seconds = (unsigned)strtoul(argv[optind], NULL, 10);
	return true;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	if (!parse(argc, argv)) {
		(void)fprintf(stderr, "usage: eintr_calls SECONDS [CALL]\n"
				      "       eintr_calls -b [-s HZ [-u]] SECONDS\n");
		return 2;
	}
	if (event_hz > 0)
		(void)sigaction(SIGPROF, &action, NULL);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	if (queue < 0 || semaphores < 0) {
		perror("eintr_calls");
		return 2;
	}
	start_ender();
	if (bursts)
		make_all_in_bursts();
	else if (argc - optind == 2)
		make_one(argv[optind + 1]);
	else
		make_all();
	(void)msgctl(queue, IPC_RMID, NULL);
	(void)semctl(semaphores, 0, IPC_RMID);
	return 0;
}
