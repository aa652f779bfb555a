/*
 * dwarf_reader_test.c - this program looks itself up
 *
 * Positions in inlined calls are labelled by the assembler: the expected names are known.
 */
#include "symbolize/dwarf/dwarf.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A label that has the name of its place; one each, or the assembler complains. */
#define MARK(name) __asm__ volatile(".globl " name "\n" name ":\n\tnop" ::: "memory")

extern const char mark_leaf[];
extern const char mark_outer[];
extern const char mark_other[];
extern char __executable_start[]; // NOLINT(readability-identifier-naming): the linker's

static volatile int sink;

enum { LEAF_LINE = __LINE__ + 4 };

static inline __attribute__((always_inline)) void leaf(int n)
{
	MARK("mark_leaf");
	sink += n;
}

enum { MID_LINE = __LINE__ + 5 };

static inline __attribute__((always_inline)) void mid(int n)
{
	if (sink != n)
		leaf(n + 1);
	sink += n;
}

enum { OUTER_LINE = __LINE__ + 4, OUTER_MARK_LINE = __LINE__ + 5 };

static __attribute__((noinline)) void outer(int n)
{
	mid(n * 2);
	MARK("mark_outer");
	sink += n;
}

static __attribute__((noinline)) int other(int n)
{
	MARK("mark_other");
	return n + sink;
}

struct opened {
	struct elf_head head;
	struct dwarf_options options;
	struct dwarf_file *file;
};

static void open_self(struct opened *self)
{
	struct dwarf_sections sections;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_head_read(&(struct elf_source){.fd = fd}, &self->head), 0);
	assert_int_equal(dwarf_sections_open(fd, false, &sections), 0);
	self->options = (struct dwarf_options){.head = &self->head};
	assert_int_equal(dwarf_file_new(&sections, &self->options, &self->file), 0);
}

/* Where the ELF has what is at an address here. */
static uint64_t vaddr_of(const struct opened *self, const void *here)
{
	return (uint64_t)((uintptr_t)here - (uintptr_t)__executable_start) +
	       elf_head_start(&self->head);
}

static int look_up(struct dwarf_reader *reader, uint64_t addr, struct function_chain *ret_chain,
		   struct function_table *ret_table)
{
	int r = dwarf_read_function(reader, addr, ret_table);

	return r < 0 ? r : function_table_find(ret_table, addr, ret_chain);
}

static void expect(const struct function_level *level, const char *name, uint32_t line)
{
	const char *file = strrchr(level->file, '/');

	assert_string_equal(level->name, name);
	assert_non_null(file);
	assert_string_equal(file + 1, "dwarf_reader_test.c");
	assert_int_equal(level->file[0], '/');
	assert_int_equal(level->line, line);
}

static void check_self(const struct opened *self, struct dwarf_reader *reader)
{
	static _Thread_local struct function_chain chain;
	struct function_table table;

	assert_int_equal(look_up(reader, vaddr_of(self, mark_leaf), &chain, &table), 0);
	assert_int_equal(chain.n_levels, 3);
	expect(&chain.levels[0], "leaf", LEAF_LINE);
	expect(&chain.levels[1], "mid", MID_LINE);
	expect(&chain.levels[2], "outer", OUTER_LINE);
	/* The same function: the same table. */
	assert_int_equal(function_table_find(&table, vaddr_of(self, mark_outer), &chain), 0);
	assert_int_equal(chain.n_levels, 1);
	expect(&chain.levels[0], "outer", OUTER_MARK_LINE);
	free((void *)table.bytes);

	assert_int_equal(look_up(reader, vaddr_of(self, mark_other), &chain, &table), 0);
	assert_string_equal(chain.levels[chain.n_levels - 1].name, "other");
	assert_int_equal(dwarf_unit_of(self->file, vaddr_of(self, mark_leaf)),
			 dwarf_unit_of(self->file, vaddr_of(self, mark_other)));
	free((void *)table.bytes);
}

static void finds_its_own_inlined_calls(void **state)
{
	struct opened self;
	struct dwarf_reader *reader;

	(void)state;
	outer(other(1));
	open_self(&self);
	assert_int_equal(dwarf_reader_new(self.file, &reader), 0);
	check_self(&self, reader);
	dwarf_reader_free(reader);
	dwarf_file_free(self.file);
}

static void knows_nothing_of_what_is_no_code(void **state)
{
	static struct function_chain chain;
	struct function_table table;
	struct opened self;
	struct dwarf_reader *reader;

	(void)state;
	open_self(&self);
	assert_int_equal(dwarf_reader_new(self.file, &reader), 0);
	assert_int_equal(look_up(reader, 0, &chain, &table), -ENOENT);
	assert_int_equal(look_up(reader, UINT64_MAX, &chain, &table), -ENOENT);
	assert_int_equal(look_up(reader, vaddr_of(&self, (const void *)&sink), &chain, &table),
			 -ENOENT);
	dwarf_reader_free(reader);
	dwarf_file_free(self.file);
}

static void *read_in_thread(void *argument)
{
	struct opened *self = argument;
	struct dwarf_reader *reader;

	for (int i = 0; i < 5; i++) {
		assert_int_equal(dwarf_reader_new(self->file, &reader), 0);
		check_self(self, reader);
		dwarf_reader_free(reader);
	}
	return NULL;
}

static void a_file_serves_readers_of_several_threads(void **state)
{
	pthread_t threads[3];
	struct opened self;

	(void)state;
	open_self(&self);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, &self), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	dwarf_file_free(self.file);
}

static void a_file_without_entries_is_none(void **state)
{
	struct dwarf_sections sections = {.elf = NULL};
	const struct dwarf_options options = {.head = NULL};
	struct dwarf_file *file = NULL;

	(void)state;
	assert_int_equal(dwarf_file_new(&sections, &options, &file), -ENODATA);
	assert_null(file);
	dwarf_file_free(NULL);
	dwarf_reader_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_its_own_inlined_calls),
		cmocka_unit_test(knows_nothing_of_what_is_no_code),
		cmocka_unit_test(a_file_serves_readers_of_several_threads),
		cmocka_unit_test(a_file_without_entries_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
