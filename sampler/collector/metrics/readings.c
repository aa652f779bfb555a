/* readings.c - what the collector reads of a process and its threads */
#include "sampler/collector/metrics/readings.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define BIT(metric) (UINT32_C(1) << (metric))

enum {
	MAX_COUNTED_FDS = 65536, /* entries, before Linux 6.2 */
	STATUS_BYTES = 4096,
	SPARE_FDS = 256, /* of our limit, for the descriptors that matter more */
};

static const uint32_t of_statm =
	BIT(METRIC_RSS_KIB) | BIT(METRIC_RSS_ANON_KIB) | BIT(METRIC_RSS_FILE_KIB);
static const uint32_t of_sockets = BIT(METRIC_SOCK_IN_BYTES) | BIT(METRIC_SOCK_OUT_BYTES);
static const uint32_t of_io = BIT(METRIC_IO_READ_BYTES) | BIT(METRIC_IO_WRITE_BYTES);

static int open_of(pid_t pid, const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void readings_init(struct readings *readings, pid_t pid, const struct collector_options *options,
		   struct sock_table *sockets)
{
	uint32_t wanted = options->metrics;
	size_t n_gauges =
		options->n_gauges < METRIC_MAX_GAUGES ? options->n_gauges : METRIC_MAX_GAUGES;

	*readings = (struct readings){.pid = pid, .wanted = wanted};
	readings->statm_fd = open_of(pid, "statm");
	readings->status_fd = wanted & BIT(METRIC_SWAP_KIB) ? open_of(pid, "status") : -1;
	readings->tasks_fd = open_of(pid, "task");
	readings->fds_fd = wanted & BIT(METRIC_FD_COUNT) ? open_of(pid, "fd") : -1;
	if (n_gauges && gauges_new(&readings->gauges, pid, options->gauges, n_gauges) == 0)
		readings->n_gauges = n_gauges;
	if (wanted & of_sockets)
		(void)sock_queues_new(&readings->queues, sockets, pid);
	readings_refresh(readings, io_now_ns());
}

void readings_release(struct readings *readings)
{
	cleanup_fd(&readings->statm_fd);
	cleanup_fd(&readings->status_fd);
	cleanup_fd(&readings->tasks_fd);
	cleanup_fd(&readings->fds_fd);
	gauges_free(readings->gauges);
	sock_queues_free(readings->queues);
	*readings =
		(struct readings){.statm_fd = -1, .status_fd = -1, .tasks_fd = -1, .fds_fd = -1};
}

void readings_thread_release(struct thread_readings *thread)
{
	if (thread->schedstat_fd)
		(void)close(thread->schedstat_fd - 1);
	if (thread->io_fd)
		(void)close(thread->io_fd - 1);
	*thread = (struct thread_readings){0};
}

/* The text of a small file; false when there is none. */
static bool read_text(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* Return: false when the process has given its memory back: it is ending. */
static bool read_memory(struct readings *readings)
{
	char text[256];
	int64_t kib[3];

	if (!read_text(readings->statm_fd, text, sizeof(text)) ||
	    readings_parse_statm(text, (uint64_t)sysconf(_SC_PAGESIZE), kib) < 0 || kib[0] == 0)
		return false;
	readings->values[METRIC_RSS_KIB] = kib[0];
	readings->values[METRIC_RSS_ANON_KIB] = kib[1];
	readings->values[METRIC_RSS_FILE_KIB] = kib[2];
	return true;
}

static void read_swap(struct readings *readings)
{
	char text[STATUS_BYTES];
	int64_t kib;

	if (read_text(readings->status_fd, text, sizeof(text)) &&
	    readings_parse_line(text, "VmSwap", &kib) == 0)
		readings->values[METRIC_SWAP_KIB] = kib;
}

/* Before Linux 6.2 the directory has no size. */
static int64_t count_entries(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int64_t n = 0;

	if (!dir) {
		cleanup_fd(&fd);
		return 0;
	}
	for (const struct dirent *entry; n < MAX_COUNTED_FDS && (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	(void)closedir(dir);
	return n;
}

static void read_fd_count(struct readings *readings)
{
	struct stat dir;

	if (readings->fds_fd < 0 || fstat(readings->fds_fd, &dir) < 0)
		return;
	readings->values[METRIC_FD_COUNT] =
		dir.st_size > 0 ? dir.st_size : count_entries(readings->fds_fd);
}

/* Each thread is a directory, and a directory has two links of its own. */
uint32_t readings_n_threads(const struct readings *readings)
{
	struct stat dir;

	if (readings->tasks_fd < 0 || fstat(readings->tasks_fd, &dir) < 0 || dir.st_nlink <= 2)
		return 0;
	return (uint32_t)dir.st_nlink - 2;
}

static void read_threads(struct readings *readings)
{
	uint32_t n = readings_n_threads(readings);

	if (n)
		readings->values[METRIC_THREADS] = n;
}

static void read_sockets(struct readings *readings, uint64_t now_ns)
{
	struct sock_bytes bytes = sock_queues_read(readings->queues, now_ns);

	readings->values[METRIC_SOCK_IN_BYTES] = bytes.in;
	readings->values[METRIC_SOCK_OUT_BYTES] = bytes.out;
}

void readings_refresh(struct readings *readings, uint64_t now_ns)
{
	const uint32_t rest =
		BIT(METRIC_SWAP_KIB) | BIT(METRIC_FD_COUNT) | BIT(METRIC_THREADS) | of_sockets;

	if (readings->read_ns && now_ns - readings->read_ns < READING_FRESH_MS * NS_PER_MS)
		return;
	readings->read_ns = now_ns;
	if ((readings->wanted & (of_statm | rest) || readings->gauges) && !read_memory(readings))
		return;
	if (readings->wanted & BIT(METRIC_SWAP_KIB))
		read_swap(readings);
	if (readings->wanted & BIT(METRIC_FD_COUNT))
		read_fd_count(readings);
	if (readings->wanted & BIT(METRIC_THREADS))
		read_threads(readings);
	if (readings->queues)
		read_sockets(readings, now_ns);
	if (readings->gauges)
		readings->gauges_found |=
			gauges_read(readings->gauges, now_ns, readings->values + METRIC_BUILTIN);
}

/* Descriptors of threads must not use up the descriptors that wick needs. */
static bool may_keep(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)fd + SPARE_FDS < limit.rlim_cur;
}

/* One pread where the file is kept; *KEPT is its descriptor + 1. */
static bool read_task(const struct readings *readings, uint32_t tid, const char *name, int *kept,
		      char *text, size_t size)
{
	char path[64];
	int fd;
	bool read;

	if (*kept && read_text(*kept - 1, text, size))
		return true;
	if (*kept)
		(void)close(*kept - 1);
	*kept = 0;
	(void)snprintf(path, sizeof(path), "%u/%s", tid, name);
	fd = readings->tasks_fd < 0 ? -1 : openat(readings->tasks_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	read = read_text(fd, text, size);
	if (read && may_keep(fd))
		*kept = fd + 1;
	else
		(void)close(fd);
	return read;
}

/* Wall mode keeps a descriptor of its own for that. */
static bool wants_delay(const struct readings *readings, const struct event_sample *sample)
{
	return readings->wanted & BIT(METRIC_RUN_DELAY_NS) && sample->event != EVENT_WALL;
}

bool readings_want_thread(const struct readings *readings, const struct event_sample *sample)
{
	return readings->wanted & of_io || wants_delay(readings, sample);
}

static void refresh_thread(const struct readings *readings, struct thread_readings *thread,
			   const struct event_sample *sample, uint64_t now_ns)
{
	bool delay = wants_delay(readings, sample);
	char text[512];

	if (thread->read_ns && now_ns - thread->read_ns < READING_FRESH_MS * NS_PER_MS)
		return;
	thread->read_ns = now_ns;
	if (delay && read_task(readings, sample->tid, "schedstat", &thread->schedstat_fd, text,
			       sizeof(text)))
		(void)readings_parse_schedstat(text, &thread->values[METRIC_RUN_DELAY_NS]);
	if (readings->wanted & of_io &&
	    read_task(readings, sample->tid, "io", &thread->io_fd, text, sizeof(text))) {
		(void)readings_parse_line(text, "read_bytes",
					  &thread->values[METRIC_IO_READ_BYTES]);
		(void)readings_parse_line(text, "write_bytes",
					  &thread->values[METRIC_IO_WRITE_BYTES]);
	}
}

void readings_fill(struct readings *readings, struct thread_readings *thread,
		   struct event_sample *sample, uint64_t now_ns)
{
	const struct metric_fact *facts = metrics_facts();

	readings_refresh(readings, now_ns);
	if (thread && readings_want_thread(readings, sample))
		refresh_thread(readings, thread, sample, now_ns);
	for (size_t i = METRIC_RECORD; i < METRIC_BUILTIN; i++) {
		int64_t *value = &sample->metrics[i].value;

		if (!(readings->wanted & BIT(i)))
			continue;
		if (facts[i].scope == SCOPE_PROCESS)
			*value = readings->values[i];
		else if (thread && facts[i].scope == SCOPE_THREAD &&
			 !(i == METRIC_RUN_DELAY_NS && *value))
			*value = thread->values[i];
	}
	for (size_t i = METRIC_BUILTIN; i < METRIC_BUILTIN + readings->n_gauges; i++)
		sample->metrics[i].value = readings->values[i];
}
