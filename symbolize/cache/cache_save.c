/*
 * cache_save.c - one write of whole records under a lock; now and then the file anew, with an index
 *
 * A reader without the lock sees whole records and perhaps part of the last, which it ignores.  The
 * file is replaced by rename(2), never shortened: a process that has it mapped keeps the old file.
 */
#include "symbolize/cache/internal.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

enum {
	TAIL_PART = 10,         /* of what is indexed may follow without an index */
	TAIL_BYTES = 64 * 1024, /* or as much */
	LOCK_TRIES = 300,       /* writing anew takes less than a second */
	LOCK_WAIT_NS = 10000000,
	WRITE_BYTES = 256 * 1024, /* at once */
	FIRST_ROOM = 1024,
};

/* A range, and the record that it is of, of a file that is written anew. */
struct kept_range {
	uint64_t lo;
	uint64_t hi;
	size_t record;
};

struct kept_record {
	const struct cache_record *record;
	uint64_t offset; /* in the new file; 0: not yet, or not kept */
};

/* A file that is written anew. */
struct rewriting {
	struct kept_record *records;
	size_t n_records;
	size_t record_room;
	struct kept_range *ranges;
	size_t n_ranges;
	size_t range_room;
	struct cache_index *index;
	size_t *order; /* records, as they follow in the file */
	size_t n_order;
	uint64_t end; /* of the records */
};

static void rewriting_release(struct rewriting *rewriting)
{
	free(rewriting->records);
	free(rewriting->ranges);
	free(rewriting->index);
	free(rewriting->order);
}

