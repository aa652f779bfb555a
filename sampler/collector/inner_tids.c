/* inner_tids.c - the threads of a process in another pid namespace, as they are numbered here */
#include "sampler/collector/inner_tids.h"

#include "base/buf.h"
#include "base/io.h"
#include "sampler/collector/limits.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REREAD_MS = 50, STATUS_MAX_BYTES = 64 * 1024 };

/* The last number of the line "NSpid:", outermost first. */
static uint32_t innermost(const char *status)
{
	const char *at = strstr(status, "\nNSpid:");
	uint32_t inner = 0;

	if (!at)
		return 0;
	at += sizeof("\nNSpid:") - 1;
	for (;;) {
		char *end;
		unsigned long value = strtoul(at, &end, 10);

		if (end == at || memchr(at, '\n', (size_t)(end - at)) || value > INT32_MAX)
			return inner;
		inner = (uint32_t)value;
		at = end;
	}
}

static void read_one(struct inner_tids *tids, pid_t pid, uint32_t tid, struct buf *text)
{
	char path[64];
	uint32_t inner;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%u/status", (int)pid, (unsigned)tid);
	if (io_read_file(path, text, NULL) < 0)
		return;
	inner = innermost(buf_text(text));
	if (inner)
		(void)map_put(&tids->outer, inner, (void *)(uintptr_t)tid);
}

static void read_all(struct inner_tids *tids, pid_t pid)
{
	const struct dirent *entry;
	struct buf text;
	char path[32];
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	map_release(&tids->outer);
	buf_init(&text, STATUS_MAX_BYTES);
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(tasks))) { /* NOLINT(concurrency-mt-unsafe) */
		unsigned long tid = strtoul(entry->d_name, NULL, 10);

		if (tid > 0 && tid <= INT32_MAX)
			read_one(tids, pid, (uint32_t)tid, &text);
	}
	buf_release(&text);
	(void)closedir(tasks);
}

uint32_t inner_tids_find(struct inner_tids *tids, pid_t pid, uint32_t inner)
{
	uint32_t outer = (uint32_t)(uintptr_t)map_get(&tids->outer, inner);
	uint64_t now_ns = io_now_ns();

	if (outer || now_ns - tids->read_ns < REREAD_MS * NS_PER_MS)
		return outer;
	tids->read_ns = now_ns;
	read_all(tids, pid);
	return (uint32_t)(uintptr_t)map_get(&tids->outer, inner);
}

void inner_tids_release(struct inner_tids *tids)
{
	map_release(&tids->outer);
}
