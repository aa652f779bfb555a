/* remote_test.c - memory and modules of a process that lies about them */
#include "sampler/collector/blocked.h"
#include "sampler/collector/limits.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, FILE_PAGES = 4, STACK_PAGES = 64, MAX_PCS = 64, N_FIELDS = 5 };

/* A child with a mapping of a file that says that it is a module, and a stack of our making. */
struct fixture {
	unsigned char *file; /* to write it by */
	unsigned char *code; /* where the child has it too, to be executed */
	uint64_t *stack;
	int fd;
	int pipe[2];
	pid_t pid;
	struct remote *remote;
};

static struct fixture fixture;

static unsigned char *map(size_t pages, int protection, int flags, int fd)
{
	void *at = mmap(NULL, pages * PAGE, protection, flags, fd, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

static int set_up(void **state)
{
	char byte;

	*state = &fixture;
	fixture.fd = memfd_create("module", MFD_CLOEXEC);
	assert_true(fixture.fd >= 0);
	assert_int_equal(ftruncate(fixture.fd, FILE_PAGES * PAGE), 0);
	fixture.file = map(FILE_PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fixture.fd);
	fixture.code = map(FILE_PAGES, PROT_READ | PROT_EXEC, MAP_SHARED, fixture.fd);
	fixture.stack =
		(void *)map(STACK_PAGES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	assert_int_equal(pipe(fixture.pipe), 0);
	fixture.pid = fork();
	assert_true(fixture.pid >= 0);
	if (fixture.pid == 0) {
		(void)!read(fixture.pipe[0], &byte, 1);
		_exit(0);
	}
	assert_int_equal(remote_new(&fixture.remote, fixture.pid), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)kill(fixture.pid, SIGKILL);
	(void)waitpid(fixture.pid, NULL, 0);
	remote_free(fixture.remote);
	(void)munmap(fixture.file, FILE_PAGES * PAGE);
	(void)munmap(fixture.code, FILE_PAGES * PAGE);
	(void)munmap(fixture.stack, STACK_PAGES * PAGE);
	(void)close(fixture.fd);
	(void)close(fixture.pipe[0]);
	(void)close(fixture.pipe[1]);
	return 0;
}

/* Headers that would be right: one segment, a table of unwind rules that begins at 1024. */
static void write_headers(Elf64_Ehdr **ret_header, Elf64_Phdr **ret_segments)
{
	Elf64_Ehdr *header = (void *)fixture.file;
	Elf64_Phdr *segments = (void *)(fixture.file + sizeof(*header));

	memset(fixture.file, 0, FILE_PAGES * PAGE);
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_phentsize = sizeof(*segments);
	header->e_phoff = sizeof(*header);
	header->e_phnum = 2;
	segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = FILE_PAGES * PAGE};
	segments[1] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME, .p_vaddr = 1024};
	*ret_header = header;
	*ret_segments = segments;
}

static uint64_t *field_of(Elf64_Ehdr *header, Elf64_Phdr *segments, size_t field)
{
	uint64_t *const fields[N_FIELDS] = {&segments[0].p_vaddr, &segments[0].p_memsz,
					    &segments[0].p_offset, &segments[1].p_vaddr,
					    &header->e_phoff};

	return fields[field];
}

/* A walk that begins in the middle of the file's code. */
static struct unwind_result walk(uint64_t *pcs)
{
	struct blocked_at at = {.sp = (uint64_t)(uintptr_t)fixture.stack,
				.pc = (uint64_t)(uintptr_t)fixture.code + 2 * PAGE};
	struct unwind_result result = {0};

	remote_changed(fixture.remote);
	assert_int_equal(blocked_walk(fixture.remote, &at, pcs, MAX_PCS, &result), 0);
	assert_in_range(result.n_pcs, 1, MAX_PCS);
	assert_int_equal(pcs[0], at.pc | UNWIND_EXACT);
	return result;
}

static void survives_headers_that_lie(void **state)
{
	static const uint64_t values[] = {0,
					  1,
					  PAGE,
					  FILE_PAGES * PAGE,
					  UINT32_MAX,
					  UINT64_C(1) << 47,
					  UINT64_C(1) << 56,
					  UINT64_MAX - PAGE,
					  UINT64_MAX};
	uint64_t pcs[MAX_PCS];
	Elf64_Phdr *segments;
	Elf64_Ehdr *header;

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (size_t field = 0; field < N_FIELDS; field++) {
			write_headers(&header, &segments);
			*field_of(header, segments, field) = values[i];
			(void)walk(pcs);
		}
	}
	write_headers(&header, &segments);
	header->e_phnum = UINT16_MAX;
	(void)walk(pcs);
}

