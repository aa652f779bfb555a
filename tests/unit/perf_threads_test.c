/* perf_threads_test.c - which threads get a perf event, and what it sends */
#include "base/units.h"
#include "child_fixture.h"
#include "sampler/collector/collector.h"
#include "sampler/collector/control/rate.h"
#include "sampler/collector/process/perf_threads.h"
#include "sampler/collector/process/process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A child that waits, as a process that has sent a handshake, with a slot that says what we want.
 */
struct scene {
	struct process *process;
	struct collector_options options;
	struct collector_stats stats;
	pid_t child;
};

static int begin(void **state)
{
	static struct scene scene;
	struct perf_permit permit;
	struct ring_header *header;

	scene = (struct scene){.options = {.hz = 99, .engine = RING_ENGINE_PERF}};
	perf_name_cpu(&scene.options.perf.name);
	perf_permit(&scene.options.perf.name, &permit);
	if (!permit.works)
		return 0; /* each test skips */
	scene.options.perf.in_kernel = permit.in_kernel;
	scene.options.perf.signal = SIGURG; /* ignored by default */
	scene.options.perf.base = perf_base();
	scene.child = child_start_paused();
	assert_int_equal(process_new(&scene.process, 1, scene.child, &scene.options, NULL), 0);
	process_begin_rate(scene.process, &(struct rate){.hz = 99, .period_ns = NS_PER_S / 99});
	perf_process_init(scene.process, RING_ENGINE_PERF, &scene.options);
	header = scene.process->ring.header;
	atomic_store(&header->state, AGENT_SAMPLING);
	atomic_store(&header->n_chunks, 1);
	atomic_store(&header->n_slots, 1);
	atomic_store(&ring_view_slot(&scene.process->ring, 0)->armed, 1);
	*state = &scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	if (!scene)
		return 0;
	child_end(scene->child);
	process_free(scene->process);
	return 0;
}

static struct scene *there(void **state)
{
	if (!*state)
		skip();
	return *state;
}

static uint32_t event_of(const struct scene *scene)
{
	return atomic_load(&ring_view_slot(&scene->process->ring, 0)->event);
}

static void look(struct scene *scene, uint32_t tid)
{
	struct event_order sink = {.stats = &scene->stats};

	atomic_store(&scene->process->ring.header->tids[0], tid);
	atomic_store(&scene->process->ring.header->changed[0], 1);
	process_drain(scene->process, &sink);
	perf_threads_scan(scene->process, &scene->options.perf, &scene->stats);
}

static void opens_one_for_a_thread_of_the_process(void **state)
{
	struct scene *scene = there(state);

	look(scene, (uint32_t)scene->child);
	assert_int_equal(scene->stats.perf_threads, 1);
	assert_true(event_of(scene) > (uint32_t)scene->options.perf.base);
	assert_int_equal(atomic_load(&scene->process->ring.header->event_slots[0]), 1);
}

static void opens_none_for_a_tid_of_another_process(void **state)
{
	struct scene *scene = there(state);

	look(scene, (uint32_t)getpid());
	assert_int_equal(scene->stats.perf_threads, 0);
	assert_int_equal(event_of(scene), 0);
}

static void opens_none_for_another_image(void **state)
{
	struct scene *scene = there(state);

	scene->process->perf.stack_start ^= 16; /* as after an exec */
	look(scene, (uint32_t)scene->child);
	assert_int_equal(scene->stats.perf_threads, 0);
	assert_int_equal(event_of(scene), 0);
}

static void closes_it_when_the_slot_is_another_thread_s(void **state)
{
	struct scene *scene = there(state);

	look(scene, (uint32_t)scene->child);
	assert_int_not_equal(event_of(scene), 0);
	look(scene, RING_TID_DEAD);
	assert_int_equal(event_of(scene), 0);
}

static void opens_none_while_they_are_to_be_off(void **state)
{
	struct scene *scene = there(state);

	look(scene, (uint32_t)scene->child);
	perf_threads_off(scene->process);
	assert_int_equal(event_of(scene), 0);
	look(scene, (uint32_t)scene->child);
	assert_int_equal(event_of(scene), 0);
	perf_threads_on(scene->process);
	look(scene, (uint32_t)scene->child);
	assert_int_not_equal(event_of(scene), 0);
}

static void closes_all_when_the_agent_has_stopped(void **state)
{
	struct scene *scene = there(state);

	look(scene, (uint32_t)scene->child);
	atomic_store(&scene->process->ring.header->state, AGENT_STOPPED);
	look(scene, (uint32_t)scene->child);
	assert_int_equal(event_of(scene), 0);
}

static void check_name(const char *text, uint32_t type, uint64_t config)
{
	struct perf_name name;
	struct err err = {0};

	assert_int_equal(perf_name_parse(text, &name, &err), 0);
	assert_int_equal(name.type, type);
	assert_int_equal(name.config, config);
}

static void knows_perf_s_names(void **state)
{
	static const char *const bad[] = {"",    "page-flaws", "r",       "rxyz", "LLC-eats",
					  "a b", "../..:id",   "cpu/../", ":u",   "sched:"};
	struct perf_name name;
	struct err err = {0};

	(void)state;
	check_name("page-faults", 1, 2);
	check_name("cs", 1, 3);
	check_name("LLC-load-misses", 3, 2 | 1 << 16);
	check_name("L1-dcache-stores", 3, 1 << 8);
	check_name("r01c2", 4, 0x1c2);
	check_name("cycles:u", 0, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(perf_name_parse(bad[i], &name, &err) < 0);
	assert_int_equal(perf_name_parse("instructions:k", &name, &err), 0);
	assert_true(name.kernel_only);
	assert_string_equal(name.shown, "instructions");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_one_for_a_thread_of_the_process, begin, end),
		cmocka_unit_test_setup_teardown(opens_none_for_a_tid_of_another_process, begin,
						end),
		cmocka_unit_test_setup_teardown(opens_none_for_another_image, begin, end),
		cmocka_unit_test_setup_teardown(closes_it_when_the_slot_is_another_thread_s, begin,
						end),
		cmocka_unit_test_setup_teardown(opens_none_while_they_are_to_be_off, begin, end),
		cmocka_unit_test_setup_teardown(closes_all_when_the_agent_has_stopped, begin, end),
		cmocka_unit_test(knows_perf_s_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
