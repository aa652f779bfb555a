/* wick_tasks_test.c - what tasks are counted as, and what becomes of their misuse */
#include "tests/unit/wick_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void pass_paused(struct wick_task *task, uint64_t ticks)
{
	wick_task_suspend(task);
	wick_fixture_pass(ticks);
	wick_task_run(task);
}

/* The row's exec, children and wall. */
static void assert_times(const char *name, uint64_t exec, uint64_t children, uint64_t wall)
{
	struct wick_fixture_row row = wick_fixture_row(name);

	assert_int_equal(row.exec, exec);
	assert_int_equal(row.children, children);
	assert_int_equal(row.wall, wall);
}

static void a_location_that_creates_itself_has_no_children(void **state)
{
	struct wick_task tasks[50];

	(void)state;
	for (int i = 0; i < 50; i++) {
		wick_fixture_run(&tasks[i], "loop");
		wick_fixture_pass(2);
	}
	for (int i = 50; i-- > 0;)
		wick_task_finish(&tasks[i], WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("loop").exec, 100);
	assert_int_equal(wick_fixture_row("loop").children, 0);
	assert_int_equal(wick_fixture_row("loop").calls, 50);
	assert_true(((struct tables *)wick_state_1.tables)->n_nodes <= 4);
}

static void a_tier_goes_on_where_its_task_was_suspended(void **state)
{
	struct wick_task task;
	struct wick_scope scope;

	(void)state;
	wick_fixture_run(&task, "task");
	scope = wick_tier_enter("db");
	wick_fixture_pass(5);
	wick_task_suspend(&task);
	assert_string_equal(wick_fixture_attr(CONTEXT_TIER), "");
	wick_fixture_block("other", 100);
	wick_task_run(&task);
	assert_string_equal(wick_fixture_attr(CONTEXT_TIER), "db");
	wick_fixture_pass(5);
	wick_scope_leave(&scope);
	assert_string_equal(wick_fixture_attr(CONTEXT_TIER), "");
	assert_string_equal(wick_fixture_task(), "task");
	wick_fixture_pass(1);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_times("task", 11, 0, 111);
	assert_int_equal(wick_fixture_cell("db", NULL).sum_ns, 110);
	assert_int_equal(wick_fixture_row("task").max, 11);
	assert_int_equal(wick_fixture_row("task").run_max, 6);
}

static void the_longest_run_is_known_while_the_task_lives(void **state)
{
	struct wick_task timer;

	(void)state;
	wick_fixture_run(&timer, "timer");
	wick_fixture_pass(5);
	wick_task_suspend(&timer);
	wick_task_run(&timer);
	wick_fixture_pass(9);
	wick_task_suspend(&timer);
	wick_task_run(&timer);
	wick_fixture_pass(2);
	wick_task_suspend(&timer);
	assert_int_equal(wick_fixture_row("timer").calls, 0);
	assert_int_equal(wick_fixture_row("timer").max, 0);
	assert_int_equal(wick_fixture_row("timer").run_max, 9);
	wick_task_finish(&timer, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("timer").max, 16);
	assert_int_equal(wick_fixture_row("timer").run_max, 9);
}

static void a_task_inside_another_hides_its_tier(void **state)
{
	struct wick_task outer;
	struct wick_task inner;

	(void)state;
	wick_fixture_run(&outer, "outer");
	WICK_TIER("db")
	{
		wick_fixture_run(&inner, "inner");
		assert_string_equal(wick_fixture_attr(CONTEXT_TIER), "");
		assert_string_equal(wick_fixture_task(), "inner");
		wick_task_suspend(&inner);
		assert_string_equal(wick_fixture_attr(CONTEXT_TIER), "db");
		assert_string_equal(wick_fixture_task(), "outer");
	}
	wick_task_run(&inner);
	assert_string_equal(wick_fixture_task(), "inner");
	wick_task_finish(&inner, WICK_COMPLETED);
	wick_task_finish(&outer, WICK_COMPLETED);
	assert_int_equal(wick_state_1.misuse[MISUSE_ORDER], 0);
}

