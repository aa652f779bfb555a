/* cache_test.c - tables on disk: kept, shared, damaged, let go of */
#include "symbolize/cache.h"

#include "base/cleanup.h"
#include "symbolize/cache_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FUNCTION_BYTES = 16 };

static const uint8_t id_a[8] = {0xaa, 1, 2, 3, 4, 5, 6, 7};
static const uint8_t id_b[20] = {0xab, 1, 2, 3};
static const uint8_t id_c[8] = {0xac, 1, 2, 3};

static char folder[64];
static struct function_chain chain;

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/wick-cache-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct cache *open_cache(void)
{
	const struct cache_options options = {.folder = folder};
	struct cache *cache;
	struct err err = {0};

	if (cache_open(&options, &cache, &err) < 0)
		fail_msg("%s", err.text);
	return cache;
}

static struct cache_key key_of(const uint8_t *id, size_t len)
{
	return (struct cache_key){
		.build_id = id,
		.build_id_len = len,
		.size = 1000,
		.inode = 7,
		.mtime_ns = 99,
		.debug_size = 5000,
		.debug_mtime_ns = 123,
		.level = CACHE_DEBUG,
	};
}

static struct cache_module *open_module(struct cache *cache, const struct cache_key *key)
{
	struct cache_module *module;

	assert_int_equal(cache_module_open(cache, key, "/usr/lib/libtest.so", &module), 0);
	return module;
}

static uint64_t cold(uint64_t nth)
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
		assert_int_equal(function_builder_range(builder, 0, cold(nth), cold(nth) + 8), 0);
	assert_int_equal(function_builder_finish(builder, &table), 0);
	function_builder_free(builder);
	return table;
}

static void add(struct cache_module *module, uint64_t from, uint64_t to)
{
	for (uint64_t nth = from; nth < to; nth++) {
		struct function_table table = make(nth);

		assert_int_equal(cache_add(module, &table), 0);
		free((void *)table.bytes);
	}
}

/* Is the Nth function there, and is it the Nth? */
static bool has(struct cache_module *module, uint64_t nth)
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

static size_t count(struct cache_module *module, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (uint64_t nth = from; nth < to; nth++)
		n += has(module, nth);
	return n;
}

/* Adds functions as a process of its own would. */
static void keep(const struct cache_key *key, uint64_t from, uint64_t to)
{
	struct cache *cache = open_cache();
	struct cache_module *module = open_module(cache, key);

	add(module, from, to);
	cache_module_close(module);
	cache_close(cache);
}

/* How many of the functions another process would find. */
static size_t kept(const struct cache_key *key, uint64_t from, uint64_t to)
{
	struct cache *cache = open_cache();
	struct cache_module *module = open_module(cache, key);
	size_t n = count(module, from, to);

	cache_module_close(module);
	cache_close(cache);
	return n;
}

/* The file of id_a's build. */
static const char *file_path(void)
{
	static char path[160];

	(void)snprintf(path, sizeof(path), "%s/aa/01020304050607.symbols", folder);
	return path;
}

static uint64_t file_bytes(void)
{
	struct stat st;

	assert_int_equal(stat(file_path(), &st), 0);
	return (uint64_t)st.st_size;
}

static void read_file(uint8_t *bytes, size_t len)
{
	_cleanup_fd_ int fd = open(file_path(), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, len), len);
}

