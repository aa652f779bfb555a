/* blocked_test.c - walking a child that sleeps, whose callers are known */
#include "sampler/remote/blocked.h"

#include "base/io.h"
#include "child_fixture.h"
#include "folder_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_PCS = 64, MAX_CALLS = 8, MOST_NS = 2000000000 };

/* What the child tells: the return addresses of its calls, innermost first. */
struct told {
	volatile int n;
	uint64_t returns[MAX_CALLS];
	int pipe[2];
};

struct fixture {
	struct told *told;
	struct remote *remote;
	pid_t pid;
	int fd;
};

static volatile int sink;

#define CALL __attribute__((noinline, noclone))

static void tell(struct told *told, int at, void *address)
{
	told->returns[at] = (uint64_t)(uintptr_t)address;
}

CALL static void innermost(struct told *told)
{
	char byte;

	tell(told, 0, __builtin_return_address(0));
	told->n = 4;
	sink += (int)read(told->pipe[0], &byte, 1);
}

CALL static void inner(struct told *told)
{
	tell(told, 1, __builtin_return_address(0));
	innermost(told);
	sink++;
}

CALL static void middle(struct told *told)
{
	volatile char bytes[5000];

	bytes[told->pipe[0]] = 0;
	tell(told, 2, __builtin_return_address(0));
	inner(told);
	sink += bytes[told->pipe[0]];
}

CALL static void aligned(struct told *told)
{
	_Alignas(64) volatile char bytes[128] = {0};

	tell(told, 2, __builtin_return_address(0));
	inner(told);
	sink += bytes[(uintptr_t)bytes % 64];
}

CALL static void variable(struct told *told, size_t size)
{
	volatile char *bytes = __builtin_alloca(size);

	bytes[size - 1] = 0;
	tell(told, 2, __builtin_return_address(0));
	inner(told);
	sink += bytes[size - 1];
}

/* Those that are left by rbp, which nothing on the way to the system call saves. */
CALL static void through_aligned(struct told *told)
{
	tell(told, 3, __builtin_return_address(0));
	aligned(told);
	sink++;
}

CALL static void through_variable(struct told *told)
{
	tell(told, 3, __builtin_return_address(0));
	variable(told, (size_t)told->pipe[0] * 100);
	sink++;
}

CALL static void plain(struct told *told)
{
	tell(told, 3, __builtin_return_address(0));
	middle(told);
	sink++;
}

/* A function that takes long to read, and a return address behind a call of it. */
__asm__(".text\n"
	"long_function:\n"
	"	.cfi_startproc\n"
	"	.fill 200000, 1, 0x90\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"calls_long_function:\n"
	"	.cfi_startproc\n"
	"	call long_function\n"
	"behind_the_call:\n"
	"	ret\n"
	"	.cfi_endproc\n");

extern const char behind_the_call[];

/* Whoever looks for the end of a frame of unknown size finds thousands that may be it. */
CALL static void costly(struct told *told)
{
	uintptr_t words[8000];
	volatile uintptr_t *all = words;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		all[i] = (uintptr_t)behind_the_call;
	variable(told, (size_t)told->pipe[0] * 100);
	sink += (int)all[sink];
}

static void wait_until_blocked(struct fixture *fixture)
{
	struct blocked_at at;

	for (int i = 0; i < 2000; i++) {
		if (fixture->told->n && blocked_read(fixture->fd, &at) == 0)
			return;
		(void)poll(NULL, 0, 1);
	}
	fail_msg("the child does not block");
}

static int block_in(void **state, void (*function)(struct told *))
{
	static struct fixture fixture;
	char path[64];

	fixture.told = child_shared(sizeof(*fixture.told));
	assert_int_equal(pipe(fixture.told->pipe), 0);
	fixture.pid = fork();
	assert_true(fixture.pid >= 0);
	if (fixture.pid == 0) {
		function(fixture.told);
		_exit(0);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/syscall", (int)fixture.pid);
	fixture.fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fixture.fd >= 0);
	assert_int_equal(remote_new(&fixture.remote, fixture.pid), 0);
	wait_until_blocked(&fixture);
	*state = &fixture;
	return 0;
}

static int set_up(void **state)
{
	return block_in(state, plain);
}

static int set_up_aligned(void **state)
{
	return block_in(state, through_aligned);
}

static int set_up_variable(void **state)
{
	return block_in(state, through_variable);
}

static int set_up_costly(void **state)
{
	return block_in(state, costly);
}

static void end_child(struct fixture *fixture)
{
	if (fixture->pid > 0)
		child_end(fixture->pid);
	fixture->pid = 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	end_child(fixture);
	remote_free(fixture->remote);
	(void)close(fixture->fd);
	(void)close(fixture->told->pipe[0]);
	(void)close(fixture->told->pipe[1]);
	(void)munmap(fixture->told, sizeof(*fixture->told));
	return 0;
}

static size_t walk(struct fixture *fixture, uint64_t *pcs, size_t max, enum unwind_stop *ret_stop)
{
	struct unwind_result result;
	struct blocked_at at;

	assert_int_equal(blocked_read(fixture->fd, &at), 0);
	assert_int_equal(blocked_walk(fixture->remote, &at, pcs, max, &result), 0);
	*ret_stop = result.stop;
	return result.n_pcs;
}

static size_t place_of(const uint64_t *pcs, size_t n, uint64_t pc)
{
	size_t at = 0;

	while (at < n && pcs[at] != pc)
		at++;
	return at;
}

