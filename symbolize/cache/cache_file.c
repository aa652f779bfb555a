/* cache_file.c - reads the file of one build, which may be damaged or hostile */
#include "symbolize/cache/internal.h"

#include "base/regular_file.h"
#include "base/search.h"
#include "symbolize/elf/file_guard.h"
#include "symbolize/function/function_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_STEPS = 64,    /* over overlapping ranges in a lookup: real functions hardly overlap */
	MAX_DAMAGED = 256, /* of the records of a file: many writers were killed, or the file is
			      hostile */
};

uint32_t cache_head_crc(const struct cache_head *head)
{
	struct cache_head copy = *head;

	copy.crc = 0;
	return crc32c(&copy, sizeof(copy));
}

static bool good_head(const struct cache_file *file)
{
	const struct cache_head *head = (const void *)file->bytes;
	const uint64_t room = file->n_bytes - sizeof(*head);

	if (!head || memcmp(head->magic, CACHE_MAGIC, sizeof(head->magic)) != 0 ||
	    head->version != CACHE_VERSION || head->crc != cache_head_crc(head))
		return false;
	return head->n_index <= room / sizeof(struct cache_index) &&
	       head->source.build_id_len <= BUILD_ID_MAX && head->name[CACHE_MAX_NAME] == '\0';
}

struct cache_scan cache_scan_records(const struct cache_file *file)
{
	return (struct cache_scan){
		.offset = sizeof(struct cache_head) + file->n_index * sizeof(struct cache_index),
	};
}

size_t cache_record_size(const struct cache_record *record)
{
	return sizeof(*record) +
	       (((size_t)record->n_bytes + CACHE_ALIGN - 1) & ~(size_t)(CACHE_ALIGN - 1));
}

/* The record at an offset, if there is one whose length is right. */
static const struct cache_record *record_at(const struct cache_file *file, uint64_t offset)
{
	const struct cache_record *record;

	if (offset % CACHE_ALIGN != 0 || offset > file->n_bytes ||
	    file->n_bytes - offset < sizeof(*record))
		return NULL;
	record = (const void *)(file->bytes + offset);
	if (record->magic != CACHE_RECORD_MAGIC ||
	    record->head_crc != crc32c(record, offsetof(struct cache_record, head_crc)) ||
	    file->n_bytes - offset < cache_record_size(record))
		return NULL;
	return record;
}

static bool good_bytes(const struct cache_record *record)
{
	return record->crc == crc32c(record + 1, record->n_bytes);
}

/*
 * A torn write left part of a record, whose length reaches into those that were appended after
 * it.  Where another record follows a length is right; elsewhere the bytes decide.  (Not
 * everywhere: looking at all bytes would be most of opening a file.)
 */
static bool is_whole(const struct cache_file *file, const struct cache_record *record,
		     struct cache_scan *scan)
{
	if (record_at(file, scan->offset + cache_record_size(record)) || good_bytes(record))
		return true;
	scan->n_damaged++;
	return false;
}

/* The next one begins at some multiple of eight. */
const struct cache_record *cache_scan_next(const struct cache_file *file, struct cache_scan *scan)
{
	scan->offset = (scan->offset + CACHE_ALIGN - 1) & ~(uint64_t)(CACHE_ALIGN - 1);
	for (; scan->offset < file->n_bytes && scan->n_damaged < MAX_DAMAGED;
	     scan->offset += CACHE_ALIGN) {
		const struct cache_record *record = record_at(file, scan->offset);

		if (record && is_whole(file, record, scan)) {
			scan->offset += cache_record_size(record);
			return record;
		}
	}
	return NULL;
}

void cache_scan_into(const struct cache_file *file, struct cache_scan *scan,
		     const struct cache_record *record)
{
	scan->offset = (uint64_t)((const uint8_t *)(record + 1) - file->bytes);
	scan->n_damaged++;
}

int cache_record_table(const struct cache_record *record, struct function_table *ret_table)
{
	const struct function_table table = {(const uint8_t *)(record + 1), record->n_bytes};

	if (!good_bytes(record) || function_table_check(&table) < 0)
		return -EBADMSG;
	*ret_table = table;
	return 0;
}

struct cache_record *cache_record_make(const struct function_table *table)
{
	struct cache_record head = {
		.magic = CACHE_RECORD_MAGIC,
		.n_bytes = (uint32_t)table->n_bytes,
	};
	struct cache_record *record = calloc(1, cache_record_size(&head));

	if (!record)
		return NULL;
	head.crc = crc32c(table->bytes, table->n_bytes);
	head.head_crc = crc32c(&head, offsetof(struct cache_record, head_crc));
	*record = head;
	memcpy(record + 1, table->bytes, table->n_bytes);
	return record;
}

static int compare_index(const void *left, const void *right)
{
	const struct cache_index *a = left;
	const struct cache_index *b = right;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->record > b->record) - (a->record < b->record);
}

void cache_index_sort(struct cache_index *index, size_t n)
{
	uint64_t max_hi = 0;

	if (n > 0)
		qsort(index, n, sizeof(*index), compare_index);
	for (size_t i = 0; i < n; i++) {
		if (index[i].hi > max_hi)
			max_hi = index[i].hi;
		index[i].max_hi = max_hi;
	}
}

