/* cache.c - opening the cache and its builds, finding tables in them, taking more in */
#include "symbolize/cache/internal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	USED_SECONDS = 60, /* how exact the time of the last use is */
	FIRST_ROOM = 64,
};

#define DEFAULT_MAX_BYTES (UINT64_C(512) << 20)
#define ADDED_MAX_BYTES   (UINT64_C(256) << 20) /* at once, in memory */

/* Which program makes tables: its version, and its build-id where it has one. */
static void find_maker(struct cache_maker *maker)
{
	_cleanup_fd_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct elf_source source = {.fd = fd};
	struct elf_head head;

	(void)snprintf(maker->version, sizeof(maker->version), "%s", WICK_VERSION);
	if (fd < 0 || elf_head_read(&source, &head) < 0)
		return;
	memcpy(maker->build_id, head.build_id,
	       head.build_id_len < sizeof(maker->build_id) ? head.build_id_len
							   : sizeof(maker->build_id));
}

int cache_open(const struct cache_options *options, struct cache **ret_cache, struct err *err)
{
	_cleanup_free_ struct cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return err_set(err, ENOMEM, "open the cache of symbols");
	cache->fd = cache_folder_open(options->folder, &cache->path, err);
	if (cache->fd < 0)
		return cache->fd;
	cache->max_bytes = options->max_bytes ? options->max_bytes : DEFAULT_MAX_BYTES;
	find_maker(&cache->maker);
	*ret_cache = steal_pointer(&cache);
	return 0;
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	if (atomic_load_explicit(&cache->written, memory_order_relaxed))
		(void)cache_shrink(cache, cache->max_bytes, NULL);
	cache_entries_clear(cache);
	(void)close(cache->fd);
	free(cache->path);
	free(cache);
}

const char *cache_folder(const struct cache *cache)
{
	return cache->path;
}

uint64_t cache_max_bytes(const struct cache *cache)
{
	return cache->max_bytes;
}

static int set_source(struct cache_source *source, const struct cache_key *key)
{
	*source = (struct cache_source){
		.level = key->level,
		.size = key->size,
		.inode = key->inode,
		.mtime_ns = key->mtime_ns,
		.debug_size = key->debug_size,
		.debug_mtime_ns = key->debug_mtime_ns,
	};
	if (key->build_id_len >= CACHE_MIN_BUILD_ID && key->build_id_len <= BUILD_ID_MAX) {
		source->build_id_len = (uint32_t)key->build_id_len;
		memcpy(source->build_id, key->build_id, key->build_id_len);
		return 0;
	}
	return key->size || key->inode || key->mtime_ns ? 0 : -ENOTSUP;
}

/* "ab" and "cdef.symbols": a build-id, or what the file is known by, mixed. */
static void name_file(struct cache_module *module)
{
	const struct cache_source *source = &module->source;
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	const uint8_t *id = source->build_id;
	size_t len = source->build_id_len;
	uint64_t mixed = source->size * odd;
	size_t used = 0;

	if (!len) {
		mixed = (mixed ^ mixed >> 32 ^ source->inode) * odd;
		mixed = (mixed ^ mixed >> 32 ^ (uint64_t)source->mtime_ns) * odd;
		id = (const uint8_t *)&mixed;
		len = sizeof(mixed);
	}
	(void)snprintf(module->shard, sizeof(module->shard), "%02x", id[0]);
	for (size_t i = 1; i < len; i++, used += 2)
		(void)snprintf(module->file_name + used, sizeof(module->file_name) - used, "%02x",
			       id[i]);
	(void)snprintf(module->file_name + used, sizeof(module->file_name) - used, CACHE_SUFFIX);
}

/* The end of a long path says more than its beginning. */
static void set_name(struct cache_module *module, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len > CACHE_MAX_NAME)
		name += len - CACHE_MAX_NAME;
	(void)snprintf(module->name, sizeof(module->name), "%s", name ? name : "");
}

static void note_use(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 &&
	    st.st_mtim.tv_sec + USED_SECONDS < (time_t)(io_realtime_ns() / 1000000000))
		(void)futimens(fd, NULL);
}

