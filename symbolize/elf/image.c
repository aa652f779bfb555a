/* image.c - which mappings make up an image, and our own vDSO */
#include "symbolize/elf/image.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

enum { MAX_VDSO_BYTES = 256 * 1024, MAX_IMAGE_MAPPINGS = 64 };

/* PROCMAP_QUERY of Linux 6.11 finds the mapping of one address; older headers do not have it.  This
 * is the kernel's struct procmap_query. */
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
	uint32_t name_size; /* capacity; the kernel sets the bytes with the NUL */
	uint32_t build_id_size;
	uint64_t name_addr;
	uint64_t build_id_addr;
};

_Static_assert(sizeof(struct query) == 104, "the kernel's layout");

#define QUERY _IOWR('f', 17, struct query)

struct procmap {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint64_t dev;
	uint64_t inode;
	/* Of the file that is mapped, whatever its path names now. */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len; /* 0: it has none, or the kernel did not read it */
	char path[4096];     /* as in maps, " (deleted)" included */
};
static int procmap_open(pid_t pid)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Return: 0; -ENOENT: nothing is mapped there; -ENOTTY: an older kernel; -errno. */
static int procmap_query(int fd, uint64_t addr, struct procmap *ret_map)
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

/* One line of /proc/PID/maps. */
struct line {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint64_t dev;
	uint64_t inode;
	const char *path;
};

/* Take a number that one of ENDS follows, and that one too. */
static bool take(const char **at, int base, const char *ends, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(*at, &end, base);
	if (end == *at || errno || *end == '\0' || !strchr(ends, *end))
		return false;
	*at = end + 1;
	return true;
}

static bool parse(const char *text, struct line *ret_line)
{
	struct line line;
	uint64_t major_no;
	uint64_t minor_no;

	if (!take(&text, 16, "-", &line.start) || !take(&text, 16, " ", &line.end))
		return false;
	text += strcspn(text, " "); /* what may be done with it */
	if (!take(&text, 16, " ", &line.pgoff) || !take(&text, 16, ":", &major_no) ||
	    !take(&text, 16, " ", &minor_no) || !take(&text, 10, " \n", &line.inode))
		return false;
	line.dev = makedev((unsigned)major_no, (unsigned)minor_no);
	line.path = text + strspn(text, " \n");
	*ret_line = line;
	return true;
}

/* The kernel ends a path with " (deleted)" when it is; ours never has that. */
static bool same_path(const char *in_maps, const char *path)
{
	size_t len = strlen(path);

	if (strncmp(in_maps, path, len) != 0)
		return false;
	in_maps += len;
	if (strncmp(in_maps, " (deleted)", 10) == 0)
		in_maps += 10;
	return in_maps[0] == '\n' || in_maps[0] == '\0';
}

/*
 * Follow the lines up to the one that holds the mapping.  Adjacent mappings of one file are one
 * image; a new one starts where the file's offset falls back to 0.
 */
static bool find_line(FILE *maps, const struct mapping *mapping, struct line *ret_line,
		      uint64_t *ret_start)
{
	_cleanup_free_ char *text = NULL;
	struct line last = {0};
	uint64_t image = 0;
	struct line line;
	size_t size = 0;

	while (getline(&text, &size, maps) > 0) {
		bool same;

		if (!parse(text, &line))
			return false;
		same = line.inode == last.inode && line.dev == last.dev;
		if (line.inode == 0 && last.inode != 0 && line.start == last.end)
			continue; /* .bss, or a gap that the loader filled */
		if (!same || line.inode == 0 || (line.pgoff == 0 && last.pgoff != 0))
			image = line.pgoff == 0 ? line.start : 0;
		last = line;
		if (mapping->start >= line.start && mapping->start < line.end) {
			*ret_line = line;
			*ret_start = image;
			return same_path(line.path, mapping->path);
		}
	}
	return false;
}

/* The same without reading all of maps, where the kernel has PROCMAP_QUERY. */
static bool ask_kernel(const struct mapping *mapping, struct image *image)
{
	_cleanup_fd_ int fd = procmap_open(mapping->pid);
	struct procmap map;
	uint64_t inode;
	uint64_t dev;

	if (fd < 0 || procmap_query(fd, mapping->start, &map) < 0 ||
	    !same_path(map.path, mapping->path))
		return false;
	inode = map.inode;
	dev = map.dev;
	memcpy(image->build_id, map.build_id, map.build_id_len);
	image->build_id_len = map.build_id_len;
	for (int i = 0; inode && map.pgoff != 0 && i < MAX_IMAGE_MAPPINGS; i++)
		if (procmap_query(fd, map.start - 1, &map) < 0 || map.inode != inode ||
		    map.dev != dev)
			return false;
	if (map.pgoff != 0)
		return false;
	image->source.base = map.start;
	image->inode = inode;
	image->dev = dev;
	return true;
}

static bool read_maps(const struct mapping *mapping, struct image *image)
{
	_cleanup_file_ FILE *maps = NULL;
	struct line line;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)mapping->pid);
	maps = fopen(path, "re");
	if (!maps || !find_line(maps, mapping, &line, &image->source.base))
		return false;
	image->dev = line.dev;
	image->inode = line.inode;
	return true;
}

void image_find(const struct mapping *mapping, struct image *ret_image)
{
	struct image image = {.source = {.fd = -1, .pid = mapping->pid}};

	*ret_image = image;
	if (!ask_kernel(mapping, &image) && !read_maps(mapping, &image)) {
		*ret_image = (struct image){.source = {.fd = -1, .pid = mapping->pid}};
		return;
	}
	image.readable = image.source.base != 0 && elf_head_read(&image.source, &image.head) == 0;
	if (!image.build_id_len && image.readable) {
		memcpy(image.build_id, image.head.build_id, image.head.build_id_len);
		image.build_id_len = image.head.build_id_len;
	}
	*ret_image = image;
}

/* The end of what the section headers of an ELF file cover; they come last in a vDSO. */
static int vdso_len(int memory, uint64_t start, size_t *ret_len)
{
	Elf64_Ehdr header;
	uint64_t len;

	if (io_pread(memory, &header, sizeof(header), start) != sizeof(header))
		return -EIO;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shoff > MAX_VDSO_BYTES)
		return -EINVAL;
	len = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
	if (len < sizeof(header) || len > MAX_VDSO_BYTES)
		return -EINVAL;
	*ret_len = (size_t)len;
	return 0;
}

int image_own_vdso(char **ret_bytes, size_t *ret_len)
{
	/* By a system call, so that a wrong length gives an error and not a fault. */
	_cleanup_fd_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	_cleanup_free_ char *bytes = NULL;
	size_t len;
	int r;

	if (!start)
		return -ENOENT;
	if (memory < 0)
		return -errno;
	r = vdso_len(memory, start, &len);
	if (r < 0)
		return r;
	bytes = malloc(len);
	if (!bytes)
		return -ENOMEM;
	if (io_pread(memory, bytes, len, start) != (ssize_t)len)
		return -EINVAL;
	*ret_bytes = steal_pointer(&bytes);
	*ret_len = len;
	return 0;
}
