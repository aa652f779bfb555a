/* symbolize_test.c - names of real programs in every state */
#include "symbolize/symbolize.h"

#include "base/io.h"
#include "child_fixture.h"
#include "folder_fixture.h"
#include "tests/unit/symbolize/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

enum { PROGRAM_BYTES = FOLDER_BYTES + 16 };

static struct symbolizer *start(bool wait)
{
	struct symbolize_options options = {
		.wait = wait, .no_cache = true, .debug_root = PROGRAMS "/root"};
	struct symbolizer *symbolizer = NULL;
	struct err err = {0};

	assert_int_equal(symbolizer_new(&options, &symbolizer, &err), 0);
	return symbolizer;
}

/* Code without a name goes by its module and where its function begins. */
static void check_unnamed(const struct frame *frame, const char *path)
{
	char name[256];

	(void)snprintf(name, sizeof(name), "[%s@0x%llx]", strrchr(path, '/') + 1,
		       (unsigned long long)(frame->module_offset - frame->offset));
	assert_string_equal(frame->symbol, name);
}

/* Names of both functions of a program; NULL: none expected. */
static void check_program(const char *path, const char *exported, const char *hidden)
{
	struct symbolizer *symbolizer = start(true);
	struct target target = {0};
	struct frame frame;

	assert_true(target_start(&target, path));
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	frame = target_lookup(symbolizer, target.pid, target.exported, 1);
	if (exported)
		assert_string_equal(frame.symbol, exported);
	else
		check_unnamed(&frame, path);
	assert_int_equal(frame.offset, 0);
	assert_string_equal(frame.module, path);
	assert_int_not_equal(frame.module_offset, 0);
	frame = target_lookup(symbolizer, target.pid, target.hidden + 1, 1);
	if (hidden)
		assert_string_equal(frame.symbol, hidden);
	else
		check_unnamed(&frame, path);
	assert_int_equal(frame.offset, 1);
	target_stop(&target);
	symbolizer_free(symbolizer);
}

static void names_a_plain_program(void **state)
{
	(void)state;
	check_program(PROGRAMS "/plain", "exported_work", "hidden_work");
	check_program(PROGRAMS "/static", "exported_work", "hidden_work");
	check_program(PROGRAMS "/shifted", "exported_work", "hidden_work");
}

static void debugging_information_names_what_no_symbol_covers(void **state)
{
	(void)state;
	check_program(PROGRAMS "/only_dwarf", "exported_work", "hidden_work");
}

static void stubs_are_named_for_what_they_jump_to(void **state)
{
	struct symbolizer *symbolizer = start(true);
	struct target target = {0};
	int n_stubs = 0;

	(void)state;
	assert_true(target_start(&target, PROGRAMS "/plain"));
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	for (uint64_t addr = target.exported & ~UINT64_C(4095); addr < target.exported; addr += 8) {
		struct frame frame = target_lookup(symbolizer, target.pid, addr, 1);

		n_stubs += frame.symbol && frame.offset == 0 &&
			   (strcmp(frame.symbol, "printf@plt") == 0 ||
			    strcmp(frame.symbol, "read@plt") == 0 ||
			    strcmp(frame.symbol, "fflush@plt") == 0);
	}
	assert_int_equal(n_stubs, 3);
	target_stop(&target);
	symbolizer_free(symbolizer);
}

static void names_cxx_without_parameters(void **state)
{
	(void)state;
	check_program(PROGRAMS "/cxx", "outer::Holder<long>::method",
		      "(anonymous namespace)::unnamed");
}

static void a_stripped_program_has_its_exports(void **state)
{
	(void)state;
	check_program(PROGRAMS "/stripped", "exported_work", NULL);
}

static void finds_debug_files_by_link_and_by_build_id(void **state)
{
	(void)state;
	check_program(PROGRAMS "/linked", "exported_work", "hidden_work");
	check_program(PROGRAMS "/by_id", "exported_work", "hidden_work");
}

static void refuses_a_debug_file_of_another_build(void **state)
{
	(void)state;
	check_program(PROGRAMS "/other_id", "exported_work", NULL);
}

