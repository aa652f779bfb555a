/* catalog_walk.c - goes down folders by descriptor, never through a link */
#include "flamescope/serve/catalog.h"

#include "base/cleanup.h"
#include "flamescope/serve/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static bool is_plain(const char *name)
{
	const char *at = name;

	if (!*name || strlen(name) >= PATH_MAX)
		return false;
	for (;;) {
		const char *end = strchrnul(at, '/');

		/* No "." and "..", and no hidden file either. */
		if (end == at || *at == '.')
			return false;
		if (!*end)
			return true;
		at = end + 1;
	}
}

/* The same without openat2 (Linux before 5.6, or a filter of system calls). */
static int open_by_steps(int folder, const char *name, int flags)
{
	_cleanup_fd_ int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	char step[NAME_MAX + 1];

	for (;;) {
		const char *end = strchrnul(name, '/');
		const size_t len = (size_t)(end - name);
		int next;

		if (at < 0)
			return -errno;
		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(step, name, len);
		step[len] = '\0';
		next = openat(at, step,
			      *end ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
				   : flags | O_NOFOLLOW);
		if (next < 0)
			return -errno;
		if (!*end)
			return next;
		(void)close(at);
		at = next;
		name = end + 1;
	}
}

int beneath_open(int folder, const char *name, int flags)
{
	const struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC |
					      (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY)),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long r;

	if (!is_plain(name))
		return -EACCES;
	r = syscall(SYS_openat2, folder, name, &how, sizeof(how));
	if (r >= 0)
		return (int)r;
	if (errno == ENOSYS || errno == EPERM)
		return open_by_steps(folder, name, (int)how.flags);
	return errno == ELOOP || errno == EXDEV ? -EACCES : -errno;
}

enum { FIRST_CAPACITY = 64 };

static size_t without(const char *name, size_t len, const char *end)
{
	const size_t n = strlen(end);

	return len > n && memcmp(name + len - n, end, n) == 0 ? len - n : 0;
}

bool catalog_is_recording(const char *name)
{
	static const char *const ends[] = {".perf", ".txt", ".folded", ".stacks"};
	const char *slash = strrchr(name, '/');
	size_t len, plain;

	if (slash)
		name = slash + 1;
	len = strlen(name);
	plain = without(name, len, ".gz");
	if (!plain)
		plain = without(name, len, ".zst");
	if (!plain)
		plain = len;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (without(name, plain, ends[i]))
			return name[0] != '.';
	return false;
}

