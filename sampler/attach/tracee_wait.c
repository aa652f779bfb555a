/*
 * tracee_wait.c - waits for a thread to stop: polls, then sleeps, with a time limit
 *
 * A thread on another processor stops within microseconds, and polling costs less than sleeping.
 * After that wick sleeps in waitpid(), and a watchdog timer interrupts it in time. If no timer can
 * be created (RLIMIT_SIGPENDING), it polls at intervals.
 */
#include "sampler/attach/tracee_wait.h"

#include "base/io.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	SIGNAL = 2, /* added to SIGRTMIN */
	NS_PER_S = 1000000000,
	AGAIN_NS = 5000000, /* a signal before the sleep is lost: the timer repeats */
	STEP_NS = 50000,
};

static void on_watchdog(int sig)
{
	(void)sig;
}

static int start_watchdog(uint64_t ns, timer_t *ret_timer)
{
	struct sigaction action = {.sa_handler = on_watchdog};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + SIGNAL};
	const struct itimerspec spec = {
		.it_value = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)},
		.it_interval = {.tv_nsec = AGAIN_NS}};

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (sigaction(SIGRTMIN + SIGNAL, &action, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, ret_timer) < 0)
		return -errno;
	if (timer_settime(*ret_timer, 0, &spec, NULL) < 0) {
		(void)timer_delete(*ret_timer);
		return -errno;
	}
	return 0;
}

static int poll_wait(pid_t tid, int options, int *ret_status)
{
	pid_t r = waitpid(tid, ret_status, __WALL | options);

	if (r == tid)
		return 0;
	return r == 0 ? -EAGAIN : -errno;
}

static int poll_until(pid_t tid, uint64_t deadline_ns, int *ret_status)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	int r;

	while ((r = poll_wait(tid, WNOHANG, ret_status)) == -EAGAIN && io_now_ns() < deadline_ns)
		(void)nanosleep(&step, NULL);
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

int tracee_wait(pid_t tid, struct stop_wait *wait, uint64_t deadline_ns, int *ret_status)
{
	uint64_t start_ns = io_now_ns();
	timer_t watchdog = NULL;
	int r;

	stop_wait_begin(wait);
	do
		r = poll_wait(tid, WNOHANG, ret_status);
	while (r == -EAGAIN && stop_wait_continues(wait));
	if (r != -EAGAIN)
		return r;
	if (deadline_ns <= start_ns)
		return -ETIMEDOUT;
	if (start_watchdog(deadline_ns - start_ns, &watchdog) < 0)
		return poll_until(tid, deadline_ns, ret_status);
	do
		r = poll_wait(tid, 0, ret_status);
	while (r == -EINTR && io_now_ns() < deadline_ns);
	(void)timer_delete(watchdog);
	return r == -EINTR ? -ETIMEDOUT : r;
}
