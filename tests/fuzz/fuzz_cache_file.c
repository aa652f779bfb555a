/*
 * fuzz_cache_file.c - a build's file in the cache, of any bytes
 *
 * Checksums keep most inputs from getting anywhere: they are made right here when the first byte
 * asks for it, so that lengths, indexes and tables that lie are reached.
 */
#include "symbolize/cache/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RIGHT_HEAD = 1, RIGHT_RECORDS = 2, MAX_LEN = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static struct function_chain chain;
static volatile size_t sink;

static size_t len_of(const char *text)
{
	return text ? strlen(text) : 0;
}

static void make_head_right(unsigned char *bytes, size_t size)
{
	struct cache_head *head = (void *)bytes;

	if (size < sizeof(*head))
		return;
	memcpy(head->magic, CACHE_MAGIC, sizeof(head->magic));
	head->version = CACHE_VERSION;
	head->name[CACHE_MAX_NAME] = '\0';
	head->crc = cache_head_crc(head);
}

/* Wherever the magic of a record stands. */
static void make_records_right(unsigned char *bytes, size_t size)
{
	for (size_t at = 0; at + sizeof(struct cache_record) <= size; at += CACHE_ALIGN) {
		struct cache_record *record = (void *)(bytes + at);
		const size_t room = size - at - sizeof(*record);

		if (record->magic != CACHE_RECORD_MAGIC)
			continue;
		if (record->n_bytes <= room)
			record->crc = crc32c(record + 1, record->n_bytes);
		record->head_crc = crc32c(record, offsetof(struct cache_record, head_crc));
	}
}

static void look_up(const struct cache_file *file, uint64_t addr)
{
	struct function_table table;

	if (cache_file_find(file, addr, &table) < 0)
		return;
	if (function_table_find(&table, addr, &chain) < 0)
		abort(); /* it was said to hold the address */
	for (size_t i = 0; i < chain.n_levels; i++)
		sink += strlen(chain.levels[i].name) + strlen(chain.levels[i].file) +
			len_of(chain.levels[i].readable);
	sink += len_of(chain.symbol.name) + len_of(chain.symbol.readable);
}

static void read_all(const struct cache_file *file)
{
	const struct cache_record *record;
	struct cache_scan scan = cache_scan_records(file);
	struct function_table table;

	sink += strlen(file->head->name);
	for (size_t i = 0; i < file->n_index && i < 64; i++)
		look_up(file, file->index[i].lo);
	for (size_t i = 0; i < file->n_tail && i < 64; i++)
		look_up(file, file->tail[i].lo);
	look_up(file, UINT64_MAX);
	while ((record = cache_scan_next(file, &scan)))
		sink += (size_t)cache_record_table(record, &table);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct cache_file file;
	unsigned char *bytes;
	int fd;

	if (size < 1 || size > MAX_LEN)
		return 0;
	bytes = malloc(size);
	fd = memfd_create("cache", MFD_CLOEXEC);
	if (!bytes || fd < 0)
		abort();
	memcpy(bytes, data + 1, size - 1);
	if (data[0] & RIGHT_RECORDS)
		make_records_right(bytes, size - 1);
	if (data[0] & RIGHT_HEAD)
		make_head_right(bytes, size - 1);
	if (write(fd, bytes, size - 1) == (ssize_t)(size - 1) && cache_file_map(fd, &file) == 0) {
		read_all(&file);
		cache_file_unmap(&file);
	}
	(void)close(fd);
	free(bytes);
	return 0;
}
