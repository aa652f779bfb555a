/* cache_test.c - tables on disk: kept, shared, in a folder that is the user's alone */
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

static struct function_chain chain;

static void what_was_added_is_found_by_the_next_one(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct function_table table;
	struct cache_module *module;
	struct cache *cache;

	(void)state;
	assert_int_equal(fixture_kept(&key, 0, 10), 0);
	fixture_keep(&key, 10, 60);
	assert_int_equal(fixture_kept(&key, 0, 100), 50);
	cache = fixture_cache();
	module = fixture_module(cache, &key);
	/* The cold part of the 20th. */
	assert_int_equal(cache_find(module, fixture_cold(20), &table), 0);
	assert_int_equal(function_table_find(&table, fixture_cold(20), &chain), 0);
	assert_string_equal(chain.levels[0].name, "function_20");
	assert_int_equal(cache_find(module, fixture_cold(20) + 8, &table), -ENOENT);
	assert_int_equal(cache_find(module, UINT64_MAX, &table), -ENOENT);
	cache_module_close(module);
	cache_close(cache);
}

static void what_was_added_is_found_before_it_is_written(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct cache *cache = fixture_cache();
	struct cache_module *module = fixture_module(cache, &key);

	(void)state;
	fixture_add(module, 0, 10);
	assert_int_equal(fixture_count(module, 0, 20), 10);
	fixture_add(module, 15, 20);
	assert_int_equal(fixture_count(module, 0, 20), 15);
	cache_module_close(module);
	cache_close(cache);
	assert_int_equal(fixture_kept(&key, 0, 20), 15);
}

static void the_index_is_rewritten_when_the_tail_is_long(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct cache_head head;

	(void)state;
	fixture_keep(&key, 0, 10000);
	fixture_read((uint8_t *)&head, sizeof(head));
	assert_int_equal(head.n_functions, 10000);
	assert_int_equal(head.n_index, 12000);
	assert_int_equal(head.tail, fixture_bytes());
	fixture_keep(&key, 10000, 10500);
	fixture_read((uint8_t *)&head, sizeof(head));
	assert_int_equal(head.n_functions, 10000);
	assert_true(head.tail < fixture_bytes());
	assert_int_equal(fixture_kept(&key, 0, 11000), 10500);
	fixture_keep(&key, 10500, 12000);
	fixture_read((uint8_t *)&head, sizeof(head));
	assert_int_equal(head.n_functions, 12000);
	assert_int_equal(head.tail, fixture_bytes());
	assert_int_equal(fixture_kept(&key, 0, 13000), 12000);
}

static void what_two_have_added_is_kept_once(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct cache *cache = fixture_cache();
	struct cache_module *one = fixture_module(cache, &key);
	struct cache_module *two = fixture_module(cache, &key);
	uint64_t bytes;

	(void)state;
	fixture_add(one, 0, 2000);
	fixture_add(two, 0, 2000);
	cache_module_close(one);
	bytes = fixture_bytes();
	cache_module_close(two);
	assert_int_equal(fixture_bytes(), bytes);
	cache_close(cache);
	assert_int_equal(fixture_kept(&key, 0, 2000), 2000);
}

static void many_writers_at_once_lose_nothing(void **state)
{
	enum { WRITERS = 4, ROUNDS = 12, EACH = 40 };
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));

	(void)state;
	for (uint64_t writer = 0; writer < WRITERS; writer++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			for (uint64_t round = 0; round < ROUNDS; round++) {
				uint64_t from = (round * WRITERS + writer) * EACH;

				fixture_keep(&key, from, from + EACH);
			}
			_exit(0);
		}
	}
	for (int writer = 0; writer < WRITERS; writer++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(fixture_kept(&key, 0, WRITERS * ROUNDS * EACH), WRITERS * ROUNDS * EACH);
}

static void a_reader_keeps_what_it_has_when_the_file_is_replaced(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct function_table table;
	struct cache_module *module;
	struct cache *cache;

	(void)state;
	fixture_keep(&key, 0, 10);
	cache = fixture_cache();
	module = fixture_module(cache, &key);
	assert_int_equal(cache_find(module, 0, &table), 0);
	fixture_keep(&key, 10, 5000);
	assert_int_equal(function_table_find(&table, 0, &chain), 0);
	assert_string_equal(chain.levels[0].name, "function_0");
	assert_int_equal(fixture_count(module, 0, 100), 10);
	fixture_add(module, 5000, 5001);
	cache_module_close(module);
	cache_close(cache);
	assert_int_equal(fixture_kept(&key, 0, 6000), 5001);
}

