/* waits_object_test.c - calls made by hand: words, states, and arguments that lie */
#include "child_fixture.h"
#include "folder_fixture.h"
#include "sampler/remote/blocked.h"
#include "sampler/remote/waits.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { FENCE = 0x5a, RANDOM_CALLS = 20000 };

#define ADDRESS(x) ((uint64_t)(uintptr_t)(x))

/* The view of the process that was asked about last. */
static struct remote *remote_of(pid_t pid)
{
	static struct remote *remote;

	if (!remote || remote_pid(remote) != pid) {
		remote_free(remote);
		assert_int_equal(remote_new(&remote, pid), 0);
	}
	return remote;
}

/* What waits_object() says, with a fence behind its bytes. */
static const char *object_of(pid_t pid, const struct blocked_at *at)
{
	static char text[SAMPLE_OBJECT_SIZE + 16];

	memset(text, FENCE, sizeof(text));
	waits_object(remote_of(pid), at, text);
	for (size_t i = SAMPLE_OBJECT_SIZE; i < sizeof(text); i++)
		assert_int_equal(text[i], FENCE);
	assert_true(strnlen(text, SAMPLE_OBJECT_SIZE) < SAMPLE_OBJECT_SIZE);
	return text;
}

static struct blocked_at call(long nr, uint64_t first, uint64_t second, uint64_t third)
{
	return (struct blocked_at){.in_syscall = true, .nr = nr, .args = {first, second, third}};
}

static void assert_object(struct blocked_at at, const char *object)
{
	assert_string_equal(object_of(getpid(), &at), object);
}

