/* catalog_walk.c - goes down folders by descriptor, never through a link */
#include "flamescope/serve/catalog_walk.h"

#include "base/cleanup.h"
#include "flamescope/serve/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_ROOM = 64 };

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

/* RFC 3629: what JSON and URLs can carry; no controls. */
static bool is_text(const char *name)
{
	const unsigned char *at = (const unsigned char *)name;

	while (*at) {
		const unsigned char first = *at++;
		int n = first < 0x80   ? 0
			: first < 0xc2 ? -1
			: first < 0xe0 ? 1
			: first < 0xf0 ? 2
				       : 3;

		if (first < ' ' || first == 0x7f || first > 0xf4 || n < 0)
			return false;
		if ((first == 0xe0 && *at < 0xa0) || (first == 0xed && *at > 0x9f) ||
		    (first == 0xf0 && *at < 0x90) || (first == 0xf4 && *at > 0x8f))
			return false;
		for (; n > 0; n--)
			if ((*at++ & 0xc0) != 0x80)
				return false;
	}
	return true;
}

static int add(struct catalog_found *found, const char *name, const struct stat *st)
{
	struct catalog_file *file;

	if (found->n == CATALOG_MAX_FILES) {
		found->n_left_out++;
		return 0;
	}
	if (found->n == found->room) {
		const size_t room = found->room ? 2 * found->room : FIRST_ROOM;

		file = reallocarray(found->files, room, sizeof(*file));
		if (!file)
			return -ENOMEM;
		found->files = file;
		found->room = room;
	}
	file = &found->files[found->n];
	*file = (struct catalog_file){
		.name = strdup(name),
		.stamp = {.dev = st->st_dev,
			  .ino = st->st_ino,
			  .bytes = (uint64_t)st->st_size,
			  .mtime_ns =
				  (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec},
	};
	if (!file->name)
		return -ENOMEM;
	found->n++;
	return 0;
}

static int walk(int folder, const char *path, int depth, struct catalog_found *found);

/* NAME, an entry of the folder whose path (with its slash, or "") is PATH. */
static int take(DIR *stream, const char *path, const char *name, int depth,
		struct catalog_found *found)
{
	char whole[PATH_MAX];
	struct stat st;
	int inner;

	if (name[0] == '.' || !is_text(name) ||
	    snprintf(whole, sizeof(whole), "%s%s", path, name) >= (int)sizeof(whole) - 1 ||
	    fstatat(dirfd(stream), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return catalog_is_recording(name) ? add(found, whole, &st) : 0;
	if (!S_ISDIR(st.st_mode) || depth == CATALOG_MAX_DEPTH)
		return 0;
	inner = openat(dirfd(stream), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (inner < 0)
		return 0;
	(void)strcat(whole, "/");
	return walk(inner, whole, depth + 1, found);
}

/* Closes FOLDER. */
static int walk(int folder, const char *path, int depth, struct catalog_found *found)
{
	DIR *stream = fdopendir(folder);
	struct dirent *entry;
	int r = 0;

	if (!stream) {
		r = depth ? 0 : -errno;
		(void)close(folder);
		return r;
	}
	while (r == 0 && found->n_seen < CATALOG_MAX_SEEN && (entry = readdir(stream))) {
		found->n_seen++;
		r = take(stream, path, entry->d_name, depth, found);
	}
	(void)closedir(stream);
	return r;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct catalog_file *)left)->name,
		      ((const struct catalog_file *)right)->name);
}

int catalog_walk(int folder, struct catalog_found *found)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	*found = (struct catalog_found){0};
	if (copy < 0)
		return -errno;
	r = walk(copy, "", 0, found);
	if (found->n)
		qsort(found->files, found->n, sizeof(*found->files), by_name);
	return r;
}
