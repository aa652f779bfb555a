/* counted_test.c - programs that count by wick.h, with the real agent: every count is exact */
#include "sampler/collector/collector.h"

#include "base/cleanup.h"
#include "child_fixture.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

enum {
	THREADS = 8,
	REQUESTS = 1000,
	CHILDREN = 3,
	CHILD_REQUESTS = 200,
	IDENTITIES = 10000,
	LIBRARY_REQUESTS = 300
};

static struct collector *new_collector(void)
{
	const struct collector_options options = {
		.agent_path = AGENT, .hz = 99, .discovery = collector_auto_discovery()};
	struct collector *collector = NULL;
	struct err err = {0};

	if (collector_new(&options, &collector, &err) < 0)
		fail_msg("%s", err.text);
	return collector;
}

static void see_end(struct collector *collector)
{
	struct collector_event event;

	do {
		collector_next(collector, 20 * SECOND, &event);
		assert_int_not_equal(event.kind, COLLECTOR_IDLE);
	} while (event.kind != COLLECTOR_END);
}

static struct collector *run_target(const char *how, const char *argument)
{
	struct collector *collector = new_collector();
	struct collector_signals signals = {0};
	struct err err = {0};
	pid_t pid;

	(void)sigprocmask(SIG_SETMASK, NULL, &signals.mask);
	if (collector_launch(collector,
			     (char *[]){(char *)TARGET, (char *)how, (char *)argument, NULL},
			     &signals, &pid, &err) < 0)
		fail_msg("%s", err.text);
	see_end(collector);
	return collector;
}

static const struct total_tier *find_tier(const struct totals *totals, const char *tier,
					  const char *identity)
{
	for (size_t i = 0; i < totals->n_tiers; i++)
		if (strcmp(totals->tiers[i].tier, tier) == 0 &&
		    strcmp(totals->tiers[i].identity, identity) == 0)
			return &totals->tiers[i];
	fail_msg("there is no row %s, %s", tier, identity);
	return NULL;
}

static const struct total_task *find_task(const struct totals *totals, const char *name)
{
	for (size_t i = 0; i < totals->n_tasks; i++)
		if (strcmp(totals->tasks[i].name, name) == 0)
			return &totals->tasks[i];
	fail_msg("there is no task %s", name);
	return NULL;
}

static void check_row(const struct totals *totals, const char *tier, const char *identity,
		      uint64_t count)
{
	const struct total_tier *row = find_tier(totals, tier, identity);

	assert_int_equal(row->count, count);
	assert_int_equal(histogram_count(&row->durations), count);
	assert_true(row->min_ns > 0 && row->min_ns <= row->max_ns);
	assert_true(row->sum_ns >= count * row->min_ns && row->sum_ns <= count * row->max_ns);
	assert_true(row->self_ns <= row->sum_ns);
}

static void check_all(struct collector *collector, uint64_t n)
{
	struct totals totals;
	const struct total_task *task;

	assert_int_equal(collector_totals(collector, &totals), 0);
	check_row(&totals, "request", "_total", n);
	check_row(&totals, "request", "GET /often", n / 4 * 3);
	check_row(&totals, "request", "GET /seldom", n / 4);
	check_row(&totals, "db", "_total", n);
	check_row(&totals, "db", "GET /often", n / 4 * 3);
	assert_int_equal(totals.n_tiers, 6);
	assert_int_equal(totals.n_tasks, 1);
	task = find_task(&totals, "job");
	assert_string_equal(task->file, "counted_target.c");
	assert_int_equal(task->calls, n);
	assert_int_equal(task->live, 0);
	assert_true(task->exec_ns > 0 && task->exec_ns <= task->wall_ns);
	assert_true(task->exec_max_ns > 0 && task->exec_max_ns <= task->exec_ns);
	for (size_t i = 0; i < TOTALS_MISUSES; i++)
		assert_int_equal(totals.misuse[i], 0);
	assert_int_equal(totals.lost_names + totals.lost_nodes + totals.lost_cells +
				 totals.lost_durations + totals.lost_threads,
			 0);
	totals_release(&totals);
}

static void check_run(const char *how, uint64_t n, uint64_t n_processes)
{
	struct collector *collector = run_target(how, NULL);
	struct collector_stats stats;

	check_all(collector, n);
	check_all(collector, n);
	collector_stats(collector, &stats);
	assert_int_equal(stats.counting, n_processes);
	collector_free(collector);
}

static void everything_is_counted_at_exit(void **state)
{
	(void)state;
	check_run("exit", THREADS * REQUESTS, 1);
}

static void everything_is_counted_at_exit_without_destructors(void **state)
{
	(void)state;
	check_run("_exit", THREADS * REQUESTS, 1);
}

static void everything_is_counted_before_an_exec_and_after_it(void **state)
{
	(void)state;
	check_run("exec", UINT64_C(2) * THREADS * REQUESTS, 2);
}

static void children_count_from_zero(void **state)
{
	(void)state;
	check_run("fork", THREADS * REQUESTS + CHILDREN * CHILD_REQUESTS, 1 + CHILDREN);
}

static void what_was_read_last_stands_for_a_program_that_is_killed(void **state)
{
	(void)state;
	check_run("kill", THREADS * REQUESTS, 1);
}

static void a_failed_exec_changes_nothing(void **state)
{
	struct collector *collector = run_target("failed exec", NULL);
	struct totals totals;

	(void)state;
	assert_int_equal(collector_totals(collector, &totals), 0);
	check_row(&totals, "request", "_total", THREADS * REQUESTS + 1);
	totals_release(&totals);
	collector_free(collector);
}

