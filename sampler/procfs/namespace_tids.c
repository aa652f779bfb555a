/* namespace_tids.c - the threads of a process in another pid namespace, as they are numbered here
 */
#include "sampler/procfs/namespace_tids.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_status.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

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
	const struct dirent *entry;
	char path[32];
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)tids->pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	map_release(&tids->outer);
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(tasks))) { /* NOLINT(concurrency-mt-unsafe) */
		unsigned long tid = strtoul(entry->d_name, NULL, 10);

		if (tid > 0 && tid <= INT32_MAX)
			read_one(tids, (uint32_t)tid);
	}
	(void)closedir(tasks);
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
