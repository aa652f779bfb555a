/* readings_test.c - what /proc says, true or hostile, and what is made of it */
#include "base/units.h"
#include "child_fixture.h"
#include "sampler/collector/metrics/readings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BIT(metric) (UINT32_C(1) << (metric))

static struct sock_table sockets;

static void memory_is_in_parts_that_add_up(void **state)
{
	int64_t kib[3];

	(void)state;
	assert_int_equal(readings_parse_statm("765 403 375 5 0 123 0\n", 4096, kib), 0);
	assert_int_equal(kib[0], 403 * 4);
	assert_int_equal(kib[1], 28 * 4);
	assert_int_equal(kib[2], 375 * 4);
	/* Counters that were read at different moments. */
	assert_int_equal(readings_parse_statm("9 5 7 0 0 0 0\n", 65536, kib), 0);
	assert_int_equal(kib[0], 5 * 64);
	assert_int_equal(kib[1], 0);
	assert_int_equal(kib[2], 5 * 64);
}

static void refuses_memory_that_is_none(void **state)
{
	static const char *const wrong[] = {
		"",
		"\n",
		"1",
		"1 2",
		"1 2 x",
		"1 -2 1",
		"a b c",
		"0x10 2 1",
		"1 99999999999999999999 1",
		"1 9223372036854775807 1",
		"1\n\n2",
	};
	int64_t kib[3] = {7, 8, 9};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (readings_parse_statm(wrong[i], 4096, kib) != -EBADMSG)
			fail_msg("'%s' was taken", wrong[i]);
	assert_int_equal(readings_parse_statm("1 2 1", 0, kib), -EBADMSG);
	assert_int_equal(kib[0], 7);
	assert_int_equal(kib[2], 9);
}

static void a_line_is_found_by_its_whole_name(void **state)
{
	/* The name of a program stands in its status file: it may hold anything but a newline. */
	static const char status[] = "Name:\tVmSwap: 3\nVmSwapX:\t4 kB\nxVmSwap:\t5 kB\n"
				     "VmSwap:\t     12 kB\nVmSwap:\t13 kB\n";
	static const char io[] = "rchar: 1\nread_bytes: 4096\ncancelled_write_bytes: 3\n"
				 "write_bytes: 8\n";
	int64_t value = 7;

	(void)state;
	assert_int_equal(readings_parse_line(status, "VmSwap", &value), 0);
	assert_int_equal(value, 12);
	assert_int_equal(readings_parse_line(io, "read_bytes", &value), 0);
	assert_int_equal(value, 4096);
	assert_int_equal(readings_parse_line(io, "write_bytes", &value), 0);
	assert_int_equal(value, 8);
}

static void refuses_lines_without_a_number(void **state)
{
	int64_t value = 7;

	(void)state;
	assert_int_equal(readings_parse_line("", "a", &value), -ENOENT);
	assert_int_equal(readings_parse_line("a", "a", &value), -ENOENT);
	assert_int_equal(readings_parse_line("a :1\n", "a", &value), -ENOENT);
	assert_int_equal(readings_parse_line("a:", "a", &value), -EBADMSG);
	assert_int_equal(readings_parse_line("a:\n1\n", "a", &value), -EBADMSG);
	assert_int_equal(readings_parse_line("a: -1\n", "a", &value), -EBADMSG);
	assert_int_equal(readings_parse_line("a: 9223372036854775808\n", "a", &value), -EBADMSG);
	assert_int_equal(value, 7);
	assert_int_equal(readings_parse_line("a: 9223372036854775807", "a", &value), 0);
	assert_int_equal(value, INT64_MAX);
}

static void run_delay_is_the_second_field(void **state)
{
	int64_t ns = 7;

	(void)state;
	assert_int_equal(readings_parse_schedstat("100 1664917 3\n", &ns), 0);
	assert_int_equal(ns, 1664917);
	assert_int_equal(readings_parse_schedstat("100", &ns), -EBADMSG);
	assert_int_equal(readings_parse_schedstat("x 1 1", &ns), -EBADMSG);
	assert_int_equal(readings_parse_schedstat("1 99999999999999999999 1", &ns), -EBADMSG);
	assert_int_equal(ns, 1664917);
}

static void *wait_for_byte(void *argument)
{
	char byte;

	(void)!read(*(const int *)argument, &byte, 1);
	return NULL;
}

