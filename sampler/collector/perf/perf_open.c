/* perf_open.c - one perf event of one thread, whose overflows send that thread a signal */
#include "sampler/collector/perf/perf_open.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	PERF_FD_BASE = 4096, /* the least descriptor number of a perf event */
};

enum { SYSCTL_BYTES = 64 };

/* Since Linux 5.13; older headers do not name its bit, which follows the others. */
static void ask_remove_on_exec(struct perf_event_attr *attr, bool on)
{
#ifdef PERF_ATTR_SIZE_VER7
	attr->remove_on_exec = on;
#else
	(void)attr;
	(void)on;
#endif
}

static struct perf_event_attr attr_of(const struct perf_how *how, uint64_t period)
{
	const struct perf_name *name = &how->name;
	struct perf_event_attr attr = {
		.type = name->type,
		.size = sizeof(attr),
		.config = name->config,
		.config1 = name->config1,
		.config2 = name->config2,
		.disabled = 1,
		.exclude_kernel = !how->in_kernel || name->user_only,
		.exclude_user = name->kernel_only,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.sample_period = period,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.wakeup_events = 1,
	};

	ask_remove_on_exec(&attr, true);
	if (how->frames) {
		attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
		attr.exclude_callchain_user = 1;
		attr.use_clockid = 1;
		attr.clockid = CLOCK_MONOTONIC;
	}
	return attr;
}

static int call(struct perf_event_attr *attr, pid_t tid)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && (errno == EINVAL || errno == E2BIG)) {
		ask_remove_on_exec(attr, false);
		fd = (int)syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

static int try_on_self(const struct perf_name *name, bool in_kernel)
{
	struct perf_how how = {.name = *name, .in_kernel = in_kernel};
	struct perf_event_attr attr = attr_of(&how, NS_PER_MS);
	int fd = call(&attr, 0);

	if (fd < 0)
		return fd;
	(void)close(fd);
	return 0;
}

static long paranoid(void)
{
	struct buf text;
	long value = -1;

	buf_init(&text, SYSCTL_BYTES);
	if (io_read_file("/proc/sys/kernel/perf_event_paranoid", &text, NULL) == 0)
		value = strtol(buf_text(&text), NULL, 10);
	buf_release(&text);
	return value;
}

/* What a refusal comes from.  Without the sysctl's file the kernel has no events at all. */
static void explain(const struct perf_name *name, int code, long level, char *why, size_t size)
{
	if (code == ENOSYS || level == -1)
		(void)snprintf(why, size, "this kernel has no perf events");
	else if (code == ENOENT || code == EOPNOTSUPP || code == ENODEV)
		(void)snprintf(why, size, "this machine does not count '%s'", name->text);
	else if (code == EMFILE || code == ENFILE)
		(void)snprintf(why, size, "no descriptor is left, try: ulimit -n 65536");
	else if (level > 2)
		(void)snprintf(why, size,
			       "kernel.perf_event_paranoid is %ld, try: sysctl "
			       "kernel.perf_event_paranoid=2, or CAP_PERFMON",
			       level);
	else if (code == EACCES || code == EPERM)
		(void)snprintf(why, size,
			       "perf_event_open is refused (%s), try: CAP_PERFMON, or a seccomp "
			       "profile of the container that allows it",
			       strerrorname_np(code));
	else
		(void)snprintf(why, size, "perf_event_open: %s", strerrordesc_np(code));
}

void perf_permit(const struct perf_name *name, struct perf_permit *ret_permit)
{
	struct perf_permit permit = {.works = true, .in_kernel = !name->user_only};
	long level = paranoid();
	int r = try_on_self(name, permit.in_kernel);

	if ((r == -EACCES || r == -EPERM) && permit.in_kernel && !name->kernel_only) {
		permit.in_kernel = false;
		(void)snprintf(permit.why, sizeof(permit.why),
			       "kernel.perf_event_paranoid is %ld, try: sysctl "
			       "kernel.perf_event_paranoid=1, or CAP_PERFMON",
			       level);
		r = try_on_self(name, false);
	}
	if (r < 0) {
		permit = (struct perf_permit){.code = -r};
		explain(name, -r, level, permit.why, sizeof(permit.why));
	}
	*ret_permit = permit;
}

int perf_base(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 2 * PERF_FD_BASE)
		return PERF_FD_BASE;
	return (int)(limit.rlim_cur / 2);
}

/* The signal carries the number that the descriptor has when O_ASYNC is set. */
static int send_signals(int fd, pid_t tid, int signal)
{
	const struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};

	if (fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, signal) < 0 ||
	    fcntl(fd, F_SETFL, O_RDWR | O_ASYNC) < 0)
		return -errno;
	return 0;
}

int perf_open(const struct perf_how *how, pid_t tid, uint64_t period)
{
	struct perf_event_attr attr = attr_of(how, period);
	_cleanup_fd_ int low = call(&attr, tid);
	_cleanup_fd_ int fd = -1;
	int r;

	if (low < 0)
		return low;
	fd = fcntl(low, F_DUPFD_CLOEXEC, how->base);
	if (fd < 0)
		return -errno;
	r = send_signals(fd, tid, how->signal);
	return r < 0 ? r : steal_fd(&fd);
}

void perf_enable(int fd, bool on)
{
	(void)ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void perf_set_period(int fd, uint64_t period)
{
	(void)ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
}

int perf_count(int fd, uint64_t *ret_count)
{
	struct {
		uint64_t value;
		uint64_t enabled_ns;
		uint64_t running_ns;
	} now;
	ssize_t n = read(fd, &now, sizeof(now));

	if (n != (ssize_t)sizeof(now))
		return n < 0 ? -errno : -EIO;
	*ret_count = now.value;
	if (now.running_ns && now.running_ns < now.enabled_ns)
		*ret_count = (uint64_t)((double)now.value * (double)now.enabled_ns /
					(double)now.running_ns);
	return 0;
}
