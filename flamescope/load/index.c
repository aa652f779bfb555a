/* index.c - packs in ~/.cache/wick/index: written beside, renamed, mapped, the oldest removed */
#include "flamescope/load/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "flamescope/load/build/uniques.h"
#include "flamescope/pack/pack.h"
#include "flamescope/profile_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	END_BYTES = 64 * 1024,
	PAGE_BYTES = 4096,
	N_PAGES = 32,
	MIN_BYTES = 4 * 1024 * 1024, /* of all files; reading less is as quick */
};

/* A file that changed just now may change again within the same tick of its clock. */
static const int64_t settled_ns = INT64_C(2000000000);

struct key {
	uint64_t low;
	uint64_t high;
};

/* The process's secret will not do for a name that has to last. */
static void add(struct key *key, const void *bytes, size_t len)
{
	const char *at = bytes;

	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, at + i, len - i < sizeof(word) ? len - i : sizeof(word));
		key->low = text_hash_mix(key->low ^ word, UINT64_C(0x9e3779b97f4a7c15));
		key->high = text_hash_mix(key->high + word, UINT64_C(0xd6e8feb86659fd93)) ^ word;
	}
	key->low += len;
}

static bool add_bytes(struct key *key, int fd, uint64_t from, size_t len)
{
	_cleanup_free_ char *bytes = malloc(len);
	ssize_t n = bytes ? io_pread(fd, bytes, len, from) : -1;

	if (n >= 0)
		add(key, bytes, (size_t)n);
	return n >= 0;
}

/*
 * Only regular files are opened: the writer of a pipe would take this open for its reader, and
 * could end before the reader opens it.  "-" is standard input, whatever file has that name.
 */
static int open_regular(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static bool add_file(struct key *key, const char *path, uint64_t *ret_bytes)
{
	_cleanup_fd_ int fd = open_regular(path);
	struct stat st;
	int64_t changed_ns;
	uint64_t size;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	size = (uint64_t)st.st_size;
	/* a time beyond all numbers is not a real one */
	if (__builtin_mul_overflow(st.st_mtim.tv_sec, INT64_C(1000000000), &changed_ns) ||
	    __builtin_add_overflow(changed_ns, st.st_mtim.tv_nsec, &changed_ns) || changed_ns < 0)
		return false;
	if ((int64_t)io_realtime_ns() - changed_ns < settled_ns)
		return false;
	add(key, &st.st_dev, sizeof(st.st_dev));
	add(key, &st.st_ino, sizeof(st.st_ino));
	add(key, &size, sizeof(size));
	add(key, &changed_ns, sizeof(changed_ns));
	for (uint64_t i = 1; i <= N_PAGES; i++)
		if (!add_bytes(key, fd, size / (N_PAGES + 1) * i, PAGE_BYTES))
			return false;
	*ret_bytes += size;
	return add_bytes(key, fd, 0, END_BYTES) &&
	       add_bytes(key, fd, size > END_BYTES ? size - END_BYTES : 0, END_BYTES);
}

bool index_key(const struct load_options *options, char ret_key[INDEX_KEY_SIZE])
{
	static const char version[] = WICK_VERSION;
	struct key key = {.low = INDEX_FORMAT, .high = options->n_paths};
	uint64_t bytes = 0;

	add(&key, version, sizeof(version));
	for (size_t i = 0; i < options->n_paths; i++)
		if (!add_file(&key, options->paths[i], &bytes))
			return false;
	if (bytes < MIN_BYTES)
		return false;
	(void)snprintf(ret_key, INDEX_KEY_SIZE, "%016llx%016llx", (unsigned long long)key.low,
		       (unsigned long long)key.high);
	return true;
}

enum { MAX_FILES = 4096 };

static const uint64_t max_bytes = (uint64_t)INDEX_MAX_MIB << 20;
static const char suffix[] = ".pack";

/* Make PATH and what is above it. */
static void make_directories(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	(void)mkdir(path, 0700);
}

static bool find_directory(const struct load_options *options, char path[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int n;

	if (options->index_dir)
		n = snprintf(path, PATH_MAX, "%s", options->index_dir);
	else if (cache && *cache == '/')
		n = snprintf(path, PATH_MAX, "%s/wick/index", cache);
	else if (home && *home == '/')
		n = snprintf(path, PATH_MAX, "%s/.cache/wick/index", home);
	else
		return false;
	return n > 0 && n < PATH_MAX;
}

/* The directory, if it is the user's and no other user may write there; -1. */
static int open_directory(const struct load_options *options, bool make)
{
	_cleanup_fd_ int fd = -1;
	char path[PATH_MAX];
	struct stat st;

	if (!find_directory(options, path))
		return -1;
	if (make)
		make_directories(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022))
		return -1;
	return steal_fd(&fd);
}

static bool file_name(const char *key, const char *end, char name[NAME_MAX])
{
	int n = snprintf(name, NAME_MAX, "%s%s", key, end);

	return n > 0 && n < NAME_MAX;
}

/* The names are the caller's, and may be others than when it was kept. */
static int name_files(struct profile *profile, const struct load_options *options)
{
	if (profile->n_files != options->n_paths)
		return -EBADMSG;
	for (size_t i = 0; i < profile->n_files; i++) {
		char *path = strdup(options->paths[i]);

		if (profile_keep(profile, path) < 0)
			return -ENOMEM;
		profile->files[i].path = path;
	}
	return 0;
}

struct profile *index_read(const struct load_options *options, const char *key)
{
	_cleanup_fd_ int directory = open_directory(options, false);
	_cleanup_fd_ int fd = -1;
	struct profile *profile = NULL;
	char name[NAME_MAX];
	struct stat st;
	void *bytes;

	if (directory < 0 || !file_name(key, suffix, name))
		return NULL;
	fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_size <= 0 || (uint64_t)st.st_size > max_bytes || regular_file_is_hollow(&st))
		return NULL;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	if (pack_read(bytes, (size_t)st.st_size, &profile, NULL) < 0) {
		(void)munmap(bytes, (size_t)st.st_size);
		(void)unlinkat(directory, name, 0);
		return NULL;
	}
	profile->memory->unmap = munmap;
	profile->memory->mapping = bytes;
	profile->memory->mapping_bytes = (size_t)st.st_size;
	(void)futimens(fd, NULL); /* used now */
	if (name_files(profile, options) < 0) {
		profile_free(profile);
		return NULL;
	}
	return profile;
}