/* What fits is mapped; all else is as if it were not there. */
static void open_file(struct cache_module *module)
{
	char path[CACHE_SHARD_BYTES + CACHE_FILE_NAME_BYTES];
	_cleanup_fd_ int fd = -1;
	enum cache_fit fit;

	(void)snprintf(path, sizeof(path), "%s/%s", module->shard, module->file_name);
	fd = regular_file_open(module->cache->fd, path, O_NOFOLLOW);
	if (fd < 0 || cache_file_map(fd, &module->file) < 0)
		return;
	fit = cache_file_fit(module->file.head, &module->cache->maker, &module->source);
	module->better = fit == CACHE_BETTER;
	if (fit == CACHE_OTHER)
		cache_file_unmap(&module->file);
	else
		note_use(fd);
}

int cache_module_open(struct cache *cache, const struct cache_key *key, const char *name,
		      struct cache_module **ret_module)
{
	struct cache_module *module;
	struct cache_source source;
	int r = set_source(&source, key);

	if (r < 0)
		return r;
	module = calloc(1, sizeof(*module));
	if (!module)
		return -ENOMEM;
	module->cache = cache;
	module->source = source;
	set_name(module, name);
	name_file(module);
	open_file(module);
	*ret_module = module;
	return 0;
}

void cache_module_close(struct cache_module *module)
{
	if (!module)
		return;
	/* What cannot be kept is read again next time. */
	(void)cache_save(module, NULL);
	cache_file_unmap(&module->file);
	for (size_t i = 0; i < module->n_added; i++)
		free(module->added[i]);
	free(module->added);
	free(module->index);
	free(module);
}

static bool holds(const struct function_table *table, uint64_t addr)
{
	uint64_t lo;
	uint64_t hi;

	for (size_t i = 0; table->bytes && function_table_range(table, i, &lo, &hi); i++) {
		if (addr >= lo && addr < hi)
			return true;
	}
	return false;
}

static struct function_table table_of(const struct cache_record *record)
{
	return (struct function_table){(const uint8_t *)(record + 1), record->n_bytes};
}

/* Among what was added since the module was opened. */
static int find_added(struct cache_module *module, uint64_t addr, struct function_table *ret_table)
{
	const struct cache_index *entry;
	int64_t at = -1;

	if (!module->index_sorted) {
		cache_index_sort(module->index, module->n_index);
		module->index_sorted = true;
	}
	entry = cache_index_find(module->index, module->n_index, addr, &at);
	if (!entry)
		return -ENOENT;
	*ret_table = table_of(module->added[entry->record]);
	return 0;
}

int cache_find(struct cache_module *module, uint64_t addr, struct function_table *ret_table)
{
	int r = -ENOENT;

	/* Addresses are mostly requested in order: many are in the function of the one before. */
	if (holds(&module->last, addr)) {
		*ret_table = module->last;
		return 0;
	}
	if (module->n_index)
		r = find_added(module, addr, ret_table);
	if (r < 0 && module->file.head)
		r = cache_file_find(&module->file, addr, ret_table);
	if (r == 0)
		module->last = *ret_table;
	return r;
}

/* Room for N more items. */
static int make_room(void *array, size_t *room, size_t n, size_t item)
{
	void **items = array;
	size_t wanted = *room ? *room : FIRST_ROOM;
	void *larger;

	while (wanted < n)
		wanted *= 2;
	if (wanted == *room)
		return 0;
	larger = reallocarray(*items, wanted, item);
	if (!larger)
		return -ENOMEM;
	*items = larger;
	*room = wanted;
	return 0;
}

static size_t count_ranges(const struct function_table *table)
{
	uint64_t lo;
	uint64_t hi;
	size_t n = 0;

	while (function_table_range(table, n, &lo, &hi))
		n++;
	return n;
}

int cache_add(struct cache_module *module, const struct function_table *table)
{
	struct cache_index *entry;
	struct cache_record *record;
	size_t n_ranges;

	if (module->better || module->added_bytes >= ADDED_MAX_BYTES)
		return 0;
	n_ranges = count_ranges(table);
	if (make_room(&module->added, &module->added_room, module->n_added + 1,
		      sizeof(struct cache_record *)) < 0 ||
	    make_room(&module->index, &module->index_room, module->n_index + n_ranges,
		      sizeof(*entry)) < 0)
		return -ENOMEM;
	record = cache_record_make(table);
	if (!record)
		return -ENOMEM;
	for (size_t i = 0; i < n_ranges; i++) {
		entry = &module->index[module->n_index++];
		(void)function_table_range(table, i, &entry->lo, &entry->hi);
		entry->record = module->n_added;
	}
	module->index_sorted = false;
	module->added[module->n_added++] = record;
	module->added_bytes += cache_record_size(record);
	return 0;
}
