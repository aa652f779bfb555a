/*
 * cache.h - function tables on disk, for the next recording of the same build
 *
 * One file a build: a head that says what it was read from, then records that are only ever
 * appended, each with its length and CRC-32C, and an index of what was there when it was last
 * rewritten.  A torn or damaged record is passed over, and what follows is found again.  The
 * folder is the user's alone (0700, checked); nothing in it is trusted before it was checked.
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include "base/err.h"
#include "symbolize/function/function_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cache;
struct cache_module;

struct cache_options {
	const char *folder; /* NULL: $XDG_CACHE_HOME/wick/symbols, ~/.cache/wick/symbols */
	uint64_t max_bytes; /* the least recently used builds go first; 0: 512 MiB */
};

/* What the tables of a build are read from; a better source makes the worse one's useless. */
enum cache_level {
	CACHE_DEBUG,  /* DWARF; no symbols but what is exported */
	CACHE_SYMTAB, /* and .symtab */
};

struct cache_key {
	const uint8_t *build_id;
	size_t build_id_len; /* 0: by the three of the file itself */
	uint64_t size;       /* of the file of the module */
	uint64_t inode;
	int64_t mtime_ns;
	uint64_t debug_size; /* of the file with the DWARF */
	int64_t debug_mtime_ns;
	enum cache_level level;
};

/**
 * cache_open - the user's cache
 *
 * Return:  0; -EPERM: the folder is another's, or open to others; -errno and the reason.
 * Owns:    the caller; cache_close().
 */
int cache_open(const struct cache_options *options, struct cache **ret_cache, struct err *err);

/**
 * cache_close - remove builds until the rest fits in max_bytes, and close; NULL is fine
 *
 * Context: main thread.  No module of it is open.
 */
void cache_close(struct cache *cache);

/**
 * cache_folder - the path of its folder
 *
 * Owns:    the cache.
 * Context: any thread.
 */
const char *cache_folder(const struct cache *cache);

/**
 * cache_max_bytes - its largest size
 *
 * Context: any thread.
 */
uint64_t cache_max_bytes(const struct cache *cache);

/**
 * cache_module_open - open the tables of a build
 * @name: of the module, for `wick symbols list`
 *
 * Tables of another file or a worse level with the same build-id are not found, and are dropped as
 * soon as a table is added.  Tables of a better level are found, and nothing is added to them.
 *
 * Return:  0; -ENOTSUP: nothing to know it by; -errno.
 * Owns:    the caller; cache_module_close().
 * Context: any thread.
 */
int cache_module_open(struct cache *cache, const struct cache_key *key, const char *name,
		      struct cache_module **ret_module);

/**
 * cache_module_close - append what was added, and close; NULL is fine
 *
 * Other processes append too: under flock(2), whole records, one write.
 *
 * Context: any thread.
 */
void cache_module_close(struct cache_module *module);

/**
 * cache_find - the table of the function at an address, of the file or added since
 *
 * Return:  0, a checked table; -ENOENT.
 * Owns:    the module: valid until it is closed.
 * Context: any thread; one at a time for one module.
 */
int cache_find(struct cache_module *module, uint64_t addr, struct function_table *ret_table);

/**
 * cache_add - add a table
 *
 * Return:  0; -ENOMEM.
 * Owns:    the bytes are copied.
 * Context: any thread; one at a time for one module.
 */
int cache_add(struct cache_module *module, const struct function_table *table);

/**
 * cache_save - write what was added to a module
 *
 * Return:  0; -EBUSY: another writer does not end; -ENOSPC; -errno and the reason.
 * Context: any thread, one at a time for one module.
 */
int cache_save(struct cache_module *module, struct err *err);

/* One build, for `wick symbols list`. */
struct cache_entry {
	const char *name;
	const char *build_id; /* hexadecimal, or "" */
	enum cache_level level;
	uint64_t n_functions;
	uint64_t bytes;
	int64_t used_ns;  /* CLOCK_REALTIME */
	const char *path; /* of the cache's file */
};

/**
 * cache_list - every build, the last used first
 *
 * Return:  how many; -errno.
 * Owns:    the cache, until the next call on it.
 */
int cache_list(struct cache *cache, const struct cache_entry **ret_entries, struct err *err);

/**
 * cache_shrink - remove the least recently used builds until the rest has at most MAX_BYTES
 *
 * Return:  how many were removed; -errno.
 */
int cache_shrink(struct cache *cache, uint64_t max_bytes, struct err *err);

/**
 * cache_remove - remove builds, by a prefix of the build-id or by name; NULL: all
 *
 * Return:  how many were removed; -errno.
 */
int cache_remove(struct cache *cache, const char *which, struct err *err);

#endif
