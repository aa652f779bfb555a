/* cache_list_test.c - what is in the cache, and letting go of it */
#include "symbolize/cache/cache.h"

#include "base/cleanup.h"
#include "cache_fixture.h"
#include "symbolize/cache/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const uint8_t id_b[20] = {0xab, 1, 2, 3};
static const uint8_t id_c[8] = {0xac, 1, 2, 3};

/* Three builds: a of 5 functions, b of 50, c of 500, used in this order. */
static const struct cache_entry *three_builds(struct cache *cache)
{
	const struct cache_key a = fixture_key(fixture_id, sizeof(fixture_id));
	const struct cache_key b = fixture_key(id_b, sizeof(id_b));
	const struct cache_key c = fixture_key(id_c, sizeof(id_c));
	const struct cache_entry *entries;
	struct err err = {0};

	fixture_keep(&a, 0, 5);
	fixture_keep(&b, 0, 50);
	fixture_keep(&c, 0, 500);
	assert_int_equal(cache_list(cache, &entries, &err), 3);
	for (int i = 0; i < 3; i++)
		fixture_set_used(entries[i].path, (time_t)(1000 + entries[i].n_functions));
	assert_int_equal(cache_list(cache, &entries, &err), 3);
	return entries;
}

static void add_nothing(struct cache_module *module, uint64_t addr)
{
	struct function_builder *builder = NULL;
	struct function_table table;

	assert_int_equal(function_builder_new(&builder), 0);
	assert_int_equal(function_builder_node(builder, 0, "", FUNCTION_NO_FILE, 0, 0), 0);
	assert_int_equal(function_builder_range(builder, 0, addr, addr + 1), 0);
	assert_int_equal(function_builder_finish(builder, &table), 0);
	assert_int_equal(cache_add(module, &table), 0);
	free((void *)(uintptr_t)table.bytes);
	function_builder_free(builder);
}

static void lists_builds_the_last_used_first(void **state)
{
	struct cache *cache = fixture_cache();
	const struct cache_entry *entries = three_builds(cache);
	struct stat st;

	(void)state;
	assert_int_equal(entries[0].n_functions, 500);
	assert_string_equal(entries[0].build_id, "ac01020300000000");
	assert_string_equal(entries[0].name, "/usr/lib/libtest.so");
	assert_int_equal(entries[0].level, CACHE_SYMTAB);
	assert_int_equal(entries[1].used_ns, INT64_C(1050) * 1000000000);
	assert_int_equal(entries[2].n_functions, 5);
	assert_int_equal(stat(entries[2].path, &st), 0);
	assert_int_equal(entries[2].bytes, st.st_size);
	cache_close(cache);
}

/* In the tail, and, written anew, in the index. */
static void what_nothing_is_known_of_is_no_function(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct cache *cache = fixture_cache();
	const struct cache_entry *entries;
	struct err err = {0};

	(void)state;
	for (uint64_t n = 0; n < 40; n += 20) {
		struct cache_module *module = fixture_module(cache, &key);

		fixture_add(module, n, n + 3);
		for (uint64_t i = 0; i < 17; i++)
			add_nothing(module, (n + 3 + i) * 16);
		cache_module_close(module);
		assert_int_equal(cache_list(cache, &entries, &err), 1);
		assert_int_equal(entries[0].n_functions, n / 20 * 3 + 3);
	}
	cache_close(cache);
}

static void a_use_is_noted(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct stat st;

	(void)state;
	fixture_keep(&key, 0, 5);
	fixture_set_used(fixture_path(), 1000);
	assert_int_equal(fixture_kept(&key, 0, 5), 5);
	assert_int_equal(stat(fixture_path(), &st), 0);
	assert_true(st.st_mtim.tv_sec > 1000);
}

static void the_least_recently_used_go_first(void **state)
{
	struct cache *cache = fixture_cache();
	const struct cache_entry *entries = three_builds(cache);
	uint64_t two = entries[0].bytes + entries[1].bytes;
	struct err err = {0};

	(void)state;
	assert_int_equal(cache_shrink(cache, two + entries[2].bytes, &err), 0);
	assert_int_equal(cache_shrink(cache, two, &err), 1);
	assert_int_equal(cache_list(cache, &entries, &err), 2);
	assert_int_equal(entries[1].n_functions, 50);
	assert_int_equal(cache_shrink(cache, 0, &err), 2);
	assert_int_equal(cache_list(cache, &entries, &err), 0);
	cache_close(cache);
}

static void closing_keeps_the_limit(void **state)
{
	const struct cache_key a = fixture_key(fixture_id, sizeof(fixture_id));
	const struct cache_key b = fixture_key(id_b, sizeof(id_b));
	struct cache_options options = {.folder = fixture_folder};
	struct cache_module *module;
	struct cache *cache;

	(void)state;
	fixture_keep(&a, 0, 1000);
	fixture_set_used(fixture_path(), 1000);
	options.max_bytes = fixture_bytes() + 1000;
	assert_int_equal(cache_open(&options, &cache, NULL), 0);
	module = fixture_module(cache, &b);
	fixture_add(module, 0, 1000);
	cache_module_close(module);
	cache_close(cache);
	assert_int_equal(fixture_kept(&a, 0, 1000), 0);
	assert_int_equal(fixture_kept(&b, 0, 1000), 1000);
}

static void builds_are_removed_by_id_or_name(void **state)
{
	struct cache *cache = fixture_cache();
	struct err err = {0};

	(void)state;
	(void)three_builds(cache);
	assert_int_equal(cache_remove(cache, "none", &err), 0);
	assert_int_equal(cache_remove(cache, "", &err), 0);
	assert_int_equal(cache_remove(cache, "ab0102", &err), 1);
	assert_int_equal(cache_remove(cache, "libtest.so", &err), 2);
	(void)three_builds(cache);
	assert_int_equal(cache_remove(cache, "/usr/lib/libtest.so", &err), 3);
	(void)three_builds(cache);
	assert_int_equal(cache_remove(cache, NULL, &err), 3);
	cache_close(cache);
}

/* What damaged is, is listed and removed as all else. */
static void a_damaged_file_is_listed_and_removed(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct cache *cache = fixture_cache();
	const struct cache_entry *entries;

	(void)state;
	fixture_keep(&key, 0, 5);
	fixture_write((const uint8_t *)"nothing", 7);
	assert_int_equal(cache_list(cache, &entries, NULL), 1);
	assert_string_equal(entries[0].build_id, "");
	assert_int_equal(entries[0].bytes, 7);
	assert_int_equal(cache_remove(cache, NULL, NULL), 1);
	cache_close(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_folder(lists_builds_the_last_used_first),
		in_a_folder(what_nothing_is_known_of_is_no_function),
		in_a_folder(a_use_is_noted),
		in_a_folder(the_least_recently_used_go_first),
		in_a_folder(closing_keeps_the_limit),
		in_a_folder(builds_are_removed_by_id_or_name),
		in_a_folder(a_damaged_file_is_listed_and_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
