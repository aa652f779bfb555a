/* internal.h - what the parts of the cache share (inner header of cache.h) */
#ifndef CACHE_INTERNAL_H
#define CACHE_INTERNAL_H

#include "symbolize/cache/cache.h"
#include "symbolize/cache/cache_file.h"

#include <stdatomic.h>
#include <sys/stat.h>

enum {
	CACHE_SHARD_BYTES = 4,                         /* "ab" */
	CACHE_FILE_NAME_BYTES = 2 * BUILD_ID_MAX + 16, /* hexadecimal, ".symbols" */
};

#define CACHE_SUFFIX      ".symbols"
#define CACHE_TEMP_SUFFIX ".tmp"

struct cache {
	int fd; /* of the folder */
	char *path;
	uint64_t max_bytes;
	struct cache_maker maker;
	atomic_bool written;
	struct cache_entry *entries; /* of the last cache_list() */
	size_t n_entries;
};

struct cache_module {
	struct cache *cache;
	struct cache_source source;
	char name[CACHE_MAX_NAME + 1];
	char shard[CACHE_SHARD_BYTES];
	char file_name[CACHE_FILE_NAME_BYTES];
	struct cache_file file; /* zero: none fits */
	bool better;            /* its tables are better than what would be added */
	struct function_table last;
	struct cache_record **added; /* owned; as they were added */
	size_t n_added;
	size_t n_saved; /* of them are in the file */
	size_t added_room;
	uint64_t added_bytes;      /* not saved */
	struct cache_index *index; /* of those added; a record is its number */
	size_t n_index;
	size_t index_room;
	bool index_sorted;
};

/* A file in the cache's folder, while it is visited. */
struct cache_visit {
	int shard_fd;
	const char *shard;
	const char *name;
	const struct stat *st;
};

/**
 * cache_folder_open - open the folder, made if it is not there, if it is the user's alone
 * @path: NULL: where the user's caches are
 * @ret_path: as it was found
 *
 * Return:  a descriptor; -EPERM; -errno and the reason.
 * Owns:    the caller, both.
 * Context: main thread.
 */
int cache_folder_open(const char *path, char **ret_path, struct err *err);

/**
 * cache_folder_walk - every file of every build (and what writers left unfinished)
 * @visit: less than 0 ends the walk
 *
 * Return:  0; what VISIT returned; -errno.
 * Context: any thread.
 */
int cache_folder_walk(int folder_fd, int (*visit)(void *context, const struct cache_visit *file),
		      void *context);

/**
 * cache_entries_clear - forget the last listing
 *
 * Context: main thread.
 */
void cache_entries_clear(struct cache *cache);

/**
 * cache_lock - lock the file at a path, as it is now
 * @flags: of open(2)
 *
 * Who waited for a lock may find that the file was replaced: then it begins anew.
 *
 * Return:  a descriptor; -EBUSY; -ENOENT; -errno.
 * Owns:    the caller; closing it unlocks.
 * Context: any thread.
 */
int cache_lock(int shard_fd, const char *name, int flags);

#endif
