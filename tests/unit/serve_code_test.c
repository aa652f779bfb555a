/* serve_code_test.c - the code of a function: what it costs, and what is never read for it */
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/io.h"
#include "flamescope/load/load.h"
#include "flamescope/serve/code.h"
#include "folder_fixture.h"

enum { PATH_BYTES = 4096, TEXT_BYTES = 65536 };

/* What the recordings of these tests are of; all of its code is of one line. */
/* clang-format off */
__attribute__((noinline)) static int burned_here(int x) { return x * 3 + 1; }
/* clang-format on */
static const int burned_line = __LINE__ - 2;

static char self[PATH_BYTES]; /* this program */

static int find_self(void **state)
{
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(n > 0);
	assert_int_equal(burned_here((int)n), 3 * n + 1);
	return 0;
}

static int make_place(void **state)
{
	char *folder = calloc(1, FOLDER_BYTES);

	assert_non_null(folder);
	folder_make(folder);
	*state = folder;
	return 0;
}

static int remove_place(void **state)
{
	folder_remove(*state);
	free(*state);
	return 0;
}

/* ---- what it costs */

static void on_done(void *context)
{
	(void)sem_post(context);
}

/* Asks for FUNCTION of a.perf with the words of a query; 0, or its error. */
static int ask(const char *folder, const struct code_options *options, const char *function,
	       const char *time, struct code_request *request)
{
	struct catalog *catalog = NULL;
	struct code *code = NULL;
	sem_t done;

	*request = (struct code_request){.file = strdup("a.perf"),
					 .function = strdup(function),
					 .done = on_done,
					 .context = &done};
	(void)sem_init(&done, 0, 0);
	if (time)
		assert_int_equal(query_words_take(&request->words, "time", time, NULL), 1);
	assert_int_equal(catalog_new(folder, &catalog, NULL), 0);
	assert_int_equal(code_new(catalog, options, &code, NULL), 0);
	assert_int_equal(code_queue(code, request), 0);
	while (sem_wait(&done) < 0)
		continue;
	code_stop(code);
	code_free(code);
	catalog_free(catalog);
	(void)sem_destroy(&done);
	return request->error;
}

/* Two samples of the function's first instruction, at second 10 and 20, and one of what it calls.
 */
static void put_recording(const char *folder, const char *module, const char *end)
{
	const unsigned long at = (unsigned long)(uintptr_t)burned_here;
	struct buf text;

	buf_init(&text, TEXT_BYTES);
	buf_printf(&text,
		   "app 1/1 [000] 10.1: 1 cpu-clock: \n\t%lx burned_here+0x0 (%s)\n\n"
		   "app 1/1 [000] 20.1: 2 cpu-clock: \n\t%lx burned_here+0x0 (%s)\n\n"
		   "app 1/1 [000] 21.1: 4 cpu-clock: \n\t5 other+0x1 (/x)\n"
		   "\t%lx burned_here+0x1 (%s)\n\n%s",
		   at, module, at, module, at + 1, module, end);
	folder_put(folder, "a.perf", buf_text(&text));
	buf_release(&text);
}

static void expect_line(struct code_request *request, unsigned self_cost, unsigned total)
{
	char row[128];

	(void)snprintf(row, sizeof(row),
		       "[%d,%u,%u,\"__attribute__((noinline)) static int burned_here", burned_line,
		       self_cost, total);
	if (!strstr(buf_text(&request->json), row))
		fail_msg("no %s in %s", row, buf_text(&request->json));
}

static void a_line_costs_what_its_samples_do(void **state)
{
	const char *const folders[] = {SOURCE_FOLDER};
	const struct code_options options = {.folders = folders, .n_folders = 1};
	struct code_request request;

	put_recording(*state, self, "");
	assert_int_equal(ask(*state, &options, "burned_here", NULL, &request), 0);
	expect_line(&request, 2, 3);
	code_release(&request);
	assert_int_equal(ask(*state, &options, "burned_here", "5s-", &request), 0);
	expect_line(&request, 1, 2);
	code_release(&request);
}

static void without_a_folder_there_is_no_text(void **state)
{
	const struct code_options options = {0};
	struct code_request request;
	const char *json;

	put_recording(*state, self, "");
	assert_int_equal(ask(*state, &options, "burned_here", NULL, &request), 0);
	json = buf_text(&request.json);
	assert_non_null(strstr(json, "No source file may be read"));
	assert_non_null(strstr(json, ",2,3,\"\"]"));
	assert_null(strstr(json, "noinline"));
	code_release(&request);
}

static void expect_refusal(const char *folder, const char *function, const char *why)
{
	const struct code_options options = {0};
	struct code_request request;

	assert_true(ask(folder, &options, function, NULL, &request) < 0);
	if (!strstr(request.err.text, why))
		fail_msg("'%s' does not say '%s'", request.err.text, why);
	code_release(&request);
}