static void identities_beyond_the_first_are_added_up(void **state)
{
	struct collector *collector = run_target("many", NULL);
	struct totals totals;
	uint64_t count = 0;
	size_t n = 0;

	(void)state;
	assert_int_equal(collector_totals(collector, &totals), 0);
	check_row(&totals, "request", "_total", IDENTITIES);
	for (size_t i = 0; i < totals.n_tiers; i++) {
		if (strcmp(totals.tiers[i].tier, "request") != 0 ||
		    strcmp(totals.tiers[i].identity, "_total") == 0)
			continue;
		n++;
		count += totals.tiers[i].count;
		assert_int_equal(histogram_count(&totals.tiers[i].durations),
				 totals.tiers[i].count);
	}
	assert_int_equal(n, TOTALS_IDENTITIES + 1);
	assert_int_equal(count, IDENTITIES);
	totals_release(&totals);
	collector_free(collector);
}

static void a_library_that_is_loaded_later_counts_too(void **state)
{
	struct collector *collector = run_target("library", PLUGIN);
	struct totals totals;

	(void)state;
	assert_int_equal(collector_totals(collector, &totals), 0);
	check_row(&totals, "request", "GET /plugin", LIBRARY_REQUESTS);
	check_row(&totals, "request", "_total", LIBRARY_REQUESTS + 1);
	assert_int_equal(totals.n_processes, 1);
	totals_release(&totals);
	collector_free(collector);
}

/* A target that was started without wick, and counts when it is told to. */
struct server {
	pid_t pid;
	FILE *to;
	FILE *from;
};

static struct server start_server(void)
{
	struct server server = {0};
	char line[16];
	int to[2];
	int from[2];

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	server.pid = fork();
	if (server.pid == 0) {
		(void)dup2(to[0], STDIN_FILENO);
		(void)dup2(from[1], STDOUT_FILENO);
		(void)execl(TARGET, TARGET, "serve", (char *)NULL);
		_exit(127);
	}
	(void)close(to[0]);
	(void)close(from[1]);
	server.to = fdopen(to[1], "w");
	server.from = fdopen(from[0], "r");
	assert_non_null(fgets(line, sizeof(line), server.from));
	return server;
}

/* 100 requests. */
static void serve(struct server *server)
{
	char line[16];

	(void)fputs("more\n", server->to);
	(void)fflush(server->to);
	assert_non_null(fgets(line, sizeof(line), server->from));
}

static void end_server(struct server *server)
{
	(void)fclose(server->to);
	(void)fclose(server->from);
	assert_int_equal(child_status(server->pid), 0);
}

static struct collector *attach(pid_t pid)
{
	struct collector *collector = new_collector();
	struct collector_attached attached;
	struct err err = {0};

	if (collector_begin(collector, &err) < 0 ||
	    collector_attach(collector, pid, &attached, &err) < 0)
		fail_msg("%s", err.text);
	return collector;
}

static void check_count(struct collector *collector, uint64_t n)
{
	struct totals totals;

	assert_int_equal(collector_totals(collector, &totals), 0);
	if (n)
		check_row(&totals, "request", "_total", n);
	else
		assert_int_equal(totals.n_tiers, 0);
	totals_release(&totals);
}

static void an_attached_program_counts_from_then_on(void **state)
{
	struct server server = start_server();
	struct collector *collector;
	struct totals before;
	struct totals after;
	struct totals interval;

	(void)state;
	serve(&server);
	collector = attach(server.pid);
	check_count(collector, 0);
	serve(&server);
	check_count(collector, 100);
	assert_int_equal(collector_totals(collector, &before), 0);
	serve(&server);
	assert_int_equal(collector_totals(collector, &after), 0);
	check_row(&after, "request", "_total", 200);
	assert_int_equal(totals_interval(&after, &before, &interval), 0);
	check_row(&interval, "request", "_total", 100);
	totals_release(&before);
	totals_release(&after);
	totals_release(&interval);
	assert_int_equal(collector_totals_reset(collector), 0);
	check_count(collector, 0);
	serve(&server);
	check_count(collector, 100);
	end_server(&server);
	see_end(collector);
	check_count(collector, 100);
	assert_int_equal(collector_totals_reset(collector), 0);
	check_count(collector, 0);
	collector_free(collector);
}

/* What it counts right before its end is read: its agent tells of the end. */
static void an_attached_program_is_read_at_its_exit(void **state)
{
	struct server server = start_server();
	struct collector *collector;

	(void)state;
	collector = attach(server.pid);
	for (int i = 0; i < 5; i++)
		serve(&server);
	end_server(&server);
	see_end(collector);
	check_count(collector, 500);
	collector_free(collector);
}

static void recordings_of_one_program_do_not_add_up(void **state)
{
	struct server server = start_server();
	struct collector *collector = attach(server.pid);

	(void)state;
	serve(&server);
	check_count(collector, 100);
	collector_detach(collector);
	see_end(collector);
	check_count(collector, 100);
	collector_free(collector);
	serve(&server);
	collector = attach(server.pid);
	check_count(collector, 0);
	serve(&server);
	check_count(collector, 100);
	end_server(&server);
	see_end(collector);
	collector_free(collector);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_counted_at_exit),
		cmocka_unit_test(everything_is_counted_at_exit_without_destructors),
		cmocka_unit_test(everything_is_counted_before_an_exec_and_after_it),
		cmocka_unit_test(children_count_from_zero),
		cmocka_unit_test(what_was_read_last_stands_for_a_program_that_is_killed),
		cmocka_unit_test(a_failed_exec_changes_nothing),
		cmocka_unit_test(identities_beyond_the_first_are_added_up),
		cmocka_unit_test(a_library_that_is_loaded_later_counts_too),
		cmocka_unit_test(an_attached_program_counts_from_then_on),
		cmocka_unit_test(an_attached_program_is_read_at_its_exit),
		cmocka_unit_test(recordings_of_one_program_do_not_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
