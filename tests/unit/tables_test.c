/* tables_test.c - tables of this process, read as those of another: found, switched on, lies */
#include "sampler/collector/tables/process_tables.h"

#include "base/io.h"
#include "tests/unit/tables_fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

enum { THREADS = 8, PAGE = 4096 };

static struct tables_shared shared;

static int begin(void **state)
{
	(void)state;
	fixture_reset();
	/* A tick is a ns. */
	shared = (struct tables_shared){
		.ticks = {.clock = TABLES_MONOTONIC, .mult = UINT64_C(1) << 32}};
	return 0;
}

static int end(void **state)
{
	(void)state;
	fixture_reset();
	free(shared.scratch);
	return 0;
}

static void search(struct process_tables *tables)
{
	struct buf maps;

	buf_init(&maps, 1 << 20);
	assert_int_equal(io_read_file("/proc/self/maps", &maps, NULL), 0);
	process_tables_search(tables, &maps);
	buf_release(&maps);
}

static struct process_tables *find_own(void)
{
	struct process_tables *tables = process_tables_new(&shared, getpid(), 0);

	assert_non_null(tables);
	search(tables);
	return tables;
}

static struct totals totals_of(const struct process_tables *tables)
{
	struct totals_builder *builder;
	struct totals totals;

	assert_int_equal(totals_builder_new(&builder), 0);
	assert_int_equal(process_tables_add(tables, builder, true), 0);
	assert_int_equal(totals_builder_finish(builder, &totals), 0);
	return totals;
}

static struct totals read_totals(struct process_tables *tables)
{
	process_tables_read(tables);
	return totals_of(tables);
}

static void a_program_is_found_by_its_note_and_counts(void **state)
{
	struct process_tables *tables = find_own();
	uint64_t until;

	(void)state;
	assert_true(process_tables_count(tables));
	assert_int_equal(fixture_state.clock, TABLES_MONOTONIC);
	assert_true(fixture_state.mult == UINT64_C(1) << 32);
	assert_int_equal(fixture_state.stall, TABLES_STALL_MS * 1000000);
	assert_int_equal(fixture_state.session, 1);
	assert_in_range(fixture_state.until - io_now_ns(), 9 * SECOND, 10 * SECOND);
	assert_int_equal(fixture_state.tables, 0);
	until = fixture_state.until;
	process_tables_turn(tables, 10 * SECOND);
	assert_true(fixture_state.until > until);
	until = fixture_state.until;
	process_tables_turn(tables, 10 * SECOND + SECOND / 2);
	assert_true(fixture_state.until == until);
	process_tables_turn(tables, 11 * SECOND);
	assert_true(fixture_state.until > until);
	process_tables_end(tables);
	assert_int_equal(fixture_state.until, 0);
	assert_false(process_tables_count(tables));
	assert_true(process_tables_found(tables));
	process_tables_free(tables);
}

static void a_state_that_is_none_is_not_written_to(void **state)
{
	const struct tables_state others[] = {
		{.abi = TABLES_ABI + 1, .bytes = sizeof(fixture_state)},
		{.abi = TABLES_ABI, .bytes = sizeof(fixture_state) + 8},
		{.abi = 0, .bytes = 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct process_tables *tables;

		fixture_state = others[i];
		tables = find_own();
		assert_false(process_tables_count(tables));
		process_tables_turn(tables, SECOND);
		process_tables_end(tables);
		assert_memory_equal(&fixture_state, &others[i], sizeof(fixture_state));
		process_tables_free(tables);
	}
}

static void memory_that_the_program_may_not_write_is_not_written_to(void **state)
{
	struct tables_state *constant =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct process_tables *tables;

	(void)state;
	*constant = fixture_state;
	fixture_anchor.state = (uintptr_t)constant;
	assert_int_equal(mprotect(constant, PAGE, PROT_READ), 0);
	tables = find_own();
	assert_false(process_tables_count(tables));
	assert_memory_equal(constant, &fixture_state, sizeof(fixture_state));
	process_tables_free(tables);
	(void)munmap(constant, PAGE);
}

static void an_anchor_may_lead_anywhere(void **state)
{
	static const uint64_t places[] = {
		0, 1, PAGE, UINT64_MAX, UINT64_MAX - 119, UINT64_C(1) << 47};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct process_tables *tables;

		fixture_anchor.state = places[i];
		tables = find_own();
		assert_false(process_tables_count(tables));
		process_tables_free(tables);
	}
}

