/* cache_folder.c - the cache's folder: it has to be the user's alone; shards by two digits */
#include "symbolize/cache/internal.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OTHERS = 077 };

/* NULL: the folder of the XDG Base Directory Specification; a relative one is to be ignored. */
static int name_folder(const char *path, char **ret_path)
{
	/* The environment is read before threads that could change it, of which there are none. */
	const char *cache = getenv("XDG_CACHE_HOME"); /* NOLINT(concurrency-mt-unsafe) */
	const char *home = getenv("HOME");            /* NOLINT(concurrency-mt-unsafe) */
	int len;

	if (path)
		len = asprintf(ret_path, "%s", path);
	else if (cache && *cache == '/')
		len = asprintf(ret_path, "%s/wick/symbols", cache);
	else if (home && *home == '/')
		len = asprintf(ret_path, "%s/.cache/wick/symbols", home);
	else
		return -ENOENT;
	return len < 0 ? -ENOMEM : 0;
}

/* Make a folder and those above it. */
static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = mkdir(path, 0700);
		*slash = '/';
		if (r < 0 && errno != EEXIST)
			return -errno;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* Others could put tables there, or read what is profiled. */
static int check_owner(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(err, errno, "look at the cache's folder '%s'", path);
	if (st.st_uid != geteuid()) {
		(void)err_set(err, 0, "the cache's folder '%s' belongs to user %u, not to user %u",
			      path, st.st_uid, geteuid());
		err_hint(err, "XDG_CACHE_HOME=DIR");
		return -EPERM;
	}
	if (st.st_mode & OTHERS) {
		(void)err_set(err, 0, "the cache's folder '%s' is open to others (mode %03o)", path,
			      st.st_mode & 0777);
		err_hint(err, "chmod 700 '%s'", path);
		return -EPERM;
	}
	return 0;
}

int cache_folder_open(const char *path, char **ret_path, struct err *err)
{
	_cleanup_free_ char *found = NULL;
	_cleanup_fd_ int fd = -1;
	int r = name_folder(path, &found);

	if (r < 0) {
		found = NULL;
		(void)err_set(err, 0, "HOME is not set: there is no folder for names");
		err_hint(err, "XDG_CACHE_HOME=DIR");
		return r;
	}
	fd = open(found, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		r = make_folders(found);
		if (r < 0)
			return err_set(err, -r, "make the cache's folder '%s'", found);
		fd = open(found, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (fd < 0)
		return err_set(err, errno, "open the cache's folder '%s'", found);
	r = check_owner(fd, found, err);
	if (r < 0)
		return r;
	*ret_path = steal_pointer(&found);
	return steal_fd(&fd);
}

static DIR *open_folder(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (!folder && fd >= 0)
		(void)close(fd);
	return folder;
}

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name);

	return len > strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

static int walk_shard(int folder_fd, const char *shard,
		      int (*visit)(void *context, const struct cache_visit *file), void *context)
{
	_cleanup_dir_ DIR *folder = open_folder(folder_fd, shard);
	const struct dirent *entry;

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a folder of our own */
	while (folder && (entry = readdir(folder))) {
		struct stat st;
		const struct cache_visit file = {dirfd(folder), shard, entry->d_name, &st};
		int r;

		if (!ends_in(entry->d_name, CACHE_SUFFIX) &&
		    !ends_in(entry->d_name, CACHE_TEMP_SUFFIX))
			continue;
		if (fstatat(file.shard_fd, file.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		r = visit(context, &file);
		if (r < 0)
			return r;
	}
	return 0;
}

int cache_folder_walk(int folder_fd, int (*visit)(void *context, const struct cache_visit *file),
		      void *context)
{
	_cleanup_dir_ DIR *folder = open_folder(folder_fd, ".");
	const struct dirent *entry;

	if (!folder)
		return -errno;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): a folder of our own */
	while ((entry = readdir(folder))) {
		int r = 0;

		if (strlen(entry->d_name) == 2 && entry->d_name[0] != '.')
			r = walk_shard(folder_fd, entry->d_name, visit, context);
		if (r < 0)
			return r;
	}
	return 0;
}
