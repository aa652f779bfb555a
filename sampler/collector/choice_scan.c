/* choice_scan.c - the machine's processes, as the choice among them wants them */
#include "sampler/collector/choice_scan.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/collector/proc.h"
#include "sampler/collector/top_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TEXT_BYTES = 1024,
	OF_KERNEL = 0x00200000, /* PF_KTHREAD */
};

/* The words behind the name: proc(5) counts from 1, and from before it. */
enum {
	STAT_FLAGS = 9 - 3,
	STAT_MINFLT = 10 - 3,
	STAT_MAJFLT = 12 - 3,
	STAT_START = 22 - 3,
	STAT_RSS = 24 - 3,
	STAT_WORDS
};

bool choice_parse_stat(const char *text, struct choice_stat *ret_stat)
{
	/* The name stands in parentheses and can hold any. */
	const char *at = strrchr(text, ')');
	uint64_t words[STAT_WORDS];

	if (!at || at[1] != ' ' || !at[2])
		return false;
	ret_stat->state = at[2];
	at += 3;
	for (size_t i = 1; i < STAT_WORDS; i++) {
		char *end;

		words[i] = strtoull(at, &end, 10);
		if (end == at)
			return false;
		at = end;
	}
	ret_stat->of_kernel = words[STAT_FLAGS] & OF_KERNEL;
	ret_stat->faults = words[STAT_MINFLT] + words[STAT_MAJFLT];
	ret_stat->start = words[STAT_START];
	ret_stat->rss_pages = words[STAT_RSS];
	return true;
}

/* A process whose folder in /proc is open. */
struct candidate {
	pid_t pid;
	int fd;
	struct choice_stat stat;
};

static bool read_text(int folder_fd, const char *name, char text[static TEXT_BYTES])
{
	_cleanup_fd_ int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : io_pread(fd, text, TEXT_BYTES - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* Only its threads' own files say how long they waited. */
static uint64_t run_delay_of(const struct candidate *candidate)
{
	int tasks_fd = openat(candidate->fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = tasks_fd < 0 ? NULL : fdopendir(tasks_fd);
	const struct dirent *entry;
	uint64_t sum = 0;

	if (!tasks)
		return 0;
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(tasks))) { /* NOLINT(concurrency-mt-unsafe) */
		char path[sizeof(entry->d_name) + sizeof("/schedstat")];
		char text[TEXT_BYTES];
		uint64_t value;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/schedstat", entry->d_name);
		if (read_text(tasks_fd, path, text) && top_parse(text, BY_RUN_DELAY, &value))
			sum += value;
	}
	(void)closedir(tasks);
	return sum;
}

static uint64_t total_of(const struct candidate *candidate, enum collector_by by)
{
	char text[TEXT_BYTES];
	uint64_t value = 0;

	switch (by) {
	case BY_RSS:
		return candidate->stat.rss_pages * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	case BY_FAULTS:
		return candidate->stat.faults;
	case BY_IO:
		return read_text(candidate->fd, "io", text) && top_parse(text, BY_IO, &value)
			       ? value
			       : 0;
	case BY_RUN_DELAY:
		return run_delay_of(candidate);
	default:
		return proc_cpu_ns(candidate->pid);
	}
}

static bool is_ours(const struct candidate *candidate)
{
	struct stat stat;

	return geteuid() == 0 || (fstat(candidate->fd, &stat) == 0 && stat.st_uid == geteuid());
}

static bool may_be_chosen(const struct candidate *candidate)
{
	const struct choice_stat *stat = &candidate->stat;

	return !stat->of_kernel && stat->state != 'Z' && stat->state != 'X' &&
	       candidate->pid != getpid();
}

static void see(struct choice *choice, int proc_fd, const char *name)
{
	struct candidate candidate = {.pid = (pid_t)strtol(name, NULL, 10)};
	_cleanup_fd_ int fd = -1;
	char text[TEXT_BYTES];

	/* A clock is read in 1 us, the files in 15; most processes of a machine sleep. */
	if (choice->options.by == BY_CPU &&
	    choice_still(choice, candidate.pid, proc_cpu_ns(candidate.pid)))
		return;
	fd = openat(proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	candidate.fd = fd;
	if (fd < 0 || !is_ours(&candidate) || !read_text(fd, "stat", text) ||
	    !choice_parse_stat(text, &candidate.stat) || !may_be_chosen(&candidate))
		return;
	choice_see(choice, &(struct choice_seen){
				   .pid = candidate.pid,
				   .start = candidate.stat.start,
				   .total = total_of(&candidate, choice->options.by),
			   });
}

int choice_scan(struct choice *choice, const char *proc)
{
	const struct dirent *entry;
	DIR *all = opendir(proc);

	if (!all)
		return -errno;
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(all))) /* NOLINT(concurrency-mt-unsafe) */
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			see(choice, dirfd(all), entry->d_name);
	(void)closedir(all);
	return 0;
}