/* What has been mapped where the state was is not ours. */
static void a_state_that_was_replaced_is_given_up(void **state)
{
	struct process_tables *tables = find_own();
	struct tables_state before;

	(void)state;
	fixture_state.until = 77;
	fixture_anchor.abi = 0; /* it is not found again */
	before = fixture_state;
	process_tables_turn(tables, SECOND);
	process_tables_end(tables);
	assert_memory_equal(&fixture_state, &before, sizeof(before));
	assert_false(process_tables_count(tables));
	process_tables_free(tables);
}

static void a_module_that_is_linked_later_is_found_then(void **state)
{
	struct process_tables *tables;

	(void)state;
	fixture_anchor.abi = 0;
	tables = find_own();
	assert_false(process_tables_count(tables));
	fixture_anchor.abi = TABLES_ABI;
	process_tables_turn(tables, UINT64_MAX);
	assert_true(process_tables_count(tables));
	process_tables_free(tables);
}

/* A cell of tier "db" and identity "GET /", which are names 2 and 3; and one of the next number. */
static uint32_t make_cells(unsigned n_threads)
{
	uint32_t tier;
	uint32_t cell;

	(void)fixture_make(n_threads);
	tier = fixture_name(NAME_TIER, "db", "", 0);
	cell = fixture_cell(tier, fixture_name(NAME_IDENTITY, "GET /", "", 0));
	(void)fixture_cell(fixture_name(NAME_TIER, TOTALS_REQUEST, "", 0), 0);
	return cell;
}

static void counts_of_threads_are_added_up(void **state)
{
	struct process_tables *tables = find_own();
	uint32_t cell = make_cells(THREADS);
	uint32_t node = fixture_node(0, fixture_name(NAME_TASK, "job", "src/a.c", 12));
	uint32_t inner = fixture_node(node, fixture_name(NAME_FUNCTION, "f", "src/a.c", 20));
	struct totals totals;

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		for (uint64_t n = 0; n < 1000; n++)
			fixture_count(i, cell, 1000 * (n + 1));
		fixture_count(i, cell + 1, 5);
		fixture_run(i, node, 100 + i, 1000);
		fixture_run(i, inner, 10, 10);
	}
	totals = read_totals(tables);
	assert_int_equal(totals.n_processes, 1);
	assert_int_equal(totals.n_tiers, 3);
	assert_string_equal(totals.tiers[0].tier, "db");
	assert_string_equal(totals.tiers[0].identity, TOTALS_TOTAL);
	assert_int_equal(totals.tiers[0].count, THREADS * 1000);
	assert_int_equal(totals.tiers[0].sum_ns, THREADS * UINT64_C(500500000));
	assert_int_equal(totals.tiers[0].min_ns, 1000);
	assert_int_equal(totals.tiers[0].max_ns, 1000000);
	assert_int_equal(histogram_count(&totals.tiers[0].durations), THREADS * 1000);
	assert_in_range(histogram_quantile(&totals.tiers[0].durations, 0.5), 496000, 504000);
	assert_string_equal(totals.tiers[1].identity, "GET /");
	assert_string_equal(totals.tiers[2].tier, "request_");
	assert_string_equal(totals.tiers[2].identity, TOTALS_OUTSIDE);
	assert_int_equal(totals.n_tasks, 2);
	assert_string_equal(totals.tasks[0].name, "job");
	assert_string_equal(totals.tasks[0].file, "a.c");
	assert_int_equal(totals.tasks[0].line, 12);
	assert_int_equal(totals.tasks[0].calls, THREADS);
	assert_int_equal(totals.tasks[0].exec_ns, 8 * 100 + 28 + 80);
	assert_int_equal(totals.tasks[0].exec_max_ns, 107);
	assert_int_equal(totals.tasks[0].wall_ns, 8000);
	totals_release(&totals);
	process_tables_free(tables);
}