static void a_task_keeps_the_context_of_its_creator(void **state)
{
	struct wick_request request;
	struct wick_request other;
	struct wick_task task;
	struct wick_context c;

	(void)state;
	wick_request_begin(&request, "first");
	c = wick_context_get();
	wick_task_create(&task, "task");
	wick_request_end(&request);
	wick_request_begin(&other, "second");
	wick_task_run(&task);
	assert_memory_equal(c.trace_id, wick_context_get().trace_id, 16);
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "first");
	wick_task_suspend(&task);
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "second");
	wick_task_run(&task);
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "first");
	wick_task_finish(&task, WICK_COMPLETED);
	wick_request_end(&other);
	assert_string_equal(wick_fixture_attr(CONTEXT_IDENTITY), "");
}

static void a_switch_reads_the_clock_once(void **state)
{
	struct wick_task a;
	struct wick_task b;

	(void)state;
	wick_task_create(&a, "a");
	wick_task_create(&b, "b");
	wick_task_run(&a);
	wick_fixture_pass(3);
	wick_fixture_readings = 0;
	wick_task_switch(&a, &b);
	assert_int_equal(wick_fixture_readings, 1);
	wick_fixture_pass(4);
	wick_task_switch(&b, &a);
	wick_fixture_pass(5);
	wick_task_finish(&a, WICK_COMPLETED);
	wick_task_finish(&b, WICK_COMPLETED);
	assert_times("a", 8, 0, 12);
	assert_times("b", 4, 0, 12);
}

enum { PLAYERS = 6, MOVES = 400, SEEDS = 50 };

struct player {
	struct wick_task task;
	struct wick_scope scope;
	struct wick_request request;
	int in_tier;
	int in_request;
};

/* What a thread's order, context and record are. */
struct position {
	uint64_t nested;
	uint32_t node, depth;
	uint16_t identity_bytes, base, attrs_bytes;
	uint8_t attrs[CONTEXT_MAX_ATTRS];
	struct wick_context value;
};

static void take_position(struct position *ret)
{
	const struct wick_block *block = (const struct wick_block *)wick_thread_1.block;

	memset(ret, 0, sizeof(*ret));
	ret->nested = block->nested;
	ret->node = block->node;
	ret->depth = block->depth;
	ret->identity_bytes = block->identity_bytes;
	ret->base = block->base;
	ret->attrs_bytes = block->record.attrs_bytes;
	memcpy(ret->attrs, block->record.attrs, ret->attrs_bytes);
	ret->value = wick_thread_1.value;
	assert_memory_equal(ret->value.trace_id, block->record.trace_id, 16);
	assert_memory_equal(ret->value.span_id, block->record.span_id, 8);
}

/* The task that runs last enters or leaves its tier or its request. */
static void move_inside(struct player *player, int tier)
{
	if (tier && player->in_tier)
		wick_scope_leave(&player->scope);
	else if (tier)
		player->scope = wick_tier_enter("db");
	else if (player->in_request)
		wick_request_end(&player->request);
	else
		wick_request_begin_as(&player->request, player->in_tier ? "GET /" : "PUT /item");
	*(tier ? &player->in_tier : &player->in_request) ^= 1;
}

/* Some hundred random moves of some tasks, whose switches are one call or two. */
static void play(unsigned seed, int one_call, struct position positions[MOVES],
		 struct table_node_row ret_nodes[TABLES_NODES])
{
	static struct player players[PLAYERS];
	struct wick_block *block;
	int order[PLAYERS]; /* the tasks that run, and behind them the others */
	int depth = 0;

