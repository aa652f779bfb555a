/* core_test.c - core files that are whole, cut off, and that lie */
#include "sampler/external/core.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/user.h>
#include <unistd.h>

#include <cmocka.h>

#define STACK_AT UINT64_C(0x7f0000001000)

enum {
	STACK_BYTES = 256,
	CODE_AT = 0x400000,
	FILE_BYTES = 4096,
	N_THREADS = 2,
	SEGMENT_NOTES = 0,
	SEGMENT_STACK = 1,
	N_SEGMENTS = 2,
};

/* A file in memory, and what was written to it. */
struct file {
	int fd;
	char path[64];
	unsigned char bytes[FILE_BYTES];
	size_t n;
};

static void put(struct file *file, const void *bytes, size_t n)
{
	assert_true(n <= sizeof(file->bytes) - file->n);
	if (n > 0)
		memcpy(file->bytes + file->n, bytes, n);
	file->n += n;
}

static void put_note(struct file *file, uint32_t type, const void *content, size_t n)
{
	const Elf64_Nhdr head = {.n_namesz = 5, .n_descsz = (uint32_t)n, .n_type = type};

	put(file, &head, sizeof(head));
	put(file, "CORE\0\0\0", 8);
	put(file, content, n);
	put(file, "\0\0\0", (4 - n % 4) % 4);
}

static void put_thread(struct file *file, int number)
{
	struct elf_prstatus status = {.pr_pid = 100 + number, .pr_cursig = number ? 0 : 11};
	struct user_regs_struct regs = {
		.rip = CODE_AT + 16, .rsp = STACK_AT + 64, .rbp = STACK_AT + 128, .cs = 0x33};

	memcpy(&status.pr_reg, &regs, sizeof(regs));
	put_note(file, NT_PRSTATUS, &status, sizeof(status));
}

static void put_files(struct file *file)
{
	static const char names[] = "/nowhere/program\0/nowhere/program\0/nowhere/lib.so";
	const uint64_t words[] = {
		3,        4096,     CODE_AT, CODE_AT + 4096, 0, CODE_AT + 4096, CODE_AT + 8192, 1,
		0x500000, 0x501000, 0};
	unsigned char content[sizeof(words) + sizeof(names)];

	memcpy(content, words, sizeof(words));
	memcpy(content + sizeof(words), names, sizeof(names));
	put_note(file, NT_FILE, content, sizeof(content));
}

static void put_notes(struct file *file)
{
	const struct elf_prpsinfo info = {.pr_pid = 100, .pr_fname = "program"};
	const Elf64_auxv_t auxv[] = {{.a_type = AT_ENTRY, .a_un.a_val = CODE_AT + 16},
				     {.a_type = AT_NULL}};

	for (int i = 0; i < N_THREADS; i++)
		put_thread(file, i);
	put_note(file, NT_PRPSINFO, &info, sizeof(info));
	put_note(file, NT_AUXV, auxv, sizeof(auxv));
	put_files(file);
}

static void make(struct file *file)
{
	Elf64_Ehdr header = {.e_ident = ELFMAG,
			     .e_type = ET_CORE,
			     .e_machine = EM_X86_64,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = N_SEGMENTS};
	Elf64_Phdr segments[N_SEGMENTS] = {[SEGMENT_NOTES] = {.p_type = PT_NOTE},
					   [SEGMENT_STACK] = {.p_type = PT_LOAD,
							      .p_vaddr = STACK_AT,
							      .p_filesz = STACK_BYTES,
							      .p_memsz = STACK_BYTES}};
	uint64_t stack[STACK_BYTES / 8];
	size_t start = sizeof(header) + sizeof(segments);

	header.e_ident[EI_CLASS] = ELFCLASS64;
	for (size_t i = 0; i < sizeof(stack) / sizeof(stack[0]); i++)
		stack[i] = i % 3 ? CODE_AT + 8 * i : STACK_AT + 8 * (i + 2);
	file->n = start;
	put_notes(file);
	segments[SEGMENT_NOTES].p_offset = start;
	segments[SEGMENT_NOTES].p_filesz = file->n - start;
	segments[SEGMENT_STACK].p_offset = file->n;
	put(file, stack, sizeof(stack));
	memcpy(file->bytes, &header, sizeof(header));
	memcpy(file->bytes + sizeof(header), segments, sizeof(segments));
	assert_int_equal(ftruncate(file->fd, 0), 0);
	assert_int_equal(pwrite(file->fd, file->bytes, file->n, 0), (ssize_t)file->n);
}

static int set_up(void **state)
{
	struct file *file = calloc(1, sizeof(*file));

	if (!file)
		return -1;
	file->fd = memfd_create("core", MFD_CLOEXEC);
	(void)snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	make(file);
	*state = file;
	return 0;
}

static int tear_down(void **state)
{
	struct file *file = *state;

	(void)close(file->fd);
	free(file);
	return 0;
}

/* Return: how many frames all its stacks have; -1: it was refused, with a reason. */
static int walk(const struct file *file)
{
	struct core *core = NULL;
	struct stacks stacks = {0};
	struct err err = {0};
	int n = 0;

	if (core_open(file->path, NULL, &core, &err) < 0) {
		assert_true(err.text[0] != '\0');
		return -1;
	}
	assert_int_equal(core_stacks(core, &stacks, &err), 0);
	for (size_t i = 0; i < stacks.n; i++) {
		assert_true(stacks.at[i].n_frames > 0);
		n += (int)stacks.at[i].n_frames;
	}
	stacks_release(&stacks);
	core_free(core);
	return n;
}

