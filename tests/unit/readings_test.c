/* readings_test.c - what /proc says, true or hostile, and what is made of it */
#include "sampler/collector/limits.h"
#include "sampler/collector/readings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BIT(metric) (UINT32_C(1) << (metric))

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
	struct node_sample sample = {.tid = (uint32_t)syscall(SYS_gettid)};
	struct thread_readings thread = {0};
	struct readings readings;
	pthread_t other;
	int pipe_fds[2];
	int64_t n_fds;

	(void)state;
	readings_init(&readings, getpid(), &options);
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
	struct node_sample sample = {.tid = (uint32_t)syscall(SYS_gettid)};
	struct thread_readings thread = {0};
	struct readings readings;

	(void)state;
	readings_init(&readings, getpid(), &options);
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
	struct node_sample sample = {0};
	struct thread_readings thread = {0};
	struct readings readings;
	siginfo_t info;
	pid_t pid = fork();
	int64_t kib;

	(void)state;
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	readings_init(&readings, pid, &options);
	kib = readings.values[METRIC_RSS_KIB];
	assert_true(kib > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	for (uint64_t later = 1; later <= 2; later++) {
		sample.tid = (uint32_t)pid;
		readings_fill(&readings, &thread, &sample, readings.read_ns + later * NS_PER_S);
		assert_int_equal(sample.metrics[METRIC_RSS_KIB].value, kib);
		assert_int_equal(sample.metrics[METRIC_THREADS].value, 1);
		if (later == 1) /* a zombie first, then nothing */
			assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	readings_thread_release(&thread);
	readings_release(&readings);
}

static void a_process_that_does_not_exist_has_nothing(void **state)
{
	struct collector_options options = {.metrics = UINT32_MAX};
	struct node_sample sample = {.tid = 4194304};
	struct thread_readings thread = {0};
	struct readings readings;

	(void)state;
	readings_init(&readings, 4194304, &options); /* above the largest pid there can be */
	readings_fill(&readings, &thread, &sample, readings.read_ns + NS_PER_S);
	for (size_t i = METRIC_RECORD; i < SAMPLE_MAX_METRICS; i++)
		assert_int_equal(sample.metrics[i].value, 0);
	readings_thread_release(&thread);
	readings_release(&readings);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
