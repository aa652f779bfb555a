/* task.c - what the kernel says of one thread: the files in /proc/PID/task/TID */
#include "sampler/procfs/task.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/procfs/proc_stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int task_open_all(pid_t pid)
{
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int task_open(int tasks_fd, uint32_t tid, const char *name)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "%u/%s", tid, name);
	fd = openat(tasks_fd, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int task_read_schedstat(int fd, struct schedstat *ret_schedstat)
{
	char text[128];
	char *end;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	text[n] = '\0';
	ret_schedstat->run_ns = strtoull(text, &end, 10);
	if (*end != ' ')
		return -EBADMSG;
	ret_schedstat->delay_ns = strtoull(end, &end, 10);
	ret_schedstat->slices = strtoull(end, NULL, 10);
	return 0;
}

int task_read_stat(int tasks_fd, uint32_t tid, struct task_stat *ret_stat)
{
	_cleanup_fd_ int fd = task_open(tasks_fd, tid, "stat");
	struct proc_stat stat;
	int r = fd < 0 ? fd : proc_stat_read(fd, STAT_CPU, &stat);

	if (r < 0)
		return r;
	*ret_stat = (struct task_stat){.letter = stat.state,
				       .cpu = (uint32_t)stat.at[STAT_CPU],
				       .system_ticks = stat.at[STAT_SYSTEM],
				       .started_ticks = stat.at[STAT_START]};
	return 0;
}

uint64_t task_sum_run_delay(int tasks_fd)
{
	DIR *tasks = tasks_fd < 0 ? NULL : fdopendir(tasks_fd);
	const struct dirent *entry;
	struct schedstat schedstat = {0};
	uint64_t sum = 0;

	if (!tasks) {
		cleanup_fd(&tasks_fd);
		return 0;
	}
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(tasks))) { /* NOLINT(concurrency-mt-unsafe) */
		_cleanup_fd_ int fd = -1;

		if (entry->d_name[0] == '.')
			continue;
		fd = task_open(tasks_fd, (uint32_t)strtoul(entry->d_name, NULL, 10), "schedstat");
		if (fd >= 0 && task_read_schedstat(fd, &schedstat) == 0)
			sum += schedstat.delay_ns;
	}
	(void)closedir(tasks);
	return sum;
}

int task_read_comm(int tasks_fd, uint32_t tid, char to[SAMPLE_COMM_SIZE])
{
	_cleanup_fd_ int fd = task_open(tasks_fd, tid, "comm");
	char text[64];
	int r = fd < 0 ? fd : io_read_text(fd, text, sizeof(text));
	size_t len;

	if (r < 0)
		return r;
	len = strcspn(text, "\n");
	if (len > SAMPLE_COMM_SIZE - 1)
		len = SAMPLE_COMM_SIZE - 1;
	memcpy(to, text, len);
	memset(to + len, 0, SAMPLE_COMM_SIZE - len);
	return 0;
}

/* What CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC: the time that the machine has slept. */
static uint64_t slept_ns(void)
{
	struct timespec boot;
	uint64_t now_ns = io_now_ns();
	uint64_t boot_ns;

	if (clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
		return 0;
	boot_ns = (uint64_t)boot.tv_sec * NS_PER_S + (uint64_t)boot.tv_nsec;
	return boot_ns > now_ns ? boot_ns - now_ns : 0;
}

uint64_t task_started_ns(uint64_t started_ticks, uint64_t late_ns)
{
	long per_s = sysconf(_SC_CLK_TCK);
	uint64_t tick_ns = NS_PER_S / (uint64_t)(per_s > 0 ? per_s : 100);
	uint64_t boot_ns = started_ticks * tick_ns + tick_ns / 2;
	uint64_t slept = slept_ns();
	uint64_t ns = boot_ns > slept ? boot_ns - slept : 0;

	return ns > late_ns ? late_ns : ns;
}