	wick_state_1.session++; /* nothing runs; names and nodes keep their numbers */
	memset(&wick_thread_1.value, 0, sizeof(wick_thread_1.value));
	memset(players, 0, sizeof(players));
	for (int i = 0; i < PLAYERS; i++) {
		wick_task_create(&players[i].task, i % 2 ? "odd" : "even");
		order[i] = i;
	}
	block = (struct wick_block *)wick_thread_1.block;
	block->random = seed;
	memset(block->nodes, 0, sizeof(block->nodes));
	for (int i = 0; i < MOVES; i++) {
		unsigned move = (seed = seed * 1103515245 + 12345) >> 16 & 7;
		struct player *top = depth > 0 ? &players[order[depth - 1]] : NULL;
		struct player *next = depth < PLAYERS ? &players[order[depth]] : NULL;

		wick_fixture_pass(move + 1);
		if (next && (!top || move == 0)) {
			wick_task_run(&next->task);
			depth++;
		} else if (move == 1) {
			wick_task_suspend(&top->task);
			depth--;
		} else if (move < 5 && next) {
			int last = order[depth - 1];

			if (one_call) {
				wick_task_switch(&top->task, &next->task);
			} else {
				wick_task_suspend(&top->task);
				wick_task_run(&next->task);
			}
			memmove(order + depth - 1, order + depth,
				(PLAYERS - (size_t)depth) * sizeof(order[0]));
			order[PLAYERS - 1] = last;
		} else {
			move_inside(top, (int)(move % 2));
		}
		take_position(&positions[i]);
	}
	memcpy(ret_nodes, block->nodes, sizeof(block->nodes));
}

static void a_switch_is_a_suspend_and_a_run(void **state)
{
	static struct position one[MOVES];
	static struct position two[MOVES];
	static struct table_node_row one_nodes[TABLES_NODES];
	static struct table_node_row two_nodes[TABLES_NODES];

	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		play(seed, 1, one, one_nodes);
		play(seed, 0, two, two_nodes);
		for (int i = 0; i < MOVES; i++)
			assert_memory_equal(&one[i], &two[i], sizeof(one[i]));
		assert_memory_equal(one_nodes, two_nodes, sizeof(one_nodes));
	}
}

static void long_runs_are_stalls(void **state)
{
	struct wick_task task;

	(void)state;
	wick_state_1.stall = 100;
	wick_fixture_run(&task, "task");
	wick_fixture_pass(100);
	pass_paused(&task, 1000);
	wick_fixture_pass(101);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("task").stalls, 1);
}

static void misuse_is_counted_and_goes_on(void **state)
{
	struct wick_task task;
	struct wick_task garbage;

	(void)state;
	memset(&garbage, 0xa5, sizeof(garbage));
	wick_task_run(&garbage);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_RUN], 1);
	wick_task_suspend(&garbage);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_SUSPEND], 1);
	wick_task_finish(&garbage, WICK_COMPLETED);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_FINISH], 1);
	wick_fixture_run(&task, "task");
	wick_task_run(&task);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_RUN], 2);
	wick_task_suspend(&task);
	wick_task_suspend(&task);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_SUSPEND], 2);
	wick_task_finish(&task, WICK_COMPLETED);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_FINISH], 2);
	wick_task_run(&task);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_RUN], 3);
	assert_int_equal(wick_state_1.misuse[MISUSE_ORDER], 0);
	assert_int_equal(wick_fixture_row("task").calls, 1);
}

static void the_wrong_order_is_unwound(void **state)
{
	struct wick_task outer;
	struct wick_task inner;

	(void)state;
	wick_fixture_run(&outer, "outer");
	wick_fixture_pass(1);
	wick_fixture_run(&inner, "inner");
	wick_fixture_pass(2);
	wick_task_suspend(&outer);
	assert_int_equal(wick_state_1.misuse[MISUSE_ORDER], 1);
	assert_string_equal(wick_fixture_task(), "");
	memset(&outer, 0xff, sizeof(outer));
	wick_task_run(&inner);
	assert_int_equal(wick_state_1.misuse[MISUSE_TASK_RUN], 0);
	wick_fixture_pass(4);
	wick_task_finish(&inner, WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("outer").exec, 1);
	assert_int_equal(wick_fixture_row("inner").exec, 6);
}

