/* debug_dwo_test.c - where the files of split units may be, and that there may be several */
#include "symbolize/debugfile/debug_search.h"

#include "tests/unit/symbolize/folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct debug_search *start(const char *const *dirs, size_t n_dirs)
{
	/* The options outlive the search. */
	static struct debug_search_options options;
	struct debug_search *search = NULL;

	options = (struct debug_search_options){.symbol_dirs = dirs, .n_symbol_dirs = n_dirs};
	assert_int_equal(debug_search_new(&options, &search), 0);
	return search;
}

static int find_dwo(struct debug_search *search, const char *comp_dir, const char *name, size_t nth)
{
	const struct debug_module module = {.path = "/somewhere/prog"};
	char beside[PATH_MAX + 32];

	(void)snprintf(beside, sizeof(beside), "%s/bin/prog.debug", folder);
	return debug_search_dwo(search, &module, beside, comp_dir, name, nth);
}

static void split_units_lie_where_they_were_made_or_beside(void **state)
{
	const char *dirs[] = {in_folder("syms")};
	struct debug_search *search = start(dirs, 1);
	int fds[4];

	(void)state;
	assert_true(put_text("build/obj/a.dwo", "a"));
	assert_true(put_text("bin/b.dwo", "b"));
	assert_true(put_text("syms/c.dwo", "c"));
	assert_true(put_text("bin/prog.dwp", "p"));
	fds[0] = find_dwo(search, in_folder("build"), "obj/a.dwo", 0);
	fds[1] = find_dwo(search, "/gone", "obj/b.dwo", 0);
	fds[2] = find_dwo(search, "/gone", "/x/c.dwo", 0);
	fds[3] = find_dwo(search, NULL, NULL, 0);
	for (int i = 0; i < 4; i++) {
		char byte = 0;

		assert_true(fds[i] >= 0);
		assert_int_equal(read(fds[i], &byte, 1), 1);
		assert_int_equal(byte, "abcp"[i]);
		(void)close(fds[i]);
	}
	assert_int_equal(find_dwo(search, "/gone", "d", 0), -ENOENT);
	debug_search_free(search);
}

/* The first bytes of all candidates, in their order. */
static void expect_candidates(struct debug_search *search, const char *comp_dir, const char *name,
			      const char *bytes)
{
	size_t nth = 0;
	int fd;

	for (; (fd = find_dwo(search, comp_dir, name, nth)) >= 0; nth++) {
		char byte = 0;

		assert_int_equal(read(fd, &byte, 1), 1);
		assert_int_equal(byte, bytes[nth]);
		(void)close(fd);
	}
	assert_int_equal(bytes[nth], '\0');
}

/* A stale one must not hide the right one: its reader continues. */
static void split_units_have_as_many_files_as_there_are(void **state)
{
	const char *dirs[] = {in_folder("syms"), in_folder("more")};
	struct debug_search *search = start(dirs, 2);

	(void)state;
	assert_true(put_text("build/obj/n.dwo", "1"));
	assert_true(put_text("syms/obj/n.dwo", "2"));
	assert_true(put_text("more/n.dwo", "3"));
	assert_true(put_text("bin/n.dwo", "4"));
	assert_true(put_text("bin/prog.debug.dwp", "1"));
	assert_true(put_text("bin/prog.dwp", "2"));
	assert_true(put_text("more/prog.debug.dwp", "3"));
	expect_candidates(search, in_folder("build"), "obj/n.dwo", "1234");
	expect_candidates(search, NULL, NULL, "123");
	expect_candidates(search, NULL, "", "");
	debug_search_free(search);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(split_units_lie_where_they_were_made_or_beside),
		TEST(split_units_have_as_many_files_as_there_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