static void another_build_is_refused(void **state)
{
	struct buf end;

	buf_init(&end, TEXT_BYTES);
	buf_printf(&end,
		   "# wick-end : {\"samples\":3,\"modules\":[{\"path\":\"%s\","
		   "\"build_id\":\"0123456789abcdef\",\"names\":\"debug\"}]}\n",
		   self);
	put_recording(*state, self, buf_text(&end));
	buf_release(&end);
	expect_refusal(*state, "burned_here", "is another build than the one that ran");
}

static void what_the_recording_does_not_have_is_not_found(void **state)
{
	put_recording(*state, self, "");
	expect_refusal(*state, "find_self", "No sample");
}

static void a_module_has_to_be_a_program(void **state)
{
	put_recording(*state, "/etc/passwd", "");
	expect_refusal(*state, "burned_here", "is no program");
	put_recording(*state, "[vdso]", "");
	expect_refusal(*state, "burned_here", "is no file");
	put_recording(*state, "/proc/self/mem", "");
	expect_refusal(*state, "burned_here", "cannot be read");
}

/* ---- which modules may be read */

static void a_module_of_a_recording_that_is_older_is_refused(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(code_open_module(self, "", 1000000000, &err), -ESTALE);
	assert_non_null(strstr(err.text, "has changed since the recording"));
}

static void a_pipe_is_no_module(void **state)
{
	char *path = folder_path(*state, "fifo");

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(code_open_module(path, "", INT64_MAX, NULL), -ENOENT);
	assert_int_equal(unlink(path), 0);
	free(path);
}

static void a_strangers_module_is_refused(void **state)
{
	struct err err = {0};
	char *path;

	if (geteuid() != 0)
		skip();
	path = folder_path(*state, "program");
	folder_put(*state, "program", "\177ELF");
	assert_int_equal(chown(path, 65534, 65534), 0);
	assert_int_equal(code_open_module(path, "", INT64_MAX, &err), -EPERM);
	free(path);
}

/* The descriptor is of this program; what a stranger has put in its place is not opened. */
static void the_file_that_was_checked_is_read(void **state)
{
	const struct code_options code_options = {0};
	char *path = folder_path(*state, "a.perf");
	const char *paths[] = {path};
	const struct load_options options = {
		.paths = paths, .n_paths = 1, .by_offset = true, .no_index = true};
	struct code_module module = {open(self, O_RDONLY | O_CLOEXEC), "/no/such/file", ""};
	struct code_place place = {.exact = true, .cost = {1, 1}};
	struct code_places places = {
		.function = "burned_here", .unit = "", .places = &place, .n = 1};
	const _Atomic bool stop = false;
	struct profile *profile = NULL;
	char line[32];
	struct buf json;

	put_recording(*state, self, "");
	assert_int_equal(load_profile(&options, &profile, NULL), 0);
	place.frame = profile->nodes[profile->stacks[0]].frame;
	places.profile = profile;
	buf_init(&json, TEXT_BYTES);
	code_answer(&code_options, &places, &module, &stop, &json);
	(void)snprintf(line, sizeof(line), "[%d,1,1,", burned_line);
	assert_non_null(strstr(buf_text(&json), line));
	buf_release(&json);
	profile_free(profile);
	(void)close(module.fd);
	free(path);
}

/* ---- which source files may be read */

static int read_source(const char *folder, const char *path)
{
	const struct code_options options = {.folders = &folder, .n_folders = 1};
	int64_t mtime_ns;
	struct buf text;
	int r;

	buf_init(&text, CODE_SOURCE_BYTES + 1);
	r = code_read_source(&options, path, &text, &mtime_ns);
	if (r == 0 && strcmp(buf_text(&text), "int a;\n") != 0)
		r = 1;
	buf_release(&text);
	return r;
}

/* A folder with src/a.c inside, and secret.c beside src. */
static char *make_sources(const char *folder)
{
	char *sources = folder_path(folder, "src");

	assert_int_equal(mkdir(sources, 0700), 0);
	folder_put(sources, "a.c", "int a;\n");
	folder_put(folder, "secret.c", "secret\n");
	return sources;
}

static void sources_are_found_below_the_folder(void **state)
{
	char *sources = make_sources(*state);
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/../src/./a.c", sources);
	assert_int_equal(read_source(sources, path), 0);
	assert_int_equal(read_source(sources, "/built/elsewhere/a.c"), 0);
	assert_int_equal(read_source(*state, "/built/elsewhere/src/a.c"), 0);
	assert_int_equal(read_source(*state, "/built/elsewhere/a.c"), -ENOENT);
	assert_int_equal(read_source(sources, "a.c"), 0);
	assert_int_equal(read_source(sources, "b.c"), -ENOENT);
	free(sources);
}