const struct cache_index *cache_index_find(const struct cache_index *index, size_t n, uint64_t addr,
					   int64_t *at)
{
	if (*at < 0)
		/* In a damaged index a search may miss an entry, no more. */
		*at = (int64_t)search_up_to(index, n, sizeof(*index), addr);
	for (int steps = 0; *at > 0 && steps < MAX_STEPS; steps++) {
		const struct cache_index *entry = &index[--*at];

		if (addr >= entry->max_hi)
			break;
		if (addr < entry->hi)
			return entry;
	}
	*at = 0;
	return NULL;
}

/* The ranges of a record that was not checked yet: bounded here, checked when it is found. */
static size_t n_ranges_of(const struct cache_record *record)
{
	const struct layout_head *head = (const void *)(record + 1);
	const size_t most = record->n_bytes / sizeof(struct layout_range);

	if (record->n_bytes < sizeof(*head) || head->n_ranges > most ||
	    sizeof(*head) + head->n_ranges * sizeof(struct layout_range) > record->n_bytes)
		return 0;
	return head->n_ranges;
}

static int index_record(struct cache_file *file, const struct cache_record *record, size_t *room)
{
	const struct layout_head *head = (const void *)(record + 1);
	const struct layout_range *ranges = (const void *)(head + 1);
	const size_t n = n_ranges_of(record);

	if (file->n_tail + n > *room) {
		struct cache_index *larger;

		*room = (file->n_tail + n) * 2;
		larger = reallocarray(file->tail, *room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		file->tail = larger;
	}
	for (size_t i = 0; i < n; i++) {
		file->tail[file->n_tail++] = (struct cache_index){
			.lo = head->base + ranges[i].lo,
			.hi = head->base + ranges[i].hi,
			.record = (uint64_t)((const uint8_t *)record - file->bytes),
		};
	}
	file->n_tail_functions++;
	return 0;
}

static int index_tail(struct cache_file *file)
{
	struct cache_scan scan = cache_scan_records(file);
	const struct cache_record *record;
	size_t room = 0;

	if (scan.offset < file->head->tail)
		scan.offset = file->head->tail;
	while ((record = cache_scan_next(file, &scan))) {
		int r = index_record(file, record, &room);

		if (r < 0)
			return r;
	}
	cache_index_sort(file->tail, file->n_tail);
	return 0;
}

static int map_bytes(int fd, struct cache_file *file)
{
	struct stat st;
	void *bytes = NULL;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	if ((uint64_t)st.st_size > CACHE_FILE_MAX_BYTES || regular_file_is_hollow(&st))
		return -EFBIG;
	if ((uint64_t)st.st_size < sizeof(struct cache_head))
		return -EBADMSG;
	file->n_bytes = (size_t)st.st_size;
	r = file_guard_map(fd, file->n_bytes, &bytes);
	file->bytes = bytes;
	return r;
}

int cache_file_map(int fd, struct cache_file *ret_file)
{
	struct cache_file file = {0};
	int r = map_bytes(fd, &file);

	if (r < 0)
		return r;
	if (!good_head(&file)) {
		cache_file_unmap(&file);
		return -EBADMSG;
	}
	file.head = (const void *)file.bytes;
	file.index = (const void *)(file.head + 1);
	file.n_index = (size_t)file.head->n_index;
	r = index_tail(&file);
	if (r < 0) {
		cache_file_unmap(&file);
		return r;
	}
	*ret_file = file;
	return 0;
}

void cache_file_unmap(struct cache_file *file)
{
	file_guard_unmap((void *)file->bytes, file->n_bytes);
	free(file->tail);
	*file = (struct cache_file){0};
}

enum cache_fit cache_file_fit(const struct cache_head *head, const struct cache_maker *maker,
			      const struct cache_source *source)
{
	const struct cache_source *kept = &head->source;

	if (memcmp(&head->maker, maker, sizeof(*maker)) != 0 ||
	    kept->build_id_len != source->build_id_len ||
	    memcmp(kept->build_id, source->build_id, sizeof(kept->build_id)) != 0)
		return CACHE_OTHER;
	if (source->build_id_len == 0 &&
	    (kept->size != source->size || kept->inode != source->inode ||
	     kept->mtime_ns != source->mtime_ns))
		return CACHE_OTHER;
	if (kept->level != source->level)
		return kept->level > source->level ? CACHE_BETTER : CACHE_OTHER;
	/* The same build-id, but its DWARF was edited, stripped in part, or made anew. */
	if (kept->debug_size != source->debug_size ||
	    kept->debug_mtime_ns != source->debug_mtime_ns)
		return CACHE_OTHER;
	return CACHE_FITS;
}

static bool covers(const struct function_table *table, uint64_t addr)
{
	uint64_t lo;
	uint64_t hi;

	for (size_t i = 0; function_table_range(table, i, &lo, &hi) && lo <= addr; i++) {
		if (addr < hi)
			return true;
	}
	return false;
}

static int find_in(const struct cache_file *file, const struct cache_index *index, size_t n,
		   uint64_t addr, struct function_table *ret_table)
{
	const struct cache_index *entry;
	int64_t at = -1;

	while ((entry = cache_index_find(index, n, addr, &at))) {
		const struct cache_record *record = record_at(file, entry->record);

		if (record && cache_record_table(record, ret_table) == 0 && covers(ret_table, addr))
			return 0;
	}
	return -ENOENT;
}

/* The tail is newer. */
int cache_file_find(const struct cache_file *file, uint64_t addr, struct function_table *ret_table)
{
	if (find_in(file, file->tail, file->n_tail, addr, ret_table) == 0)
		return 0;
	return find_in(file, file->index, file->n_index, addr, ret_table);
}