static void reads_what_was_asked_for_of_itself(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer has a thread of its own */
#endif
	struct collector_options options = {.metrics = BIT(METRIC_RSS_KIB) | BIT(METRIC_FD_COUNT) |
						       BIT(METRIC_THREADS)};
	struct event_sample sample = {.tid = (uint32_t)syscall(SYS_gettid)};
	struct thread_readings thread = {0};
	struct readings readings;
	pthread_t other;
	int pipe_fds[2];
	int64_t n_fds;

	(void)state;
	readings_init(&readings, getpid(), &options, &sockets);
	readings_fill(&readings, &thread, &sample, readings.read_ns);
	assert_true(sample.metrics[METRIC_RSS_KIB].value > 1000);
	assert_int_equal(sample.metrics[METRIC_RSS_ANON_KIB].value, 0);
	assert_int_equal(sample.metrics[METRIC_THREADS].value, 1);
	n_fds = sample.metrics[METRIC_FD_COUNT].value;
	assert_true(n_fds >= 3);
	assert_int_equal(thread.schedstat_fd, 0);
	assert_int_equal(thread.io_fd, 0);

	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(pthread_create(&other, NULL, wait_for_byte, &pipe_fds[0]), 0);
	readings_fill(&readings, &thread, &sample, readings.read_ns + 1);
	assert_int_equal(sample.metrics[METRIC_THREADS].value, 1); /* fresh enough */
	readings_fill(&readings, &thread, &sample, readings.read_ns + READING_FRESH_MS * NS_PER_MS);
	assert_int_equal(sample.metrics[METRIC_THREADS].value, 2);
	assert_int_equal(sample.metrics[METRIC_FD_COUNT].value, n_fds + 2);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	assert_int_equal(pthread_join(other, NULL), 0);
	(void)close(pipe_fds[0]);
	(void)close(pipe_fds[1]);
	readings_release(&readings);
}

static void keeps_one_descriptor_for_what_is_a_threads(void **state)
{
	struct collector_options options = {.metrics = BIT(METRIC_RUN_DELAY_NS) |
						       BIT(METRIC_IO_WRITE_BYTES)};
	struct event_sample sample = {.tid = (uint32_t)syscall(SYS_gettid)};
	struct thread_readings thread = {0};
	struct readings readings;

	(void)state;
	readings_init(&readings, getpid(), &options, &sockets);
	readings_fill(&readings, &thread, &sample, readings.read_ns);
	assert_true(thread.schedstat_fd > 0);
	assert_true(thread.io_fd > 0);
	/* What the caller knows already stands. */
	sample.metrics[METRIC_RUN_DELAY_NS].value = 12345;
	readings_fill(&readings, &thread, &sample, thread.read_ns + NS_PER_S);
	assert_int_equal(sample.metrics[METRIC_RUN_DELAY_NS].value, 12345);
	/* What an earlier filling left does not stand. */
	sample.metrics[METRIC_IO_WRITE_BYTES].value = INT64_MAX;
	readings_fill(&readings, &thread, &sample, thread.read_ns + 1);
	assert_int_equal(sample.metrics[METRIC_IO_WRITE_BYTES].value,
			 thread.values[METRIC_IO_WRITE_BYTES]);
	readings_thread_release(&thread);
	assert_int_equal(thread.io_fd, 0);
	readings_release(&readings);
}

static void a_process_that_ends_keeps_its_last_values(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer has a thread of its own */
#endif
	struct collector_options options = {.metrics = BIT(METRIC_RSS_KIB) | BIT(METRIC_THREADS) |
						       BIT(METRIC_RUN_DELAY_NS)};
	struct event_sample sample = {0};
	struct thread_readings thread = {0};
	struct readings readings;
	pid_t pid = child_start_paused();
	int64_t kib;

	(void)state;
	readings_init(&readings, pid, &options, &sockets);
	kib = readings.values[METRIC_RSS_KIB];
	assert_true(kib > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	child_await_zombie(pid);
	for (uint64_t later = 1; later <= 2; later++) {
		sample.tid = (uint32_t)pid;
		readings_fill(&readings, &thread, &sample, readings.read_ns + later * NS_PER_S);
		assert_int_equal(sample.metrics[METRIC_RSS_KIB].value, kib);
		assert_int_equal(sample.metrics[METRIC_THREADS].value, 1);
		if (later == 1) /* a zombie first, then nothing */
			(void)child_status(pid);
	}
	readings_thread_release(&thread);
	readings_release(&readings);
}

static void a_process_that_does_not_exist_has_nothing(void **state)
{
	struct collector_options options = {.metrics = UINT32_MAX};
	struct event_sample sample = {.tid = 4194304};
	struct thread_readings thread = {0};
	struct readings readings;

	(void)state;
	readings_init(&readings, 4194304, &options,
		      &sockets); /* above the largest pid there can be */
	readings_fill(&readings, &thread, &sample, readings.read_ns + NS_PER_S);
	for (size_t i = METRIC_RECORD; i < SAMPLE_MAX_METRICS; i++)
		assert_int_equal(sample.metrics[i].value, 0);
	readings_thread_release(&thread);
	readings_release(&readings);
}

/* A connection of this process with itself, over the loopback. */
static void connect_self(int fds[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fds[0], (struct sockaddr *)&address, len), 0);
	fds[1] = accept(listener, NULL, NULL);
	assert_true(fds[1] >= 0);
	(void)close(listener);
}