/* A folder of its own under /tmp that anybody may read, so that tests can drop privileges. */
static void make_folder(char folder[FOLDER_BYTES])
{
	folder_make(folder);
	assert_int_equal(chmod(folder, 0755), 0);
}

static void copy(const char *from, const char *to)
{
	char command[512];

	(void)snprintf(command, sizeof(command), "cp '%s' '%s.new' && mv '%s.new' '%s'", from, to,
		       to, to);
	assert_int_equal(system(command), 0);
}

/* A copy of FROM in a folder of its own: its path. */
static void make_program(char folder[FOLDER_BYTES], char path[PROGRAM_BYTES], const char *from)
{
	make_folder(folder);
	(void)snprintf(path, PROGRAM_BYTES, "%s/program", folder);
	copy(from, path);
}

static void is_named(struct symbolizer *symbolizer, const struct target *target, uint64_t addr,
		     const char *name)
{
	struct frame frame = target_lookup(symbolizer, target->pid, addr, 1);

	if (name)
		assert_string_equal(frame.symbol, name);
	else
		assert_null(frame.symbol);
}

static void a_replaced_program_never_gets_the_new_ones_names(void **state)
{
	struct symbolizer *symbolizer = start(true);
	struct target target = {0};
	char folder[FOLDER_BYTES];
	char path[PROGRAM_BYTES];

	(void)state;
	make_program(folder, path, PROGRAMS "/plain");
	assert_true(target_start(&target, path));
	copy(PROGRAMS "/other", path);
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	is_named(symbolizer, &target, target.exported, "exported_work");
	is_named(symbolizer, &target, target.hidden, "hidden_work");
	target_stop(&target);
	symbolizer_free(symbolizer);
	folder_remove(folder);
}

static void a_deleted_program_is_read_while_it_lives(void **state)
{
	struct symbolizer *symbolizer = start(true);
	struct target target = {0};
	char folder[FOLDER_BYTES];
	char path[PROGRAM_BYTES];

	(void)state;
	make_program(folder, path, PROGRAMS "/no_id");
	assert_true(target_start(&target, path));
	assert_int_equal(unlink(path), 0);
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	target_stop(&target);
	is_named(symbolizer, &target, target.exported, "exported_work");
	is_named(symbolizer, &target, target.hidden, "hidden_work");
	symbolizer_free(symbolizer);
	folder_remove(folder);
}

/* The lines of a process, kept until it is gone, and told then. */
static void tell_later(struct symbolizer *symbolizer, struct target *target, const char *path,
		       uint64_t began_ns)
{
	struct mapping mapping = {.process = 1, .pid = target->pid, .time_ns = began_ns};
	char line[512];
	char name[64];
	FILE *maps;
	char mode[8] = "";

	(void)snprintf(name, sizeof(name), "/proc/%d/maps", (int)target->pid);
	maps = fopen(name, "re");
	assert_non_null(maps);
	while (mode[2] != 'x' && fgets(line, sizeof(line), maps))
		(void)sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &mapping.start,
			     &mapping.end, mode, &mapping.pgoff);
	(void)fclose(maps);
	target_stop(target);
	mapping.path = path;
	symbolizer_add(symbolizer, &mapping);
}

static void after_its_end_only_an_untouched_file_counts(void **state)
{
	char folder[FOLDER_BYTES];
	char path[PROGRAM_BYTES];

	(void)state;
	make_program(folder, path, PROGRAMS "/plain");
	(void)usleep(20000);
	for (int replaced = 0; replaced < 2; replaced++) {
		struct symbolizer *symbolizer = start(true);
		uint64_t began_ns = io_now_ns();
		struct target target = {0};
		struct frame frame;

		assert_true(target_start(&target, path));
		if (replaced)
			copy(PROGRAMS "/other", path);
		tell_later(symbolizer, &target, path, began_ns);
		frame = target_lookup(symbolizer, target.pid, target.exported, began_ns + 1);
		if (replaced)
			assert_null(frame.symbol);
		else
			assert_string_equal(frame.symbol, "exported_work");
		symbolizer_free(symbolizer);
	}
	folder_remove(folder);
}

