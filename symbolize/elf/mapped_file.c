/* mapped_file.c - a replaced file must never give names to the old one's code */
#include "symbolize/elf/mapped_file.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/regular_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { N_WAYS = 4, WAY_MAP_FILES = 0 };

/* Pages of code that are compared, all of a small one; one in so many may be patched. */
enum { PAGE = 4096, MAX_PAGES = 256, PAGES_A_PATCH = 16 };

/* Smaller ones do no harm; compression in a file system saves less than this. */
enum { SPARSE_FROM_BYTES = 64 << 20 };

/* Descriptors of a process that are searched for a file without a name. */
enum { MAX_FDS = 4096 };

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

bool mapped_file_is_sparse(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size > SPARSE_FROM_BYTES && regular_file_is_hollow(&st);
}

static bool is_program(const struct mapping *mapping, const char *link)
{
	size_t len = strlen(mapping->path);
	char target[PATH_MAX] = "";

	return readlink(link, target, sizeof(target) - 1) > 0 &&
	       strncmp(target, mapping->path, len) == 0 &&
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

/*
 * A build-id that is set by hand can be that of two builds.  So a file with another inode has to
 * have the code that is mapped; where the memory cannot be read, the build-id has to do.
 */
static bool same_bytes(int fd, const struct mapping *mapping)
{
	uint64_t n_pages = (mapping->end - mapping->start) / PAGE;
	uint64_t step = n_pages > MAX_PAGES ? n_pages / MAX_PAGES : 1;
	int n_compared = 0;
	int n_different = 0;

	for (uint64_t page = 0; page < n_pages; page += step) {
		struct elf_source memory = {.fd = -1, .pid = mapping->pid, .base = mapping->start};
		char in_memory[PAGE];
		char in_file[PAGE];
		ssize_t n;

		if (elf_source_read(&memory, in_memory, sizeof(in_memory), page * PAGE) < 0)
			continue;
		/* After the end of the file the last page is zeros. */
		n = io_pread(fd, in_file, sizeof(in_file), mapping->pgoff + page * PAGE);
		n_different += n > 0 && memcmp(in_memory, in_file, (size_t)n) != 0;
		n_compared += n > 0;
	}
	return n_different <= n_compared / PAGES_A_PATCH;
}

static bool same_file(const struct mapped_file *file, const struct wanted *wanted, int way)
{
	const struct mapping *mapping = wanted->mapping;
	const struct image *image = wanted->image;
	uint64_t inode = mapping->inode ? mapping->inode : image->inode;
	uint64_t dev = mapping->inode ? mapping->dev : image->dev;

	/* Some file systems show another device in maps than in stat. */
	return inode && file->id.inode == inode && (file->id.dev == dev || way == WAY_MAP_FILES);
}

static bool is_the_one(const struct mapped_file *file, const struct wanted *wanted, int way)
{
	const struct image *image = wanted->image;
	const struct elf_head *head = &file->head;
	bool same = same_file(file, wanted, way);

	/* A file that was written over has its inode still: the id speaks before it. */
	if (image->build_id_len && file->head_error == 0) {
		if (head->build_id_len != image->build_id_len ||
		    memcmp(head->build_id, image->build_id, head->build_id_len) != 0)
			return false;
		if (!same && image->readable && !elf_head_same_code(head, &image->head))
			return false;
		return same || same_bytes(file->fd, wanted->mapping);
	}
	if (wanted->mapping->inode || image->inode)
		return same;
	return untouched(file->fd, wanted->since_ns);
}

static int try_path(const struct wanted *wanted, int way, const char *path,
		    struct mapped_file *ret_file)
{
	struct mapped_file file = {.fd = -1};
	_cleanup_fd_ int fd = regular_file_open(AT_FDCWD, path, 0);
	int r;

	if (fd < 0)
		return fd;
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

/*
 * A file without a name, or with a name in a place that we do not see, can still be open in the
 * process: a memfd, or what it deleted.
 */
static int try_descriptors(const struct wanted *wanted, struct mapped_file *ret_file)
{
	uint64_t inode = wanted->mapping->inode ? wanted->mapping->inode : wanted->image->inode;
	const struct dirent *entry;
	int result = -ENOENT;
	char path[64];
	DIR *folder;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)wanted->mapping->pid);
	folder = wanted->mapping->pid > 0 && inode ? opendir(path) : NULL;
	if (!folder)
		return -ENOENT;
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	for (int i = 0; i < MAX_FDS && result != 0 && (entry = readdir(folder)); i++) {
		struct stat st;

		if (fstatat(dirfd(folder), entry->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode) ||
		    st.st_ino != inode)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", (int)wanted->mapping->pid,
			       entry->d_name);
		result = try_path(wanted, N_WAYS, path, ret_file);
	}
	(void)closedir(folder);
	return result;
}

int mapped_file_open(const struct mapping *mapping, const struct image *image, uint64_t since_ns,
		     struct mapped_file *ret_file)
{
	struct wanted wanted = {.mapping = mapping, .image = image, .since_ns = since_ns};
	int result = -ENOENT;

	for (int way = 0; way < N_WAYS; way++) {
		char path[PATH_MAX];
		int r = -ENOENT;

		if (way_path(mapping, way, path))
			r = try_path(&wanted, way, path, ret_file);
		if (r == 0)
			return 0;
		if (result != -ESTALE && r != -ENOENT)
			result = r;
	}
	return try_descriptors(&wanted, ret_file) == 0 ? 0 : result;
}
