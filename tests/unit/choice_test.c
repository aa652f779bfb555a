/* choice_test.c - which processes it attaches to and detaches from, by scans */
#include "base/units.h"
#include "sampler/collector/select/choice.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 300, SLOTS = 5, INTERVAL_S = 2 };

/* A machine: its processes' totals, and which of them are recorded. */
struct machine {
	struct choice choice;
	struct choice_ops ops;
	uint64_t now_ns;
	uint64_t totals[MOST]; /* by pid; pid 0 is none */
	uint64_t starts[MOST];
	bool gone[MOST];
	bool recorded[MOST];
	uint64_t attached_ns[MOST]; /* when last; 0: never */
	int refuses[MOST];          /* 0, or why */
	size_t asked[MOST];
	size_t n;
};

static bool records(void *context, pid_t pid)
{
	const struct machine *machine = context;

	return machine->recorded[pid];
}

static int attach(void *context, pid_t pid)
{
	struct machine *machine = context;

	machine->asked[pid]++;
	if (machine->refuses[pid])
		return machine->refuses[pid];
	assert_false(machine->recorded[pid]);
	machine->recorded[pid] = true;
	machine->attached_ns[pid] = machine->now_ns;
	return 0;
}

static void detach(void *context, pid_t pid)
{
	struct machine *machine = context;

	assert_true(machine->recorded[pid]);
	machine->recorded[pid] = false;
}

static int set_up(void **state)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	const struct collector_top options = {.n = SLOTS, .interval_ns = INTERVAL_S * NS_PER_S};

	if (!machine)
		return -1;
	machine->ops = (struct choice_ops){
		.records = records, .attach = attach, .detach = detach, .context = machine};
	machine->now_ns = 100 * NS_PER_S;
	machine->n = MOST;
	choice_init(&machine->choice, &options);
	*state = machine;
	return 0;
}

static int tear_down(void **state)
{
	struct machine *machine = *state;

	choice_release(&machine->choice);
	free(machine);
	return 0;
}

static void look(struct machine *machine)
{
	choice_begin(&machine->choice);
	for (size_t pid = 1; pid < machine->n; pid++)
		if (!machine->gone[pid])
			choice_see(&machine->choice,
				   &(struct choice_seen){.pid = (pid_t)pid,
							 .start = machine->starts[pid],
							 .total = machine->totals[pid]});
	choice_end(&machine->choice, &machine->ops, machine->now_ns);
}

/* For so long those from FIRST on, COUNT of them, use PERCENT of a processor each. */
static void go_on(struct machine *machine, size_t first, size_t count, unsigned percent,
		  unsigned ms)
{
	for (unsigned i = 0; i < ms; i++) {
		machine->now_ns += NS_PER_MS;
		for (size_t pid = first; pid < first + count; pid++)
			machine->totals[pid] += NS_PER_MS * percent / 100;
		if (machine->now_ns >= choice_due(&machine->choice))
			look(machine);
	}
}

static size_t n_recorded(const struct machine *machine)
{
	size_t n = 0;

	for (size_t pid = 1; pid < MOST; pid++)
		n += machine->recorded[pid];
	return n;
}

static void the_heavy_are_in_within_an_interval(void **state)
{
	struct machine *machine = *state;

	look(machine);
	for (size_t turn = 0; turn < 40; turn++) {
		size_t first = 1 + turn % 20 * SLOTS;
		uint64_t begin_ns = machine->now_ns;

		/* 5.13 s: every turn begins in another part of an interval. */
		go_on(machine, first, SLOTS, 40, 5130);
		for (size_t pid = first; pid < first + SLOTS; pid++) {
			assert_true(machine->recorded[pid]);
			assert_in_range(machine->attached_ns[pid] - begin_ns, 1,
					(INTERVAL_S * 1000 + 200) * NS_PER_MS);
		}
		assert_int_equal(n_recorded(machine), SLOTS);
	}
}

static void use_before_the_first_scan_does_not_count(void **state)
{
	struct machine *machine = *state;

	machine->totals[7] = 3600 * NS_PER_S;
	look(machine);
	go_on(machine, 20, 2, 40, 5000);
	assert_false(machine->recorded[7]);
	assert_true(machine->recorded[20] && machine->recorded[21]);
	assert_int_equal(n_recorded(machine), 2);
}

static void a_process_with_hardly_any_use_is_not_chosen(void **state)
{
	struct machine *machine = *state;

	look(machine);
	for (unsigned i = 0; i < 20; i++) { /* 0.2 % each */
		machine->totals[1 + i % 3] += NS_PER_MS;
		go_on(machine, 1, 0, 0, 167);
	}
	assert_int_equal(n_recorded(machine), 0);
	assert_int_equal(machine->choice.n_attached, 0);
}

