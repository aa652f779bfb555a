/* jit_place.c - finds the map and the dump of a process, and refuses those of others */
#include "symbolize/jit/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const uint64_t SECOND_NS = 1000 * 1000 * 1000;

enum { MAX_MAPS_BYTES = 32 * 1024 * 1024 };

/* One number of a line of /proc/PID/status: the last one, or the first. */
static long status_number(const char *status, const char *label, bool last)
{
	const char *at = strstr(status, label);
	long number = -1;
	char *end;

	if (!at)
		return -1;
	for (at += strlen(label); *at && *at != '\n'; at = end) {
		long next = strtol(at, &end, 10);

		if (end == at)
			break;
		number = next;
		if (!last)
			break;
	}
	return number;
}

static void read_status(struct jit_place *place)
{
	struct buf buf;
	char path[64];
	long uid = -1;
	long inner = -1;

	buf_init(&buf, 64 * 1024);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)place->pid);
	if (io_read_file(path, &buf, NULL) == 0) {
		uid = status_number(buf_text(&buf), "\nUid:", false);
		inner = status_number(buf_text(&buf), "\nNSpid:", true);
	}
	buf_release(&buf);
	place->uid = uid >= 0 ? (uid_t)uid : 0;
	place->namespace_pid = inner > 0 ? (pid_t)inner : place->pid;
}

/* How long ago the process started, from field 22 of its stat. */
static uint64_t read_age(pid_t pid)
{
	unsigned long long ticks = 0;
	struct timespec boot;
	struct buf buf;
	char path[64];
	const char *at;

	buf_init(&buf, 16 * 1024);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	at = io_read_file(path, &buf, NULL) == 0 ? strrchr(buf_text(&buf), ')') : NULL;
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at + 1, NULL, 10);
	buf_release(&buf);
	if (!ticks || clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
		return 0;
	return (uint64_t)boot.tv_sec * SECOND_NS + (uint64_t)boot.tv_nsec -
	       (uint64_t)ticks * SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK);
}

void jit_place_init(struct jit_place *place, pid_t pid)
{
	uint64_t age_ns = read_age(pid);
	uint64_t now_ns = io_now_ns();
	struct stat own;
	struct stat its;
	char path[64];

	*place = (struct jit_place){.pid = pid};
	read_status(place);
	if (age_ns) {
		place->started_ns = io_realtime_ns() - age_ns;
		place->started_mono_ns = age_ns < now_ns ? now_ns - age_ns : 0;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)pid);
	place->other_time = stat(path, &its) == 0 && stat("/proc/self/ns/time", &own) == 0 &&
			    (its.st_ino != own.st_ino || its.st_dev != own.st_dev);
}

static int try_open(const struct jit_place *place, const char *path, struct stat *ret_stat)
{
	_cleanup_fd_ int fd = regular_file_open(AT_FDCWD, path, O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -ENOENT;
	if (st.st_uid != 0 && st.st_uid != place->uid)
		return -ENOENT;
	if ((uint64_t)st.st_mtim.tv_sec * SECOND_NS + (uint64_t)st.st_mtim.tv_nsec + SECOND_NS <
	    place->started_ns)
		return -ENOENT;
	*ret_stat = st;
	return steal_fd(&fd);
}

int jit_place_map(const struct jit_place *place)
{
	struct stat st;
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)place->pid,
		       (int)place->namespace_pid);
	fd = try_open(place, path, &st);
	if (fd >= 0)
		return fd;
	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)place->pid);
	return try_open(place, path, &st);
}

/* The path of a line of maps when it is an executable mapping of a dump; NULL otherwise. */
static const char *dump_path(const char *line, size_t len, uint64_t *ret_inode)
{
	static const char SUFFIX[] = ".dump";
	const char *end = line + len;
	const char *rights = memchr(line, ' ', len);
	const char *path = memchr(line, '/', len);
	const char *name = path ? memrchr(line, '/', len) : NULL;
	const char *at = rights;

	if (!name || !rights || rights + 4 > path || rights[3] != 'x' ||
	    end - name < (ptrdiff_t)sizeof(SUFFIX) || strncmp(name, "/jit-", 5) != 0 ||
	    memcmp(end - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) != 0)
		return NULL;
	for (int field = 0; at && field < 3; field++)
		at = memchr(at + 1, ' ', (size_t)(path - at - 1));
	*ret_inode = at ? strtoull(at + 1, NULL, 10) : 0;
	return at ? path : NULL;
}

/* Open the file of a line, if it is still the one that is mapped. */
static int open_dump(const struct jit_place *place, const char *path, size_t len, uint64_t inode)
{
	char full[PATH_MAX + 32];
	struct stat st;
	int fd;

	if (len >= PATH_MAX)
		return -ENOENT;
	(void)snprintf(full, sizeof(full), "/proc/%d/root%.*s", (int)place->pid, (int)len, path);
	fd = try_open(place, full, &st);
	if (fd >= 0 && st.st_ino != inode) {
		(void)close(fd);
		fd = -ENOENT;
	}
	return fd;
}

int jit_place_dump(const struct jit_place *place, char **ret_path)
{
	int fd = -ENOENT;
	struct buf maps;
	char name[64];
	const char *at;

	buf_init(&maps, MAX_MAPS_BYTES);
	(void)snprintf(name, sizeof(name), "/proc/%d/maps", (int)place->pid);
	at = io_read_file(name, &maps, NULL) == 0 ? buf_text(&maps) : "";
	while (*at && fd < 0) {
		size_t len = strcspn(at, "\n");
		uint64_t inode = 0;
		const char *path = dump_path(at, len, &inode);
		size_t path_len = path ? len - (size_t)(path - at) : 0;

		if (path)
			fd = open_dump(place, path, path_len, inode);
		if (fd >= 0)
			*ret_path = strndup(path, path_len);
		at += len + (at[len] == '\n');
	}
	buf_release(&maps);
	return fd;
}
