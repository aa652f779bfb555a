/* top_read.c - what a thread has used, from /proc, for the choice of the heaviest */
#include "sampler/collector/select/top_read.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/collector/metrics/readings.h"
#include "sampler/procfs/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024 };

static const char *file_of(enum collector_by by)
{
	return by == BY_FAULTS ? "stat" : by == BY_IO ? "io" : "schedstat";
}

/* The Nth word of a text, 1 for the first, as a number. */
static bool number_at(const char *text, unsigned n, uint64_t *ret_value)
{
	char *end;

	for (unsigned i = 1; i < n; i++) {
		text += strspn(text, " \n");
		text += strcspn(text, " \n");
	}
	*ret_value = strtoull(text, &end, 10);
	return end > text;
}

bool top_parse(const char *text, enum collector_by by, uint64_t *ret_value)
{
	struct proc_stat stat;
	uint64_t first = 0;
	uint64_t second = 0;
	int64_t read = 0;
	int64_t written = 0;
	bool both;

	switch (by) {
	case BY_FAULTS:
		both = proc_stat_parse(text, STAT_MAJFLT, &stat) == 0;
		if (both)
			first = stat.at[STAT_MINFLT] + stat.at[STAT_MAJFLT];
		break;
	case BY_IO:
		both = readings_parse_line(text, "read_bytes", &read) == 0 &&
		       readings_parse_line(text, "write_bytes", &written) == 0;
		first = (uint64_t)read;
		second = (uint64_t)written;
		break;
	case BY_RUN_DELAY:
		both = number_at(text, 2, &first);
		break;
	default:
		both = number_at(text, 1, &first);
		break;
	}
	if (both)
		*ret_value = first + second;
	return both;
}

bool top_read(const struct top_task *task, int *fd, struct top_use *ret_use)
{
	char text[TEXT_BYTES];
	char path[32];
	uint64_t value;

	if (io_read_text(*fd, text, sizeof(text)) <
	    0) { /* not open yet, or of a thread that had the number before */
		cleanup_fd(fd);
		(void)snprintf(path, sizeof(path), "%u/%s", task->tid, file_of(task->by));
		*fd = openat(task->tasks_fd, path, O_RDONLY | O_CLOEXEC);
		if (io_read_text(*fd, text, sizeof(text)) < 0)
			return false;
	}
	if (!top_parse(text, task->by, &value))
		return false;
	if (task->by == BY_RSS || task->by == BY_GAUGE)
		*ret_use = (struct top_use){.total = task->process_total, .cpu_ns = value};
	else
		*ret_use = (struct top_use){.total = value};
	return true;
}

uint64_t top_read_rss(pid_t pid)
{
	char text[TEXT_BYTES];
	char path[32];
	_cleanup_fd_ int fd = -1;
	uint64_t pages;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (io_read_text(fd, text, sizeof(text)) < 0 || !number_at(text, 2, &pages))
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}
