/* totals_fixture.c - exact counts that tests make up */
#include "totals_fixture.h"

struct total_task *fixture_task(struct totals_fixture *fixture, const char *name, uint64_t exec_ns,
				uint64_t children_ns, uint64_t calls)
{
	struct totals *totals = &fixture->totals;
	struct total_task *task = &fixture->tasks[totals->n_tasks++];

	totals->tasks = fixture->tasks;
	totals->since_ns = 1000;
	totals->time_ns = 2000000000;
	*task = (struct total_task){
		.kind = TOTAL_TASK,
		.name = name,
		.file = "src/loop.c",
		.line = 12,
		.exec_ns = exec_ns,
		.exec_max_ns = calls ? exec_ns / calls : 0,
		.run_max_ns = calls ? exec_ns / calls * 2 / 5 : 0,
		.children_ns = children_ns,
		.wall_ns = 2 * exec_ns,
		.calls = calls,
	};
	return task;
}

struct total_tier *fixture_tier(struct totals_fixture *fixture, const char *tier,
				const char *identity, uint64_t count, uint64_t ns)
{
	struct totals *totals = &fixture->totals;
	struct histogram_bucket *bucket = fixture->buckets[totals->n_tiers];
	struct total_tier *row = &fixture->tiers[totals->n_tiers++];

	totals->tiers = fixture->tiers;
	totals->since_ns = 1000;
	totals->time_ns = 2000000000;
	*bucket = (struct histogram_bucket){.bucket = histogram_bucket_of(ns), .count = count};
	*row = (struct total_tier){
		.tier = tier,
		.identity = identity,
		.count = count,
		.sum_ns = count * ns,
		.self_ns = count * ns,
		.min_ns = ns,
		.max_ns = ns,
		.durations = {.n = 1, .at = bucket},
	};
	return row;
}