/* What waits in our own sockets, read as if a second had passed each time. */
static struct sock_bytes queued(struct sock_queues *queues, int steps)
{
	static uint64_t now_ns;
	struct sock_bytes bytes = {0};

	for (int i = 0; i < steps; i++)
		bytes = sock_queues_read(queues, now_ns += 100 * NS_PER_S);
	return bytes;
}

static void bytes_that_wait_in_sockets_are_added_up(void **state)
{
	char bytes[3000] = {0};
	struct sock_queues *queues;
	int tcp[2];
	int local[2];
	int again;

	(void)state;
	connect_self(tcp);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, local), 0);
	assert_int_equal(sock_queues_new(&queues, &sockets, getpid()), 0);
	if (queued(queues, 2).in != 0 || sockets.fd < 0)
		skip(); /* no sock_diag here, or a socket that we were given */
	assert_int_equal(write(tcp[0], bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(queued(queues, 1).in, sizeof(bytes));
	assert_int_equal(write(local[0], bytes, 1000), 1000);
	assert_int_equal(queued(queues, 1).in, sizeof(bytes) + 1000);
	/* What a unix socket wrote counts as the memory that it takes. */
	assert_true(queued(queues, 1).out >= 1000);
	/* Another descriptor of a socket is the same socket. */
	again = dup(tcp[1]);
	assert_int_equal(queued(queues, 1).in, sizeof(bytes) + 1000);
	assert_int_equal(read(again, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(queued(queues, 1).in, 1000);
	for (int i = 0; i < 2; i++) {
		(void)close(tcp[i]);
		(void)close(local[i]);
	}
	(void)close(again);
	assert_int_equal(queued(queues, 1).in, 0);
	sock_queues_free(queues);
}

static void many_descriptors_are_listed_in_steps(void **state)
{
	struct rlimit limit;
	struct sock_queues *queues;
	int files[2000];
	int local[2];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur < 2100)
		skip();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		files[i] = open("/dev/null", O_RDONLY);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, local), 0);
	assert_int_equal(write(local[0], "four", 4), 4);
	assert_int_equal(sock_queues_new(&queues, &sockets, getpid()), 0);
	/* The sockets have the highest numbers: they are in no step but the last. */
	assert_int_equal(queued(queues, 3).in, 0);
	assert_int_equal(queued(queues, 1).in, sockets.fd < 0 ? 0 : 4);
	sock_queues_free(queues);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)close(files[i]);
	(void)close(local[0]);
	(void)close(local[1]);
}

/* The same time again: nothing may be read, however much there is. */
static void reading_sockets_has_a_poll_interval(void **state)
{
	struct sock_queues *queues;
	int local[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, local), 0);
	assert_int_equal(sock_queues_new(&queues, &sockets, getpid()), 0);
	(void)sock_queues_read(queues, UINT64_MAX / 2);
	assert_int_equal(write(local[0], "four", 4), 4);
	assert_int_equal(sock_queues_read(queues, UINT64_MAX / 2).in, 0);
	if (sockets.fd >= 0)
		assert_int_equal(sock_queues_read(queues, UINT64_MAX / 2 + NS_PER_S).in, 4);
	sock_queues_free(queues);
	(void)close(local[0]);
	(void)close(local[1]);
}

/* One message of a TCP socket, of which LEN bytes are said to be there. */
static int take_message(struct sock_table *table, uint32_t len, size_t given)
{
	_Alignas(struct nlmsghdr) char answer[512] = {0};
	struct nlmsghdr head = {.nlmsg_len = len, .nlmsg_type = SOCK_DIAG_BY_FAMILY};
	struct inet_diag_msg message = {.idiag_family = AF_INET,
					.idiag_inode = 77,
					.idiag_rqueue = 5,
					.idiag_wqueue = UINT32_MAX};

	memcpy(answer, &head, sizeof(head));
	memcpy(answer + NLMSG_HDRLEN, &message, sizeof(message));
	return sock_table_take(table, answer, given);
}

