/*
 * event_rate.c - which part of a perf event's signals this machine delivers just now
 *
 * event_rate HZ SECONDS.  Burns SECONDS of CPU under a task-clock event of its own, whose handler
 * does nothing; says how many signals came for one that was due.  Where interrupts are late,
 * because the processor was another's, several are due at once and one comes.  77: events are not
 * to be had.
 */
#include "burn.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIPPED = 77 };

BURN_FUNCTION(burn)

static volatile sig_atomic_t n_signals;
static volatile sig_atomic_t ending;

static void on_signal(int signo)
{
	(void)signo;
	n_signals++;
}

static void on_term(int signo)
{
	(void)signo;
	ending = 1;
}

static int begin(uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = period_ns,
		.disabled = 1,
		.exclude_kernel = geteuid() != 0,
		.exclude_hv = 1,
	};
	const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid)};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, SIGPROF) < 0 ||
	    fcntl(fd, F_SETFL, O_RDWR | O_ASYNC) < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction term = {.sa_handler = on_term};
	double hz = argc > 1 ? strtod(argv[1], NULL) : 1000;
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 0.2;
	double start;
	double used;
	int n;

	(void)sigaction(SIGPROF, &action, NULL);
	(void)sigaction(SIGTERM, &term, NULL);
	if (begin((uint64_t)(1e9 / hz)) < 0)
		return SKIPPED;
	start = thread_seconds();
	n = n_signals;
	do {
		burn(2000000); /* reading the clock is in the kernel */
		used = thread_seconds() - start;
	} while (used < seconds && !ending);
	printf("%.4f\n", (n_signals - n) / hz / used);
	return 0;
}
