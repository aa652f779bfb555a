/* procmap.c - the PROCMAP_QUERY ioctl of /proc/PID/maps; older headers do not have it */
#include "symbolize/elf/procmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

/* The kernel's struct procmap_query: what is asked, then what it answers. */
struct query {
	uint64_t size; /* of this struct */
	uint64_t flags;
	uint64_t addr;
	uint64_t start;
	uint64_t end;
	uint64_t vma_flags;
	uint64_t page_size;
	uint64_t offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t name_size; /* room, then bytes with the NUL */
	uint32_t build_id_size;
	uint64_t name_addr;
	uint64_t build_id_addr;
};

_Static_assert(sizeof(struct query) == 104, "the kernel's layout");

#define QUERY _IOWR('f', 17, struct query)

int procmap_open(pid_t pid)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int procmap_query(int fd, uint64_t addr, struct procmap *ret_map)
{
	struct query query = {
		.size = sizeof(query),
		.addr = addr,
		.name_size = sizeof(ret_map->path),
		.build_id_size = BUILD_ID_MAX,
		.name_addr = (uint64_t)(uintptr_t)ret_map->path,
		.build_id_addr = (uint64_t)(uintptr_t)ret_map->build_id,
	};

	/* All of it: valgrind does not know that the call fills in what is pointed to. */
	*ret_map = (struct procmap){.path = ""};
	if (ioctl(fd, QUERY, &query) < 0)
		return -errno;
	if (query.build_id_size > BUILD_ID_MAX || query.name_size > sizeof(ret_map->path))
		return -EINVAL;
	ret_map->path[sizeof(ret_map->path) - 1] = '\0';
	ret_map->start = query.start;
	ret_map->end = query.end;
	ret_map->pgoff = query.offset;
	ret_map->inode = query.inode;
	ret_map->dev = makedev(query.dev_major, query.dev_minor);
	ret_map->build_id_len = query.build_id_size;
	return 0;
}
