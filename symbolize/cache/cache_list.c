/* cache_list.c - what is in the cache, and removing from it */
#include "symbolize/cache/internal.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

enum {
	MAX_BUILDS = 1 << 20,
	UNFINISHED_SECONDS = 3600, /* after that its writer must have crashed */
};

/* A listing under way. */
struct listing {
	struct cache *cache;
	size_t room;
};

static void entry_release(struct cache_entry *entry)
{
	free((void *)entry->name);
	free((void *)entry->build_id);
	free((void *)entry->path);
}

void cache_entries_clear(struct cache *cache)
{
	for (size_t i = 0; i < cache->n_entries; i++)
		entry_release(&cache->entries[i]);
	free(cache->entries);
	cache->entries = NULL;
	cache->n_entries = 0;
}

static char *hex_of(const uint8_t *bytes, size_t len)
{
	char *text = malloc(len * 2 + 1);

	if (!text)
		return NULL;
	text[0] = '\0';
	for (size_t i = 0; i < len; i++)
		(void)snprintf(text + i * 2, 3, "%02x", bytes[i]);
	return text;
}

/* Addresses of which nothing is known are kept as functions of one byte, without a name. */
static bool is_nothing(const struct cache_file *file, const struct cache_index *entry)
{
	struct function_table table;
	struct function_chain chain;

	return entry->hi - entry->lo == 1 && cache_file_find(file, entry->lo, &table) == 0 &&
	       function_table_find(&table, entry->lo, &chain) == 0 && !chain.levels[0].name[0];
}

static uint64_t count_functions(const struct cache_file *file)
{
	uint64_t n = file->head->n_functions + file->n_tail_functions;

	for (size_t i = 0; i < file->n_index && n; i++)
		n -= is_nothing(file, &file->index[i]);
	for (size_t i = 0; i < file->n_tail && n; i++)
		n -= is_nothing(file, &file->tail[i]);
	return n;
}

/* What the file itself says; a damaged one says nothing. */
static void describe(const struct cache_visit *visit, struct cache_entry *entry)
{
	__attribute__((cleanup(cache_file_unmap))) struct cache_file file = {0};
	_cleanup_fd_ int fd = regular_file_open(visit->shard_fd, visit->name, O_NOFOLLOW);

	if (fd < 0 || cache_file_map(fd, &file) < 0) {
		entry->name = strdup("");
		entry->build_id = strdup("");
		return;
	}
	entry->name = strdup(file.head->name);
	entry->build_id = hex_of(file.head->source.build_id, file.head->source.build_id_len);
	entry->level = file.head->source.level == CACHE_SYMTAB ? CACHE_SYMTAB : CACHE_DEBUG;
	entry->n_functions = count_functions(&file);
}

static int list_file(void *context, const struct cache_visit *visit)
{
	struct listing *listing = context;
	struct cache *cache = listing->cache;
	struct cache_entry *entry;
	char *path = NULL;

	if (strstr(visit->name, CACHE_SUFFIX CACHE_TEMP_SUFFIX))
		return 0;
	if (cache->n_entries == MAX_BUILDS)
		return -E2BIG;
	if (array_reserve(&cache->entries, cache->n_entries, &listing->room, 64) < 0)
		return -ENOMEM;
	entry = &cache->entries[cache->n_entries];
	*entry = (struct cache_entry){0};
	describe(visit, entry);
	if (asprintf(&path, "%s/%s/%s", cache->path, visit->shard, visit->name) < 0)
		path = NULL;
	entry->path = path;
	entry->bytes = (uint64_t)visit->st->st_size;
	entry->used_ns = visit->st->st_mtim.tv_sec * 1000000000 + visit->st->st_mtim.tv_nsec;
	if (!entry->name || !entry->build_id || !entry->path) {
		entry_release(entry);
		return -ENOMEM;
	}
	cache->n_entries++;
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct cache_entry *a = left;
	const struct cache_entry *b = right;

	if (a->used_ns != b->used_ns)
		return a->used_ns > b->used_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

int cache_list(struct cache *cache, const struct cache_entry **ret_entries, struct err *err)
{
	struct listing listing = {.cache = cache};
	int r;

	cache_entries_clear(cache);
	r = cache_folder_walk(cache->fd, list_file, &listing);
	if (r < 0) {
		(void)err_set(err, -r, "list '%s'", cache->path);
		return r;
	}
	if (cache->n_entries)
		qsort(cache->entries, cache->n_entries, sizeof(*cache->entries), compare_entries);
	*ret_entries = cache->entries;
	return (int)cache->n_entries;
}

/* Not while it is written: the process with the lock would write into a file without a name. */
static int remove_entry(const struct cache *cache, const struct cache_entry *entry)
{
	const char *name = entry->path + strlen(cache->path) + 1;
	_cleanup_fd_ int fd = cache_lock(cache->fd, name, O_RDWR);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return unlinkat(cache->fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static int remove_unfinished(void *context, const struct cache_visit *visit)
{
	const time_t *now = context;

	if (strstr(visit->name, CACHE_SUFFIX CACHE_TEMP_SUFFIX) &&
	    visit->st->st_mtim.tv_sec + UNFINISHED_SECONDS < *now)
		(void)unlinkat(visit->shard_fd, visit->name, 0);
	return 0;
}

int cache_shrink(struct cache *cache, uint64_t max_bytes, struct err *err)
{
	const struct cache_entry *entries = NULL;
	time_t now = time(NULL);
	uint64_t sum = 0;
	int n_removed = 0;
	int n;

	(void)cache_folder_walk(cache->fd, remove_unfinished, &now);
	n = cache_list(cache, &entries, err);
	for (int i = 0; i < n; i++) {
		int r = 0;

		sum += entries[i].bytes;
		if (sum <= max_bytes)
			continue;
		r = remove_entry(cache, &entries[i]);
		if (r < 0)
			return err_set(err, -r, "remove '%s'", entries[i].path);
		sum -= entries[i].bytes;
		n_removed++;
	}
	return n < 0 ? n : n_removed;
}

/* A prefix of the build-id, the module's path, or the last part of it. */
static bool is_meant(const struct cache_entry *entry, const char *which)
{
	const char *slash = strrchr(entry->name, '/');

	if (!which)
		return true;
	if (*which == '\0')
		return false;
	return strncmp(entry->build_id, which, strlen(which)) == 0 ||
	       strcmp(entry->name, which) == 0 || (slash && strcmp(slash + 1, which) == 0);
}

int cache_remove(struct cache *cache, const char *which, struct err *err)
{
	const struct cache_entry *entries = NULL;
	int n_removed = 0;
	int n = cache_list(cache, &entries, err);

	for (int i = 0; i < n; i++) {
		int r;

		if (!is_meant(&entries[i], which))
			continue;
		r = remove_entry(cache, &entries[i]);
		if (r < 0)
			return err_set(err, -r, "remove '%s'", entries[i].path);
		n_removed++;
	}
	return n < 0 ? n : n_removed;
}
