/* top_read.c - what a thread has used, from /proc, for the choice of the heaviest */
#include "sampler/collector/top_read.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/collector/readings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TEXT_BYTES = 1024,
	STAT_MINFLT = 8, /* words behind the name */
	STAT_MAJFLT = 10,
};

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
	const char *name_end;
	uint64_t first = 0;
	uint64_t second = 0;
	int64_t read = 0;
	int64_t written = 0;
	bool both;

	switch (by) {
	case BY_FAULTS:
		/* The name stands in parentheses and can hold any. */
		name_end = strrchr(text, ')');
		both = name_end && number_at(name_end + 1, STAT_MINFLT, &first) &&
		       number_at(name_end + 1, STAT_MAJFLT, &second);
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

static bool read_text(int fd, char text[static TEXT_BYTES])
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, TEXT_BYTES - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

bool top_read(const struct top_task *task, int *fd, struct top_use *ret_use)
{
	char text[TEXT_BYTES];
	char path[32];
	uint64_t value;

	if (!read_text(*fd, text)) { /* not open yet, or of a thread that had the number before */
		cleanup_fd(fd);
		(void)snprintf(path, sizeof(path), "%u/%s", task->tid, file_of(task->by));
		*fd = openat(task->tasks_fd, path, O_RDONLY | O_CLOEXEC);
		if (!read_text(*fd, text))
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
	if (!read_text(fd, text) || !number_at(text, 2, &pages))
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}
