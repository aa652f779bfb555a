/* signal_cost.c - measures what signals take from a program */
#include "tools/target/target.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	N_ROUNDS = 101,
	N_SIGNALS = 15,
	N_SLEEPS = 65,
	PERIOD_NS = 200000,
	MOST_NS = 20000000,
};

static void on_round(int signo)
{
	(void)signo;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

uint64_t signal_cost_ns(void)
{
	struct sigaction action = {.sa_handler = on_round};
	struct sigaction old;
	uint64_t rounds[N_ROUNDS];
	pid_t pid = getpid();

	if (sigaction(SIGURG, &action, &old) < 0)
		return 0;
	for (int i = 0; i < N_ROUNDS; i++) {
		uint64_t start = io_thread_ns();

		(void)syscall(SYS_tgkill, pid, pid, SIGURG);
		rounds[i] = io_thread_ns() - start;
	}
	(void)sigaction(SIGURG, &old, NULL);
	qsort(rounds, N_ROUNDS, sizeof(rounds[0]), compare);
	return rounds[N_ROUNDS / 2];
}

static volatile sig_atomic_t n_signals;

static void on_signal(int signo)
{
	(void)signo;
	n_signals++;
}

/* Spins, and looks how much CPU the moments take in which a signal came. */
static uint64_t median_gap(void)
{
	uint64_t gaps[N_SIGNALS];
	uint64_t start = io_thread_ns();
	uint64_t before = start;
	size_t n = 0;

	while (n < N_SIGNALS && before - start < MOST_NS) {
		sig_atomic_t seen = n_signals;
		uint64_t now = io_thread_ns();

		if (n_signals != seen) {
			now = io_thread_ns();
			gaps[n++] = now - before;
		}
		before = now;
	}
	if (n == 0)
		return 0;
	qsort(gaps, n, sizeof(gaps[0]), compare);
	return gaps[n / 2];
}

/* An event of CPU time of this thread.  Return: the descriptor; -errno. */
static int open_event(uint64_t period_ns)
{
	struct perf_how how = {.signal = SIGURG};
	int fd;

	perf_name_cpu(&how.name);
	fd = perf_open(&how, (pid_t)syscall(SYS_gettid), period_ns);
	if (fd >= 0)
		perf_enable(fd, true);
	return fd;
}

static uint64_t event_signal_ns(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sigaction old;
	uint64_t cost_ns;
	int fd;

	if (sigaction(SIGURG, &action, &old) < 0)
		return 0;
	fd = open_event(PERIOD_NS);
	cost_ns = fd >= 0 ? median_gap() : 0;
	cleanup_fd(&fd);
	(void)sigaction(SIGURG, &old, NULL);
	return cost_ns;
}

/* CPU of going to sleep and waking up, median. */
static uint64_t sleep_ns(void)
{
	const struct timespec shortest = {.tv_nsec = 1};
	uint64_t rounds[N_SLEEPS];

	for (int i = 0; i < N_SLEEPS; i++) {
		uint64_t start = io_thread_ns();

		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &shortest, NULL);
		rounds[i] = io_thread_ns() - start;
	}
	qsort(rounds, N_SLEEPS, sizeof(rounds[0]), compare);
	return rounds[N_SLEEPS / 2];
}

/* Switching in is charged to the thread itself, as much for switching out to the one behind. */
static uint64_t event_switch_ns(uint64_t period_ns)
{
	uint64_t without_ns = sleep_ns();
	_cleanup_fd_ int fd = open_event(period_ns);
	uint64_t with_ns = fd >= 0 ? sleep_ns() : 0;

	return with_ns > without_ns ? 2 * (with_ns - without_ns) : 0;
}

void signal_cost_of_event(struct collector_prices *prices, uint32_t hz)
{
	prices->event_ns = event_signal_ns();
	prices->switch_ns = event_switch_ns(1000000000 / hz);
	if (!prices->event_ns)
		prices->event_ns = prices->timer_ns;
}