static void answers_that_lie_about_their_length_are_refused(void **state)
{
	const uint32_t whole = NLMSG_LENGTH(sizeof(struct inet_diag_msg));
	struct sock_bytes sum = {0};
	struct sock_table table;

	(void)state;
	sock_table_init(&table);
	for (uint32_t len = 0; len < whole; len++)
		assert_int_equal(take_message(&table, len, whole), -EBADMSG);
	for (size_t given = 1; given < whole; given++)
		assert_int_equal(take_message(&table, whole, given), -EBADMSG);
	assert_int_equal(table.n, 0);
	assert_int_equal(take_message(&table, whole, whole), 0);
	sock_table_add(&table, 77, &sum);
	sock_table_add(&table, 78, &sum);
	assert_int_equal(sum.in, 5);
	assert_int_equal(sum.out, UINT32_MAX);
	sock_table_release(&table);
}

/* Whoever opens a file next gets the number of a descriptor that was closed. */
static void a_descriptor_that_failed_is_closed_once(void **state)
{
	struct sock_table table;
	int fds[2];
	int next;

	(void)state;
	sock_table_init(&table);
	assert_int_equal(pipe(fds), 0);
	table.fd = fds[1]; /* no socket */
	sock_table_refresh(&table, 1);
	table.next_ns = 0;
	next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sock_table_refresh(&table, 2);
	assert_true(fcntl(next, F_GETFD) >= 0);
	sock_table_release(&table);
	assert_true(fcntl(next, F_GETFD) >= 0);
	assert_int_equal(close(next), 0);
	assert_int_equal(close(fds[0]), 0);
}

static void the_end_of_a_list_says_whether_it_was_made(void **state)
{
	_Alignas(struct nlmsghdr) char answer[NLMSG_SPACE(sizeof(int))] = {0};
	struct nlmsghdr head = {.nlmsg_len = NLMSG_LENGTH(sizeof(int)), .nlmsg_type = NLMSG_DONE};
	struct sock_table table;
	int code = -ENOENT;

	(void)state;
	sock_table_init(&table);
	memcpy(answer, &head, sizeof(head));
	assert_int_equal(sock_table_take(&table, answer, head.nlmsg_len), 1);
	memcpy(answer + NLMSG_HDRLEN, &code, sizeof(code));
	assert_int_equal(sock_table_take(&table, answer, head.nlmsg_len), -ENOENT);
}

static void the_table_grows_up_to_its_bound(void **state)
{
	_Alignas(struct nlmsghdr) char answer[NLMSG_SPACE(sizeof(struct inet_diag_msg))] = {0};
	struct nlmsghdr head = {.nlmsg_len = sizeof(answer), .nlmsg_type = SOCK_DIAG_BY_FAMILY};
	struct inet_diag_msg message = {.idiag_family = AF_INET, .idiag_rqueue = 1};
	struct sock_bytes sum = {0};
	struct sock_table table;
	int r = 0;

	(void)state;
	sock_table_init(&table);
	memcpy(answer, &head, sizeof(head));
	for (uint32_t i = 1; r == 0 && i <= 2 * SOCK_MOST; i++) {
		message.idiag_inode = i;
		memcpy(answer + NLMSG_HDRLEN, &message, sizeof(message));
		r = sock_table_take(&table, answer, sizeof(answer));
	}
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(table.n, SOCK_MOST);
	for (uint32_t i = 1; i <= 2 * SOCK_MOST; i++)
		sock_table_add(&table, i, &sum);
	assert_int_equal(sum.in, SOCK_MOST);
	sock_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_in_parts_that_add_up),
		cmocka_unit_test(refuses_memory_that_is_none),
		cmocka_unit_test(a_line_is_found_by_its_whole_name),
		cmocka_unit_test(refuses_lines_without_a_number),
		cmocka_unit_test(run_delay_is_the_second_field),
		cmocka_unit_test(reads_what_was_asked_for_of_itself),
		cmocka_unit_test(keeps_one_descriptor_for_what_is_a_threads),
		cmocka_unit_test(a_process_that_ends_keeps_its_last_values),
		cmocka_unit_test(a_process_that_does_not_exist_has_nothing),
		cmocka_unit_test(bytes_that_wait_in_sockets_are_added_up),
		cmocka_unit_test(many_descriptors_are_listed_in_steps),
		cmocka_unit_test(reading_sockets_has_a_poll_interval),
		cmocka_unit_test(answers_that_lie_about_their_length_are_refused),
		cmocka_unit_test(a_descriptor_that_failed_is_closed_once),
		cmocka_unit_test(the_end_of_a_list_says_whether_it_was_made),
		cmocka_unit_test(the_table_grows_up_to_its_bound),
	};

	sock_table_init(&sockets);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