static void another_file_or_a_better_level_drops_the_old(void **state)
{
	struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));

	(void)state;
	key.level = CACHE_DEBUG;
	fixture_keep(&key, 0, 10);
	assert_int_equal(fixture_kept(&key, 0, 20), 10);
	key.level = CACHE_SYMTAB;
	assert_int_equal(fixture_kept(&key, 0, 20), 0);
	fixture_keep(&key, 5, 8);
	assert_int_equal(fixture_kept(&key, 0, 20), 3);
	/* A worse source finds what the better one has left, and spoils nothing. */
	key.level = CACHE_DEBUG;
	assert_int_equal(fixture_kept(&key, 0, 20), 3);
	fixture_keep(&key, 8, 20);
	assert_int_equal(fixture_kept(&key, 0, 20), 3);
	key.level = CACHE_SYMTAB;
	key.debug_size++;
	assert_int_equal(fixture_kept(&key, 0, 20), 0);
	fixture_keep(&key, 0, 1);
	assert_int_equal(fixture_kept(&key, 0, 20), 1);
	key.debug_mtime_ns++;
	assert_int_equal(fixture_kept(&key, 0, 20), 0);
	/* The module itself is known by its build-id wherever it lies. */
	key.debug_mtime_ns--;
	key.inode++;
	key.mtime_ns++;
	assert_int_equal(fixture_kept(&key, 0, 20), 1);
}

static void without_a_build_id_the_file_itself_counts(void **state)
{
	struct cache_key key = fixture_key(NULL, 0);
	struct cache *cache = fixture_cache();
	struct cache_module *module;

	(void)state;
	fixture_keep(&key, 0, 10);
	assert_int_equal(fixture_kept(&key, 0, 10), 10);
	key.mtime_ns++;
	assert_int_equal(fixture_kept(&key, 0, 10), 0);
	key = (struct cache_key){.level = CACHE_SYMTAB};
	assert_int_equal(cache_module_open(cache, &key, "x", &module), -ENOTSUP);
	cache_close(cache);
}

static void the_folder_is_the_users_alone(void **state)
{
	struct cache_options options = {.folder = fixture_folder};
	char below[128];
	struct cache *cache;
	struct err err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(chmod(fixture_folder, 0755), 0);
	assert_int_equal(cache_open(&options, &cache, &err), -EPERM);
	assert_non_null(strstr(err.text, "open to others (mode 755)"));
	assert_non_null(strstr(err.text, "chmod 700"));
	(void)snprintf(below, sizeof(below), "%s/new/one", fixture_folder);
	options.folder = below;
	assert_int_equal(cache_open(&options, &cache, &err), 0);
	assert_int_equal(stat(below, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	cache_close(cache);
	options.folder = "/proc/nowhere";
	assert_true(cache_open(&options, &cache, &err) < 0);
	assert_non_null(strstr(err.text, "'/proc/nowhere'"));
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(below, 65534, (gid_t)-1), 0);
	options.folder = below;
	assert_int_equal(cache_open(&options, &cache, &err), -EPERM);
	assert_non_null(strstr(err.text, "belongs to user 65534"));
}

/* The alarm ends a test that waits for a writer. */
static void a_pipe_in_the_place_of_a_file_stops_nobody(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));

	(void)state;
	(void)alarm(10);
	fixture_keep(&key, 0, 10);
	assert_int_equal(unlink(fixture_path()), 0);
	assert_int_equal(mkfifo(fixture_path(), 0600), 0);
	assert_int_equal(fixture_kept(&key, 0, 10), 0);
	fixture_keep(&key, 0, 10);
	assert_int_equal(fixture_kept(&key, 0, 10), 0);
	(void)alarm(0);
	assert_int_equal(unlink(fixture_path()), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_a_folder(what_was_added_is_found_by_the_next_one),
		in_a_folder(what_was_added_is_found_before_it_is_written),
		in_a_folder(the_index_is_rewritten_when_the_tail_is_long),
		in_a_folder(what_two_have_added_is_kept_once),
		in_a_folder(many_writers_at_once_lose_nothing),
		in_a_folder(a_reader_keeps_what_it_has_when_the_file_is_replaced),
		in_a_folder(another_file_or_a_better_level_drops_the_old),
		in_a_folder(without_a_build_id_the_file_itself_counts),
		in_a_folder(the_folder_is_the_users_alone),
		in_a_folder(a_pipe_in_the_place_of_a_file_stops_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
