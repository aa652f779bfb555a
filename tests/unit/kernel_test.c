/* kernel_test.c - names of the kernel from a text like that of /proc/kallsyms */
#include "symbolize/kernel/kernel.h"

#include "tests/unit/symbolize/folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char TEXT[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T first_function\n"
			   "ffffffff81000040 t local_one\n"
			   "ffffffff81000040 T __global_twin\n"
			   "ffffffff81000040 T global_twin\n"
			   "ffffffff81000080 W weak_one\n"
			   "ffffffff81100000 t last_of_text\n"
			   "ffffffff81100100 T _etext\n"
			   "ffffffff82000000 D some_data\n"
			   "ffffffffc0000000 t ext4_read\t[ext4]\n"
			   "ffffffffc0000100 t ext4_write\t[ext4]\n"
			   "not a line\n"
			   "fffffffffffffffff t too_many_digits\n"
			   "ffffffffc0300000 t bpf_prog_6deef7357e7b4530_count\t[bpf]";

static struct kernel_symbols *read_text(const char *text, const char *cache)
{
	struct kernel_symbols *symbols = NULL;

	assert_true(put_text("kallsyms", text));
	assert_int_equal(kernel_symbols_new(in_folder("kallsyms"), cache, &symbols), 0);
	return symbols;
}

static void check(const struct kernel_symbols *symbols, uint64_t addr, const char *name,
		  uint64_t start, const char *module)
{
	const char *found_module = NULL;
	uint64_t found_start = 0;
	const char *found = kernel_symbols_find(symbols, addr, &found_start, &found_module);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(found_start, start);
	assert_string_equal(found_module, module);
}

#define KERNEL 0xffffffff81000000
#define MODULE 0xffffffffc0000000

static void names_the_kernel_its_modules_and_bpf(void **state)
{
	struct kernel_symbols *symbols = read_text(TEXT, NULL);

	(void)state;
	check(symbols, KERNEL + 0x3f, "first_function", KERNEL, "[kernel.kallsyms]");
	check(symbols, KERNEL + 0x40, "global_twin", KERNEL + 0x40, "[kernel.kallsyms]");
	check(symbols, KERNEL + 0xfffff, "weak_one", KERNEL + 0x80, "[kernel.kallsyms]");
	check(symbols, MODULE + 0x180, "ext4_write", MODULE + 0x100, "[ext4]");
	check(symbols, MODULE + 0x300010, "bpf_prog_6deef7357e7b4530_count", MODULE + 0x300000,
	      "[bpf]");
	kernel_symbols_free(symbols);
}

static void no_name_reaches_out_of_its_place(void **state)
{
	struct kernel_symbols *symbols = read_text(TEXT, NULL);

	(void)state;
	check(symbols, KERNEL - 1, NULL, 0, NULL);
	check(symbols, 0, NULL, 0, NULL);
	check(symbols, KERNEL + 0x1000ff, "last_of_text", KERNEL + 0x100000, "[kernel.kallsyms]");
	check(symbols, KERNEL + 0x100101, NULL, 0, NULL);
	check(symbols, KERNEL + 0x1000010, NULL, 0, NULL);
	check(symbols, MODULE + 0x200000, NULL, 0, NULL);
	check(symbols, UINT64_MAX, NULL, 0, NULL);
	kernel_symbols_free(symbols);
}

static void hidden_addresses_are_said(void **state)
{
	struct kernel_symbols *symbols = NULL;

	(void)state;
	assert_true(put_text("kallsyms", "0000000000000000 T _stext\n"
					 "0000000000000000 t other\n"));
	assert_int_equal(kernel_symbols_new(in_folder("kallsyms"), NULL, &symbols), -EPERM);
	assert_true(put_text("kallsyms", "what\nis this\n"));
	assert_int_equal(kernel_symbols_new(in_folder("kallsyms"), NULL, &symbols), -EBADMSG);
	assert_true(put_text("kallsyms", ""));
	assert_int_equal(kernel_symbols_new(in_folder("kallsyms"), NULL, &symbols), -EBADMSG);
	assert_int_equal(kernel_symbols_new(in_folder("none"), NULL, &symbols), -ENOENT);
	assert_null(symbols);
}

/* Where the only copy in a folder is. */
static const char *the_copy(void)
{
	char boot[64] = "";
	char name[128];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%63s", boot), 1);
	assert_int_equal(fclose(file), 0);
	(void)snprintf(name, sizeof(name), "cache/kallsyms-%s", boot);
	return in_folder(name);
}

static void what_was_seen_in_this_boot_is_kept(void **state)
{
	const char *cache = in_folder("cache");
	struct kernel_symbols *symbols = NULL;
	char bytes[64] = "";
	struct stat st;
	FILE *file;

	(void)state;
	assert_true(put_text("cache/kallsyms-00000000-0000-0000-0000-000000000000", "old"));
	kernel_symbols_free(read_text(TEXT, cache));
	assert_int_equal(stat(the_copy(), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(
		access(in_folder("cache/kallsyms-00000000-0000-0000-0000-000000000000"), F_OK), -1);
	symbols = read_text("0000000000000000 T _stext\n", cache);
	check(symbols, KERNEL + 0x41, "global_twin", KERNEL + 0x40, "[kernel.kallsyms]");
	check(symbols, MODULE + 0x180, "ext4_write", MODULE + 0x100, "[ext4]");
	kernel_symbols_free(symbols);
	/* Relative to where the kernel begins. */
	file = fopen(the_copy(), "re");
	assert_non_null(file);
	assert_non_null(fgets(bytes, sizeof(bytes), file));
	assert_string_equal(bytes, "wick-kallsyms 1 ffffffff81000000\n");
	assert_non_null(fgets(bytes, sizeof(bytes), file));
	assert_string_equal(bytes, "0 T _stext\n");
	assert_int_equal(fclose(file), 0);
}

static void a_copy_that_others_can_write_is_not_believed(void **state)
{
	const char *cache = in_folder("cache");
	struct kernel_symbols *symbols = NULL;

	(void)state;
	kernel_symbols_free(read_text(TEXT, cache));
	assert_true(put_text("kallsyms", "0000000000000000 T _stext\n"));
	assert_int_equal(chmod(the_copy(), 0666), 0);
	assert_int_equal(kernel_symbols_new(in_folder("kallsyms"), cache, &symbols), -EPERM);
	assert_int_equal(chmod(the_copy(), 0600), 0);
	assert_int_equal(truncate(the_copy(), 100), 0);
	assert_int_equal(kernel_symbols_new(in_folder("kallsyms"), cache, &symbols), -EPERM);
	assert_null(symbols);
}

static void the_running_kernel_is_read(void **state)
{
	struct kernel_symbols *symbols = NULL;
	int r = kernel_symbols_new(NULL, NULL, &symbols);

	(void)state;
	if (r < 0) {
		assert_true(r == -EPERM || r == -ENOENT || r == -EACCES);
		print_message("skipped: this kernel hides its addresses\n");
		skip();
	}
	kernel_symbols_free(symbols);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_the_kernel_its_modules_and_bpf),
		TEST(no_name_reaches_out_of_its_place),
		TEST(hidden_addresses_are_said),
		TEST(what_was_seen_in_this_boot_is_kept),
		TEST(a_copy_that_others_can_write_is_not_believed),
		TEST(the_running_kernel_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
