/* jit_place_test.c - a process's own map and dump, as it sees them, and no other process's */
#include "symbolize/jit/internal.h"

#include "child_fixture.h"
#include "tests/unit/symbolize/folder.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

/* For the first process of a pid namespace, which its parent waits for outside. */
static bool go_to_folder_as_first(void)
{
	pid_t inner = unshare(CLONE_NEWPID) == 0 ? fork() : -1;

	if (inner > 0) {
		(void)waitpid(inner, NULL, 0);
		_exit(0);
	}
	return inner == 0 && go_to_folder();
}

static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	if (file) {
		if (fscanf(file, "%d", &child) != 1)
			child = 0;
		(void)fclose(file);
	}
	return child;
}

static void the_map_is_in_its_own_tmp_by_its_own_pid(void **state)
{
	struct jit_place place;
	char byte = 0;
	bool able;
	pid_t outer = child_start_prepared(go_to_folder_as_first, &able);
	pid_t inner = child_of(outer);
	int fd;

	(void)state;
	if (!able || !inner) {
		child_end(outer);
		print_message("skipped: only root may make a pid namespace\n");
		skip();
	}
	assert_true(put_text("tmp/perf-1.map", "i"));
	jit_place_init(&place, inner);
	assert_int_equal(place.namespace_pid, 1);
	fd = jit_place_map(&place);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(byte, 'i');
	(void)close(fd);
	(void)kill(inner, SIGKILL);
	child_end(outer);
}

static bool map_dump(void)
{
	int fd = open(in_folder("jit-99.dump"), O_RDONLY | O_CLOEXEC);

	return fd >= 0 && mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED;
}

static void the_dump_is_the_one_that_is_mapped(void **state)
{
	struct jit_place place;
	char *path = NULL;
	bool able;
	pid_t pid;
	int fd;

	(void)state;
	assert_true(put_text("jit-99.dump", "d"));
	pid = child_start_prepared(map_dump, &able);
	assert_true(able);
	jit_place_init(&place, pid);
	fd = jit_place_dump(&place, &path);
	assert_true(fd >= 0);
	assert_string_equal(path, in_folder("jit-99.dump"));
	free(path);
	(void)close(fd);
	/* Another file of that name is not what the process writes to. */
	assert_true(put_text("jit-98.dump", "d"));
	assert_int_equal(rename(in_folder("jit-98.dump"), in_folder("jit-99.dump")), 0);
	path = NULL;
	assert_int_equal(jit_place_dump(&place, &path), -ENOENT);
	assert_null(path);
	child_end(pid);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_map_is_in_its_own_tmp_by_its_own_pid),
		TEST(the_dump_is_the_one_that_is_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
