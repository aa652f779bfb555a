/* cache_fixture.c - builds of functions that are told apart */
#include "cache_fixture.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

const uint8_t fixture_id[8] = {0xaa, 1, 2, 3, 4, 5, 6, 7};
char fixture_folder[FOLDER_BYTES];
static struct function_chain chain;

int fixture_set_up(void **state)
{
	(void)state;
	folder_make(fixture_folder);
	return 0;
}

int fixture_tear_down(void **state)
{
	(void)state;
	folder_remove(fixture_folder);
	return 0;
}

struct cache *fixture_cache(void)
{
	const struct cache_options options = {.folder = fixture_folder};
	struct cache *cache;
	struct err err = {0};

	if (cache_open(&options, &cache, &err) < 0)
		fail_msg("%s", err.text);
	return cache;
}

struct cache_key fixture_key(const uint8_t *id, size_t len)
{
	return (struct cache_key){
		.build_id = id,
		.build_id_len = len,
		.size = 1000,
		.inode = 7,
		.mtime_ns = 99,
		.debug_size = 5000,
		.debug_mtime_ns = 123,
		.level = CACHE_SYMTAB,
	};
}

struct cache_module *fixture_module(struct cache *cache, const struct cache_key *key)
{
	struct cache_module *module;

	assert_int_equal(cache_module_open(cache, key, "/usr/lib/libtest.so", &module), 0);
	return module;
}

uint64_t fixture_cold(uint64_t nth)
{
	return UINT64_C(0x10000000) + nth * FUNCTION_BYTES;
}

/* The Nth function is at N * 16, named by its number; some have a cold part far away. */
static struct function_table make(uint64_t nth)
{
	struct function_builder *builder;
	struct function_table table;
	char name[32];

	assert_int_equal(function_builder_new(&builder), 0);
	(void)snprintf(name, sizeof(name), "function_%lu", nth);
	assert_int_equal(function_builder_node(builder, 0, name, 0, 0, 0), 0);
	assert_int_equal(function_builder_range(builder, 0, nth * FUNCTION_BYTES,
						(nth + 1) * FUNCTION_BYTES),
			 0);
	if (nth % 5 == 0)
		assert_int_equal(function_builder_range(builder, 0, fixture_cold(nth),
							fixture_cold(nth) + 8),
				 0);
	assert_int_equal(function_builder_finish(builder, &table), 0);
	function_builder_free(builder);
	return table;
}

void fixture_add(struct cache_module *module, uint64_t from, uint64_t to)
{
	for (uint64_t nth = from; nth < to; nth++) {
		struct function_table table = make(nth);

		assert_int_equal(cache_add(module, &table), 0);
		free((void *)table.bytes);
	}
}

bool fixture_has(struct cache_module *module, uint64_t nth)
{
	struct function_table table;
	char name[32];

	if (cache_find(module, nth * FUNCTION_BYTES + 3, &table) < 0)
		return false;
	(void)snprintf(name, sizeof(name), "function_%lu", nth);
	assert_int_equal(function_table_check(&table), 0);
	assert_int_equal(function_table_find(&table, nth * FUNCTION_BYTES + 3, &chain), 0);
	assert_string_equal(chain.levels[0].name, name);
	return true;
}

size_t fixture_count(struct cache_module *module, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (uint64_t nth = from; nth < to; nth++)
		n += fixture_has(module, nth);
	return n;
}

void fixture_keep(const struct cache_key *key, uint64_t from, uint64_t to)
{
	struct cache *cache = fixture_cache();
	struct cache_module *module = fixture_module(cache, key);

	fixture_add(module, from, to);
	cache_module_close(module);
	cache_close(cache);
}

size_t fixture_kept(const struct cache_key *key, uint64_t from, uint64_t to)
{
	struct cache *cache = fixture_cache();
	struct cache_module *module = fixture_module(cache, key);
	size_t n = fixture_count(module, from, to);

	cache_module_close(module);
	cache_close(cache);
	return n;
}

const char *fixture_path(void)
{
	static char path[160];

	(void)snprintf(path, sizeof(path), "%s/aa/01020304050607.symbols", fixture_folder);
	return path;
}

uint64_t fixture_bytes(void)
{
	struct stat st;

	assert_int_equal(stat(fixture_path(), &st), 0);
	return (uint64_t)st.st_size;
}

void fixture_read(uint8_t *bytes, size_t len)
{
	_cleanup_fd_ int fd = open(fixture_path(), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, len), len);
}

void fixture_write(const uint8_t *bytes, size_t len)
{
	/* Not O_TRUNC: file systems write such a file to the disk when it is closed. */
	_cleanup_fd_ int fd = open(fixture_path(), O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
}

void fixture_set_used(const char *path, time_t seconds)
{
	const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}
