/* symbolize_test.c - names of real programs in every state */
#include "symbolize/symbolize.h"

#include "base/io.h"
#include "tests/unit/symbolize/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

static struct symbolizer *start(bool wait)
{
	struct symbolize_options options = {.wait = wait, .debug_root = VICTIMS "/root"};
	struct symbolizer *symbolizer = NULL;
	struct err err = {0};

	assert_int_equal(symbolizer_new(&options, &symbolizer, &err), 0);
	return symbolizer;
}

/* Names of both functions of a victim; NULL: none expected. */
static void check_victim(const char *path, const char *exported, const char *hidden)
{
	struct symbolizer *symbolizer = start(true);
	struct target target = {0};
	struct frame frame;

	assert_true(target_start(&target, path));
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	frame = target_look(symbolizer, target.pid, target.exported, 1);
	if (exported)
		assert_string_equal(frame.symbol, exported);
	else
		assert_null(frame.symbol);
	assert_int_equal(frame.offset, 0);
	assert_string_equal(frame.module, path);
	assert_int_not_equal(frame.module_offset, 0);
	frame = target_look(symbolizer, target.pid, target.hidden + 1, 1);
	if (hidden)
		assert_string_equal(frame.symbol, hidden);
	else
		assert_null(frame.symbol);
	assert_int_equal(frame.offset, hidden ? 1 : 0);
	target_stop(&target);
	symbolizer_free(symbolizer);
}

static void names_a_plain_program(void **state)
{
	(void)state;
	check_victim(VICTIMS "/plain", "exported_work", "hidden_work");
	check_victim(VICTIMS "/static", "exported_work", "hidden_work");
	check_victim(VICTIMS "/shifted", "exported_work", "hidden_work");
}

static void names_cxx_without_parameters(void **state)
{
	(void)state;
	check_victim(VICTIMS "/cxx", "outer::Holder<long>::method",
		     "(anonymous namespace)::unnamed");
}

static void a_stripped_program_has_its_exports(void **state)
{
	(void)state;
	check_victim(VICTIMS "/stripped", "exported_work", NULL);
}

static void finds_debug_files_by_link_and_by_build_id(void **state)
{
	(void)state;
	check_victim(VICTIMS "/linked", "exported_work", "hidden_work");
	check_victim(VICTIMS "/by_id", "exported_work", "hidden_work");
}

static void refuses_a_debug_file_of_another_build(void **state)
{
	(void)state;
	check_victim(VICTIMS "/other_id", "exported_work", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_plain_program),
		cmocka_unit_test(names_cxx_without_parameters),
		cmocka_unit_test(a_stripped_program_has_its_exports),
		cmocka_unit_test(finds_debug_files_by_link_and_by_build_id),
		cmocka_unit_test(refuses_a_debug_file_of_another_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