struct kept {
	char name[48];
	uint64_t bytes;
	int64_t used_ns;
};

static int compare_kept(const void *a, const void *b)
{
	const struct kept *one = a;
	const struct kept *other = b;

	return (one->used_ns < other->used_ns) - (one->used_ns > other->used_ns);
}

/* Packs, and what a program that was killed has left of one. */
static size_t list_kept(DIR *stream, struct kept *kept)
{
	const struct dirent *entry;
	size_t n = 0;

	while (n < MAX_FILES && (entry = readdir(stream)) != NULL) {
		struct stat st;

		if (strlen(entry->d_name) >= sizeof(kept[n].name) ||
		    !strstr(entry->d_name, suffix) ||
		    fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		memcpy(kept[n].name, entry->d_name, strlen(entry->d_name) + 1);
		kept[n].bytes = (uint64_t)st.st_size;
		kept[n].used_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
		n++;
	}
	return n;
}

static void remove_old(int directory)
{
	struct kept *kept = calloc(MAX_FILES, sizeof(*kept));
	int copy = dup(directory);
	DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
	uint64_t bytes = 0;
	size_t n;

	if (!stream && copy >= 0)
		(void)close(copy);
	if (!stream || !kept) {
		if (stream)
			(void)closedir(stream);
		free(kept);
		return;
	}
	n = list_kept(stream, kept);
	qsort(kept, n, sizeof(*kept), compare_kept);
	for (size_t i = 0; i < n; i++) {
		bytes += kept[i].bytes;
		if (bytes > max_bytes)
			(void)unlinkat(directory, kept[i].name, 0);
	}
	(void)closedir(stream);
	free(kept);
}

void index_write(const struct load_options *options, const char *key, const struct profile *profile)
{
	_cleanup_fd_ int directory = open_directory(options, true);
	_cleanup_fd_ int fd = -1;
	char name[NAME_MAX];
	char part[NAME_MAX];
	char end[32];

	(void)snprintf(end, sizeof(end), "%s.%d", suffix, (int)getpid());
	if (directory < 0 || !file_name(key, suffix, name) || !file_name(key, end, part))
		return;
	fd = openat(directory, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (pack_write(profile, fd, NULL) < 0 || renameat(directory, part, directory, name) < 0)
		(void)unlinkat(directory, part, 0);
	remove_old(directory);
}
