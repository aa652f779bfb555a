/* file_guard_test.c - files that shrink under a reader */
#include "symbolize/elf/file_guard.h"

#include "symbolize/bounds/loader.h"
#include "symbolize/sections/sections.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, PAGES = 4 };

/* The address sanitizer has a handler too; what is tested here is ours over the default. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "handle_sigbus=0";
}

/* Every body runs in a child that begins without a handler: cmocka puts its own over all others,
 * and the guard installs its once a process.  0: all was as it must be; else the line. */
typedef int body(void);

static int outcome(body *run)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)signal(SIGBUS, SIG_DFL);
		_exit(run());
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Ends the child with the line, as far as a status holds it. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_exit(__LINE__ & 0xff);                                                    \
	} while (0)

/* A file of ones, nowhere in the tree, mapped. */
static const uint8_t *map_ones(int *ret_fd)
{
	uint8_t ones[PAGE];
	int fd = memfd_create("ones", MFD_CLOEXEC);
	void *bytes;

	memset(ones, 1, sizeof(ones));
	for (int i = 0; i < PAGES; i++)
		MUST(write(fd, ones, sizeof(ones)) == sizeof(ones));
	bytes = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	MUST(bytes != MAP_FAILED);
	*ret_fd = fd;
	return bytes;
}

static unsigned sum(const volatile uint8_t *bytes, size_t n)
{
	unsigned total = 0;

	for (size_t i = 0; i < n; i += PAGE / 4)
		total += bytes[i];
	return total;
}

static int shrink(void)
{
	int fd;
	const uint8_t *bytes = map_ones(&fd);

	MUST(file_guard_add(bytes, PAGES * PAGE) == 0);
	MUST(sum(bytes, PAGES * PAGE) == 4 * PAGES);
	MUST(ftruncate(fd, PAGE) == 0);
	MUST(sum(bytes, PAGES * PAGE) == 4);
	MUST(sum(bytes, PAGES * PAGE) == 4);
	MUST(file_guard_remove(bytes));
	MUST(!file_guard_remove(bytes)); /* it is not there any more */
	return 0;
}

