/* clocks.h - the service's own clocks: what it measures by itself, to compare with what wick says
 *
 * A service of your own does not need this.
 */
#ifndef ORDERS_CLOCKS_H
#define ORDERS_CLOCKS_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum identity { ORDER, CUSTOMER, REPORT, N_IDENTITIES };
enum tier { REQUEST, SERVICE, QUEUE, DB, N_TIERS };

static const char *const identity_names[] = {"GET /orders/{id}", "GET /customers/{id}",
					     "GET /report"};
static const char *const tier_names[] = {"request", "service", "queue", "db"};

struct clock_row {
	uint64_t count;
	uint64_t sum_ns;
};

/* A worker's. */
struct clocks {
	struct clock_row rows[N_TIERS][N_IDENTITIES];
	uint64_t cpu_ns; /* that the worker used */
};

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void clock_add(struct clocks *clocks, enum tier tier, enum identity identity,
			     uint64_t since_ns)
{
	clocks->rows[tier][identity].count++;
	clocks->rows[tier][identity].sum_ns += clock_ns(CLOCK_MONOTONIC) - since_ns;
}

/* One JSON object: {"TIER":{"IDENTITY":{"count":N,"sum_ns":N,"mean_ns":N},...},...}. */
static inline void clocks_print(const struct clocks *of_workers, int n)
{
	for (int tier = 0; tier < N_TIERS; tier++) {
		(void)printf("%s\"%s\":{", tier == 0 ? "{" : ",", tier_names[tier]);
		for (int identity = 0; identity < N_IDENTITIES; identity++) {
			struct clock_row sum = {0, 0};

			for (int i = 0; i < n; i++) {
				sum.count += of_workers[i].rows[tier][identity].count;
				sum.sum_ns += of_workers[i].rows[tier][identity].sum_ns;
			}
			(void)printf("%s\"%s\":{\"count\":%lu,\"sum_ns\":%lu,\"mean_ns\":%lu}",
				     identity == 0 ? "" : ",", identity_names[identity],
				     (unsigned long)sum.count, (unsigned long)sum.sum_ns,
				     (unsigned long)(sum.count ? sum.sum_ns / sum.count : 0));
		}
		(void)printf("}");
	}
	(void)printf("}\n");
}

#endif
