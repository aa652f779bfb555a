/* agent_test.c - the agent in real programs, seen by a collector made for this */
#include "fake_collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static struct fake_run run;

static int forget(void **state)
{
	(void)state;
	fake_run_release(&run);
	return 0;
}

static struct fake_options options(enum ring_discovery discovery)
{
	return (struct fake_options){
		.agent = AGENT, .hz = 99, .discovery = discovery, .jitter_pct = 10};
}

#define RUN(o, ...)                                                                                \
	assert_return_code(                                                                        \
		fake_collector_run((o), (const char *const[]){TARGET, __VA_ARGS__, NULL}, &run),   \
		0)

static const struct fake_process *first(void)
{
	assert_true(run.n_processes > 0);
	return run.processes[0];
}

static double coverage(void)
{
	double weight = 0;

	for (uint32_t i = 0; i < run.n_processes; i++)
		weight += (double)run.processes[i]->weight;
	return weight / 99 / ((double)run.cpu_ns / 1e9);
}

static void assert_clean_end(void)
{
	assert_int_equal(run.status, 0);
	for (uint32_t i = 0; i < run.n_processes; i++)
		assert_int_equal(run.processes[i]->bad, 0);
}

static void check_coverage(enum ring_discovery discovery)
{
	struct fake_options o = options(discovery);

	RUN(&o, "deep", "5", "1.5");
	assert_clean_end();
	assert_true(coverage() > 0.95 && coverage() < 1.05);
	assert_int_equal(first()->header->state, AGENT_EXITED);
	assert_true(first()->header->cpu_ns > UINT64_C(1450000000));
	assert_true(first()->pcs / first()->samples >= 9);
	assert_int_equal(first()->stops[0], first()->samples);
	assert_true(first()->jittered >= first()->samples / 10);
	assert_string_equal(first()->threads[0].comm, "agent_target");
}

static void covers_the_cpu_with_the_process_timer(void **state)
{
	(void)state;
	check_coverage(DISCOVERY_TIMER);
}

static void covers_the_cpu_with_thread_hooks(void **state)
{
	(void)state;
	check_coverage(DISCOVERY_HOOKS);
}

static void finds_threads_by_the_process_timer(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	RUN(&o, "threads", "4", "0.4");
	assert_clean_end();
	assert_true(coverage() > 0.9 && coverage() < 1.1);
	assert_true(first()->discovered >= 4);
}

static void arms_threads_that_the_collector_posts(void **state)
{
	struct fake_options o = options(DISCOVERY_HOOKS);

	(void)state;
	o.post = true;
	RUN(&o, "clones", "2", "0.5");
	assert_clean_end();
	assert_true(first()->n_threads >= 2);
	assert_true(coverage() > 0.8 && coverage() < 1.1);
}

static void misses_raw_clones_with_hooks_alone(void **state)
{
	struct fake_options o = options(DISCOVERY_HOOKS);

	(void)state;
	RUN(&o, "clones", "2", "0.5");
	assert_clean_end();
	assert_true(coverage() < 0.7);
}

static void maps_more_chunks_for_many_threads(void **state)
{
	struct fake_options o = options(DISCOVERY_HOOKS);

	(void)state;
	RUN(&o, "threads", "60", "0.04");
	assert_clean_end();
	assert_true(first()->header->n_chunks > 1);
	assert_int_equal(first()->header->lost_noslot, 0);
	/* More threads gave samples than the first chunk has slots. */
	assert_true(first()->n_threads > RING_CHUNK_SLOTS);
}

static void counts_the_weight_that_finds_no_slot(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	o.max_slots = 2;
	RUN(&o, "threads", "6", "0.2");
	assert_clean_end();
	assert_true(first()->header->lost_noslot > 20);
	assert_int_equal(first()->header->n_slots, 2);
}

static void goes_on_in_fork_children(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	RUN(&o, "fork", "0.5");
	assert_clean_end();
	assert_int_equal(run.n_processes, 2);
	assert_int_equal(run.processes[1]->kind, HANDSHAKE_FORK);
	assert_true(run.processes[1]->weight > 30);
	assert_true(coverage() > 0.9 && coverage() < 1.1);
}