/* A process may have 65530 mappings: one for every page that is read would end it. */
static int shrink_a_large_one(void)
{
	const size_t n_pages = 140 * 1000;
	int fd = memfd_create("large", MFD_CLOEXEC);
	const volatile uint8_t *bytes;

	MUST(ftruncate(fd, (off_t)(n_pages * PAGE)) == 0);
	bytes = mmap(NULL, n_pages * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	MUST(bytes != MAP_FAILED && file_guard_add((const void *)bytes, n_pages * PAGE) == 0);
	MUST(ftruncate(fd, 0) == 0);
	for (size_t i = 0; i < n_pages; i += 2)
		MUST(bytes[i * PAGE] == 0);
	return 0;
}

static void a_file_that_shrinks_reads_as_zeros(void **state)
{
	(void)state;
	assert_int_equal(outcome(shrink), 0);
	assert_int_equal(outcome(shrink_a_large_one), 0);
}

static int read_other(void)
{
	int fd;
	int other_fd;
	const uint8_t *bytes = map_ones(&fd);
	const uint8_t *other = map_ones(&other_fd);

	MUST(file_guard_add(bytes, PAGES * PAGE) == 0);
	MUST(ftruncate(fd, 0) == 0 && ftruncate(other_fd, 0) == 0);
	MUST(sum(bytes, PAGES * PAGE) == 0);
	return (int)sum(other, PAGES * PAGE);
}

static int read_after_remove(void)
{
	int fd;
	const uint8_t *bytes = map_ones(&fd);

	MUST(file_guard_add(bytes, PAGES * PAGE) == 0);
	MUST(ftruncate(fd, 0) == 0);
	MUST(!file_guard_remove(bytes));
	return (int)sum(bytes, PAGES * PAGE);
}

static int send(void)
{
	int fd;

	MUST(file_guard_add(map_ones(&fd), PAGES * PAGE) == 0);
	(void)raise(SIGBUS);
	return 0;
}

static int send_ignored(void)
{
	(void)signal(SIGBUS, SIG_IGN);
	return send();
}

static int read_other_ignored(void)
{
	(void)signal(SIGBUS, SIG_IGN);
	return read_other();
}

static void what_is_not_guarded_is_as_it_was(void **state)
{
	(void)state;
	assert_int_equal(outcome(read_other), -SIGBUS);
	assert_int_equal(outcome(read_after_remove), -SIGBUS);
	assert_int_equal(outcome(send), -SIGBUS);
	assert_int_equal(outcome(send_ignored), 0);
	assert_int_equal(outcome(read_other_ignored), -SIGBUS);
}

static sigjmp_buf back;

static void on_sigbus(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static int catch_other(void)
{
	struct sigaction action = {.sa_handler = on_sigbus};

	(void)sigaction(SIGBUS, &action, NULL);
	if (sigsetjmp(back, 1))
		return 42;
	return read_other();
}

static void the_handler_that_was_there_gets_what_is_not_guarded(void **state)
{
	(void)state;
	assert_int_equal(outcome(catch_other), 42);
}

static void *guard_and_read(void *context)
{
	(void)context;
	for (int i = 0; i < 50; i++) {
		int fd;
		const uint8_t *bytes = map_ones(&fd);

		if (file_guard_add(bytes, PAGES * PAGE) < 0 || ftruncate(fd, 2 * PAGE) < 0 ||
		    sum(bytes, PAGES * PAGE) != 8 || !file_guard_remove(bytes))
			return NULL;
		(void)munmap((void *)(uintptr_t)bytes, PAGES * PAGE);
		(void)close(fd);
	}
	return &back;
}

static int guard_in_threads(void)
{
	pthread_t threads[4];
	void *result;

	for (size_t i = 0; i < 4; i++)
		MUST(pthread_create(&threads[i], NULL, guard_and_read, NULL) == 0);
	for (size_t i = 0; i < 4; i++)
		MUST(pthread_join(threads[i], &result) == 0 && result);
	return 0;
}

static void threads_guard_their_own(void **state)
{
	(void)state;
	assert_int_equal(outcome(guard_in_threads), 0);
}

/* What a job of the loader read of a file that has shrunk. */
struct read_job {
	const uint8_t *bytes;
	uint8_t seen;
};

static void read_in_job(void *context)
{
	struct read_job *job = context;

	job->seen = job->bytes[PAGE];
}

static int read_on_loader(void)
{
	struct loader *loader;
	struct read_job job = {.seen = 2};
	int fd;

	job.bytes = map_ones(&fd);
	MUST(file_guard_add(job.bytes, (size_t)PAGES * PAGE) == 0);
	MUST(ftruncate(fd, 0) == 0);
	MUST(loader_new(false, &loader) == 0);
	MUST(loader_push(loader, read_in_job, &job) == 0);
	loader_wait(loader, UINT64_C(5000000000), true);
	loader_free(loader);
	MUST(job.seen == 0);
	return 0;
}

/* The kernel ends a process that blocks the signal of a fault. */
static void the_loader_reads_on(void **state)
{
	(void)state;
	assert_int_equal(outcome(read_on_loader), 0);
}

static int fill(void)
{
	static uint8_t bytes[64 * 1024];
	size_t n = 0;

	while (n < sizeof(bytes) && file_guard_add(bytes + n, 1) == 0)
		n++;
	MUST(n >= 1024 && n < sizeof(bytes));
	MUST(file_guard_add(bytes + n, 1) == -ENOSPC);
	MUST(!file_guard_remove(bytes + 7));
	MUST(!file_guard_remove(bytes + 3));
	MUST(file_guard_add(bytes + 3, 1) == 0);
	MUST(file_guard_add(bytes + 7, 1) == 0);
	MUST(file_guard_add(bytes + n, 1) == -ENOSPC);
	MUST(file_guard_add(NULL, 1) == -EINVAL);
	MUST(file_guard_add(bytes, SIZE_MAX) == -EINVAL);
	return 0;
}

static void the_table_has_an_end(void **state)
{
	(void)state;
	assert_int_equal(outcome(fill), 0);
}

/* The program itself, as good an ELF file as any. */
static int copy_of_program(void)
{
	char buffer[PAGE];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("program", MFD_CLOEXEC);
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		MUST(write(fd, buffer, (size_t)n) == n);
	(void)close(from);
	return fd;
}

static int cut_while_open(void)
{
	struct dwarf_sections sections;
	int fd = copy_of_program();
	size_t n_bytes = 0;

	MUST(dwarf_sections_open(dup(fd), false, &sections) == 0);
	MUST(ftruncate(fd, 0) == 0);
	for (int which = 0; which < N_DWARF_SECTIONS; which++) {
		n_bytes += sections.of[which].len;
		for (size_t i = 0; i < sections.of[which].len; i++)
			MUST(sections.of[which].data[i] == 0);
	}
	MUST(n_bytes > 0);
	dwarf_sections_close(&sections);
	dwarf_sections_close(&sections);
	/* As one that was cut before: no more than that it is refused. */
	MUST(dwarf_sections_open(dup(fd), false, &sections) == -ENOEXEC);
	return 0;
}

static void sections_of_a_file_that_shrinks_read_as_zeros(void **state)
{
	(void)state;
	assert_int_equal(outcome(cut_while_open), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_handler_that_was_there_gets_what_is_not_guarded),
		cmocka_unit_test(a_file_that_shrinks_reads_as_zeros),
		cmocka_unit_test(what_is_not_guarded_is_as_it_was),
		cmocka_unit_test(threads_guard_their_own),
		cmocka_unit_test(the_loader_reads_on),
		cmocka_unit_test(the_table_has_an_end),
		cmocka_unit_test(sections_of_a_file_that_shrinks_read_as_zeros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