int cache_lock(int shard_fd, const char *name, int flags)
{
	const struct timespec wait = {.tv_nsec = LOCK_WAIT_NS};

	for (int i = 0; i < LOCK_TRIES; i++) {
		_cleanup_fd_ int fd =
			openat(shard_fd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
		struct stat opened;
		struct stat named;

		if (fd < 0)
			return -errno;
		if (fstat(fd, &opened) == 0 && !S_ISREG(opened.st_mode))
			return -ENODEV;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			if (errno != EWOULDBLOCK && errno != EINTR)
				return -errno;
			(void)nanosleep(&wait, NULL);
			continue;
		}
		if (fstat(fd, &opened) == 0 &&
		    fstatat(shard_fd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		    opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
			return steal_fd(&fd);
	}
	return -EBUSY;
}

/* All that is not in the file yet, by one write, so that no reader sees half of it, and a crash
 * leaves one torn record at most. */
static int append(const struct cache_module *module, int fd, uint64_t file_bytes)
{
	__attribute__((cleanup(buf_release))) struct buf bytes;
	static const char zeros[CACHE_ALIGN];

	buf_init(&bytes, module->added_bytes + CACHE_ALIGN);
	(void)buf_append(&bytes, zeros, (size_t)(-file_bytes % CACHE_ALIGN));
	for (size_t i = module->n_saved; i < module->n_added; i++)
		(void)buf_append(&bytes, module->added[i], cache_record_size(module->added[i]));
	if (bytes.failed)
		return -ENOMEM;
	return io_write_all(fd, bytes.data, bytes.len, NULL);
}

static int keep_record(struct rewriting *rewriting, const struct cache_record *record,
		       const struct function_table *table)
{
	uint64_t lo;
	uint64_t hi;
	int r;

	for (size_t i = 0; function_table_range(table, i, &lo, &hi); i++) {
		r = array_reserve(&rewriting->ranges, rewriting->n_ranges, &rewriting->range_room,
				  FIRST_ROOM);
		if (r < 0)
			return r;
		rewriting->ranges[rewriting->n_ranges++] =
			(struct kept_range){lo, hi, rewriting->n_records};
	}
	r = array_reserve(&rewriting->records, rewriting->n_records, &rewriting->record_room,
			  FIRST_ROOM);
	if (r == 0)
		rewriting->records[rewriting->n_records++] = (struct kept_record){.record = record};
	return r;
}

/* The records of the file that are good, and those added. */
static int gather(struct rewriting *rewriting, const struct cache_module *module,
		  const struct cache_file *file)
{
	const struct cache_record *record;
	struct cache_scan scan = cache_scan_records(file);
	int r = 0;

	while (r == 0 && file->head && (record = cache_scan_next(file, &scan))) {
		struct function_table table;

		if (cache_record_table(record, &table) == 0)
			r = keep_record(rewriting, record, &table);
		else
			cache_scan_into(file, &scan, record);
	}
	for (size_t i = module->n_saved; r == 0 && i < module->n_added; i++) {
		const struct function_table table = {
			(const uint8_t *)(module->added[i] + 1),
			module->added[i]->n_bytes,
		};

		r = keep_record(rewriting, module->added[i], &table);
	}
	return r;
}

/* By address; of the same range the one that came last first. */
static int compare_ranges(const void *left, const void *right)
{
	const struct kept_range *a = left;
	const struct kept_range *b = right;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	return (a->record < b->record) - (a->record > b->record);
}

/* Two processes may have added the same function: ranges that are there twice are kept once, and
 * records that have one left are laid down in order of addresses. */
static int lay_out(struct rewriting *rewriting)
{
	size_t n = 0;

	if (rewriting->n_ranges)
		qsort(rewriting->ranges, rewriting->n_ranges, sizeof(*rewriting->ranges),
		      compare_ranges);
	for (size_t i = 0; i < rewriting->n_ranges; i++) {
		const struct kept_range *range = &rewriting->ranges[i];

		if (n == 0 || range->lo != rewriting->ranges[n - 1].lo ||
		    range->hi != rewriting->ranges[n - 1].hi)
			rewriting->ranges[n++] = *range;
	}
	rewriting->n_ranges = n;
	rewriting->index = calloc(n + 1, sizeof(*rewriting->index));
	rewriting->order = calloc(n + 1, sizeof(*rewriting->order));
	if (!rewriting->index || !rewriting->order)
		return -ENOMEM;
	rewriting->end = sizeof(struct cache_head) + n * sizeof(struct cache_index);
	for (size_t i = 0; i < n; i++) {
		const struct kept_range *range = &rewriting->ranges[i];
		struct kept_record *kept = &rewriting->records[range->record];

		if (!kept->offset) {
			kept->offset = rewriting->end;
			rewriting->end += cache_record_size(kept->record);
			rewriting->order[rewriting->n_order++] = range->record;
		}
		rewriting->index[i] = (struct cache_index){
			.lo = range->lo,
			.hi = range->hi,
			.record = kept->offset,
		};
	}
	cache_index_sort(rewriting->index, n);
	return 0;
}

static void make_head(const struct cache_module *module, const struct rewriting *rewriting,
		      struct cache_head *head)
{
	*head = (struct cache_head){
		.magic = CACHE_MAGIC,
		.version = CACHE_VERSION,
		.maker = module->cache->maker,
		.source = module->source,
		.n_index = rewriting->n_ranges,
		.n_functions = rewriting->n_order,
		.tail = rewriting->end,
	};
	memcpy(head->name, module->name, sizeof(head->name));
	head->crc = cache_head_crc(head);
}

/* To a file, in large pieces. */
struct writer {
	struct buf waiting;
	int fd;
	int failed; /* 0, or the first -errno */
};

static void write_out(struct writer *writer)
{
	if (writer->failed == 0 && writer->waiting.failed)
		writer->failed = -ENOMEM;
	if (writer->failed == 0)
		writer->failed =
			io_write_all(writer->fd, writer->waiting.data, writer->waiting.len, NULL);
	buf_clear(&writer->waiting);
}

static void put(struct writer *writer, const void *bytes, size_t len)
{
	(void)buf_append(&writer->waiting, bytes, len);
	if (writer->waiting.len >= WRITE_BYTES)
		write_out(writer);
}

static int write_file(const struct cache_module *module, const struct rewriting *rewriting, int fd)
{
	struct writer writer = {.fd = fd};
	struct cache_head head;

	make_head(module, rewriting, &head);
	buf_init(&writer.waiting, CACHE_FILE_MAX_BYTES);
	put(&writer, &head, sizeof(head));
	put(&writer, rewriting->index, rewriting->n_ranges * sizeof(*rewriting->index));
	for (size_t i = 0; i < rewriting->n_order; i++) {
		const struct cache_record *record = rewriting->records[rewriting->order[i]].record;

		put(&writer, record, cache_record_size(record));
	}
	write_out(&writer);
	buf_release(&writer.waiting);
	return writer.failed;
}

static int write_anew(const struct cache_module *module, const struct rewriting *rewriting,
		      int shard_fd)
{
	_cleanup_fd_ int fd = -1;
	char name[CACHE_FILE_NAME_BYTES + sizeof(CACHE_TEMP_SUFFIX)];
	int r;

	/* Only the process with the lock writes under this name. */
	(void)snprintf(name, sizeof(name), "%s%s", module->file_name, CACHE_TEMP_SUFFIX);
	(void)unlinkat(shard_fd, name, 0);
	fd = openat(shard_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_file(module, rewriting, fd);
	if (r == 0 && renameat(shard_fd, name, shard_fd, module->file_name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(shard_fd, name, 0);
	return r;
}

static int rewrite(const struct cache_module *module, const struct cache_file *file, int shard_fd)
{
	struct rewriting rewriting = {0};
	int r = gather(&rewriting, module, file);

	if (r == 0)
		r = lay_out(&rewriting);
	if (r == 0)
		r = write_anew(module, &rewriting, shard_fd);
	rewriting_release(&rewriting);
	return r;
}

static bool tail_is_short(const struct cache_file *file, uint64_t added)
{
	const uint64_t indexed = file->head->tail;
	const uint64_t limit = indexed / TAIL_PART > TAIL_BYTES ? indexed / TAIL_PART : TAIL_BYTES;

	return file->n_bytes >= indexed && file->n_bytes - indexed + added <= limit;
}

/* The file is locked: what is in it now decides. */
static int save_locked(const struct cache_module *module, int shard_fd, int fd)
{
	__attribute__((cleanup(cache_file_unmap))) struct cache_file file = {0};
	enum cache_fit fit = CACHE_OTHER;

	if (cache_file_map(fd, &file) == 0)
		fit = cache_file_fit(file.head, &module->cache->maker, &module->source);
	if (fit == CACHE_BETTER)
		return 0;
	if (fit == CACHE_OTHER)
		cache_file_unmap(&file);
	else if (file.n_bytes + module->added_bytes > CACHE_FILE_MAX_BYTES)
		return -EFBIG;
	if (fit == CACHE_FITS && tail_is_short(&file, module->added_bytes))
		return append(module, fd, file.n_bytes);
	return rewrite(module, &file, shard_fd);
}

int cache_save(struct cache_module *module, struct err *err)
{
	const struct cache *cache = module->cache;
	_cleanup_fd_ int shard_fd = -1;
	_cleanup_fd_ int fd = -1;
	int r;

	if (module->n_saved == module->n_added)
		return 0;
	(void)mkdirat(cache->fd, module->shard, 0700);
	shard_fd =
		openat(cache->fd, module->shard, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (shard_fd < 0)
		return err_set(err, errno, "make '%s/%s'", cache->path, module->shard);
	fd = cache_lock(shard_fd, module->file_name, O_RDWR | O_CREAT | O_APPEND);
	r = fd < 0 ? fd : save_locked(module, shard_fd, fd);
	if (r < 0)
		return err_set(err, -r, "write '%s/%s/%s'", cache->path, module->shard,
			       module->file_name);
	module->n_saved = module->n_added;
	module->added_bytes = 0;
	atomic_store_explicit(&module->cache->written, true, memory_order_relaxed);
	return 0;
}
