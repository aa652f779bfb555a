/* jit_test.c - code that a process made, named by /tmp/perf-PID.map */
#include "symbolize/jit/jit.h"

#include "base/io.h"
#include "symbolize/jit/internal.h"
#include "tests/unit/symbolize/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

static char map_path[64];

static void map_write(const char *text, const char *mode)
{
	FILE *file = fopen(map_path, mode);

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static struct symbolizer *start(bool wait)
{
	struct symbolize_options options = {.wait = wait, .no_cache = true};
	struct mapping code = {
		.process = 1, .pid = getpid(), .start = 0x1000, .end = 0x100000, .path = ""};
	struct symbolizer *symbolizer = NULL;

	assert_int_equal(symbolizer_new(&options, &symbolizer, NULL), 0);
	symbolizer_add(symbolizer, &code);
	return symbolizer;
}

static struct frame look(struct symbolizer *symbolizer, uint64_t addr)
{
	return target_lookup(symbolizer, getpid(), addr, io_now_ns());
}

/* cmocka compares no NULL: a name that is missing would look like a crash. */
static void expect_name(struct symbolizer *symbolizer, uint64_t addr, const char *name)
{
	struct frame frame = look(symbolizer, addr);

	assert_non_null(frame.symbol);
	assert_string_equal(frame.symbol, name);
}

static int remove_map(void **state)
{
	(void)state;
	(void)snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", (int)getpid());
	(void)unlink(map_path);
	return 0;
}

static void lines_are_hexadecimal_and_names_have_blanks(void **state)
{
	static const char *const BAD[] = {"",
					  "1000",
					  "1000 10",
					  "1000 10 ",
					  "x 10 a",
					  "1000 zz a",
					  "11111111111111111 1 a",
					  "0x 10 a",
					  "1000\n10 a"};
	const char *name = NULL;
	uint64_t start = 0;
	uint64_t size = 0;

	(void)state;
	assert_true(jit_parse_line("7f00 1a Lazy a.js:1", 19, &start, &size, &name));
	assert_int_equal(start, 0x7f00);
	assert_int_equal(size, 0x1a);
	assert_string_equal(name, "Lazy a.js:1");
	assert_true(jit_parse_line("0x7F00\t0X1A f", 13, &start, &size, &name));
	assert_int_equal(start, 0x7f00);
	assert_int_equal(size, 0x1a);
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
		assert_false(jit_parse_line(BAD[i], strlen(BAD[i]), &start, &size, &name));
}

static void names_code_of_a_map(void **state)
{
	struct symbolizer *symbolizer;
	struct frame frame;

	(void)state;
	map_write("2000 100 Function:first a.js:1\n"
		  "not a line\n"
		  "0x2100 80 second\n"
		  "3000 0 nothing\n",
		  "w");
	symbolizer = start(true);
	expect_name(symbolizer, 0x2010, "Function:first a.js:1");
	frame = look(symbolizer, 0x2010);
	assert_int_equal(frame.offset, 0x10);
	assert_string_equal(frame.module, map_path);
	expect_name(symbolizer, 0x217f, "second");
	assert_null(look(symbolizer, 0x2180).symbol);
	assert_null(look(symbolizer, 0x3001).symbol);
	symbolizer_free(symbolizer);
}

static void reads_what_is_appended_and_later_lines_win(void **state)
{
	struct symbolizer *symbolizer;

	(void)state;
	map_write("2000 100 old\n", "w");
	symbolizer = start(true);
	expect_name(symbolizer, 0x2010, "old");
	assert_null(look(symbolizer, 0x5000).symbol);
	map_write("2000 40 new\n5000 10 appended\n6000 10 no newline", "a");
	expect_name(symbolizer, 0x5000, "appended");
	expect_name(symbolizer, 0x2010, "new");
	expect_name(symbolizer, 0x2050, "old");
	expect_name(symbolizer, 0x6001, "no newline");
	symbolizer_free(symbolizer);
}

static void a_map_that_was_rewritten_is_read_anew(void **state)
{
	struct symbolizer *symbolizer;

	(void)state;
	map_write("2000 100 a_name_of_some_length\n", "w");
	symbolizer = start(true);
	expect_name(symbolizer, 0x2010, "a_name_of_some_length");
	map_write("3000 10 b\n", "w");
	expect_name(symbolizer, 0x3000, "b");
	assert_null(look(symbolizer, 0x2010).symbol);
	symbolizer_free(symbolizer);
}

/* The same file again, longer than before: only its bytes tell. */
static void a_longer_map_in_the_same_file_is_read_anew(void **state)
{
	struct symbolizer *symbolizer;

	(void)state;
	map_write("2000 100 old\n", "w");
	symbolizer = start(true);
	expect_name(symbolizer, 0x2010, "old");
	map_write("4000 100 another\n5000 100 one_more\n", "w");
	expect_name(symbolizer, 0x5010, "one_more");
	expect_name(symbolizer, 0x4010, "another");
	assert_null(look(symbolizer, 0x2010).symbol);
	symbolizer_free(symbolizer);
}

static void another_file_in_its_place_is_read_anew(void **state)
{
	char other[sizeof(map_path) + 8];
	struct symbolizer *symbolizer;

	(void)state;
	map_write("2000 100 old\n", "w");
	symbolizer = start(true);
	expect_name(symbolizer, 0x2010, "old");
	(void)snprintf(other, sizeof(other), "%s.new", map_path);
	assert_int_equal(rename(map_path, other), 0);
	map_write("2000 100 old\n3000 100 new\n", "w");
	assert_int_equal(unlink(other), 0);
	expect_name(symbolizer, 0x3010, "new");
	symbolizer_free(symbolizer);
}

static void without_a_map_it_is_anonymous(void **state)
{
	struct symbolizer *symbolizer = start(true);
	struct frame frame = look(symbolizer, 0x2010);

	(void)state;
	assert_null(frame.symbol);
	assert_string_equal(frame.module, "[anon]");
	symbolizer_free(symbolizer);
}

static void refuses_a_map_of_another_user(void **state)
{
	struct symbolizer *symbolizer;

	(void)state;
	if (geteuid() != 0)
		skip();
	map_write("2000 100 planted\n", "w");
	assert_int_equal(chown(map_path, 12345, 12345), 0);
	symbolizer = start(true);
	assert_null(look(symbolizer, 0x2010).symbol);
	symbolizer_free(symbolizer);
}

static void refuses_a_map_that_is_older_than_the_process(void **state)
{
	struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	struct symbolizer *symbolizer;

	(void)state;
	map_write("2000 100 of_an_earlier_process\n", "w");
	assert_int_equal(utimensat(AT_FDCWD, map_path, old, 0), 0);
	symbolizer = start(true);
	assert_null(look(symbolizer, 0x2010).symbol);
	symbolizer_free(symbolizer);
}

static void refuses_what_is_not_a_file(void **state)
{
	struct symbolizer *symbolizer;

	(void)state;
	assert_int_equal(mkfifo(map_path, 0600), 0);
	symbolizer = start(true);
	assert_null(look(symbolizer, 0x2010).symbol);
	symbolizer_free(symbolizer);
	assert_int_equal(unlink(map_path), 0);
	assert_int_equal(symlink("/etc/passwd", map_path), 0);
	symbolizer = start(true);
	assert_null(look(symbolizer, 0x2010).symbol);
	symbolizer_free(symbolizer);
}

/* As record does it: try, wait for the loader, try again. */
static void the_loader_reads_it_meanwhile(void **state)
{
	struct frame frame = {.addr = 0x5000, .exact = true};
	struct sample sample = {.process = 1, .n_frames = 1, .frames = &frame};
	uint64_t until_ns = io_now_ns() + UINT64_C(5000000000);
	struct symbolizer *symbolizer;
	int n_tries = 0;
	int r;

	(void)state;
	map_write("2000 100 first\n", "w");
	symbolizer = start(false);
	map_write("5000 100 later\n", "a");
	sample.time_ns = io_now_ns();
	while ((r = symbolizer_resolve(symbolizer, &sample, false)) == -EAGAIN &&
	       io_now_ns() < until_ns) {
		symbolizer_wait(symbolizer, UINT64_C(1000000000));
		n_tries++;
	}
	assert_int_equal(r, 0);
	assert_string_equal(sample.frames[0].symbol, "later");
	assert_true(n_tries < 20);
	symbolizer_free(symbolizer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_hexadecimal_and_names_have_blanks),
		cmocka_unit_test_setup_teardown(names_code_of_a_map, remove_map, remove_map),
		cmocka_unit_test_setup_teardown(reads_what_is_appended_and_later_lines_win,
						remove_map, remove_map),
		cmocka_unit_test_setup_teardown(a_map_that_was_rewritten_is_read_anew, remove_map,
						remove_map),
		cmocka_unit_test_setup_teardown(a_longer_map_in_the_same_file_is_read_anew,
						remove_map, remove_map),
		cmocka_unit_test_setup_teardown(another_file_in_its_place_is_read_anew, remove_map,
						remove_map),
		cmocka_unit_test_setup_teardown(without_a_map_it_is_anonymous, remove_map,
						remove_map),
		cmocka_unit_test_setup_teardown(refuses_a_map_of_another_user, remove_map,
						remove_map),
		cmocka_unit_test_setup_teardown(refuses_a_map_that_is_older_than_the_process,
						remove_map, remove_map),
		cmocka_unit_test_setup_teardown(refuses_what_is_not_a_file, remove_map, remove_map),
		cmocka_unit_test_setup_teardown(the_loader_reads_it_meanwhile, remove_map,
						remove_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
