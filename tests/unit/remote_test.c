/* remote_test.c - memory and modules of a process that lies about them */
#include "child_fixture.h"
#include "folder_fixture.h"
#include "sampler/remote/blocked.h"
#include "sampler/remote/remote.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, FILE_PAGES = 4, STACK_PAGES = 64, OWN_PAGES = 4, MAX_PCS = 64, N_FIELDS = 5 };

/* A child with a mapping of a file that says that it is a module, and a stack of our making. */
struct fixture {
	unsigned char *file; /* to write it by */
	unsigned char *code; /* where the child has it too, to be executed */
	uint64_t *stack;
	unsigned char *own; /* other memory of the child, not shared with it */
	int fd;
	int pipe[2];
	int tells[2];
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

static void wait_for_the_end(void)
{
	char byte;

	(void)!read(fixture.pipe[0], &byte, 1);
}

static int start(void **state, void (*child)(void))
{
	*state = &fixture;
	fixture.fd = file_in_memory("", 0);
	assert_int_equal(ftruncate(fixture.fd, FILE_PAGES * PAGE), 0);
	fixture.file = map(FILE_PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, fixture.fd);
	fixture.code = map(FILE_PAGES, PROT_READ | PROT_EXEC, MAP_SHARED, fixture.fd);
	fixture.stack =
		(void *)map(STACK_PAGES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	fixture.own = map(OWN_PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	assert_int_equal(pipe(fixture.pipe), 0);
	assert_int_equal(pipe(fixture.tells), 0);
	fixture.pid = child_start(child);
	assert_int_equal(remote_new(&fixture.remote, fixture.pid), 0);
	return 0;
}

static int set_up(void **state)
{
	return start(state, wait_for_the_end);
}

/* What a child does that has something to say first. */
static void tell(char byte)
{
	(void)!write(fixture.tells[1], &byte, 1);
}

static char hear(void)
{
	char byte = 0;

	assert_int_equal(read(fixture.tells[0], &byte, 1), 1);
	return byte;
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
	(void)munmap(fixture.own, OWN_PAGES * PAGE);
	(void)close(fixture.fd);
	for (int i = 0; i < 2; i++) {
		(void)close(fixture.pipe[i]);
		(void)close(fixture.tells[i]);
	}
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

/* The first page is there, the others come when they are served: they are not. */
static void leave_memory_unserved(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register unserved = {
		.range = {(uintptr_t)fixture.own + PAGE, (OWN_PAGES - 1) * PAGE},
		.mode = UFFDIO_REGISTER_MODE_MISSING};

	fixture.own[PAGE - 1] = 1;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &unserved) < 0) {
		tell('-');
	} else {
		tell('+');
		wait_for_the_end();
	}
}

static int set_up_unserved(void **state)
{
	return start(state, leave_memory_unserved);
}

static void never_waits_for_a_userfaultfd_handler(void **state)
{
	struct unwind_reader *reader = remote_reader(fixture.remote);
	uint64_t own = (uint64_t)(uintptr_t)fixture.own;
	uint64_t word;

	(void)state;
	if (hear() != '+')
		skip(); /* userfaultfd(2) is for the privileged */
	(void)alarm(10);
	assert_int_equal(remote_copy(fixture.remote, own + PAGE, &word, 8), 0);
	assert_int_equal(remote_copy(fixture.remote, own + PAGE - 4, &word, 8), 4);
	assert_int_equal(remote_begin(fixture.remote, own + PAGE), -EFAULT);
	assert_int_equal(remote_begin(fixture.remote, own + PAGE - 16), 0);
	assert_int_equal(reader->hi, own + PAGE);
	assert_true(reader->read(reader, own + PAGE - 8, &word, 8));
	assert_int_equal(word >> 56, 1);
	assert_false(reader->read(reader, own + PAGE, &word, 8));
	assert_int_equal(remote_begin(fixture.remote, (uint64_t)(uintptr_t)fixture.stack), 0);
	assert_false(reader->read(reader, own + PAGE, &word, 8));
	(void)alarm(0);
}

/* Code that comes and goes, headers that change between two reads, a stack that is rewritten. */
static void change_all_the_time(void)
{
	uint32_t random = 11;

	for (;;) {
		size_t page = (random >> 8) % FILE_PAGES;

		random = random * 1664525 + 1013904223;
		(void)mmap(fixture.code + page * PAGE, PAGE,
			   random & 1 << 20 ? PROT_READ | PROT_EXEC : PROT_READ | PROT_WRITE,
			   MAP_FIXED | (random & 1 << 21 ? MAP_SHARED : MAP_PRIVATE), fixture.fd,
			   (off_t)(random & 1 << 22 ? page * PAGE : 0));
		fixture.file[(random >> 12) % 1200] = (unsigned char)(random >> 24);
		fixture.stack[(random >> 16) % 64] =
			(uint64_t)(uintptr_t)fixture.code + random % (FILE_PAGES * PAGE);
		if (random % 7 == 0)
			(void)munmap(fixture.code + page * PAGE, PAGE);
	}
}

static int set_up_changing(void **state)
{
	return start(state, change_all_the_time);
}

static void survives_a_process_that_never_rests(void **state)
{
	struct blocked_at at = {.sp = (uint64_t)(uintptr_t)fixture.stack,
				.pc = (uint64_t)(uintptr_t)fixture.code + 2 * PAGE};
	uint64_t pcs[MAX_PCS];
	Elf64_Phdr *segments;
	Elf64_Ehdr *header;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct unwind_result result = {0};

		if (round % 50 == 0)
			write_headers(&header, &segments);
		remote_changed(fixture.remote);
		assert_int_equal(blocked_walk(fixture.remote, &at, pcs, MAX_PCS, &result), 0);
		assert_in_range(result.n_pcs, 1, MAX_PCS);
	}
}

static void become_another(void)
{
	wait_for_the_end();
	(void)execl("/bin/sleep", "sleep", "60", (char *)NULL);
}

static int set_up_another(void **state)
{
	return start(state, become_another);
}

/* In a call that a pipe has nothing to do with. */
static bool is_another(int fd, struct blocked_at *at)
{
	return blocked_read(fd, at) == 0 &&
	       (at->nr == SYS_clock_nanosleep || at->nr == SYS_nanosleep);
}

static void follows_a_process_through_exec(void **state)
{
	uint64_t pcs[MAX_PCS];
	struct unwind_result result;
	struct blocked_at at;
	char path[64];
	int fd;

	(void)state;
	assert_int_equal(remote_begin(fixture.remote, (uint64_t)(uintptr_t)fixture.stack), 0);
	assert_int_equal(write(fixture.pipe[1], "x", 1), 1);
	(void)snprintf(path, sizeof(path), "/proc/%d/syscall", (int)fixture.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (int i = 0; i < 2000 && !is_another(fd, &at); i++)
		(void)poll(NULL, 0, 1);
	assert_true(is_another(fd, &at));
	(void)close(fd);
	assert_int_equal(blocked_walk(fixture.remote, &at, pcs, MAX_PCS, &result), 0);
	assert_int_equal(result.stop, UNWIND_END);
	assert_true(result.n_pcs >= 3);
}

static void says_when_a_process_is_gone(void **state)
{
	uint64_t sp = (uint64_t)(uintptr_t)fixture.stack;

	(void)state;
	assert_int_equal(remote_begin(fixture.remote, sp), 0);
	assert_int_equal(kill(fixture.pid, SIGKILL), 0);
	child_await_zombie(fixture.pid);
	assert_int_equal(remote_begin(fixture.remote, sp), -ESRCH);
	assert_int_equal(waitpid(fixture.pid, NULL, 0), fixture.pid);
	assert_int_equal(remote_begin(fixture.remote, sp), -ESRCH);
	assert_int_equal(remote_begin(fixture.remote, sp), -ESRCH);
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
		cmocka_unit_test_setup_teardown(never_waits_for_a_userfaultfd_handler,
						set_up_unserved, tear_down),
		cmocka_unit_test_setup_teardown(survives_a_process_that_never_rests,
						set_up_changing, tear_down),
		cmocka_unit_test_setup_teardown(follows_a_process_through_exec, set_up_another,
						tear_down),
		cmocka_unit_test_setup_teardown(says_when_a_process_is_gone, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