static void more_depth_than_there_is_room_for_is_counted(void **state)
{
	struct wick_task tasks[TABLES_DEPTH + 3];

	(void)state;
	for (int i = 0; i < TABLES_DEPTH + 3; i++)
		wick_fixture_run(&tasks[i], "deep");
	assert_int_equal(wick_state_1.misuse[MISUSE_DEPTH], 3);
	for (int i = TABLES_DEPTH; i-- > 0;)
		wick_task_finish(&tasks[i], WICK_COMPLETED);
	for (int i = 0; i < 3; i++)
		wick_task_finish(&tasks[TABLES_DEPTH + i], WICK_COMPLETED);
	assert_int_equal(wick_fixture_row("deep").calls, TABLES_DEPTH);
	assert_int_equal(wick_fixture_row("deep").stillborn, 3);
	assert_int_equal(wick_state_1.misuse[MISUSE_ORDER], 0);
}

static void nothing_is_counted_when_nobody_records(void **state)
{
	struct wick_task task;

	(void)state;
	wick_state_1.until = 0;
	wick_fixture_run(&task, "task");
	wick_task_suspend(&task);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_int_equal(wick_state_1.tables, 0);
	assert_int_equal(wick_thread_1.block, 0);
	wick_state_1.until = wick_fixture_now; /* the lease has ended */
	wick_fixture_run(&task, "task");
	wick_task_finish(&task, WICK_COMPLETED);
	assert_int_equal(wick_state_1.tables, 0);
}

static void a_task_that_was_there_before_counts_from_its_next_run(void **state)
{
	struct wick_task task;

	(void)state;
	wick_state_1.until = 0;
	wick_task_create(&task, "old");
	wick_task_run(&task);
	wick_state_1.until = WICK_FIXTURE_END;
	wick_fixture_pass(100);
	wick_task_suspend(&task);
	wick_task_run(&task);
	wick_fixture_pass(10);
	wick_task_finish(&task, WICK_COMPLETED);
	assert_times("old", 10, 0, 10);
	for (int i = 0; i < TABLES_MISUSES; i++)
		assert_int_equal(wick_state_1.misuse[i], 0);
}

static void what_ran_in_an_earlier_session_has_ended(void **state)
{
	struct wick_task task;
	struct wick_request request;

	(void)state;
	wick_request_begin(&request, "request");
	wick_fixture_run(&task, "task");
	wick_fixture_pass(10);
	wick_state_1.until = 0;
	wick_task_suspend(&task);
	assert_string_equal(wick_fixture_task(), "");
	wick_task_run(&task);
	wick_fixture_pass(1000);
	wick_state_1.session++;
	wick_state_1.until = WICK_FIXTURE_END;
	wick_task_suspend(&task);
	wick_fixture_pass(1000);
	wick_task_run(&task);
	wick_fixture_pass(5);
	wick_task_finish(&task, WICK_COMPLETED);
	wick_request_end(&request);
	assert_int_equal(wick_fixture_row("task").exec, 5);
	assert_int_equal(wick_fixture_row("task").calls, 1);
	for (int i = 0; i < TABLES_MISUSES; i++)
		assert_int_equal(wick_state_1.misuse[i], 0);
}

static void errno_is_left_alone(void **state)
{
	(void)state;
	errno = 1234;
	wick_fixture_block("task", 1);
	assert_int_equal(errno, 1234);
	assert_int_not_equal(wick_state_1.tables, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, wick_fixture_setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_location_that_creates_itself_has_no_children),
		TEST(a_tier_goes_on_where_its_task_was_suspended),
		TEST(the_longest_run_is_known_while_the_task_lives),
		TEST(a_task_inside_another_hides_its_tier),
		TEST(a_task_keeps_the_context_of_its_creator),
		TEST(a_switch_reads_the_clock_once),
		TEST(a_switch_is_a_suspend_and_a_run),
		TEST(long_runs_are_stalls),
		TEST(misuse_is_counted_and_goes_on),
		TEST(the_wrong_order_is_unwound),
		TEST(more_depth_than_there_is_room_for_is_counted),
		TEST(nothing_is_counted_when_nobody_records),
		TEST(a_task_that_was_there_before_counts_from_its_next_run),
		TEST(what_ran_in_an_earlier_session_has_ended),
		TEST(errno_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
