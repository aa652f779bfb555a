/* proc.c - small facts of a process that the kernel tells, and its children */
#include "sampler/procfs/proc.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/units.h"
#include "sampler/procfs/proc_maps.h"
#include "sampler/procfs/proc_stat.h"
#include "sampler/procfs/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The kernel's encoding of another process's CPU clock, clock_getcpuclockid(3). */
static clockid_t cpu_clock(pid_t pid)
{
	return (clockid_t)((~(unsigned)pid << 3) | 2U);
}

uint64_t proc_cpu_ns(pid_t pid)
{
	struct timespec cpu;

	if (clock_gettime(cpu_clock(pid), &cpu) < 0)
		return 0;
	return (uint64_t)cpu.tv_sec * NS_PER_S + (uint64_t)cpu.tv_nsec;
}

bool proc_memory_copy(int mem_fd, uint64_t address, void *to, size_t len)
{
	return address < USER_ADDRESS_END && io_pread(mem_fd, to, len, address) == (ssize_t)len;
}

bool proc_memory_read(void *context, uint64_t address, void *to, size_t len)
{
	return proc_memory_copy(*(const int *)context, address, to, len);
}

/* Two processes are in one namespace when the links are the same file. */
static bool same_file(const char *a, const char *b)
{
	struct stat x;
	struct stat y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* The line "monotonic SECONDS NANOSECONDS" of a timens_offsets file. */
static int64_t read_offset(const char *path)
{
	static const char name[] = "monotonic";
	char text[256] = "";
	_cleanup_file_ FILE *file = fopen(path, "re");

	while (file && fgets(text, sizeof(text), file)) {
		char *end = text + sizeof(name) - 1;
		int64_t seconds;

		if (strncmp(text, name, sizeof(name) - 1) != 0)
			continue;
		seconds = strtoll(end, &end, 10);
		return seconds * (int64_t)NS_PER_S + strtoll(end, NULL, 10);
	}
	return 0;
}

int64_t proc_clock_offset(pid_t pid)
{
	char path[64];
	char children[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)pid);
	if (access(path, F_OK) < 0 || same_file(path, "/proc/self/ns/time"))
		return 0;
	/* The offsets file speaks of the namespace that children get. */
	(void)snprintf(children, sizeof(children), "/proc/%d/ns/time_for_children", (int)pid);
	if (!same_file(path, children))
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/timens_offsets", (int)pid);
	return read_offset(path) - read_offset("/proc/self/timens_offsets");
}

pid_t proc_parent(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_of(pid, STAT_PARENT, &stat) < 0 ? 0 : (pid_t)stat.at[STAT_PARENT];
}

uint64_t proc_thread_start(pid_t pid, uint32_t tid)
{
	_cleanup_fd_ int fd = -1;
	struct proc_stat stat;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", (int)pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return proc_stat_read(fd, STAT_START, &stat) < 0 ? 0 : stat.at[STAT_START];
}

uint64_t proc_stack_start(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_of(pid, STAT_STACK, &stat) < 0 ? 0 : stat.at[STAT_STACK];
}

bool proc_thread_gone(pid_t pid, uint32_t tid)
{
	return syscall(SYS_tgkill, pid, (pid_t)tid, 0) < 0 && errno == ESRCH;
}

int proc_pidfd(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

enum { CHILDREN_BYTES = 64 * 1024 };

static void read_list(int fd, void (*visit)(void *context, pid_t child), void *context)
{
	struct buf text;
	char *at;

	buf_init(&text, CHILDREN_BYTES);
	if (io_read_fd(fd, &text) == 0) {
		const char *rest = buf_text(&text);
		long child;

		while ((child = strtol(rest, &at, 10)) > 0) {
			visit(context, (pid_t)child);
			rest = at;
		}
	}
	buf_release(&text);
}

static void each_of_thread(int tasks_fd, uint32_t tid, void (*visit)(void *context, pid_t child),
			   void *context)
{
	_cleanup_fd_ int fd = task_open(tasks_fd, tid, "children");

	if (fd >= 0)
		read_list(fd, visit, context);
}

void children_each(pid_t pid, void (*visit)(void *context, pid_t child), void *context)
{
	_cleanup_dir_ DIR *tasks = tasks_open(pid);
	uint32_t tid;

	while (tasks && (tid = tasks_next(tasks)))
		each_of_thread(dirfd(tasks), tid, visit, context);
}