static void write_file(const uint8_t *bytes, size_t len)
{
	_cleanup_fd_ int fd = open(file_path(), O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
}

static void what_was_added_is_found_by_the_next_one(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	struct function_table table;
	struct cache_module *module;
	struct cache *cache;

	(void)state;
	assert_int_equal(kept(&key, 0, 10), 0);
	keep(&key, 10, 60);
	assert_int_equal(kept(&key, 0, 100), 50);
	cache = open_cache();
	module = open_module(cache, &key);
	/* The cold part of the 20th. */
	assert_int_equal(cache_find(module, cold(20), &table), 0);
	assert_int_equal(function_table_find(&table, cold(20), &chain), 0);
	assert_string_equal(chain.levels[0].name, "function_20");
	assert_int_equal(cache_find(module, cold(20) + 8, &table), -ENOENT);
	assert_int_equal(cache_find(module, UINT64_MAX, &table), -ENOENT);
	cache_module_close(module);
	cache_close(cache);
}

static void what_was_added_is_found_before_it_is_written(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	struct cache *cache = open_cache();
	struct cache_module *module = open_module(cache, &key);

	(void)state;
	add(module, 0, 10);
	assert_int_equal(count(module, 0, 20), 10);
	add(module, 15, 20);
	assert_int_equal(count(module, 0, 20), 15);
	cache_module_close(module);
	cache_close(cache);
	assert_int_equal(kept(&key, 0, 20), 15);
}

static void the_index_is_rewritten_when_the_tail_is_long(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	struct cache_head head;

	(void)state;
	keep(&key, 0, 10000);
	read_file((uint8_t *)&head, sizeof(head));
	assert_int_equal(head.n_functions, 10000);
	assert_int_equal(head.n_index, 12000);
	assert_int_equal(head.tail, file_bytes());
	keep(&key, 10000, 10500);
	read_file((uint8_t *)&head, sizeof(head));
	assert_int_equal(head.n_functions, 10000);
	assert_true(head.tail < file_bytes());
	assert_int_equal(kept(&key, 0, 11000), 10500);
	keep(&key, 10500, 12000);
	read_file((uint8_t *)&head, sizeof(head));
	assert_int_equal(head.n_functions, 12000);
	assert_int_equal(head.tail, file_bytes());
	assert_int_equal(kept(&key, 0, 13000), 12000);
}

static void what_two_have_added_is_kept_once(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	struct cache *cache = open_cache();
	struct cache_module *one = open_module(cache, &key);
	struct cache_module *two = open_module(cache, &key);
	uint64_t bytes;

	(void)state;
	add(one, 0, 2000);
	add(two, 0, 2000);
	cache_module_close(one);
	bytes = file_bytes();
	cache_module_close(two);
	assert_int_equal(file_bytes(), bytes);
	cache_close(cache);
	assert_int_equal(kept(&key, 0, 2000), 2000);
}

static void many_writers_at_once_lose_nothing(void **state)
{
	enum { WRITERS = 4, ROUNDS = 12, EACH = 40 };
	const struct cache_key key = key_of(id_a, sizeof(id_a));

	(void)state;
	for (uint64_t writer = 0; writer < WRITERS; writer++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			for (uint64_t round = 0; round < ROUNDS; round++) {
				uint64_t from = (round * WRITERS + writer) * EACH;

				keep(&key, from, from + EACH);
			}
			_exit(0);
		}
	}
	for (int writer = 0; writer < WRITERS; writer++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(kept(&key, 0, WRITERS * ROUNDS * EACH), WRITERS * ROUNDS * EACH);
}

static void a_reader_keeps_what_it_has_when_the_file_is_replaced(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	struct function_table table;
	struct cache_module *module;
	struct cache *cache;

	(void)state;
	keep(&key, 0, 10);
	cache = open_cache();
	module = open_module(cache, &key);
	assert_int_equal(cache_find(module, 0, &table), 0);
	keep(&key, 10, 5000);
	assert_int_equal(function_table_find(&table, 0, &chain), 0);
	assert_string_equal(chain.levels[0].name, "function_0");
	assert_int_equal(count(module, 0, 100), 10);
	add(module, 5000, 5001);
	cache_module_close(module);
	cache_close(cache);
	assert_int_equal(kept(&key, 0, 6000), 5001);
}

static void a_torn_record_is_passed_over(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	uint8_t bytes[60];
	uint64_t whole;
	int fd;

	(void)state;
	keep(&key, 0, 100);
	whole = file_bytes();
	keep(&key, 100, 101);
	/* Of an appended record so much was written when the machine stopped. */
	assert_int_equal(truncate(file_path(), (off_t)whole + 37), 0);
	assert_int_equal(kept(&key, 0, 200), 100);
	keep(&key, 101, 120);
	assert_int_equal(kept(&key, 0, 200), 119);
	/* Garbage, then more. */
	memset(bytes, 0x77, sizeof(bytes));
	fd = open(file_path(), O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	(void)close(fd);
	keep(&key, 120, 130);
	assert_int_equal(kept(&key, 0, 200), 129);
	keep(&key, 200, 6000); /* written anew */
	assert_int_equal(kept(&key, 0, 6000), 129 + 5800);
}

/* Whatever byte is wrong: what is found is right, and at most little is lost. */
static void any_damaged_byte_costs_one_record_or_the_file(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	uint8_t bytes[8192];
	size_t n_lost = 0;
	size_t len;

	(void)state;
	keep(&key, 1, 9);
	keep(&key, 9, 12);
	len = file_bytes();
	assert_true(len < sizeof(bytes));
	read_file(bytes, len);
	for (size_t at = 0; at < len; at++) {
		size_t found;

		bytes[at] ^= (uint8_t)(1 << at % 8);
		write_file(bytes, len);
		bytes[at] ^= (uint8_t)(1 << at % 8);
		found = kept(&key, 0, 20);
		if (at < sizeof(struct cache_head))
			assert_int_equal(found, 0);
		else
			assert_true(found >= 7);
		n_lost += found < 11;
	}
	assert_true(n_lost > len / 2); /* every byte counts, but padding */
}

static void a_cut_file_gives_what_is_left(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	uint8_t bytes[8192];
	size_t before = 11;
	size_t len;

	(void)state;
	keep(&key, 1, 9);
	keep(&key, 9, 12);
	len = file_bytes();
	assert_true(len < sizeof(bytes));
	read_file(bytes, len);
	for (size_t cut = len; cut > 0; cut -= cut > 5 ? 5 : cut) {
		size_t found;

		write_file(bytes, cut);
		found = kept(&key, 0, 20);
		assert_true(found <= before);
		before = found;
	}
	assert_int_equal(before, 0);
	keep(&key, 0, 30);
	assert_int_equal(kept(&key, 0, 40), 30);
}

static void a_file_that_shrinks_while_it_is_mapped_ends_nobody(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	struct function_table table;
	struct cache_module *module;
	struct cache *cache;

	(void)state;
	keep(&key, 0, 5000);
	cache = open_cache();
	module = open_module(cache, &key);
	assert_int_equal(cache_find(module, 4000 * FUNCTION_BYTES, &table), 0);
	assert_int_equal(truncate(file_path(), 4096), 0);
	(void)function_table_find(&table, 4000 * FUNCTION_BYTES, &chain);
	assert_true(count(module, 0, 5000) < 100);
	cache_module_close(module);
	cache_close(cache);
}

static void another_file_or_a_better_level_drops_the_old(void **state)
{
	struct cache_key key = key_of(id_a, sizeof(id_a));

	(void)state;
	key.level = CACHE_LINES;
	keep(&key, 0, 10);
	assert_int_equal(kept(&key, 0, 20), 10);
	key.level = CACHE_DEBUG;
	assert_int_equal(kept(&key, 0, 20), 0);
	keep(&key, 5, 8);
	assert_int_equal(kept(&key, 0, 20), 3);
	/* A worse source finds what the better one has left, and spoils nothing. */
	key.level = CACHE_LINES;
	assert_int_equal(kept(&key, 0, 20), 3);
	keep(&key, 8, 20);
	assert_int_equal(kept(&key, 0, 20), 3);
	key.level = CACHE_DEBUG;
	key.debug_size++;
	assert_int_equal(kept(&key, 0, 20), 0);
	keep(&key, 0, 1);
	assert_int_equal(kept(&key, 0, 20), 1);
	key.debug_mtime_ns++;
	assert_int_equal(kept(&key, 0, 20), 0);
	/* The module itself is known by its build-id wherever it lies. */
	key.debug_mtime_ns--;
	key.inode++;
	key.mtime_ns++;
	assert_int_equal(kept(&key, 0, 20), 1);
}

static void tables_of_another_program_are_not_believed(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	uint8_t bytes[8192];
	struct cache_head *head = (void *)bytes;
	size_t len;

	(void)state;
	keep(&key, 0, 5);
	len = file_bytes();
	read_file(bytes, len);
	head->maker.build_id[3] ^= 1;
	write_file(bytes, len);
	assert_int_equal(kept(&key, 0, 5), 0);
	head->crc = cache_head_crc(head);
	write_file(bytes, len);
	assert_int_equal(kept(&key, 0, 5), 0);
	head->maker.build_id[3] ^= 1;
	head->crc = cache_head_crc(head);
	write_file(bytes, len);
	assert_int_equal(kept(&key, 0, 5), 5);
}

static void without_a_build_id_the_file_itself_counts(void **state)
{
	struct cache_key key = key_of(NULL, 0);
	struct cache *cache = open_cache();
	struct cache_module *module;

	(void)state;
	keep(&key, 0, 10);
	assert_int_equal(kept(&key, 0, 10), 10);
	key.mtime_ns++;
	assert_int_equal(kept(&key, 0, 10), 0);
	key = (struct cache_key){.level = CACHE_DEBUG};
	assert_int_equal(cache_module_open(cache, &key, "x", &module), -ENOTSUP);
	cache_close(cache);
}

static void the_folder_is_the_users_alone(void **state)
{
	struct cache_options options = {.folder = folder};
	char below[128];
	struct cache *cache;
	struct err err = {0};
	struct stat st;

	(void)state;
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(cache_open(&options, &cache, &err), -EPERM);
	assert_non_null(strstr(err.text, "open to others (mode 755)"));
	assert_non_null(strstr(err.text, "chmod 700"));
	(void)snprintf(below, sizeof(below), "%s/new/one", folder);
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

/* A file in another's name, or a link, is not read. */
static void a_link_is_not_followed(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	char elsewhere[96];

	(void)state;
	keep(&key, 0, 5);
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", folder);
	assert_int_equal(rename(file_path(), elsewhere), 0);
	assert_int_equal(symlink(elsewhere, file_path()), 0);
	assert_int_equal(kept(&key, 0, 5), 0);
}

static void set_used(const char *path, time_t seconds)
{
	const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Three builds: a of 5 functions, b of 50, c of 500, used in this order. */
static const struct cache_entry *three_builds(struct cache *cache)
{
	const struct cache_key a = key_of(id_a, sizeof(id_a));
	const struct cache_key b = key_of(id_b, sizeof(id_b));
	const struct cache_key c = key_of(id_c, sizeof(id_c));
	const struct cache_entry *entries;
	struct err err = {0};

	keep(&a, 0, 5);
	keep(&b, 0, 50);
	keep(&c, 0, 500);
	assert_int_equal(cache_list(cache, &entries, &err), 3);
	for (int i = 0; i < 3; i++)
		set_used(entries[i].path, (time_t)(1000 + entries[i].n_functions));
	assert_int_equal(cache_list(cache, &entries, &err), 3);
	return entries;
}

static void lists_builds_the_last_used_first(void **state)
{
	struct cache *cache = open_cache();
	const struct cache_entry *entries = three_builds(cache);
	struct stat st;

	(void)state;
	assert_int_equal(entries[0].n_functions, 500);
	assert_string_equal(entries[0].build_id, "ac01020300000000");
	assert_string_equal(entries[0].name, "/usr/lib/libtest.so");
	assert_int_equal(entries[0].level, CACHE_DEBUG);
	assert_int_equal(entries[1].used_ns, INT64_C(1050) * 1000000000);
	assert_int_equal(entries[2].n_functions, 5);
	assert_int_equal(stat(entries[2].path, &st), 0);
	assert_int_equal(entries[2].bytes, st.st_size);
	cache_close(cache);
}

static void a_use_is_noted(void **state)
{
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	struct stat st;

	(void)state;
	keep(&key, 0, 5);
	set_used(file_path(), 1000);
	assert_int_equal(kept(&key, 0, 5), 5);
	assert_int_equal(stat(file_path(), &st), 0);
	assert_true(st.st_mtim.tv_sec > 1000);
}

static void the_least_recently_used_go_first(void **state)
{
	struct cache *cache = open_cache();
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
	const struct cache_key a = key_of(id_a, sizeof(id_a));
	const struct cache_key b = key_of(id_b, sizeof(id_b));
	struct cache_options options = {.folder = folder};
	struct cache_module *module;
	struct cache *cache;

	(void)state;
	keep(&a, 0, 1000);
	set_used(file_path(), 1000);
	options.max_bytes = file_bytes() + 1000;
	assert_int_equal(cache_open(&options, &cache, NULL), 0);
	module = open_module(cache, &b);
	add(module, 0, 1000);
	cache_module_close(module);
	cache_close(cache);
	assert_int_equal(kept(&a, 0, 1000), 0);
	assert_int_equal(kept(&b, 0, 1000), 1000);
}

static void builds_are_removed_by_id_or_name(void **state)
{
	struct cache *cache = open_cache();
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
	const struct cache_key key = key_of(id_a, sizeof(id_a));
	struct cache *cache = open_cache();
	const struct cache_entry *entries;

	(void)state;
	keep(&key, 0, 5);
	write_file((const uint8_t *)"nothing", 7);
	assert_int_equal(cache_list(cache, &entries, NULL), 1);
	assert_string_equal(entries[0].build_id, "");
	assert_int_equal(entries[0].bytes, 7);
	assert_int_equal(cache_remove(cache, NULL, NULL), 1);
	cache_close(cache);
}

#define in_a_folder(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* The first: each test that begins takes SIGBUS over from the guard. */
		in_a_folder(a_file_that_shrinks_while_it_is_mapped_ends_nobody),
		in_a_folder(what_was_added_is_found_by_the_next_one),
		in_a_folder(what_was_added_is_found_before_it_is_written),
		in_a_folder(the_index_is_rewritten_when_the_tail_is_long),
		in_a_folder(what_two_have_added_is_kept_once),
		in_a_folder(many_writers_at_once_lose_nothing),
		in_a_folder(a_reader_keeps_what_it_has_when_the_file_is_replaced),
		in_a_folder(a_torn_record_is_passed_over),
		in_a_folder(any_damaged_byte_costs_one_record_or_the_file),
		in_a_folder(a_cut_file_gives_what_is_left),
		in_a_folder(another_file_or_a_better_level_drops_the_old),
		in_a_folder(tables_of_another_program_are_not_believed),
		in_a_folder(without_a_build_id_the_file_itself_counts),
		in_a_folder(the_folder_is_the_users_alone),
		in_a_folder(a_link_is_not_followed),
		in_a_folder(lists_builds_the_last_used_first),
		in_a_folder(a_use_is_noted),
		in_a_folder(the_least_recently_used_go_first),
		in_a_folder(closing_keeps_the_limit),
		in_a_folder(builds_are_removed_by_id_or_name),
		in_a_folder(a_damaged_file_is_listed_and_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