static void takes_in_threads_files_and_the_process(void **state)
{
	const struct file *file = *state;
	const struct core_module *modules;
	struct core *core = NULL;
	struct stacks stacks = {0};

	assert_int_equal(core_open(file->path, NULL, &core, NULL), 0);
	assert_int_equal(core_pid(core), 100);
	assert_int_equal(core_stacks(core, &stacks, NULL), 0);
	assert_int_equal(stacks.n, N_THREADS);
	assert_string_equal(stacks.comm, "program");
	assert_int_equal(stacks.at[0].tid, 100);
	assert_int_equal(stacks.at[0].signal, 11);
	assert_int_equal(stacks.at[1].tid, 101);
	assert_int_equal(stacks.at[0].frames[0].addr, CODE_AT + 16);
	assert_true(stacks.at[0].frames[0].exact);
	assert_int_equal(core_modules(core, &modules), 2);
	assert_string_equal(modules[0].path, "/nowhere/program");
	assert_string_equal(modules[1].path, "/nowhere/lib.so");
	assert_ptr_equal(stacks.at[0].frames[0].module, modules[0].path);
	stacks_release(&stacks);
	core_free(core);
}

static void takes_the_program_from_where_it_is_now(void **state)
{
	const struct file *file = *state;
	const struct core_module *modules;
	struct core *core = NULL;

	assert_int_equal(core_open(file->path, "/elsewhere/program", &core, NULL), 0);
	assert_int_equal(core_modules(core, &modules), 2);
	assert_string_equal(modules[0].path, "/elsewhere/program");
	assert_string_equal(modules[1].path, "/nowhere/lib.so");
	core_free(core);
}

static void reads_what_is_left_of_one_that_is_cut_off(void **state)
{
	struct file *file = *state;

	for (size_t n = file->n; n-- > 0;) {
		assert_int_equal(ftruncate(file->fd, (off_t)n), 0);
		(void)walk(file);
	}
	assert_int_equal(walk(file), -1);
}

static void survives_every_byte_that_lies(void **state)
{
	static const unsigned char lies[] = {0, 1, 0x7f, 0x80, 0xff};
	struct file *file = *state;
	size_t n_walked = 0;

	for (size_t i = 0; i < file->n; i++) {
		for (size_t lie = 0; lie < sizeof(lies); lie++) {
			assert_int_equal(pwrite(file->fd, &lies[lie], 1, (off_t)i), 1);
			n_walked += walk(file) > 0;
		}
		assert_int_equal(pwrite(file->fd, &file->bytes[i], 1, (off_t)i), 1);
	}
	assert_true(n_walked > file->n);
}

static void survives_every_word_that_lies(void **state)
{
	static const uint64_t lies[] = {UINT64_MAX,        UINT64_MAX - 7,    INT64_MAX,
					UINT64_C(1) << 32, UINT64_C(1) << 56, 4096};
	struct file *file = *state;

	for (size_t i = 0; i + 8 <= file->n; i += 4) {
		for (size_t lie = 0; lie < sizeof(lies) / sizeof(lies[0]); lie++) {
			assert_int_equal(pwrite(file->fd, &lies[lie], 8, (off_t)i), 8);
			(void)walk(file);
		}
		assert_int_equal(pwrite(file->fd, &file->bytes[i], 8, (off_t)i), 8);
	}
	assert_true(walk(file) > 0);
}

/* Each of many segments is all the notes there are: read for each, they would take minutes. */
static void the_same_notes_again_and_again_come_to_an_end(void **state)
{
	enum { SEGMENTS = 4000, NOTES_BYTES = 1 << 20 };
	struct file *file = *state;
	Elf64_Ehdr many;
	Elf64_Phdr *segments = calloc(SEGMENTS, sizeof(*segments));
	off_t end;

	assert_non_null(segments);
	memcpy(&many, file->bytes, sizeof(many));
	memcpy(segments, file->bytes + many.e_phoff, N_SEGMENTS * sizeof(*segments));
	many.e_phoff = file->n;
	many.e_phnum = SEGMENTS;
	end = (off_t)(file->n + SEGMENTS * sizeof(*segments));
	for (size_t i = N_SEGMENTS; i < SEGMENTS; i++)
		segments[i] = (Elf64_Phdr){
			.p_type = PT_NOTE, .p_offset = (Elf64_Off)end, .p_filesz = NOTES_BYTES};
	assert_int_equal(pwrite(file->fd, &many, sizeof(many), 0), sizeof(many));
	assert_int_equal(pwrite(file->fd, segments, SEGMENTS * sizeof(*segments), (off_t)file->n),
			 SEGMENTS * sizeof(*segments));
	assert_int_equal(ftruncate(file->fd, end + NOTES_BYTES), 0);
	assert_true(walk(file) > 0);
	free(segments);
}

static void refuses_other_files(void **state)
{
	struct core *core;
	struct err err = {0};

	(void)state;
	assert_true(core_open("/nowhere/core", NULL, &core, &err) < 0);
	assert_non_null(strstr(err.text, "No such file"));
	assert_true(core_open("/proc/self/exe", NULL, &core, &err) < 0);
	assert_non_null(strstr(err.text, "is no core file"));
	assert_true(core_open("/", NULL, &core, &err) < 0);
	assert_true(core_open("/dev/null", NULL, &core, &err) < 0);
	assert_non_null(strstr(err.text, "is no file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(takes_in_threads_files_and_the_process, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(takes_the_program_from_where_it_is_now, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(reads_what_is_left_of_one_that_is_cut_off, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(survives_every_byte_that_lies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(survives_every_word_that_lies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_same_notes_again_and_again_come_to_an_end,
						set_up, tear_down),
		cmocka_unit_test(refuses_other_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