static void what_was_counted_before_is_not_ours(void **state)
{
	uint32_t cell = make_cells(2);
	struct process_tables *tables;
	struct totals totals;

	(void)state;
	fixture_count(0, cell, 700);
	fixture_state.misuse[2] = 5;
	tables = find_own();
	totals = read_totals(tables);
	assert_int_equal(totals.n_tiers, 0);
	assert_int_equal(totals.misuse[2], 0);
	totals_release(&totals);
	fixture_count(1, cell, 100);
	fixture_state.misuse[2] = 7;
	totals = read_totals(tables);
	assert_int_equal(totals.tiers[0].count, 1);
	assert_int_equal(totals.tiers[0].sum_ns, 100);
	assert_int_equal(totals.misuse[2], 2);
	totals_release(&totals);
	process_tables_free(tables);
}

static void a_reset_counts_from_zero(void **state)
{
	struct process_tables *tables = find_own();
	uint32_t cell = make_cells(1);
	struct totals totals;

	(void)state;
	fixture_count(0, cell, 700);
	process_tables_read(tables);
	assert_int_equal(process_tables_reset(tables), 0);
	totals = read_totals(tables);
	assert_int_equal(totals.n_tiers, 0);
	totals_release(&totals);
	fixture_count(0, cell, 100);
	totals = read_totals(tables);
	assert_int_equal(totals.tiers[0].count, 1);
	totals_release(&totals);
	process_tables_free(tables);
}

/* Names and numbers that are not written yet, or never. */
static void what_is_not_complete_is_left_out(void **state)
{
	struct process_tables *tables = find_own();
	struct fixture_tables *made = fixture_make(1);
	struct totals totals;

	(void)state;
	made->tables->n_names = 5;
	made->tables->n_cells = 3;
	made->tables->cells[1] = UINT64_C(2) << 32 | 3;
	made->tables->n_nodes = 4;
	made->tables->nodes[2] = 2;
	made->tables->names[3] =
		(struct table_name){.kind = NAME_IDENTITY, .text = "x", .bytes = 1};
	fixture_count(0, 1, 100);
	fixture_run(0, 2, 1, 1);
	fixture_run(0, 3, 1, 1);
	totals = read_totals(tables);
	assert_int_equal(totals.n_tiers, 0);
	assert_int_equal(totals.n_tasks, 0);
	totals_release(&totals);
	made->tables->names[2] = (struct table_name){.kind = NAME_TIER, .text = "t", .bytes = 1};
	totals = read_totals(tables);
	assert_int_equal(totals.n_tiers, 2);
	assert_string_equal(totals.tiers[1].identity, "x");
	totals_release(&totals);
	process_tables_free(tables);
}

static void the_last_reading_stands_when_memory_is_gone(void **state)
{
	struct process_tables *tables = find_own();
	uint32_t cell = make_cells(2);
	struct totals totals;

	(void)state;
	fixture_count(1, cell, 700);
	process_tables_read(tables);
	((struct tables *)fixture_state.tables)->threads[1] = PAGE;
	totals = read_totals(tables);
	assert_int_equal(totals.tiers[0].count, 1);
	totals_release(&totals);
	fixture_state.tables = PAGE;
	totals = read_totals(tables);
	assert_int_equal(totals.tiers[0].count, 1);
	totals_release(&totals);
	process_tables_free(tables);
}

static void numbers_may_be_anything(void **state)
{
	struct process_tables *tables = find_own();
	uint32_t cell = make_cells(1);
	struct tables *own = (struct tables *)fixture_state.tables;
	struct table_thread *thread = (struct table_thread *)own->threads[0];
	struct totals totals;

	(void)state;
	fixture_count(0, cell, 700);
	own->n_names = UINT32_MAX;
	own->n_nodes = UINT32_MAX;
	own->n_cells = UINT32_MAX;
	own->n_threads = UINT32_MAX;
	thread->n_chunks = UINT32_MAX;
	thread->cells[cell].chunks[7] = UINT16_MAX;
	thread->cells[cell].chunks[8] = TABLES_CHUNKS + 1;
	thread->cells[cell].count = UINT64_MAX;
	thread->cells[cell].sum_ns = UINT64_MAX;
	/* The same block twice. */
	own->threads[1] = own->threads[0];
	totals = read_totals(tables);
	assert_true(totals.tiers[0].count == UINT64_MAX);
	assert_true(totals.tiers[0].sum_ns == UINT64_MAX);
	assert_int_equal(histogram_count(&totals.tiers[0].durations), 2);
	totals_release(&totals);
	process_tables_free(tables);
}