static void words_are_kinds_of_calls(void **state)
{
	static const struct {
		long nr;
		const char *word;
	} cases[] = {
		{SYS_preadv, "read"},
		{SYS_pwrite64, "write"},
		{SYS_futex, "futex"},
		{SYS_epoll_pwait2, "epoll"},
		{SYS_recvmmsg, "recv"},
		{SYS_sendto, "send"},
		{SYS_fdatasync, "fsync"},
		{SYS_openat, "open"},
		{SYS_io_uring_enter, "io_uring"},
		{SYS_semtimedop, "sem"},
		{SYS_mq_timedsend, "msg"},
		{SYS_mmap, "memory"},
		{SYS_getrandom, "getrandom"},
		{SYS_getpid, "other"},
		{455, "futex"},
		{-1, "other"},
		{LONG_MAX, "other"},
		{LONG_MIN, "other"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct blocked_at at = call(cases[i].nr, 0, 0, 0);

		assert_string_equal(waits_word(&at), cases[i].word);
	}
	assert_string_equal(waits_word(&(struct blocked_at){.in_syscall = false}), "page-fault");
}

static void only_a_lock_makes_fcntl_a_flock(void **state)
{
	struct blocked_at at = call(SYS_fcntl, 0, F_GETFL, 0);

	(void)state;
	assert_string_equal(waits_word(&at), "fcntl");
	at.args[1] = F_SETLKW;
	assert_string_equal(waits_word(&at), "flock");
	at.args[1] = F_OFD_SETLKW;
	assert_string_equal(waits_word(&at), "flock");
}

static void states_come_from_the_letter(void **state)
{
	struct blocked_at read_call = call(SYS_read, 0, 0, 0);
	struct blocked_at fork_call = call(SYS_clone, 0, 0, 0);
	struct blocked_at fault = {.in_syscall = false};

	(void)state;
	assert_int_equal(waits_state('R', NULL), STATE_RUNNING);
	assert_int_equal(waits_state('S', &read_call), STATE_SLEEPING);
	assert_int_equal(waits_state('D', &read_call), STATE_DISK);
	assert_int_equal(waits_state('D', &fault), STATE_DISK);
	assert_int_equal(waits_state('D', NULL), STATE_DISK);
	assert_int_equal(waits_state('D', &fork_call), STATE_SLEEPING);
	assert_int_equal(waits_state('T', &read_call), STATE_STOPPED);
	assert_int_equal(waits_state('t', &fault), STATE_STOPPED);
	assert_int_equal(waits_state('Z', NULL), STATE_STOPPED);
	assert_int_equal(waits_state('\0', NULL), STATE_SLEEPING);
}

static void durations_are_exact_in_their_largest_unit(void **state)
{
	static const struct {
		struct timespec time;
		const char *text;
	} cases[] = {
		{{0, 0}, "0s"},
		{{0, 1}, "1ns"},
		{{0, 1500}, "1500ns"},
		{{0, 2000}, "2us"},
		{{0, 500000000}, "500ms"},
		{{1, 500000000}, "1500ms"},
		{{3600, 0}, "3600s"},
		{{-1, 0}, ""},
		{{0, -1}, ""},
		{{0, 1000000000}, ""},
		{{INT64_MAX, 0}, ""},
		{{INT64_MIN, 0}, ""},
		{{18446744073, 709551615}, "18446744073709551615ns"},
		{{18446744073, 709551616}, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_object(call(SYS_nanosleep, ADDRESS(&cases[i].time), 0, 0), cases[i].text);
	assert_object(call(SYS_nanosleep, 0, 0, 0), "");
	assert_object(call(SYS_nanosleep, 8, 0, 0), "");
	assert_object(call(SYS_nanosleep, UINT64_MAX - 4, 0, 0), "");
	assert_object(call(SYS_poll, 0, 0, (uint32_t)-1), "");
	assert_object(call(SYS_poll, 0, 0, 1500), "1500ms");
}

static void processes_are_told_by_what_was_asked_for(void **state)
{
	(void)state;
	assert_object(call(SYS_wait4, 17, 0, 0), "pid:17");
	assert_object(call(SYS_wait4, (uint64_t)-1, 0, 0), "pid:any");
	assert_object(call(SYS_wait4, 0, 0, 0), "pgid:own");
	assert_object(call(SYS_wait4, (uint64_t)-17, 0, 0), "pgid:17");
	assert_object(call(SYS_wait4, (uint32_t)INT32_MIN, 0, 0), "pgid:2147483648");
	assert_object(call(SYS_waitid, P_ALL, 0, 0), "pid:any");
	assert_object(call(SYS_waitid, P_PGID, 3, 0), "pgid:3");
	assert_object(call(SYS_waitid, 77, 3, 0), "");
}

static void peers_are_addresses(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(5432)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
	struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "/run/a b.sock"};

	(void)state;
	(void)inet_pton(AF_INET, "10.0.0.1", &in.sin_addr);
	(void)inet_pton(AF_INET6, "::1", &in6.sin6_addr);
	assert_object(call(SYS_connect, (uint64_t)-1, ADDRESS(&in), sizeof(in)), "10.0.0.1:5432");
	assert_object(call(SYS_connect, (uint64_t)-1, ADDRESS(&in6), sizeof(in6)), "[::1]:80");
	assert_object(call(SYS_connect, (uint64_t)-1, ADDRESS(&un), sizeof(un)), "/run/a b.sock");
	assert_object(call(SYS_connect, (uint64_t)-1, ADDRESS(&un), 2), "");
	assert_object(call(SYS_connect, (uint64_t)-1, ADDRESS(&in), 8), "");
	assert_object(call(SYS_connect, (uint64_t)-1, ADDRESS(&in), 0), "");
	assert_object(call(SYS_connect, (uint64_t)-1, 8, 16), "");
}

/* Two pages, of which the second cannot be read: its file is not as long. */
static char *fenced_page(size_t *ret_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = file_in_memory("", 0);
	char *two;

	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(two != MAP_FAILED);
	(void)close(fd);
	*ret_bytes = page;
	return two;
}

static void a_path_may_end_with_its_page(void **state)
{
	static const char path[] = "/a/path";
	size_t page;
	char *map = fenced_page(&page);
	char *at = map + page - sizeof(path);

	(void)state;
	memcpy(at, path, sizeof(path));
	assert_object(call(SYS_openat, 0, ADDRESS(at), 0), path);
	at[sizeof(path) - 1] = 'x'; /* and now it goes on where nothing is */
	assert_object(call(SYS_openat, 0, ADDRESS(at), 0), "");
	assert_int_equal(munmap(map, 2 * page), 0);
}

static void a_long_path_keeps_its_end(void **state)
{
	char path[PATH_MAX];
	char want[SAMPLE_OBJECT_SIZE] = "...";

	(void)state;
	for (size_t i = 0; i < sizeof(path) - 1; i++)
		path[i] = (char)('a' + i % 26);
	path[sizeof(path) - 1] = '\0';
	memcpy(want + 3, path + sizeof(path) - 1 - 60, 61);
	assert_object(call(SYS_openat, 0, ADDRESS(path), 0), want);
}

/* The time-out is not what is cut. */
static void a_long_link_leaves_room_for_the_time_out(void **state)
{
	char path[] = "/tmp/wick waits of a file with a name that is too long to be kept-XXXXXX";
	int fd = mkstemp(path);
	struct pollfd one = {fd, POLLIN, 0};
	char want[SAMPLE_OBJECT_SIZE + 8];

	(void)state;
	assert_true(fd >= 0);
	(void)snprintf(want, sizeof(want), "...%s,30s", path + strlen(path) - 56);
	assert_object(call(SYS_poll, ADDRESS(&one), 1, 30000), want);
	assert_object(call(SYS_poll, ADDRESS(&one), 2, 30000), "2fds,30s");
	(void)close(fd);
	(void)unlink(path);
	assert_object(call(SYS_poll, ADDRESS(&one), 1, 30000), "30s");
}

static void a_process_that_is_gone_has_no_objects(void **state)
{
	struct timespec time = {5, 0};
	struct blocked_at read_call = call(SYS_read, 0, 0, 0);
	struct blocked_at sleep_call = call(SYS_nanosleep, ADDRESS(&time), 0, 0);
	pid_t pid = child_start_paused();

	(void)state;
	child_end(pid);
	assert_string_equal(object_of(pid, &read_call), "");
	assert_string_equal(object_of(pid, &sleep_call), "");
}

/* Whatever the numbers are: bounded, and nothing is touched that should not be. */
static void any_arguments_are_survived(void **state)
{
	static char memory[8192];
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (char)(i * 7 + i / 256);
	for (int i = 0; i < RANDOM_CALLS; i++) {
		struct blocked_at at = call(i % 470, 0, 0, 0);
		const char *word = waits_word(&at);

		for (size_t arg = 0; arg < 6; arg++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			at.args[arg] = random >> 60 < 8
					       ? ADDRESS(memory) + random % sizeof(memory)
					       : (uint64_t)((int64_t)random >> (random % 64));
		}
		assert_true(strlen(word) > 0 && strlen(word) < 16 && !strpbrk(word, " =%"));
		(void)object_of(getpid(), &at);
		waits_restarted(remote_of(getpid()), &at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_kinds_of_calls),
		cmocka_unit_test(only_a_lock_makes_fcntl_a_flock),
		cmocka_unit_test(states_come_from_the_letter),
		cmocka_unit_test(durations_are_exact_in_their_largest_unit),
		cmocka_unit_test(processes_are_told_by_what_was_asked_for),
		cmocka_unit_test(peers_are_addresses),
		cmocka_unit_test(a_path_may_end_with_its_page),
		cmocka_unit_test(a_long_path_keeps_its_end),
		cmocka_unit_test(a_long_link_leaves_room_for_the_time_out),
		cmocka_unit_test(a_process_that_is_gone_has_no_objects),
		cmocka_unit_test(any_arguments_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