static void leaves_vfork_and_raw_fork_children_alone(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	RUN(&o, "vfork", "1.5");
	assert_clean_end();
	assert_int_equal(run.n_processes, 1);
	assert_true(coverage() > 0.9);
	fake_run_release(&run);
	RUN(&o, "rawfork", "0.3");
	assert_clean_end();
	assert_int_equal(run.n_processes, 1);
	assert_true(coverage() < 0.7);
	assert_true(first()->weight > 20);
}

static void announces_modules_and_their_end(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	RUN(&o, "plugin", PLUGIN, "8");
	assert_clean_end();
	assert_int_equal(first()->unmaps, 8);
	assert_true(first()->modules >= 4);
	assert_non_null(strstr(first()->last_module, "plugin_a"));
	assert_int_equal(first()->stops[0], first()->samples);
}

static void makes_no_call_once_quiet(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	/* The target's filter kills it at any call of the handler but rt_sigreturn. */
	RUN(&o, "quiet", "0.6");
	assert_clean_end();
	assert_true(first()->quiet > 30);
}

static void check_leaving(const char *how, const char *seconds, bool counts, uint32_t n)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	o.counts = counts;
	RUN(&o, how, seconds);
	assert_clean_end();
	assert_int_equal(run.n_leaving, n);
	fake_run_release(&run);
}

static void tells_of_its_end_only_if_it_counts(void **state)
{
	(void)state;
	check_leaving("fork", "0.1", false, 0);
	check_leaving("fork", "0.1", true, 2);
	/* The memory of a vfork child is its parent's; under seccomp there may be no call. */
	check_leaving("vfork", "0.1", true, 1);
	check_leaving("quiet", "0.1", true, 0);
}

static void waits_for_its_end_to_be_noticed_but_not_long(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	o.counts = true;
	o.lets_wait = true;
	RUN(&o, "deep", "5", "0.05");
	assert_clean_end();
	assert_int_equal(run.n_leaving, 1);
	assert_true(run.wall_ns >= UINT64_C(200000000) && run.wall_ns < UINT64_C(3000000000));
}

static void leaves_no_descriptor_open(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	RUN(&o, "fds");
	assert_clean_end(); /* the target counts */
}

static void check_harmless(const struct fake_options *o, double max_s)
{
	RUN(o, "deep", "5", "0.2");
	assert_int_equal(run.status, 0);
	assert_true((double)run.wall_ns / 1e9 < 0.2 * 3 + max_s);
	for (uint32_t i = 0; i < run.n_processes; i++)
		assert_int_equal(run.processes[i]->samples, 0);
	fake_run_release(&run);
}

static void lets_the_host_be_without_a_collector(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	o.absent = true;
	check_harmless(&o, 3);
	o = options(DISCOVERY_TIMER);
	o.refuse = true;
	check_harmless(&o, 3);
	o.refuse = false;
	o.silent = true;
	check_harmless(&o, 4);
}

static void stops_when_the_rings_are_not_drained(void **state)
{
	struct fake_options o = options(DISCOVERY_TIMER);

	(void)state;
	o.idle = true;
	RUN(&o, "naps", "9"); /* 178 periods */
	assert_int_equal(run.status, 0);
	assert_true(first()->header->state == AGENT_EXITED);
	/* At most 6 s of samples, then nothing: the timers are gone. */
	assert_in_range(fake_sum(first(), offsetof(struct ring_slot, n_samples)) +
				fake_sum(first(), offsetof(struct ring_slot, lost_full)),
			10, 140);
}

#define TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(covers_the_cpu_with_the_process_timer),
		TEST(covers_the_cpu_with_thread_hooks),
		TEST(finds_threads_by_the_process_timer),
		TEST(arms_threads_that_the_collector_posts),
		TEST(misses_raw_clones_with_hooks_alone),
		TEST(maps_more_chunks_for_many_threads),
		TEST(counts_the_weight_that_finds_no_slot),
		TEST(goes_on_in_fork_children),
		TEST(leaves_vfork_and_raw_fork_children_alone),
		TEST(announces_modules_and_their_end),
		TEST(makes_no_call_once_quiet),
		TEST(tells_of_its_end_only_if_it_counts),
		TEST(waits_for_its_end_to_be_noticed_but_not_long),
		TEST(leaves_no_descriptor_open),
		TEST(lets_the_host_be_without_a_collector),
		TEST(stops_when_the_rings_are_not_drained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