/* How many bytes follow the first of a character; -1: it is none's (RFC 3629). */
static int n_following(unsigned char first)
{
	if (first < 0x80)
		return 0;
	if (first < 0xc2 || first > 0xf4)
		return -1;
	return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/* Too long a form, a surrogate, or past the last character (the same, section 4). */
static bool is_bad_pair(unsigned char first, unsigned char second)
{
	return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
	       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

/* What JSON and URLs can carry; no controls. */
static bool is_text(const char *name)
{
	const unsigned char *at = (const unsigned char *)name;

	while (*at) {
		const unsigned char first = *at++;
		int n = n_following(first);

		if (first < ' ' || first == 0x7f || n < 0 || is_bad_pair(first, *at))
			return false;
		for (; n > 0; n--)
			if ((*at++ & 0xc0) != 0x80)
				return false;
	}
	return true;
}

/* Some file systems have times of before 1970 and of long after 2262, when an int64_t ends. */
static int64_t ns_of(const struct timespec *time)
{
	static const int64_t ns_per_s = 1000000000;
	static const int64_t last_s = INT64_MAX / 4 / 1000000000;

	if (time->tv_sec < 0)
		return 0;
	return time->tv_sec < last_s ? time->tv_sec * ns_per_s + time->tv_nsec : last_s * ns_per_s;
}

struct catalog_stamp catalog_stamp_of(const struct stat *st)
{
	return (struct catalog_stamp){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.bytes = (uint64_t)st->st_size,
		.mtime_ns = ns_of(&st->st_mtim),
	};
}

static int add(struct catalog_found *found, const char *name, const struct stat *st)
{
	struct catalog_file *file;

	if (found->n == CATALOG_MAX_FILES) {
		found->n_left_out++;
		return 0;
	}
	if (found->n == found->capacity) {
		const size_t capacity = found->capacity ? 2 * found->capacity : FIRST_CAPACITY;

		file = reallocarray(found->files, capacity, sizeof(*file));
		if (!file)
			return -ENOMEM;
		found->files = file;
		found->capacity = capacity;
	}
	file = &found->files[found->n];
	*file = (struct catalog_file){
		.name = strdup(name),
		.stamp = catalog_stamp_of(st),
	};
	if (!file->name)
		return -ENOMEM;
	found->n++;
	return 0;
}

/* Folders that are still to be read: paths with a slash after them, or "". */
struct walking {
	struct catalog_found *found;
	char **paths;
	size_t n;
};

static int add_folder(struct walking *walking, const char *path)
{
	char **paths = reallocarray(walking->paths, walking->n + 1, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	walking->paths = paths;
	paths[walking->n] = strdup(path);
	if (!paths[walking->n])
		return -ENOMEM;
	walking->n++;
	return 0;
}

static int depth_of(const char *path)
{
	int depth = 0;

	while ((path = strchr(path, '/'))) {
		path++;
		depth++;
	}
	return depth;
}

/* NAME, an entry of the folder that is PATH. */
static int take(struct walking *walking, int folder, const char *path, const char *name)
{
	char whole[PATH_MAX];
	struct stat st;

	if (name[0] == '.' || !is_text(name) ||
	    snprintf(whole, sizeof(whole), "%s%s", path, name) >= (int)sizeof(whole) - 1 ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return catalog_is_recording(name) ? add(walking->found, whole, &st) : 0;
	if (!S_ISDIR(st.st_mode) || depth_of(path) == CATALOG_MAX_DEPTH)
		return 0;
	(void)snprintf(whole, sizeof(whole), "%s%s/", path, name);
	return add_folder(walking, whole);
}

/* Closes FOLDER. */
static int read_folder(struct walking *walking, int folder, const char *path)
{
	DIR *stream = fdopendir(folder);
	struct dirent *entry;
	int r = 0;

	if (!stream) {
		r = *path ? 0 : -errno;
		(void)close(folder);
		return r;
	}
	while (r == 0 && walking->found->n_seen < CATALOG_MAX_SEEN && (entry = readdir(stream))) {
		walking->found->n_seen++;
		r = take(walking, folder, path, entry->d_name);
	}
	(void)closedir(stream);
	return r;
}

/* The folder that was found last comes first: few wait at a time. */
static int look_at_last(struct walking *walking, int folder)
{
	_cleanup_free_ char *path = walking->paths[--walking->n];
	const size_t len = strlen(path);
	int inner, r;

	if (len == 0)
		inner = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	else {
		path[len - 1] = '\0';
		inner = beneath_open(folder, path, O_RDONLY | O_DIRECTORY);
		path[len - 1] = '/';
	}
	if (inner < 0)
		return len ? 0 : -errno;
	r = read_folder(walking, inner, path);
	return r; /* _cleanup_free_ frees it. NOLINT(clang-analyzer-unix.Malloc) */
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct catalog_file *)left)->name,
		      ((const struct catalog_file *)right)->name);
}

int catalog_walk(int folder, struct catalog_found *found)
{
	struct walking walking = {.found = found};
	int r;

	*found = (struct catalog_found){0};
	r = add_folder(&walking, "");
	while (r == 0 && walking.n)
		r = look_at_last(&walking, folder);
	while (walking.n)
		free(walking.paths[--walking.n]);
	free(walking.paths);
	if (found->n)
		qsort(found->files, found->n, sizeof(*found->files), by_name);
	return r;
}
