/*
 * internal.h - what the files of this folder share; other folders include cache.h only
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef CACHE_INTERNAL_H
#define CACHE_INTERNAL_H

#include "symbolize/cache/cache.h"
#include "symbolize/elf/elf_head.h"
#include "symbolize/function/function_table.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* ---- crc32c: the checksum of Castagnoli, which the CPU knows (RFC 3720, B.4) */

/** crc32c - the checksum of bytes, by the CPU's own instruction where it has one */
uint32_t crc32c(const void *bytes, size_t len);

/** crc32c_by_table - the same on any CPU */
uint32_t crc32c_by_table(const void *bytes, size_t len);

/*
 * ---- cache_file: the file of one build in the cache (inner header of cache.h)
 *
 * A head; an index in order of addresses; the records that it knows; then records that were
 * appended since (the tail).  Everything begins at a multiple of eight.  A record's head has a
 * checksum of its own: its length is trusted before its bytes are read.  Nothing else is
 * trusted before it is checked; damaged records are ignored.
 */

enum {
	CACHE_ALIGN = 8,
	CACHE_VERSION = 2,
	CACHE_MAX_NAME = 255,
	CACHE_MIN_BUILD_ID = 8,          /* a shorter one tells too little */
	CACHE_RECORD_MAGIC = 0x72667765, /* "ewfr" */
};

#define CACHE_MAGIC          "wicksym\n"
#define CACHE_FILE_MAX_BYTES (UINT64_C(4) << 30)

/* The program that made the tables: another one may read DWARF otherwise. */
struct cache_maker {
	char version[16];
	uint8_t build_id[32];
};

/* What the tables were made from. */
struct cache_source {
	uint32_t level;
	uint32_t build_id_len;
	uint8_t build_id[BUILD_ID_MAX];
	uint64_t size;
	uint64_t inode;
	int64_t mtime_ns;
	uint64_t debug_size;
	int64_t debug_mtime_ns;
};

struct cache_head {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* of the head, with this field 0 */
	struct cache_maker maker;
	struct cache_source source;
	uint64_t n_index;
	uint64_t n_functions; /* that the index knows */
	uint64_t tail;        /* where it begins */
	char name[CACHE_MAX_NAME + 1];
};

_Static_assert(sizeof(struct cache_head) % CACHE_ALIGN == 0, "the index after it is aligned");

/* A range of a function.  Ascending by lo. */
struct cache_index {
	uint64_t lo;
	uint64_t hi;
	uint64_t max_hi; /* of this and all before it */
	uint64_t record; /* its offset in the file */
};

/* The bytes of a table follow, then zeros up to a multiple of eight. */
struct cache_record {
	uint32_t magic;
	uint32_t n_bytes;
	uint32_t crc;      /* of the bytes */
	uint32_t head_crc; /* of the three before */
};

/* A file, mapped. */
struct cache_file {
	const uint8_t *bytes;
	size_t n_bytes;
	const struct cache_head *head;
	const struct cache_index *index;
	size_t n_index;
	struct cache_index *tail; /* owned: the ranges in the tail, sorted */
	size_t n_tail;
	size_t n_tail_functions;
};

/* A walk over records. */
struct cache_scan {
	uint64_t offset;
	size_t n_damaged; /* records whose bytes were found damaged */
};

/* Does a file fit what is requested? */
enum cache_fit {
	CACHE_FITS,
	CACHE_BETTER, /* it may be read, but worse tables do not go into it */
	CACHE_OTHER,
};

/**
 * cache_file_map - map a file and index its tail
 * @fd: stays the caller's
 *
 * Return:  0; -EBADMSG: it is none of ours, or of another version; -EFBIG; -ENOMEM; -errno.
 * Owns:    the caller; cache_file_unmap().
 */
int cache_file_map(int fd, struct cache_file *ret_file);

/** cache_file_unmap - nothing mapped is fine */
void cache_file_unmap(struct cache_file *file);

/** cache_file_fit - is it by this maker and from this source? */
enum cache_fit cache_file_fit(const struct cache_head *head, const struct cache_maker *maker,
			      const struct cache_source *source);

/**
 * cache_file_find - a checked table of a function at an address
 *
 * Return:  0; -ENOENT.
 * Owns:    the file: good while it is mapped.
 */
int cache_file_find(const struct cache_file *file, uint64_t addr, struct function_table *ret_table);

/** cache_scan_records - begin a walk over all records */
struct cache_scan cache_scan_records(const struct cache_file *file);

/**
 * cache_scan_next - the next record; what is damaged is passed over
 *
 * Return:  the record, whose length is right; its bytes are not checked; NULL at the end, or
 *          when too much is damaged.
 * Owns:    the file.
 */
const struct cache_record *cache_scan_next(const struct cache_file *file, struct cache_scan *scan);

/** cache_scan_into - the last record is damaged: search for others within its length */
void cache_scan_into(const struct cache_file *file, struct cache_scan *scan,
		     const struct cache_record *record);

/**
 * cache_record_table - a record's table, if its checksum is right and the table is good
 *
 * Return:  0; -EBADMSG.
 * Owns:    the record.
 */
int cache_record_table(const struct cache_record *record, struct function_table *ret_table);

/**
 * cache_record_make - a table as a record, padded with zeros
 *
 * Return:  the record; NULL when memory ran out.
 * Owns:    the caller; free().
 */
struct cache_record *cache_record_make(const struct function_table *table);

/** cache_record_size - bytes of a record in the file */
size_t cache_record_size(const struct cache_record *record);

/**
 * cache_index_sort - in order of addresses, with max_hi
 *
 * Of ranges that begin together the one with the greater record comes last.
 */
void cache_index_sort(struct cache_index *index, size_t n);

/**
 * cache_index_find - the nth entry that holds an address, the last that begins first
 * @at: where the search stands; -1 begins it
 *
 * Return:  the entry; NULL when there are no more.
 */
const struct cache_index *cache_index_find(const struct cache_index *index, size_t n, uint64_t addr,
					   int64_t *at);

/** cache_head_crc - what its crc must be */
uint32_t cache_head_crc(const struct cache_head *head);

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
 * The file may have been replaced while the caller waited: then the new one is locked instead.
 *
 * Return:  a descriptor; -EBUSY; -ENOENT; -errno.
 * Owns:    the caller; closing it unlocks.
 */
int cache_lock(int shard_fd, const char *name, int flags);

#endif
