/* task.c - the threads of a process: the files in /proc/PID/task/TID, and tids in another namespace
 */
#include "sampler/procfs/task.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_stat.h"
#include "sampler/procfs/proc_status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

DIR *tasks_open(pid_t pid)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return opendir(path);
}

uint32_t tasks_next(DIR *tasks)
{
	const struct dirent *entry;

	/* Only the thread that opened this stream reads it. */
	while ((entry = readdir(tasks))) { /* NOLINT(concurrency-mt-unsafe) */
		unsigned long tid = strtoul(entry->d_name, NULL, 10);

		if (tid > 0 && tid <= INT32_MAX)
			return (uint32_t)tid;
	}
	return 0;
}

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
	_cleanup_dir_ DIR *tasks = tasks_fd < 0 ? NULL : fdopendir(tasks_fd);
	struct schedstat schedstat = {0};
	uint64_t sum = 0;
	uint32_t tid;

	if (!tasks) {
		cleanup_fd(&tasks_fd);
		return 0;
	}
	while ((tid = tasks_next(tasks))) {
		_cleanup_fd_ int fd = task_open(tasks_fd, tid, "schedstat");

		if (fd >= 0 && task_read_schedstat(fd, &schedstat) == 0)
			sum += schedstat.delay_ns;
	}
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

#ifndef NS_GET_PID_FROM_PIDNS /* older headers than the kernel that runs */
#define NS_GET_PID_FROM_PIDNS _IOR(0xb7, 0x6, int)
#endif

enum {
	REREAD_MS = 50,
	REREAD_PART = 20,
	/* While others end, one that lives may stand in no list: a few times, but not so often. */
	GONE_READS = 8,
};

void namespace_tids_init(struct namespace_tids *tids, pid_t pid)
{
	*tids = (struct namespace_tids){.pid = pid, .ns_fd = -1};
}

void namespace_tids_open(struct namespace_tids *tids)
{
	_cleanup_fd_ int fd = -1;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)tids->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* The first process of a namespace is there as long as the namespace is. */
	if (fd >= 0 && ioctl(fd, NS_GET_PID_FROM_PIDNS, 1) > 0)
		tids->ns_fd = steal_fd(&fd);
}

static void read_one(struct namespace_tids *tids, uint32_t tid)
{
	struct proc_status status;
	pid_t inner =
		proc_status_read(&status, tids->pid, tid) < 0 ? 0 : proc_status_inner(&status);

	if (inner)
		(void)map_put(&tids->outer, (uint64_t)inner, (void *)(uintptr_t)tid);
	proc_status_release(&status);
}

static void read_all(struct namespace_tids *tids)
{
	_cleanup_dir_ DIR *tasks = tasks_open(tids->pid);
	uint32_t tid;

	if (!tasks)
		return;
	map_release(&tids->outer);
	while ((tid = tasks_next(tasks)))
		read_one(tids, tid);
	tids->n_reads++;
}

static uint32_t find_listed(struct namespace_tids *tids, uint32_t inner)
{
	uint32_t outer = (uint32_t)(uintptr_t)map_get(&tids->outer, inner);
	uint64_t now_ns = io_now_ns();
	uint64_t rest_ns;

	if (outer || now_ns < tids->next_ns)
		return outer;
	read_all(tids);
	/* A process that names threads that it does not have must not cost us time. */
	rest_ns = (io_now_ns() - now_ns) * REREAD_PART;
	tids->next_ns =
		now_ns + (rest_ns > REREAD_MS * NS_PER_MS ? rest_ns : REREAD_MS * NS_PER_MS);
	return (uint32_t)(uintptr_t)map_get(&tids->outer, inner);
}

uint32_t namespace_tids_find(struct namespace_tids *tids, uint32_t inner)
{
	int outer;

	if (inner == 0 || inner > INT32_MAX)
		return 0;
	if (tids->ns_fd < 0)
		return find_listed(tids, inner);
	outer = ioctl(tids->ns_fd, NS_GET_PID_FROM_PIDNS, inner);
	/* It may be a thread of another process. */
	return outer > 0 && !proc_thread_gone(tids->pid, (uint32_t)outer) ? (uint32_t)outer : 0;
}

void namespace_tid_begin(struct namespace_tid *tid, struct namespace_tids *tids, uint32_t inner)
{
	tid->outer = namespace_tids_find(tids, inner);
	tid->n_reads = tids->n_reads;
}

bool namespace_tid_gone(struct namespace_tid *tid, struct namespace_tids *tids, uint32_t inner)
{
	uint32_t outer;

	if (tids->ns_fd < 0 && tid->outer)
		return proc_thread_gone(tids->pid, tid->outer);
	outer = namespace_tids_find(tids, inner);
	if (outer)
		tid->outer = outer;
	return !outer && (tids->ns_fd >= 0 || tids->n_reads - tid->n_reads >= GONE_READS);
}

void namespace_tids_release(struct namespace_tids *tids)
{
	cleanup_fd(&tids->ns_fd);
	map_release(&tids->outer);
}