/* In a child without privileges: /proc/PID/map_files is closed, and the library is gone. */
static int look_at_deleted_library(const char *program, const char *library, int ready)
{
	struct symbolize_options options = {.wait = true, .no_cache = true};
	const struct symbolize_module *modules;
	struct symbolizer *symbolizer;
	struct target target = {0};
	struct frame frame;
	size_t n;

	if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
		return 10;
	if (symbolizer_new(&options, &symbolizer, NULL) < 0 || !target_start(&target, program))
		return 11;
	/* The parent's part: it owns the file. */
	if (write(ready, "", 1) != 1)
		return 15;
	while (access(library, F_OK) == 0)
		(void)usleep(1000);
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	frame = target_lookup(symbolizer, target.pid, target.library, 1);
	target_stop(&target);
	if (!frame.symbol)
		return 12;
	if (strcmp(frame.symbol, "strtol") != 0 && strcmp(frame.symbol, "__isoc23_strtol") != 0 &&
	    strcmp(frame.symbol, "strtoll") != 0 && strcmp(frame.symbol, "strtoimax") != 0)
		return 13;
	n = symbolizer_modules(symbolizer, &modules);
	if (n != 1 || modules[0].quality != SYMBOLS_DYNSYM || !modules[0].why[0])
		return 14;
	symbolizer_free(symbolizer);
	return 0;
}

static void a_deleted_library_is_named_from_memory(void **state)
{
	char folder[FOLDER_BYTES];
	char library[80];
	char program[80];
	int ready[2];
	int status;
	pid_t child;
	char byte;

	(void)state;
	make_folder(folder);
	(void)snprintf(library, sizeof(library), "%s/libc.so.6", folder);
	(void)snprintf(program, sizeof(program), "%s/program", folder);
	copy(PROGRAMS "/plain", program);
	copy(LIBC, library);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		(void)setenv("LD_LIBRARY_PATH", folder, 1);
		_exit(look_at_deleted_library(program, library, ready[1]));
	}
	(void)close(ready[1]);
	/* Either it is ready, or it has ended and the pipe with it. */
	assert_true(read(ready[0], &byte, 1) >= 0);
	(void)close(ready[0]);
	assert_int_equal(unlink(library), 0);
	status = child_status(child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	folder_remove(folder);
}

static void paths_alone_are_enough_while_the_process_lives(void **state)
{
	struct symbolizer *symbolizer = start(true);
	struct target target = {0};

	(void)state;
	assert_true(target_start(&target, PROGRAMS "/plain"));
	target_add_maps(symbolizer, target.pid, 0, HIDE_INODES);
	is_named(symbolizer, &target, target.exported, "exported_work");
	is_named(symbolizer, &target, target.hidden, "hidden_work");
	target_stop(&target);
	symbolizer_free(symbolizer);
}

static void names_the_vdso(void **state)
{
	struct symbolizer *symbolizer;
	uint64_t start_addr = 0;
	int n_named = 0;
	char line[512];
	FILE *maps;

	(void)state;
	if (getauxval(AT_SYSINFO_EHDR) == 0) {
		print_message("there is no vDSO here\n");
		skip(); /* valgrind hides it */
	}
	symbolizer = start(true);
	maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]"))
			start_addr = strtoull(line, NULL, 16);
	(void)fclose(maps);
	target_add_maps(symbolizer, getpid(), 0, HIDE_NOTHING);
	for (uint64_t addr = start_addr; addr < start_addr + 0x2000; addr += 16) {
		struct frame frame = target_lookup(symbolizer, getpid(), addr, 1);

		if (frame.symbol && strstr(frame.symbol, "clock_gettime")) {
			assert_string_equal(frame.module, "[vdso]");
			n_named++;
		}
	}
	assert_true(n_named > 0);
	symbolizer_free(symbolizer);
}

