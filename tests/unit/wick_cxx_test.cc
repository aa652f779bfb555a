/*
 * wick_cxx_test.cc - wick.hpp: scopes that exceptions leave, and coroutines as tasks
 *
 * Built as C++11, and as C++20 with a toy scheduler.
 */
#define WICK_TICKS() now
static unsigned long now = 1000;

#include "sampler/include/wick.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #what);                          \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

static wick_tables *tables()
{
	return reinterpret_cast<wick_tables *>(wick_state_1.tables);
}

static uint32_t number_of(uint32_t kind, const char *text)
{
	for (uint32_t i = 1; i < tables()->n_names; i++)
		if (tables()->names[i].kind == kind && strcmp(tables()->names[i].text, text) == 0)
			return i;
	return 0;
}

/* The sums of a name's nodes in this thread. */
static wick_node_row row_of(uint32_t kind, const char *text)
{
	const wick_block *block = reinterpret_cast<wick_block *>(wick_thread_1.block);
	uint32_t number = number_of(kind, text);
	wick_node_row sum;

	memset(&sum, 0, sizeof(sum));
	for (uint32_t i = 1; number && i < tables()->n_nodes; i++) {
		if (static_cast<uint32_t>(tables()->nodes[i]) != number)
			continue;
		sum.begun += block->nodes[i].begun;
		sum.ended += block->nodes[i].ended;
		sum.self += block->nodes[i].self;
		sum.wall += block->nodes[i].wall;
		sum.cancelled += block->nodes[i].cancelled;
		sum.failed += block->nodes[i].failed;
		sum.stillborn += block->nodes[i].stillborn;
	}
	return sum;
}

static void thrower()
{
	WICK_PROFILE_FN;
	wick::tier outer("outer");

	WICK_TIER("inner")
	{
		now += 5;
		throw 1;
	}
}

static void exceptions_leave_tiers_functions_and_requests()
{
	int caught = 0;

	try {
		wick::request request("GET /x");

		thrower();
	} catch (int) {
		caught = 1;
	}
	CHECK(caught);
	CHECK(row_of(WICK_TIER_NAME, "inner").wall == 5);
	CHECK(row_of(WICK_TIER_NAME, "outer").ended == 1);
	CHECK(row_of(WICK_FUNCTION, "thrower").ended == 1);
	CHECK(wick_context_get().identity == 0);
	CHECK(number_of(WICK_IDENTITY, "GET /x") != 0);
	{
		wick::request other("GET /y");
		wick::tier there("another");

		CHECK(wick_context_get().identity == number_of(WICK_IDENTITY, "GET /y"));
	}
	CHECK(row_of(WICK_TIER_NAME, "outer").ended == 1);
	CHECK(row_of(WICK_TIER_NAME, "another").ended == 1);
}

static void a_context_is_put_back()
{
	wick_context c = wick_context_get();

	CHECK(wick_traceparent_parse(
		      &c, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01") == 0);
	{
		wick::working_for other(c);

		CHECK(memcmp(wick_context_get().trace_id, c.trace_id, 16) == 0);
	}
	CHECK(wick_context_get().trace_id[0] == 0);
}

static void a_task_runs_until_the_scope_ends()
{
	wick_task task;

	wick_task_create(&task, "scoped");
	{
		wick::task_run running(&task);

		now += 7;
	}
	now += 100;
	wick_task_finish(&task, WICK_COMPLETED);
	CHECK(row_of(WICK_TASK, "scoped").self == 7);
	CHECK(row_of(WICK_TASK, "scoped").wall == 107);
}

#ifdef __cpp_impl_coroutine
struct job {
	struct promise_type : wick::task_promise {
		job get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		void return_void()
		{
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static job counting(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		now += 3;
		co_await std::suspend_always{};
	}
	now += 1;
}

static job failing()
{
	now += 2;
	co_await std::suspend_always{};
	throw 1;
}

/* Runs all in turn, until each has ended or only those that are to be cancelled are left. */
static void schedule(job *jobs, int n, int turns)
{
	for (int turn = 0; turn < turns; turn++)
		for (int i = 0; i < n; i++)
			if (!jobs[i].handle.done()) {
				wick::resume(jobs[i].handle);
				CHECK(reinterpret_cast<wick_block *>(wick_thread_1.block)->depth ==
				      0);
				now += 10;
			}
	for (int i = 0; i < n; i++)
		jobs[i].handle.destroy();
}

static void coroutines_are_tasks()
{
	job jobs[] = {counting(2), counting(100), failing(), counting(0), counting(5)};

	schedule(jobs, 4, 4);
	jobs[4].handle.destroy();
	CHECK(row_of(WICK_TASK, "counting").begun == 4);
	CHECK(row_of(WICK_TASK, "counting").ended == 3);
	CHECK(row_of(WICK_TASK, "counting").cancelled == 2);
	CHECK(row_of(WICK_TASK, "counting").stillborn == 1);
	CHECK(row_of(WICK_TASK, "counting").self == 2 * 3 + 1 + 4 * 3 + 1);
	CHECK(row_of(WICK_TASK, "failing").failed == 1);
	CHECK(row_of(WICK_TASK, "failing").self == 2);
}
#endif

int main()
{
	wick_state_1.session = 1;
	wick_state_1.mult = UINT64_C(1) << 32;
	wick_state_1.until = 1 << 30;
	exceptions_leave_tiers_functions_and_requests();
	a_context_is_put_back();
	a_task_runs_until_the_scope_ends();
#ifdef __cpp_impl_coroutine
	coroutines_are_tasks();
#endif
	for (int i = 0; i < WICK_MISUSES; i++)
		CHECK(wick_state_1.misuse[i] == 0);
	return failures ? 1 : 0;
}
