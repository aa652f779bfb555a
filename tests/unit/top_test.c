/* top_test.c - the heaviest threads: ranks, free slots, and what /proc says of our own threads */
#include "base/units.h"
#include "sampler/collector/select/top.h"

#include "base/io.h"
#include "sampler/collector/process/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the pure part */

static void what_was_used_since_the_last_round_comes_first(void **state)
{
	struct ranked old = {.total = 1000000, .score = 5, .key = 1};
	struct ranked busy = {.total = 100, .score = 90, .key = 2};
	struct ranked big = {.total = 2000, .score = 5, .key = 3};
	struct ranked *threads[] = {&big, &old, &busy};

	(void)state;
	top_rank(threads, 3);
	assert_ptr_equal(threads[0], &busy);
	assert_ptr_equal(threads[1], &old);
	assert_ptr_equal(threads[2], &big);
}

static void equals_are_decided_by_the_total_then_cpu_then_age(void **state)
{
	struct ranked all[] = {
		{.score = 5, .total = 9, .cpu_ns = 1, .key = 9},
		{.score = 5, .total = 9, .cpu_ns = 7, .key = 8},
		{.score = 5, .total = 9, .cpu_ns = 7, .key = 2},
		{.score = 5, .total = 10, .key = 7},
	};
	struct ranked *threads[] = {&all[0], &all[1], &all[2], &all[3]};

	(void)state;
	top_rank(threads, 4);
	assert_int_equal(threads[0]->key, 7);
	assert_int_equal(threads[1]->key, 2);
	assert_int_equal(threads[2]->key, 8);
	assert_int_equal(threads[3]->key, 9);
	top_rank(NULL, 0);
}

static void a_late_thread_outweighs_one_that_stopped(void **state)
{
	/* One thread ran until then, the other since; 1000 is the interval, 875 where its late part
	 * begins. */

	(void)state;
	assert_true(top_score(500, 0, 375) > top_score(500, 0, 500));
	assert_true(top_score(75, 0, 0) > top_score(925, 0, 875));
	assert_true(top_score(65, 0, 0) < top_score(935, 0, 875)); /* waits for the next round */
	assert_int_equal(top_score(100, 100, 100), 0);
}

static void a_total_that_fell_is_another_threads(void **state)
{
	(void)state;
	assert_int_equal(top_score(10, 1000, 1000), 10 + 64 * 10);
	assert_int_equal(top_score(UINT64_MAX, 0, 0), UINT64_MAX);
}

/* ---- the text of /proc */

static void assert_parses(const char *text, enum collector_by by, uint64_t value)
{
	uint64_t found = 0;

	assert_true(top_parse(text, by, &found));
	assert_int_equal(found, value);
}

static void reads_the_texts_of_the_kernel(void **state)
{
	static const char stat[] = "7 (a) b (c) S 1 7 7 0 -1 4194304 120 5 3 9 10 20 0 0 20\n";
	static const char io[] = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\n"
				 "write_bytes: 8192\ncancelled_write_bytes: 77\n";

	(void)state;
	assert_parses("120034 5500 12\n", BY_CPU, 120034);
	assert_parses("120034 5500 12\n", BY_RSS, 120034);
	assert_parses("120034 5500 12\n", BY_RUN_DELAY, 5500);
	assert_parses(stat, BY_FAULTS, 123);
	assert_parses(io, BY_IO, 12288);
}

static void refuses_texts_that_lack_the_number(void **state)
{
	static const char *const texts[] = {"",
					    "\n",
					    "x",
					    "7",
					    "7 (a) S 1 2 3",
					    "read_bytes: \n",
					    "read_bytes: 1\n",
					    "xread_bytes: 1\nwrite_bytes: 2\n"};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_false(top_parse(texts[i], BY_FAULTS, &value));
		assert_false(top_parse(texts[i], BY_IO, &value));
	}
	assert_false(top_parse("7", BY_RUN_DELAY, &value));
	assert_false(top_parse("7 (a)", BY_RUN_DELAY, &value));
	assert_false(top_parse("", BY_CPU, &value));
}

/* ---- on our own threads */

enum { N_THREADS = 8 };

struct worker {
	pthread_t thread;
	_Atomic uint32_t tid;
	_Atomic uint64_t ns; /* of CPU to use; 0: end */
	sem_t begin;
	sem_t done;
};

static uint64_t used_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

/* A thread with nothing to do uses no CPU, nor does one that waits for a CPU: they are ranked, too.
 */
static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t ns;

	atomic_store(&worker->tid, (uint32_t)syscall(SYS_gettid));
	while (sem_wait(&worker->begin) == 0 && (ns = atomic_load(&worker->ns)) > 0) {
		for (uint64_t end_ns = used_ns() + ns; used_ns() < end_ns;)
			;
		(void)sem_post(&worker->done);
	}
	return NULL;
}