static void parents_in_a_ring_are_children_of_the_root(void **state)
{
	struct process_tables *tables = find_own();
	uint32_t name;
	struct tables *own;
	struct totals totals;

	(void)state;
	(void)fixture_make(1);
	own = (struct tables *)fixture_state.tables;
	name = fixture_name(NAME_TASK, "job", "a.c", 1);
	for (uint32_t i = 2; i < 10; i++) {
		(void)fixture_node(i, name);
		fixture_run(0, i, 10, 10);
	}
	own->nodes[5] = UINT64_C(9) << 32 | name;
	own->nodes[9] = UINT64_C(5) << 32 | name;
	own->nodes[6] = (uint64_t)UINT32_MAX << 32 | name;
	totals = read_totals(tables);
	assert_int_equal(totals.n_tasks, 1);
	assert_int_equal(totals.tasks[0].calls, 8);
	assert_int_equal(totals.tasks[0].exec_ns, 80);
	assert_int_equal(totals.tasks[0].children_ns, 0);
	totals_release(&totals);
	process_tables_free(tables);
}

static void names_may_have_no_end(void **state)
{
	struct process_tables *tables = find_own();
	struct table_name *at;
	struct totals totals;
	uint32_t cell;

	(void)state;
	cell = make_cells(1);
	fixture_count(0, cell, 100);
	at = &((struct tables *)fixture_state.tables)->names[3];
	memset(at->text, 'x', sizeof(at->text));
	at->bytes = UINT16_MAX;
	at->file_bytes = UINT16_MAX;
	totals = read_totals(tables);
	assert_int_equal(totals.n_tiers, 2);
	assert_int_equal(strlen(totals.tiers[1].identity), TABLES_NAME_BYTES);
	totals_release(&totals);
	process_tables_free(tables);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void scribble(void *to, size_t len, uint64_t *random)
{
	unsigned char *at = to;

	for (size_t i = 0; i + sizeof(*random) <= len; i += sizeof(*random)) {
		uint64_t value = next_random(random);

		/* Small numbers are more likely to mean something. */
		if (value % 3)
			value &= 0x7000000ff;
		memcpy(at + i, &value, sizeof(value));
	}
}

static void any_bytes_give_bounded_rows(void **state)
{
	struct process_tables *tables = find_own();
	uint64_t random = 12345;

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct fixture_tables *made = fixture_make(2);
		struct totals totals;

		scribble(made->tables->nodes, sizeof(made->tables->nodes), &random);
		scribble(made->tables->cells, sizeof(made->tables->cells), &random);
		scribble(made->tables->names, sizeof(made->tables->names), &random);
		for (uint32_t i = 0; i < TABLES_NAMES; i++)
			made->tables->names[i].kind = 1 + i % 5;
		scribble(made->threads[0], sizeof(*made->threads[0]), &random);
		made->tables->n_names = TABLES_NAMES;
		made->tables->n_nodes = TABLES_NODES;
		made->tables->n_cells = TABLES_CELLS;
		totals = read_totals(tables);
		assert_true(totals.n_nodes <= BUILDER_NODES);
		assert_true(totals.n_tiers <= 3 * BUILDER_CELLS);
		totals_release(&totals);
	}
	process_tables_free(tables);
}

struct writer {
	atomic_bool ended;
	uint32_t cell;
};

static void *write_on(void *argument)
{
	struct writer *writer = argument;
	uint64_t n = 0;

	while (!atomic_load(&writer->ended))
		fixture_count(0, writer->cell, ++n % 1000000);
	return NULL;
}

static void what_changes_while_it_is_read_is_right_at_the_end(void **state)
{
	struct process_tables *tables = find_own();
	struct writer writer = {.cell = make_cells(1)};
	uint64_t before = 0;
	struct totals totals;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_on, &writer), 0);
	for (int i = 0; i < 200; i++) {
		totals = read_totals(tables);
		if (totals.n_tiers) {
			assert_true(totals.tiers[0].count >= before);
			before = totals.tiers[0].count;
		}
		totals_release(&totals);
	}
	atomic_store(&writer.ended, true);
	(void)pthread_join(thread, NULL);
	totals = read_totals(tables);
	assert_int_equal(totals.tiers[0].count, histogram_count(&totals.tiers[0].durations));
	totals_release(&totals);
	process_tables_free(tables);
}