static void finds_the_callers_of_a_sleeping_child(void **state)
{
	struct fixture *fixture = *state;
	uint64_t pcs[MAX_PCS];
	enum unwind_stop stop;
	size_t n;
	size_t at;

	/* The second time the rules and the pages are known. */
	for (int round = 0; round < 2; round++) {
		n = walk(fixture, pcs, MAX_PCS, &stop);
		assert_int_equal(stop, UNWIND_END);
		at = place_of(pcs, n, fixture->told->returns[0]);
		assert_in_range(at, 1, 3);
		assert_true(pcs[0] & UNWIND_EXACT);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(pcs[at + i], fixture->told->returns[i]);
	}
}

/* The drain thread does it, and the target may be anybody's. */
static void gives_up_on_a_stack_that_takes_too_long(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* compiled for it the frames can all be followed */
#endif
	uint64_t before_ns = io_now_ns();
	uint64_t pcs[MAX_PCS];
	enum unwind_stop stop;

	/* Sanitizers make another frame of it, whose size the code tells. */
	assert_true(walk(*state, pcs, MAX_PCS, &stop) > 0);
	assert_true(stop == UNWIND_BAD_CFA || stop == UNWIND_END);
	assert_in_range(io_now_ns() - before_ns, 0, MOST_NS);
}

static void gives_the_system_call_and_its_arguments(void **state)
{
	struct fixture *fixture = *state;
	struct blocked_at at;

	assert_int_equal(blocked_read(fixture->fd, &at), 0);
	assert_true(at.in_syscall);
	assert_int_equal(at.nr, SYS_read);
	assert_int_equal(at.args[0], fixture->told->pipe[0]);
	assert_int_equal(at.args[2], 1);
}

static void stops_at_the_depth_that_was_asked_for(void **state)
{
	uint64_t pcs[2];
	enum unwind_stop stop;

	assert_int_equal(walk(*state, pcs, 2, &stop), 2);
	assert_int_equal(stop, UNWIND_DEPTH);
}

static void says_that_a_process_is_gone(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_result result;
	uint64_t pcs[MAX_PCS];
	struct blocked_at at;

	assert_int_equal(blocked_read(fixture->fd, &at), 0);
	end_child(fixture);
	assert_int_equal(blocked_walk(fixture->remote, &at, pcs, MAX_PCS, &result), -ESRCH);
	assert_int_equal(blocked_read(fixture->fd, &at), -ESRCH);
}

static void does_not_walk_what_is_no_stack(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* its shadow lies where nothing should */
#endif
	static const uint64_t bad[] = {0, 8, UINT64_C(1) << 46, UINT64_MAX - 7, UINT64_C(1) << 60};
	struct fixture *fixture = *state;
	struct unwind_result result;
	uint64_t pcs[MAX_PCS];
	struct blocked_at at;

	assert_int_equal(blocked_read(fixture->fd, &at), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		at.sp = bad[i];
		assert_int_equal(blocked_walk(fixture->remote, &at, pcs, MAX_PCS, &result),
				 -EFAULT);
	}
}

static int read_text(const char *text, struct blocked_at *ret_at)
{
	int fd = file_in_memory(text, strlen(text));
	int r = blocked_read(fd, ret_at);

	(void)close(fd);
	return r;
}

static void reads_the_three_kinds_of_lines(void **state)
{
	struct blocked_at at;

	(void)state;
	assert_int_equal(read_text("running\n", &at), -EBUSY);
	assert_int_equal(read_text("-1 0x7ffc8 0x55aa\n", &at), 0);
	assert_false(at.in_syscall);
	assert_int_equal(at.sp, 0x7ffc8);
	assert_int_equal(at.pc, 0x55aa);
	assert_int_equal(read_text("202 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffc8 0x55aa\n", &at), 0);
	assert_true(at.in_syscall);
	assert_int_equal(at.nr, 202);
	assert_int_equal(at.args[5], 6);
	assert_int_equal(at.pc, 0x55aa);
}

static void refuses_lines_of_another_kind(void **state)
{
	static const char *const lines[] = {
		"blocked\n",
		"1 0x1 0x2 0x3 0x4 0x5 0x7ffc8 0x55aa\n",
		"1 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffc8 0x55aa",
		"-1 7ffc8 55aa\n",
		"-1\n",
		"\n",
	};
	struct blocked_at at;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(read_text(lines[i], &at), -EBADMSG);
	assert_int_equal(read_text("", &at), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_the_callers_of_a_sleeping_child, set_up,
						tear_down),
		{"finds_the_callers_of_an_aligned_frame", finds_the_callers_of_a_sleeping_child,
		 set_up_aligned, tear_down, NULL},
		{"finds_the_callers_of_a_frame_of_variable_size",
		 finds_the_callers_of_a_sleeping_child, set_up_variable, tear_down, NULL},
		cmocka_unit_test_setup_teardown(gives_up_on_a_stack_that_takes_too_long,
						set_up_costly, tear_down),
		cmocka_unit_test_setup_teardown(gives_the_system_call_and_its_arguments, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(stops_at_the_depth_that_was_asked_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(says_that_a_process_is_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(does_not_walk_what_is_no_stack, set_up, tear_down),
		cmocka_unit_test(reads_the_three_kinds_of_lines),
		cmocka_unit_test(refuses_lines_of_another_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
