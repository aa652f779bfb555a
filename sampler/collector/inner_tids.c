/* inner_tids.c - the threads of a process in another pid namespace, as they are numbered here */
#include "sampler/collector/inner_tids.h"

#include "base/io.h"
#include "sampler/collector/limits.h"
#include "sampler/collector/proc_status.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { REREAD_MS = 50, REREAD_PART = 20 };

static void read_one(struct inner_tids *tids, pid_t pid, uint32_t tid)
{
	struct proc_status status;
	pid_t inner = proc_status_read(&status, pid, tid) < 0 ? 0 : proc_status_inner(&status);

	if (inner)
		(void)map_put(&tids->outer, (uint64_t)inner, (void *)(uintptr_t)tid);
	proc_status_release(&status);
}

static void read_all(struct inner_tids *tids, pid_t pid)
{
	const struct dirent *entry;
	char path[32];
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	map_release(&tids->outer);
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(tasks))) { /* NOLINT(concurrency-mt-unsafe) */
		unsigned long tid = strtoul(entry->d_name, NULL, 10);

		if (tid > 0 && tid <= INT32_MAX)
			read_one(tids, pid, (uint32_t)tid);
	}
	(void)closedir(tasks);
}

uint32_t inner_tids_find(struct inner_tids *tids, pid_t pid, uint32_t inner)
{
	uint32_t outer = (uint32_t)(uintptr_t)map_get(&tids->outer, inner);
	uint64_t now_ns = io_now_ns();
	uint64_t rest_ns;

	if (outer || now_ns < tids->next_ns)
		return outer;
	read_all(tids, pid);
	/* Who names threads that it does not have is not to keep us at it. */
	rest_ns = (io_now_ns() - now_ns) * REREAD_PART;
	tids->next_ns =
		now_ns + (rest_ns > REREAD_MS * NS_PER_MS ? rest_ns : REREAD_MS * NS_PER_MS);
	return (uint32_t)(uintptr_t)map_get(&tids->outer, inner);
}

void inner_tids_release(struct inner_tids *tids)
{
	map_release(&tids->outer);
}
