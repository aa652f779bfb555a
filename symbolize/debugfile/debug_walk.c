/* debug_walk.c - a bounded walk over a folder of --symbol-dir */
#include "symbolize/debugfile/internal.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/regular_file.h"
#include "symbolize/bounds/loader.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Copies of one file are all alike; a few are enough. */
enum { MAX_ALIKE = 16 };

/* One file.  Files whose ids begin alike are in one chain, in the order they were found. */
struct found {
	struct found *next;
	size_t len;
	uint8_t id[BUILD_ID_MAX];
	char path[];
};

struct debug_walk {
	struct map by_id;
	size_t n_entries;
	size_t n_files;
	bool truncated;
	bool out_of_memory;
};

static uint64_t key_of(const uint8_t *id, size_t len)
{
	uint64_t key = 0;

	memcpy(&key, id, len < sizeof(key) ? len : sizeof(key));
	return key;
}

static void add_file(struct debug_walk *walk, const char *path, const uint8_t *id, size_t len)
{
	size_t path_len = strlen(path) + 1;
	struct found *last = map_get(&walk->by_id, key_of(id, len));
	struct found *found = malloc(sizeof(*found) + path_len);
	int n;

	if (!found) {
		walk->out_of_memory = true;
		return;
	}
	found->next = NULL;
	found->len = len;
	memcpy(found->id, id, len);
	memcpy(found->path, path, path_len);
	for (n = 1; last && last->next; n++)
		last = last->next;
	if (last && n >= MAX_ALIKE) {
		free(found);
	} else if (last) {
		last->next = found;
	} else if (map_put(&walk->by_id, key_of(id, len), found) < 0) {
		walk->out_of_memory = true;
		free(found);
	}
}

static void check_file(struct debug_walk *walk, int folder, const char *name, const char *path)
{
	uint8_t id[BUILD_ID_MAX];
	_cleanup_fd_ int fd = -1;
	char magic[SELFMAG];
	size_t len;

	if (walk->n_files >= DEBUG_WALK_FILES) {
		walk->truncated = true;
		return;
	}
	walk->n_files++;
	fd = regular_file_open(folder, name, 0);
	if (fd < 0 || pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
	    memcmp(magic, ELFMAG, SELFMAG) != 0)
		return;
	len = debug_build_id(fd, id);
	if (len)
		add_file(walk, path, id, len);
}

static void walk_folder(struct debug_walk *walk, int fd, const char *path, int depth);

/* NOLINTNEXTLINE(misc-no-recursion): as below */
static void walk_entry(struct debug_walk *walk, DIR *folder, const char *name, const char *path,
		       int depth)
{
	struct stat st;
	int fd;

	/* Links to files count, links to folders could lead around in a circle. */
	if (fstatat(dirfd(folder), name, &st, 0) < 0)
		return;
	if (S_ISREG(st.st_mode) && st.st_size > 0)
		check_file(walk, dirfd(folder), name, path);
	if (!S_ISDIR(st.st_mode) || depth + 1 >= DEBUG_WALK_DEPTH)
		return;
	fd = openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		walk_folder(walk, fd, path, depth + 1);
}

/* Takes FD.  Goes at most DEBUG_WALK_DEPTH deep.  NOLINTNEXTLINE(misc-no-recursion) */
static void walk_folder(struct debug_walk *walk, int fd, const char *path, int depth)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *entry;

	if (!folder) {
		(void)close(fd);
		return;
	}
	/* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	while (!walk->truncated && !loader_is_stopping() && (entry = readdir(folder))) {
		char full[PATH_MAX];
		int len = snprintf(full, sizeof(full), "%s/%s", path, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    len < 0 || (size_t)len >= sizeof(full))
			continue;
		if (walk->n_entries++ >= DEBUG_WALK_ENTRIES)
			walk->truncated = true;
		else
			walk_entry(walk, folder, entry->d_name, full, depth);
	}
	(void)closedir(folder);
}

int debug_walk_new(const char *folder, struct debug_walk **ret_walk)
{
	struct debug_walk *walk;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	walk = calloc(1, sizeof(*walk));
	if (!walk) {
		(void)close(fd);
		return -ENOMEM;
	}
	walk_folder(walk, fd, folder, 0);
	if (walk->out_of_memory) {
		debug_walk_free(walk);
		return -ENOMEM;
	}
	*ret_walk = walk;
	return 0;
}

static void free_chain(void *context, uint64_t key, void *value)
{
	struct found *found = (struct found *)value;

	(void)context;
	(void)key;
	while (found) {
		struct found *next = found->next;

		free(found);
		found = next;
	}
}

void debug_walk_free(struct debug_walk *walk)
{
	if (!walk)
		return;
	map_each(&walk->by_id, free_chain, NULL);
	map_release(&walk->by_id);
	free(walk);
}

const char *debug_walk_find(const struct debug_walk *walk, const uint8_t *build_id, size_t len,
			    size_t nth)
{
	const struct found *found = map_get(&walk->by_id, key_of(build_id, len));

	for (; found; found = found->next)
		if (found->len == len && memcmp(found->id, build_id, len) == 0 && nth-- == 0)
			return found->path;
	return NULL;
}