static void a_return_address_is_looked_up_inside_its_call(void **state)
{
	struct symbolizer *symbolizer = start(true);
	struct target target = {0};
	struct frame frame = {0};
	struct sample sample = {.process = 1, .time_ns = 1, .n_frames = 1, .frames = &frame};

	(void)state;
	assert_true(target_start(&target, PROGRAMS "/plain"));
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	/* Behind the last byte of a function there is another, or nothing; inside it is itself. */
	frame.addr = target.exported + 1;
	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	assert_string_equal(sample.frames[sample.n_frames - 1].symbol, "exported_work");
	assert_int_equal(sample.frames[sample.n_frames - 1].offset, 1);
	frame.addr = target.exported;
	sample.frames = &frame;
	sample.n_frames = 1;
	assert_int_equal(symbolizer_resolve(symbolizer, &sample, false), 0);
	frame = sample.frames[sample.n_frames - 1];
	assert_true(!frame.symbol || strcmp(frame.symbol, "exported_work") != 0);
	target_stop(&target);
	symbolizer_free(symbolizer);
}

static void names_follow_the_time_of_a_mapping(void **state)
{
	struct mapping plain = {.process = 1,
				.start = 0x10000,
				.end = 0x20000,
				.time_ns = 100,
				.path = PROGRAMS "/plain"};
	struct mapping other = plain;
	struct symbolizer *symbolizer = start(true);
	struct frame frame;

	(void)state;
	/* No process to ask: made long after the files, as far as their ctime tells. */
	plain.time_ns = io_now_ns();
	other.path = PROGRAMS "/no_id";
	other.time_ns = plain.time_ns + 2000;
	symbolizer_add(symbolizer, &plain);
	plain.gone = true;
	plain.time_ns += 1000;
	symbolizer_add(symbolizer, &plain);
	symbolizer_add(symbolizer, &other);
	frame = target_lookup(symbolizer, 0, 0x11000, plain.time_ns - 500);
	assert_string_equal(frame.module, PROGRAMS "/plain");
	frame = target_lookup(symbolizer, 0, 0x11000, other.time_ns + 500);
	assert_string_equal(frame.module, PROGRAMS "/no_id");
	symbolizer_exit(symbolizer, 1);
	frame = target_lookup(symbolizer, 0, 0x11000, other.time_ns + 500);
	assert_null(frame.module);
	symbolizer_free(symbolizer);
}

static void the_loader_does_not_hold_up_the_caller(void **state)
{
	struct symbolizer *symbolizer = start(false);
	struct frame frame = {.exact = true};
	struct sample sample = {.process = 1, .time_ns = 1, .n_frames = 1, .frames = &frame};
	uint64_t until_ns = io_now_ns() + UINT64_C(10000000000);
	struct target target = {0};
	int n_waits = 0;
	int r;

	(void)state;
	assert_true(target_start(&target, PROGRAMS "/static"));
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	frame.addr = target.hidden;
	r = symbolizer_resolve(symbolizer, &sample, true);
	assert_true(r == 0 || r == 1);
	assert_string_equal(sample.frames[0].module, PROGRAMS "/static");
	sample.frames = &frame;
	sample.n_frames = 1;
	while ((r = symbolizer_resolve(symbolizer, &sample, false)) == -EAGAIN &&
	       io_now_ns() < until_ns) {
		symbolizer_wait(symbolizer, UINT64_C(1000000000));
		n_waits++;
	}
	assert_int_equal(r, 0);
	assert_string_equal(sample.frames[sample.n_frames - 1].symbol, "hidden_work");
	assert_true(n_waits < 10);
	target_stop(&target);
	symbolizer_free(symbolizer);
}

