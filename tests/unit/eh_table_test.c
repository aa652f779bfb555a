/* eh_table_test.c - a search table from an .eh_frame: whole, cut off, and one that lies */
#include "sampler/remote/remote_modules.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VADDR = 0x480000, END = 0x4c0123, CODE = 0x401000, HEAD = 12 };

/* A CIE ("zR", relative to where they stand) and three FDEs, not in order, and the end. */
struct frames {
	unsigned char bytes[128];
	size_t n;
};

static void put(struct frames *frames, const void *bytes, size_t n)
{
	assert_true(n <= sizeof(frames->bytes) - frames->n);
	memcpy(frames->bytes + frames->n, bytes, n);
	frames->n += n;
}

static void put_fde(struct frames *frames, uint32_t code)
{
	uint32_t words[4] = {16, 0, 0, 64};

	words[1] = (uint32_t)frames->n + 4;
	words[2] = code - (VADDR + (uint32_t)frames->n + 8);
	put(frames, words, sizeof(words));
	put(frames, "\0\0\0", 4);
}

static struct frames make(void)
{
	static const unsigned char cie[] = {16,  0, 0, 0,    0,  0, 0,    0, 1, 'z',
					    'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0};
	struct frames frames = {.n = 0};

	put(&frames, cie, sizeof(cie));
	put_fde(&frames, CODE + 128);
	put_fde(&frames, CODE);
	put_fde(&frames, CODE + 64);
	put(&frames, "\0\0\0", 4);
	return frames;
}

static int32_t word_at(const struct eh_table *table, size_t at)
{
	int32_t word;

	assert_true(at + sizeof(word) <= table->n);
	memcpy(&word, table->bytes + at, sizeof(word));
	return word;
}

static void functions_are_in_order(void **state)
{
	struct frames frames = make();
	struct eh_table table = {0};

	(void)state;
	assert_int_equal(eh_table_from(frames.bytes, frames.n, VADDR, END, &table), 0);
	assert_true(table.at > END && table.at % 4096 == 0);
	assert_int_equal(table.n, HEAD + 3 * 8);
	assert_memory_equal(table.bytes, "\1\x1b\3\x3b", 4);
	assert_int_equal((int64_t)table.at + 4 + word_at(&table, 4), VADDR);
	assert_int_equal(word_at(&table, 8), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal((int64_t)table.at + word_at(&table, HEAD + 8 * i), CODE + 64 * i);
	assert_int_equal((int64_t)table.at + word_at(&table, HEAD + 4), VADDR + 40);
	eh_table_release(&table);
	assert_int_equal(table.n, 0);
}

static void what_has_no_function_has_no_table(void **state)
{
	struct frames frames = make();
	struct eh_table table = {0};

	(void)state;
	assert_int_equal(eh_table_from(frames.bytes, 0, VADDR, END, &table), -ENOEXEC);
	assert_int_equal(eh_table_from(frames.bytes, 20, VADDR, END, &table), -ENOEXEC);
	assert_int_equal(eh_table_from(frames.bytes, frames.n, VADDR, UINT64_MAX >> 8, &table),
			 -ENOEXEC);
}

/* They would be near by wrapping, and behind those that are. */
static void functions_below_zero_are_none(void **state)
{
	struct frames frames = make();
	struct eh_table table = {0};

	(void)state;
	assert_int_equal(eh_table_from(frames.bytes, frames.n, 0x1000, 0x2000, &table), 0);
	assert_int_equal(word_at(&table, 8), 0);
	eh_table_release(&table);
}

/* In memory of exactly its size, so that a byte too far is seen. */
static void walk(const unsigned char *bytes, size_t n)
{
	unsigned char *exact = malloc(n ? n : 1);
	struct eh_table table = {0};

	assert_non_null(exact);
	memcpy(exact, bytes, n);
	if (eh_table_from(exact, n, VADDR, END, &table) == 0)
		assert_int_equal(table.n % 8, HEAD % 8);
	eh_table_release(&table);
	free(exact);
}

static void survives_what_is_cut_off_or_lies(void **state)
{
	struct frames frames = make();

	(void)state;
	for (size_t n = 0; n <= frames.n; n++)
		walk(frames.bytes, n);
	for (size_t i = 0; i < frames.n; i++) {
		unsigned char was = frames.bytes[i];

		for (unsigned lie = 0; lie < 256; lie++) {
			frames.bytes[i] = (unsigned char)lie;
			walk(frames.bytes, frames.n);
		}
		frames.bytes[i] = was;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_in_order),
		cmocka_unit_test(what_has_no_function_has_no_table),
		cmocka_unit_test(functions_below_zero_are_none),
		cmocka_unit_test(survives_what_is_cut_off_or_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
