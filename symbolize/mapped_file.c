/* mapped_file.c - a replaced file must never give names to the old one's code */
#include "symbolize/mapped_file.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { N_WAYS = 4, WAY_MAP_FILES = 0 };

int mapped_file_stat(int fd, struct file_id *ret_id)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	*ret_id = (struct file_id){
		.dev = st.st_dev,
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size,
		.mtime_ns = st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
	};
	return 0;
}

static bool is_program(const struct mapping *mapping, const char *link)
{
	char target[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target) - 1);

	if (len <= 0)
		return false;
	target[len] = '\0';
	len = (ssize_t)strlen(mapping->path);
	return strncmp(target, mapping->path, (size_t)len) == 0 &&
	       (target[len] == '\0' || strcmp(target + len, " (deleted)") == 0);
}

static bool way_path(const struct mapping *mapping, int way, char path[PATH_MAX])
{
	int pid = (int)mapping->pid;
	int len = 0;

	if (way != 3 && pid <= 0)
		return false;
	switch (way) {
	case WAY_MAP_FILES:
		len = snprintf(path, PATH_MAX, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid,
			       mapping->start, mapping->end);
		break;
	case 1:
		len = snprintf(path, PATH_MAX, "/proc/%d/exe", pid);
		if (!is_program(mapping, path))
			return false;
		break;
	case 2:
		len = snprintf(path, PATH_MAX, "/proc/%d/root%s", pid, mapping->path);
		break;
	default:
		len = snprintf(path, PATH_MAX, "%s", mapping->path);
		break;
	}
	/* Opening a device can do things. */
	if (way >= 2 && strncmp(mapping->path, "/dev/", 5) == 0 &&
	    strncmp(mapping->path, "/dev/shm/", 9) != 0)
		return false;
	return len > 0 && len < PATH_MAX && (way < 2 || mapping->path[0] == '/');
}

/* What a file is checked against. */
struct wanted {
	const struct mapping *mapping;
	const struct image *image;
	uint64_t since_ns;
};

/* Neither the file nor its name changed since the mapping began, as far as ctime tells. */
static bool untouched(int fd, uint64_t since_ns)
{
	uint64_t began = io_realtime_ns() - io_now_ns() + since_ns;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	return (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec < began;
}

static bool is_the_one(const struct mapped_file *file, const struct wanted *wanted, int way)
{
	const struct mapping *mapping = wanted->mapping;
	const struct image *image = wanted->image;
	uint64_t inode = mapping->inode ? mapping->inode : image->inode;
	uint64_t dev = mapping->inode ? mapping->dev : image->dev;

	if (image->readable && image->head.build_id_len && file->head_error == 0 &&
	    file->head.build_id_len)
		return elf_head_same_build(&image->head, &file->head);
	if (inode && file->id.inode == inode)
		/* Some file systems show another device in maps than in stat. */
		return file->id.dev == dev || way == WAY_MAP_FILES;
	if (inode)
		return false;
	return untouched(file->fd, wanted->since_ns);
}

static int try_way(const struct wanted *wanted, int way, struct mapped_file *ret_file)
{
	struct mapped_file file = {.fd = -1};
	_cleanup_fd_ int fd = -1;
	char path[PATH_MAX];
	int r;

	if (!way_path(wanted->mapping, way, path))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	r = mapped_file_stat(fd, &file.id);
	if (r < 0)
		return r;
	file.fd = fd;
	file.head_error = elf_head_read(&(struct elf_source){.fd = fd}, &file.head);
	if (!is_the_one(&file, wanted, way))
		return -ESTALE;
	file.fd = steal_fd(&fd);
	*ret_file = file;
	return 0;
}

int mapped_file_open(const struct mapping *mapping, const struct image *image, uint64_t since_ns,
		     struct mapped_file *ret_file)
{
	struct wanted wanted = {.mapping = mapping, .image = image, .since_ns = since_ns};
	int result = -ENOENT;

	for (int way = 0; way < N_WAYS; way++) {
		int r = try_way(&wanted, way, ret_file);

		if (r == 0)
			return 0;
		if (result != -ESTALE && r != -ENOENT)
			result = r;
	}
	return result;
}