static void says_which_modules_have_names(void **state)
{
	struct symbolizer *symbolizer = start(true);
	const struct symbolize_module *modules = NULL;
	struct target target = {0};

	(void)state;
	assert_true(target_start(&target, PROGRAMS "/by_id"));
	target_add_maps(symbolizer, target.pid, 0, HIDE_NOTHING);
	assert_int_equal(symbolizer_modules(symbolizer, &modules), 0);
	is_named(symbolizer, &target, target.exported, "exported_work");
	is_named(symbolizer, &target, target.exported, "exported_work");
	assert_int_equal(symbolizer_modules(symbolizer, &modules), 1);
	assert_string_equal(modules[0].path, PROGRAMS "/by_id");
	assert_string_equal(modules[0].build_id, "00112233445566778899aabbccddeeff00112233");
	assert_int_equal(modules[0].quality, SYMBOLS_DEBUG);
	assert_string_equal(modules[0].why, "");
	assert_int_equal(modules[0].lookups, 2);
	assert_int_equal(modules[0].unnamed, 0);
	target_stop(&target);
	symbolizer_free(symbolizer);
}

/* LeakSanitizer's, where it is linked. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/*
 * Every file here is untrusted; the programs with bytes changed must not hurt us.  Leaks
 * are not looked for: elf_strptr() of elfutils 0.188 loses a buffer for 1 file in 100 of these.
 */
static void survives_damaged_files(void **state)
{
	static uint8_t bytes[64 * 1024];
	struct mapping mapping = {.process = 1, .start = 0x10000, .end = 0x20000};
	char folder[FOLDER_BYTES];
	char path[PROGRAM_BYTES];
	FILE *file = fopen(PROGRAMS "/plain", "re");
	size_t len = fread(bytes, 1, sizeof(bytes), file);
	unsigned seed = 4711;

	(void)state;
	(void)fclose(file);
	if (__lsan_disable)
		__lsan_disable();
	make_folder(folder);
	(void)snprintf(path, sizeof(path), "%s/damaged", folder);
	mapping.path = path;
	for (int round = 0; round < 300; round++) {
		struct symbolizer *symbolizer;
		uint8_t damaged[sizeof(bytes)];

		memcpy(damaged, bytes, len);
		for (int i = 0; i < 1 + round % 40; i++) {
			size_t at;

			seed = seed * 1103515245 + 12345;
			/* Headers at both ends are where lies work best. */
			at = (seed >> 8) % (i % 3 == 0 ? 1024 : len);
			damaged[i % 3 == 1 ? len - 1 - at % 4096 : at] = (uint8_t)(seed >> 24);
		}
		file = fopen(path, "we");
		assert_non_null(file);
		assert_int_equal(fwrite(damaged, 1, round % 7 ? len : len / 2, file),
				 round % 7 ? len : len / 2);
		assert_int_equal(fclose(file), 0);
		symbolizer = start(true);
		mapping.time_ns = io_now_ns() + UINT64_C(1000000000);
		symbolizer_add(symbolizer, &mapping);
		for (uint64_t addr = 0x10000; addr < 0x12000; addr += 64)
			(void)target_lookup(symbolizer, 0, addr, mapping.time_ns);
		symbolizer_free(symbolizer);
	}
	folder_remove(folder);
	if (__lsan_enable)
		__lsan_enable();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_a_plain_program),
		cmocka_unit_test(debugging_information_names_what_no_symbol_covers),
		cmocka_unit_test(stubs_are_named_for_what_they_jump_to),
		cmocka_unit_test(names_cxx_without_parameters),
		cmocka_unit_test(a_stripped_program_has_its_exports),
		cmocka_unit_test(finds_debug_files_by_link_and_by_build_id),
		cmocka_unit_test(refuses_a_debug_file_of_another_build),
		cmocka_unit_test(a_replaced_program_never_gets_the_new_ones_names),
		cmocka_unit_test(a_deleted_program_is_read_while_it_lives),
		cmocka_unit_test(after_its_end_only_an_untouched_file_counts),
		cmocka_unit_test(a_deleted_library_is_named_from_memory),
		cmocka_unit_test(paths_alone_are_enough_while_the_process_lives),
		cmocka_unit_test(names_the_vdso),
		cmocka_unit_test(a_return_address_is_looked_up_inside_its_call),
		cmocka_unit_test(names_follow_the_time_of_a_mapping),
		cmocka_unit_test(the_loader_does_not_hold_up_the_caller),
		cmocka_unit_test(says_which_modules_have_names),
		cmocka_unit_test(survives_damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
