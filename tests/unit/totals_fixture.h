/* totals_fixture.h - exact counts that tests make up */
#ifndef TOTALS_FIXTURE_H
#define TOTALS_FIXTURE_H

#include "sampler/collector/types/totals.h"

enum { FIXTURE_ROWS = 64, FIXTURE_BUCKETS = 8 };

/* Zero it.  Rows stay as they were added: in the order of the collector. */
struct totals_fixture {
	struct totals totals;
	struct total_task tasks[FIXTURE_ROWS];
	struct total_tier tiers[FIXTURE_ROWS];
	struct histogram_bucket buckets[FIXTURE_ROWS][FIXTURE_BUCKETS];
};

/** fixture_task - add a task that ran for EXEC_NS in CALLS calls, and its children for CHILDREN_NS
 */
struct total_task *fixture_task(struct totals_fixture *fixture, const char *name, uint64_t exec_ns,
				uint64_t children_ns, uint64_t calls);

/** fixture_tier - add a tier that COUNT requests were in for NS each */
struct total_tier *fixture_tier(struct totals_fixture *fixture, const char *tier,
				const char *identity, uint64_t count, uint64_t ns);

#endif
