/* event_signal.c - what a signal of a perf event costs, by F_SETSIG and by sigtrap
 *
 * A fixed amount of work runs bare and under each, in turn: the difference, divided by the signals,
 * is what one takes from the program.  Then a thread waits in epoll_wait() for its own timerfd:
 * how many of the signals end the wait with EINTR. */
#include "tests/targets/perf_signal.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 7, WAITS = 3000, NS_PER_S = 1000000000 };

enum way { BARE, SETSIG, SIGTRAP_MODE, WAYS };

static const char *const names[] = {"bare", "F_SETSIG", "sigtrap"};
static volatile sig_atomic_t n_signals;

static void on_signal(int signo)
{
	(void)signo;
	n_signals++;
}

static double cpu_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

static int begin(enum way way, unsigned hz)
{
	int fd;

	if (way == BARE)
		return -1;
	/* An event with sigtrap may have the kernel only with CAP_PERFMON and CAP_KILL. */
	fd = way == SIGTRAP_MODE ? perf_clock_open(hz, true, true)
				 : perf_signal_open(hz, geteuid() != 0);
	if (fd < 0) {
		perror(names[way]);
		exit(1);
	}
	n_signals = 0;
	return fd;
}

static double work(void)
{
	double start = cpu_seconds();
	uint64_t chain = 1;

	for (uint64_t i = 0; i < 200000000; i++) {
		chain = (chain + i) ^ 5;
		__asm__ volatile("" : "+r"(chain));
	}
	return cpu_seconds() - start;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

static void price(unsigned hz)
{
	double each[WAYS][ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		double bare = 0;

		for (enum way way = BARE; way < WAYS; way++) {
			int fd = begin(way, hz);
			double seconds = work();

			if (fd >= 0)
				(void)close(fd);
			bare = way == BARE ? seconds : bare;
			each[way][round] = n_signals ? (seconds - bare) * 1e6 / n_signals : 0;
		}
	}
	printf("%5u Hz:", hz);
	for (enum way way = SETSIG; way < WAYS; way++) {
		qsort(each[way], ROUNDS, sizeof(double), compare);
		printf("  %s %.1f us a signal", names[way], each[way][ROUNDS / 2]);
	}
	(void)putchar('\n');
}

static void interruptions(enum way way)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 50000};
	struct epoll_event event = {.events = EPOLLIN};
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int n_interrupted = 0;
	int fd;

	(void)epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
	fd = begin(way, 10000);
	for (int i = 0; i < WAITS; i++) {
		(void)timerfd_settime(timer, 0, &soon, NULL);
		while (epoll_wait(epoll, &event, 1, -1) < 0 && errno == EINTR)
			n_interrupted++;
	}
	printf("%s: %d of %d signals ended an epoll_wait\n", names[way], n_interrupted,
	       (int)n_signals);
	(void)close(fd);
	(void)close(epoll);
	(void)close(timer);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	(void)sigaction(SIGPROF, &action, NULL);
	(void)sigaction(SIGTRAP, &action, NULL);
	for (unsigned hz = 1000; hz <= 10000; hz += 4500)
		price(hz);
	interruptions(SETSIG);
	interruptions(SIGTRAP_MODE);
	return 0;
}