static void a_seat_is_not_lost_to_one_that_is_little_heavier(void **state)
{
	struct machine *machine = *state;

	look(machine);
	go_on(machine, 1, SLOTS, 30, 10000);
	assert_int_equal(machine->choice.n_attached, SLOTS);
	for (unsigned i = 0; i < 20000; i++) {
		for (size_t pid = 1; pid <= SLOTS; pid++)
			machine->totals[pid] += NS_PER_MS * 30 / 100;
		go_on(machine, 11, SLOTS, 35, 1);
	}
	assert_int_equal(machine->choice.n_attached, SLOTS);
	assert_int_equal(machine->choice.n_detached, 0);
	/* To one that is much heavier it is. */
	for (unsigned i = 0; i < 3000; i++) {
		machine->totals[1] += NS_PER_MS * 30 / 100;
		go_on(machine, 11, SLOTS, 60, 1);
	}
	for (size_t pid = 11; pid < 11 + SLOTS; pid++)
		assert_true(machine->recorded[pid]);
	assert_int_equal(n_recorded(machine), SLOTS);
}

static void a_refusal_is_retried_less_and_less_and_another_gets_the_slot(void **state)
{
	struct machine *machine = *state;

	machine->refuses[1] = -ENOEXEC;
	machine->refuses[2] = -EAGAIN;
	look(machine);
	for (unsigned i = 0; i < 600000; i += 50) {
		machine->now_ns += 50 * NS_PER_MS;
		for (size_t pid = 1; pid <= SLOTS + 2; pid++)
			machine->totals[pid] += NS_PER_MS * (pid <= 2 ? 45 : 10);
		if (machine->now_ns >= choice_due(&machine->choice))
			look(machine);
	}
	/* Ten minutes: after 1, 2, 4 more; and after 2, 4, 8, ... 512 s. */
	assert_in_range(machine->asked[1], 3, 4);
	assert_in_range(machine->asked[2], 7, 9);
	for (size_t pid = 3; pid < 3 + SLOTS; pid++)
		assert_true(machine->recorded[pid]);
	/* Another of that number is another. */
	machine->refuses[1] = 0;
	machine->starts[1] = 1;
	machine->totals[1] = 0;
	go_on(machine, 1, 1, 90, 3000);
	assert_true(machine->recorded[1]);
}

static void a_forked_process_that_is_not_heavy_is_detached(void **state)
{
	struct machine *machine = *state;

	look(machine);
	go_on(machine, 1, 1, 90, 3000);
	machine->recorded[50] = true;
	go_on(machine, 1, 1, 90, 3000);
	assert_false(machine->recorded[50]);
	assert_true(machine->recorded[1]);
	assert_int_equal(machine->choice.n_detached, 1);
}

static void an_ended_process_is_forgotten(void **state)
{
	struct machine *machine = *state;

	look(machine);
	go_on(machine, 1, 3, 90, 3000);
	assert_int_equal(map_count(&machine->choice.processes), MOST - 1);
	for (size_t pid = 1; pid < MOST; pid++)
		machine->gone[pid] = pid != 2;
	go_on(machine, 2, 1, 90, 3000);
	assert_int_equal(map_count(&machine->choice.processes), 1);
}

static void memory_is_ranked_by_how_much_there_is(void **state)
{
	struct machine *machine = *state;

	machine->choice.options.by = BY_RSS;
	for (size_t pid = 1; pid < MOST; pid++)
		machine->totals[pid] = pid * 1024;
	look(machine);
	go_on(machine, 1, 0, 0, 1000);
	for (size_t pid = MOST - SLOTS; pid < MOST; pid++)
		assert_true(machine->recorded[pid]);
	assert_int_equal(n_recorded(machine), SLOTS);
}

static void an_unchanged_total_is_the_same_process(void **state)
{
	struct machine *machine = *state;

	machine->totals[3] = 77;
	look(machine);
	choice_begin(&machine->choice);
	assert_false(choice_still(&machine->choice, 3, 78));
	assert_true(choice_still(&machine->choice, 3, 77));
	assert_false(choice_still(&machine->choice, MOST, 77));
	choice_end(&machine->choice, &machine->ops, machine->now_ns + NS_PER_MS);
	assert_int_equal(map_count(&machine->choice.processes), 1);
}

#define ON_A_MACHINE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_MACHINE(the_heavy_are_in_within_an_interval),
		ON_A_MACHINE(use_before_the_first_scan_does_not_count),
		ON_A_MACHINE(a_process_with_hardly_any_use_is_not_chosen),
		ON_A_MACHINE(a_seat_is_not_lost_to_one_that_is_little_heavier),
		ON_A_MACHINE(a_refusal_is_retried_less_and_less_and_another_gets_the_slot),
		ON_A_MACHINE(a_forked_process_that_is_not_heavy_is_detached),
		ON_A_MACHINE(an_ended_process_is_forgotten),
		ON_A_MACHINE(memory_is_ranked_by_how_much_there_is),
		ON_A_MACHINE(an_unchanged_total_is_the_same_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