static void one_that_leaves_again_and_again_is_not_read_each_time(void **state)
{
	enum { TRIES = 100000 };
	struct process_tables *tables = find_own();
	uint64_t now_ns = io_now_ns();
	uint32_t cell = make_cells(50);
	uint64_t counted = 0;
	struct totals totals;
	uint64_t n = 0;

	(void)state;
	do {
		fixture_count(0, cell, 100);
		process_tables_leave(tables, now_ns);
		totals = totals_of(tables);
		counted = totals.tiers[0].count;
		totals_release(&totals);
	} while (++n == counted && n < TRIES);
	assert_in_range(n, 2, TRIES - 1);
	process_tables_leave(tables, now_ns + 10 * SECOND);
	totals = totals_of(tables);
	assert_int_equal(totals.tiers[0].count, n);
	totals_release(&totals);
	process_tables_free(tables);
}

static void a_little_room_begins_no_large_reading(void **state)
{
	struct process_tables *tables = find_own();

	(void)state;
	(void)make_cells(THREADS);
	((struct tables *)fixture_state.tables)->n_cells = TABLES_CELLS;
	shared.allowed_ns = io_now_ns();
	shared.bytes_left = TABLES_ALWAYS_BYTES;
	process_tables_read(tables);
	assert_int_not_equal(shared.bytes_left, 0);
	process_tables_free(tables);
}

static void a_process_that_is_gone_has_none(void **state)
{
	struct process_tables *tables = process_tables_new(&shared, 4194304, 0);

	(void)state;
	search(tables);
	assert_false(process_tables_count(tables));
	process_tables_turn(tables, SECOND);
	process_tables_read(tables);
	process_tables_end(tables);
	process_tables_free(tables);
	process_tables_search(NULL, NULL);
	process_tables_turn(NULL, SECOND);
	process_tables_read(NULL);
	process_tables_end(NULL);
	process_tables_free(NULL);
	assert_false(process_tables_count(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_program_is_found_by_its_note_and_counts, begin,
						end),
		cmocka_unit_test_setup_teardown(a_state_that_is_none_is_not_written_to, begin, end),
		cmocka_unit_test_setup_teardown(
			memory_that_the_program_may_not_write_is_not_written_to, begin, end),
		cmocka_unit_test_setup_teardown(an_anchor_may_lead_anywhere, begin, end),
		cmocka_unit_test_setup_teardown(a_state_that_was_replaced_is_given_up, begin, end),
		cmocka_unit_test_setup_teardown(a_module_that_is_linked_later_is_found_then, begin,
						end),
		cmocka_unit_test_setup_teardown(counts_of_threads_are_added_up, begin, end),
		cmocka_unit_test_setup_teardown(what_was_counted_before_is_not_ours, begin, end),
		cmocka_unit_test_setup_teardown(a_reset_counts_from_zero, begin, end),
		cmocka_unit_test_setup_teardown(what_is_not_complete_is_left_out, begin, end),
		cmocka_unit_test_setup_teardown(the_last_reading_stands_when_memory_is_gone, begin,
						end),
		cmocka_unit_test_setup_teardown(numbers_may_be_anything, begin, end),
		cmocka_unit_test_setup_teardown(parents_in_a_ring_are_children_of_the_root, begin,
						end),
		cmocka_unit_test_setup_teardown(names_may_have_no_end, begin, end),
		cmocka_unit_test_setup_teardown(any_bytes_give_bounded_rows, begin, end),
		cmocka_unit_test_setup_teardown(what_changes_while_it_is_read_is_right_at_the_end,
						begin, end),
		cmocka_unit_test_setup_teardown(
			one_that_leaves_again_and_again_is_not_read_each_time, begin, end),
		cmocka_unit_test_setup_teardown(a_little_room_begins_no_large_reading, begin, end),
		cmocka_unit_test_setup_teardown(a_process_that_is_gone_has_none, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