static void survives_tables_of_any_bytes(void **state)
{
	uint64_t pcs[MAX_PCS];
	Elf64_Phdr *segments;
	Elf64_Ehdr *header;
	uint32_t random = 7;

	(void)state;
	for (int round = 0; round < 300; round++) {
		write_headers(&header, &segments);
		for (size_t at = 1028; at < FILE_PAGES * PAGE; at++) {
			random = random * 1664525 + 1013904223;
			fixture.file[at] = (unsigned char)(random >> 24);
		}
		/* Version 1, pc-relative words, and a count that may be four billion. */
		memcpy(fixture.file + 1024, "\x01\x1b\x03\x3b", 4);
		for (size_t i = 0; i < 512; i++) {
			random = random * 1664525 + 1013904223;
			fixture.stack[i] = (uint64_t)(uintptr_t)fixture.code + random % (4 * PAGE);
		}
		(void)walk(pcs);
	}
}

static void reads_a_stack_to_its_end_and_no_further(void **state)
{
	struct unwind_reader *reader = remote_reader(fixture.remote);
	uint64_t sp = (uint64_t)(uintptr_t)fixture.stack;
	uint64_t end = sp + STACK_PAGES * PAGE;
	uint64_t word = 0;

	(void)state;
	for (size_t i = 0; i < STACK_PAGES * PAGE / 8; i++)
		fixture.stack[i] = i;
	assert_int_equal(remote_begin(fixture.remote, sp), 0);
	assert_true(reader->hi - reader->lo <= REMOTE_STACK_FIRST);
	assert_true(reader->read(reader, end - 8, &word, 8));
	assert_int_equal(word, STACK_PAGES * PAGE / 8 - 1);
	assert_true(reader->hi <= end);
	assert_int_equal(remote_take_refused(fixture.remote), 0);
	assert_false(reader->read(reader, UINT64_C(1) << 60, &word, 8));
	assert_int_equal(remote_take_refused(fixture.remote), UINT64_C(1) << 60);
	assert_false(reader->read(reader, 16, &word, 8));
	assert_int_equal(remote_take_refused(fixture.remote), 0);
}

static void sees_what_has_been_written_since_the_last_walk(void **state)
{
	struct unwind_reader *reader = remote_reader(fixture.remote);
	uint64_t sp = (uint64_t)(uintptr_t)fixture.stack;
	uint64_t elsewhere = (uint64_t)(uintptr_t)(fixture.stack + 512);
	uint64_t word;

	(void)state;
	for (uint64_t value = 1; value < 4; value++) {
		fixture.stack[8] = value;
		fixture.stack[512] = value;
		assert_int_equal(remote_begin(fixture.remote, sp + 32), 0);
		assert_true(reader->read(reader, sp + 64, &word, 8));
		assert_int_equal(word, value);
		/* Below the window: by pages, which are writable and not kept. */
		assert_int_equal(remote_begin(fixture.remote, elsewhere + PAGE), 0);
		assert_true(reader->read(reader, elsewhere, &word, 8));
		assert_int_equal(word, value);
	}
}

static void knows_what_is_code(void **state)
{
	(void)state;
	assert_int_equal(remote_begin(fixture.remote, (uint64_t)(uintptr_t)fixture.stack), 0);
	assert_true(remote_is_code(fixture.remote, (uint64_t)(uintptr_t)fixture.code));
	assert_false(remote_is_code(fixture.remote, (uint64_t)(uintptr_t)fixture.stack));
	assert_false(remote_is_code(fixture.remote, 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(survives_headers_that_lie, set_up, tear_down),
		cmocka_unit_test_setup_teardown(survives_tables_of_any_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reads_a_stack_to_its_end_and_no_further, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(sees_what_has_been_written_since_the_last_walk,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(knows_what_is_code, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
