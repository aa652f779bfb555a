/* choice_scan.c - the machine's processes, as the choice among them wants them */
#include "sampler/collector/select/choice.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sampler/collector/metrics/gauges.h"
#include "sampler/collector/select/top.h"
#include "sampler/procfs/proc.h"
#include "sampler/procfs/proc_stat.h"
#include "sampler/procfs/task.h"

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

/* A process whose directory in /proc is open. */
struct candidate {
	pid_t pid;
	int fd;
	struct proc_stat stat;
};

struct reader {
	uint64_t start;
	uint64_t scan; /* that read it last */
	struct gauges *gauges;
};

static void drop(struct choice_gauges *gauges, pid_t pid, struct reader *reader)
{
	(void)map_remove(&gauges->readers, (uint64_t)pid);
	gauges_free(reader->gauges);
	free(reader);
}

static struct reader *make_reader(struct choice_gauges *gauges, pid_t pid, uint64_t start)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->start = start;
	if (gauges_new(&reader->gauges, pid, &gauges->name, 1) < 0 ||
	    map_put(&gauges->readers, (uint64_t)pid, reader) < 0) {
		gauges_free(reader->gauges);
		free(reader);
		return NULL;
	}
	return reader;
}

uint64_t choice_gauges_read(struct choice_gauges *gauges, pid_t pid, uint64_t start)
{
	struct reader *reader = map_get(&gauges->readers, (uint64_t)pid);
	int64_t value = 0;

	if (reader && reader->start != start) {
		drop(gauges, pid, reader);
		reader = NULL;
	}
	if (!reader)
		reader = make_reader(gauges, pid, start);
	if (!reader)
		return 0;
	reader->scan = gauges->scan;
	(void)gauges_read(reader->gauges, io_now_ns(), &value);
	return value > 0 ? (uint64_t)value : 0;
}

static void sweep_one(void *context, uint64_t pid, void *value)
{
	struct choice_gauges *gauges = context;
	struct reader *reader = value;

	if (reader->scan != gauges->scan)
		drop(gauges, (pid_t)pid, reader);
}

void choice_gauges_sweep(struct choice_gauges *gauges)
{
	map_each(&gauges->readers, sweep_one, gauges);
	gauges->scan++;
}

void choice_gauges_release(struct choice_gauges *gauges)
{
	gauges->scan++;
	map_each(&gauges->readers, sweep_one, gauges);
	map_release(&gauges->readers);
	*gauges = (struct choice_gauges){0};
}

static bool read_io(int folder_fd, uint64_t *ret_value)
{
	_cleanup_fd_ int fd = openat(folder_fd, "io", O_RDONLY | O_CLOEXEC);
	char text[TEXT_BYTES];

	return io_read_text(fd, text, sizeof(text)) == 0 && top_parse(text, BY_IO, ret_value);
}

static int read_stat(int folder_fd, struct proc_stat *ret_stat)
{
	_cleanup_fd_ int fd = openat(folder_fd, "stat", O_RDONLY | O_CLOEXEC);

	return proc_stat_read(fd, STAT_RSS, ret_stat);
}

static uint64_t total_of(const struct candidate *candidate, enum collector_by by,
			 struct choice_gauges *gauges)
{
	const uint64_t *stat = candidate->stat.at;
	uint64_t value = 0;

	switch (by) {
	case BY_RSS:
		return stat[STAT_RSS] * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	case BY_FAULTS:
		return stat[STAT_MINFLT] + stat[STAT_MAJFLT];
	case BY_IO:
		return read_io(candidate->fd, &value) ? value : 0;
	case BY_RUN_DELAY:
		return task_sum_run_delay(
			openat(candidate->fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	case BY_GAUGE:
		return choice_gauges_read(gauges, candidate->pid, stat[STAT_START]);
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
	const struct proc_stat *stat = &candidate->stat;

	return !(stat->at[STAT_FLAGS] & OF_KERNEL) && stat->state != 'Z' && stat->state != 'X' &&
	       candidate->pid != getpid();
}

static void see(struct choice *choice, struct choice_gauges *gauges, int proc_fd, const char *name)
{
	struct candidate candidate = {.pid = (pid_t)strtol(name, NULL, 10)};
	_cleanup_fd_ int fd = -1;

	/* A clock is read in 1 us, the files in 15; most processes of a machine sleep. */
	if (choice->options.by == BY_CPU &&
	    choice_still(choice, candidate.pid, proc_cpu_ns(candidate.pid)))
		return;
	fd = openat(proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	candidate.fd = fd;
	if (fd < 0 || !is_ours(&candidate) || read_stat(fd, &candidate.stat) < 0 ||
	    !may_be_chosen(&candidate))
		return;
	choice_see(choice, &(struct choice_seen){
				   .pid = candidate.pid,
				   .start = candidate.stat.at[STAT_START],
				   .total = total_of(&candidate, choice->options.by, gauges),
			   });
}

int choice_scan(struct choice *choice, struct choice_gauges *gauges, const char *proc)
{
	const struct dirent *entry;
	DIR *all = opendir(proc);

	if (!all)
		return -errno;
	/* This thread alone reads this stream of entries. */
	while ((entry = readdir(all))) /* NOLINT(concurrency-mt-unsafe) */
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			see(choice, gauges, dirfd(all), entry->d_name);
	(void)closedir(all);
	if (gauges)
		choice_gauges_sweep(gauges);
	return 0;
}