static void nothing_outside_the_folder_is_read(void **state)
{
	char *sources = make_sources(*state);
	char *link = folder_path(sources, "link.c");
	char *up = folder_path(sources, "up");
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "%s/../secret.c", sources);
	assert_int_equal(read_source(sources, path), -ENOENT);
	assert_int_equal(read_source(sources, "../secret.c"), -EACCES);
	assert_int_equal(symlink("../secret.c", link), 0);
	assert_int_equal(read_source(sources, "link.c"), -EACCES);
	assert_int_equal(symlink("..", up), 0);
	(void)snprintf(path, sizeof(path), "%s/up/secret.c", sources);
	assert_int_equal(read_source(sources, path), -EACCES);
	free(up);
	free(link);
	free(sources);
}

static void only_source_texts_are_read(void **state)
{
	char *sources = make_sources(*state);
	char *fifo = folder_path(sources, "fifo.c");
	char *huge = folder_path(sources, "huge.c");
	char *binary = folder_path(sources, "binary.c");
	int fd;

	folder_put(sources, "shadow", "root:x\n");
	folder_put(sources, "key.pem", "secret\n");
	folder_put(sources, ".hidden.c", "secret\n");
	assert_int_equal(read_source(sources, "shadow"), -EACCES);
	assert_int_equal(read_source(sources, "key.pem"), -EACCES);
	assert_int_equal(read_source(sources, ".hidden.c"), -EACCES);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(read_source(sources, "fifo.c"), -ENODEV);
	fd = open(huge, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, CODE_SOURCE_BYTES + 1), 0);
	(void)close(fd);
	assert_int_equal(read_source(sources, "huge.c"), -EFBIG);
	fd = open(binary, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "a\0b", 3), 3);
	(void)close(fd);
	assert_int_equal(read_source(sources, "binary.c"), -EINVAL);
	free(binary);
	free(huge);
	free(fifo);
	free(sources);
}

/* ---- objdump */

static int run(const char *objdump, unsigned ms, char first[64])
{
	const struct code_options options = {.objdump = objdump, .disassembly_ms = ms};
	struct instruction instructions[16] = {{0}};
	struct disassembly disassembly = {
		.from = 0x10, .to = 0x20, .instructions = instructions, .max = 16};
	const _Atomic bool stop = false;
	int n;

	disassembly.module = open(self, O_RDONLY | O_CLOEXEC);
	buf_init(&disassembly.text, CODE_DISASSEMBLY_BYTES);
	n = disassemble(&options, &stop, &disassembly);
	(void)snprintf(first, 64, "%s", n > 0 ? instructions[0].text : "");
	(void)close(disassembly.module);
	buf_release(&disassembly.text);
	return n;
}

/* A program that stands in for objdump. */
static char *put_program(const char *folder, const char *text)
{
	char *path = folder_path(folder, "objdump");

	folder_put(folder, "objdump", text);
	assert_int_equal(chmod(path, 0700), 0);
	return path;
}

static void an_objdump_that_is_not_there_is_said(void **state)
{
	char first[64];
	char *path = folder_path(*state, "objdump");

	assert_int_equal(run(path, 0, first), -ENOENT);
	free(path);
}

static void an_objdump_that_hangs_is_ended(void **state)
{
	char *path = put_program(*state, "#!/bin/sh\nsleep 1000\n");
	const uint64_t began_ns = io_now_ns();
	char first[64];

	assert_int_equal(run(path, 200, first), -ETIMEDOUT);
	assert_true(io_now_ns() - began_ns < UINT64_C(100000000000));
	free(path);
}

static void an_objdump_that_does_not_end_to_write_is_ended(void **state)
{
	char *path = put_program(*state, "#!/bin/sh\nyes 1234567890\n");
	char first[64];

	assert_int_equal(run(path, 0, first), -EFBIG);
	free(path);
}

static void an_objdump_gets_the_file_and_no_shell(void **state)
{
	char *path = put_program(*state, "#!/bin/sh\n[ \"$#\" = 5 ] && [ -z \"$HOME\" ] && "
					 "cmp -s \"$5\" /proc/self/fd/3 && "
					 "printf ' 10:\\t%s\\t%s\\n' \"$3\" \"$4\"\n");
	char first[64];

	assert_int_equal(run(path, 0, first), 1);
	assert_string_equal(first, "--start-address=0x10 --stop-address=0x20");
	free(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		TEST(a_line_costs_what_its_samples_do),
		TEST(without_a_folder_there_is_no_text),
		TEST(another_build_is_refused),
		TEST(what_the_recording_does_not_have_is_not_found),
		TEST(a_module_has_to_be_a_program),
		TEST(a_module_of_a_recording_that_is_older_is_refused),
		TEST(a_pipe_is_no_module),
		TEST(a_strangers_module_is_refused),
		TEST(the_file_that_was_checked_is_read),
		TEST(sources_are_found_below_the_folder),
		TEST(nothing_outside_the_folder_is_read),
		TEST(only_source_texts_are_read),
		TEST(an_objdump_that_is_not_there_is_said),
		TEST(an_objdump_that_hangs_is_ended),
		TEST(an_objdump_that_does_not_end_to_write_is_ended),
		TEST(an_objdump_gets_the_file_and_no_shell),
	};

	return cmocka_run_group_tests(tests, find_self, NULL);
}
