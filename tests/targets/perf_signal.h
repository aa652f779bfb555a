/* perf_signal.h - a perf event that sends its thread SIGPROF, as in-process profilers open one */
#ifndef TARGETS_PERF_SIGNAL_H
#define TARGETS_PERF_SIGNAL_H

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A task-clock event of the calling thread with HZ periods a second, or -1. */
static inline int perf_clock_open(unsigned hz, bool sigtrap, bool exclude_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000000 / hz,
		.exclude_kernel = exclude_kernel,
		.exclude_hv = 1,
	};

	if (sigtrap) {
		attr.sigtrap = 1;
		attr.remove_on_exec = 1;
		attr.inherit = 1;
		attr.inherit_thread = 1;
	}
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* The event's signal goes to the calling thread: SIGPROF by F_SETSIG. */
static inline int perf_signal_open(unsigned hz, bool exclude_kernel)
{
	const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid)};
	int fd = perf_clock_open(hz, false, exclude_kernel);

	if (fd >= 0 && fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, SIGPROF) == 0 &&
	    fcntl(fd, F_SETFL, O_RDWR | O_ASYNC) == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

#endif