/* This process with N_THREADS workers, and a top of two. */
struct crew {
	struct worker workers[N_THREADS];
	struct process process;
	struct top top;
};

static int set_up(void **state)
{
	const struct collector_top options = {.n = 2, .by = BY_CPU, .interval_ns = 100 * NS_PER_MS};
	struct crew *crew = calloc(1, sizeof(*crew));

	if (!crew)
		return -1;
	crew->process = (struct process){
		.number = 1, .pid = getpid(), .namespace_pid = getpid(), .alive = true};
	top_init(&crew->top, &options);
	for (size_t i = 0; i < N_THREADS; i++) {
		if (sem_init(&crew->workers[i].begin, 0, 0) != 0 ||
		    sem_init(&crew->workers[i].done, 0, 0) != 0)
			return -1;
		if (pthread_create(&crew->workers[i].thread, NULL, work, &crew->workers[i]) != 0)
			return -1;
		while (!atomic_load(&crew->workers[i].tid))
			(void)usleep(100);
	}
	*state = crew;
	return 0;
}

static int tear_down(void **state)
{
	struct crew *crew = *state;

	for (size_t i = 0; i < N_THREADS; i++) {
		atomic_store(&crew->workers[i].ns, 0);
		(void)sem_post(&crew->workers[i].begin);
	}
	for (size_t i = 0; i < N_THREADS; i++)
		(void)pthread_join(crew->workers[i].thread, NULL);
	top_release(&crew->top);
	free(crew);
	return 0;
}

static void burn(struct crew *crew, size_t i, uint64_t ns)
{
	atomic_store(&crew->workers[i].ns, ns);
	(void)sem_post(&crew->workers[i].begin);
	(void)sem_wait(&crew->workers[i].done);
	(void)usleep(3000);
}

static bool keeps(struct crew *crew, size_t i)
{
	return top_keeps(&crew->top, &crew->process, atomic_load(&crew->workers[i].tid));
}

static void wick_is_never_among_them(void **state)
{
	struct crew *crew = *state;

	burn(crew, 0, 5 * NS_PER_MS);
	top_scan(&crew->top, &crew->process, 1);
	assert_int_equal(map_count(&crew->top.threads), 0);
}

static void chooses_busy_threads_and_drops_stopped_ones(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer has a thread of its own */
#endif
	struct crew *crew = *state;
	uint64_t now = 1;

	crew->top.own_pid = 0;
	burn(crew, 0, 30 * NS_PER_MS);
	burn(crew, 1, 30 * NS_PER_MS);
	top_scan(&crew->top, &crew->process, now); /* totals alone */
	assert_true(keeps(crew, 0) && keeps(crew, 1));
	assert_false(keeps(crew, 2));
	/* Much more than our own thread needs to look on: what is recent counts 64 times. */
	burn(crew, 2, 120 * NS_PER_MS);
	burn(crew, 3, 120 * NS_PER_MS);
	now += 99 * NS_PER_MS;
	top_scan(&crew->top, &crew->process, now); /* the last eighth begins */
	assert_false(keeps(crew, 2));
	burn(crew, 4, 8 * NS_PER_MS); /* less than the others, and just now */
	now += 2 * NS_PER_MS;
	top_scan(&crew->top, &crew->process, now);
	assert_true(keeps(crew, 4));
	assert_true(keeps(crew, 2) != keeps(crew, 3));
	assert_false(keeps(crew, 0) || keeps(crew, 1));
}

static void a_gauge_ranks_processes_and_cpu_their_threads(void **state)
{
	struct crew *crew = *state;
	struct process other = crew->process;

	/* Ours twice, as two processes; nothing is open, so that their values stay. */
	crew->top.own_pid = 0;
	crew->top.options.n = 3; /* the third is the main thread, or any */
	crew->top.options.by = BY_GAUGE;
	crew->top.options.gauge = METRIC_BUILTIN;
	crew->process.readings =
		(struct readings){.statm_fd = -1, .status_fd = -1, .tasks_fd = -1, .fds_fd = -1};
	other.number = 2;
	other.readings = crew->process.readings;
	crew->process.next = &other;
	crew->process.readings.values[METRIC_BUILTIN] = 10;
	other.readings.values[METRIC_BUILTIN] = 900;
	burn(crew, 6, 20 * NS_PER_MS);
	burn(crew, 7, 20 * NS_PER_MS);
	top_scan(&crew->top, &crew->process, 1); /* the total alone */
	assert_true(top_keeps(&crew->top, &other, atomic_load(&crew->workers[6].tid)));
	assert_true(top_keeps(&crew->top, &other, atomic_load(&crew->workers[7].tid)));
	assert_false(keeps(crew, 6));
	/* One grows, the other falls: by less than nothing it has not grown. */
	crew->process.readings.values[METRIC_BUILTIN] = 11;
	other.readings.values[METRIC_BUILTIN] = 800;
	top_scan(&crew->top, &crew->process, 1 + 300 * NS_PER_MS);
	assert_true(keeps(crew, 6) && keeps(crew, 7));
	assert_false(top_keeps(&crew->top, &other, atomic_load(&crew->workers[6].tid)));
	crew->process.next = NULL;
}

