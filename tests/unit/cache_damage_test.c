/* cache_damage_test.c - files of the cache that are torn, damaged, cut, or another's */
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

static void a_torn_record_is_passed_over(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	uint8_t bytes[60];
	uint64_t whole;
	int fd;

	(void)state;
	fixture_keep(&key, 0, 100);
	whole = fixture_bytes();
	fixture_keep(&key, 100, 101);
	/* Of an appended record so much was written when the machine stopped. */
	assert_int_equal(truncate(fixture_path(), (off_t)whole + 37), 0);
	assert_int_equal(fixture_kept(&key, 0, 200), 100);
	fixture_keep(&key, 101, 120);
	assert_int_equal(fixture_kept(&key, 0, 200), 119);
	/* Garbage, then more. */
	memset(bytes, 0x77, sizeof(bytes));
	fd = open(fixture_path(), O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	(void)close(fd);
	fixture_keep(&key, 120, 130);
	assert_int_equal(fixture_kept(&key, 0, 200), 129);
	fixture_keep(&key, 200, 6000); /* written anew */
	assert_int_equal(fixture_kept(&key, 0, 6000), 129 + 5800);
}

/* 11 functions, and the BYTES of their file, which are given back. */
static size_t keep_eleven(const struct cache_key *key, uint8_t *bytes, size_t size)
{
	size_t len;

	fixture_keep(key, 1, 9);
	fixture_keep(key, 9, 12);
	len = fixture_bytes();
	assert_true(len < size);
	fixture_read(bytes, len);
	return len;
}

/* Whatever byte is wrong: what is found is right, and at most little is lost. */
static void any_damaged_byte_costs_one_record_or_the_file(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	uint8_t bytes[8192];
	size_t n_lost = 0;
	size_t len;

	(void)state;
	len = keep_eleven(&key, bytes, sizeof(bytes));
	for (size_t at = 0; at < len; at++) {
		size_t found;

		bytes[at] ^= (uint8_t)(1 << at % 8);
		fixture_write(bytes, len);
		bytes[at] ^= (uint8_t)(1 << at % 8);
		found = fixture_kept(&key, 0, 20);
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
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	uint8_t bytes[8192];
	size_t before = 11;
	size_t len;

	(void)state;
	len = keep_eleven(&key, bytes, sizeof(bytes));
	for (size_t cut = len; cut > 0; cut -= cut > 5 ? 5 : cut) {
		size_t found;

		fixture_write(bytes, cut);
		found = fixture_kept(&key, 0, 20);
		assert_true(found <= before);
		before = found;
	}
	assert_int_equal(before, 0);
	fixture_keep(&key, 0, 30);
	assert_int_equal(fixture_kept(&key, 0, 40), 30);
}

static void a_file_that_shrinks_while_it_is_mapped_ends_nobody(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	struct function_table table;
	struct cache_module *module;
	struct cache *cache;

	(void)state;
	fixture_keep(&key, 0, 5000);
	cache = fixture_cache();
	module = fixture_module(cache, &key);
	assert_int_equal(cache_find(module, 4000 * FUNCTION_BYTES, &table), 0);
	assert_int_equal(truncate(fixture_path(), 4096), 0);
	(void)function_table_find(&table, 4000 * FUNCTION_BYTES, &chain);
	assert_true(fixture_count(module, 0, 5000) < 100);
	cache_module_close(module);
	cache_close(cache);
}

static void tables_of_another_program_are_not_believed(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	uint8_t bytes[8192];
	struct cache_head *head = (void *)bytes;
	size_t len;

	(void)state;
	fixture_keep(&key, 0, 5);
	len = fixture_bytes();
	fixture_read(bytes, len);
	head->maker.build_id[3] ^= 1;
	fixture_write(bytes, len);
	assert_int_equal(fixture_kept(&key, 0, 5), 0);
	head->crc = cache_head_crc(head);
	fixture_write(bytes, len);
	assert_int_equal(fixture_kept(&key, 0, 5), 0);
	head->maker.build_id[3] ^= 1;
	head->crc = cache_head_crc(head);
	fixture_write(bytes, len);
	assert_int_equal(fixture_kept(&key, 0, 5), 5);
}

/* A file in another's name, or a link, is not read. */
static void a_link_is_not_followed(void **state)
{
	const struct cache_key key = fixture_key(fixture_id, sizeof(fixture_id));
	char elsewhere[96];

	(void)state;
	fixture_keep(&key, 0, 5);
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", fixture_folder);
	assert_int_equal(rename(fixture_path(), elsewhere), 0);
	assert_int_equal(symlink(elsewhere, fixture_path()), 0);
	assert_int_equal(fixture_kept(&key, 0, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* The first: each test that begins takes SIGBUS over from the guard. */
		in_a_folder(a_file_that_shrinks_while_it_is_mapped_ends_nobody),
		in_a_folder(a_torn_record_is_passed_over),
		in_a_folder(any_damaged_byte_costs_one_record_or_the_file),
		in_a_folder(a_cut_file_gives_what_is_left),
		in_a_folder(tables_of_another_program_are_not_believed),
		in_a_folder(a_link_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