static void rounds_come_soon_at_first(void **state)
{
	const struct collector_top options = {.n = 1, .interval_ns = NS_PER_S};
	struct process gone = {.alive = false};
	struct top top;
	uint64_t now_ns = 1;

	(void)state;
	top_init(&top, &options);
	for (uint64_t ms = 250; ms <= 2000; ms *= 2) {
		uint64_t pause_ns = (ms > 1000 ? 1000 : ms) * NS_PER_MS;

		top_scan(&top, &gone, now_ns);
		assert_int_equal(top.rounds.round_ns, now_ns + pause_ns);
		assert_int_equal(top.rounds.late_ns, top.rounds.round_ns - pause_ns / 8);
		now_ns = top.rounds.round_ns;
	}
	top_release(&top);
}

static void forgets_threads_that_are_gone(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer has a thread of its own */
#endif
	struct crew *crew = *state;

	crew->top.own_pid = 0;
	top_scan(&crew->top, &crew->process, 1);
	assert_int_equal(map_count(&crew->top.threads), N_THREADS + 1);
	crew->process.alive = false;
	top_scan(&crew->top, &crew->process, 1 + 100 * NS_PER_MS);
	assert_int_equal(map_count(&crew->top.threads), 0);
	assert_int_equal(crew->top.n_chosen, 0);
}

static void free_seats_go_to_the_first_that_give_samples(void **state)
{
	struct crew *crew = *state;

	assert_true(keeps(crew, 5));
	assert_true(keeps(crew, 3));
	assert_false(keeps(crew, 1));
	assert_true(keeps(crew, 5));
	assert_true(keeps(crew, 3));
}

static void threads_of_another_pid_namespace_are_kept(void **state)
{
	struct crew *crew = *state;

	crew->process.namespace_pid = 1;
	for (size_t i = 0; i < N_THREADS; i++)
		assert_true(keeps(crew, i));
	assert_int_equal(crew->top.n_chosen, 0);
}

static void reads_what_a_thread_has_used_and_keeps_its_file(void **state)
{
	struct crew *crew = *state;
	int tasks_fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct top_task task = {.process = &crew->process,
				.tasks_fd = tasks_fd,
				.tid = atomic_load(&crew->workers[2].tid),
				.by = BY_CPU};
	struct top_use before;
	struct top_use after;
	int first;
	int fd = -1;

	assert_true(tasks_fd >= 0);
	assert_true(top_read(&task, &fd, &before));
	first = fd;
	assert_true(fd >= 0);
	burn(crew, 2, 20 * NS_PER_MS);
	assert_true(top_read(&task, &fd, &after));
	assert_int_equal(fd, first);
	assert_in_range(after.total - before.total, 15 * NS_PER_MS, 200 * NS_PER_MS);
	task.tid = INT32_MAX;
	(void)close(fd);
	fd = -1;
	assert_false(top_read(&task, &fd, &after));
	assert_int_equal(fd, -1);
	(void)close(tasks_fd);
}

static void resident_memory_is_the_process_s(void **state)
{
	(void)state;
	assert_in_range(top_read_rss(getpid()), 500, 10000000);
	assert_int_equal(top_read_rss(INT32_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_used_since_the_last_round_comes_first),
		cmocka_unit_test(equals_are_decided_by_the_total_then_cpu_then_age),
		cmocka_unit_test(a_late_thread_outweighs_one_that_stopped),
		cmocka_unit_test(a_total_that_fell_is_another_threads),
		cmocka_unit_test(reads_the_texts_of_the_kernel),
		cmocka_unit_test(refuses_texts_that_lack_the_number),
		cmocka_unit_test_setup_teardown(chooses_busy_threads_and_drops_stopped_ones, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(wick_is_never_among_them, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forgets_threads_that_are_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(free_seats_go_to_the_first_that_give_samples,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(threads_of_another_pid_namespace_are_kept, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(reads_what_a_thread_has_used_and_keeps_its_file,
						set_up, tear_down),
		cmocka_unit_test(rounds_come_soon_at_first),
		cmocka_unit_test_setup_teardown(a_gauge_ranks_processes_and_cpu_their_threads,
						set_up, tear_down),
		cmocka_unit_test(resident_memory_is_the_process_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
