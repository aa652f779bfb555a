/*
 * fuzz_budget.h - what one input may cost
 *
 * A second and 256 MB for an input under 1 MB is the promise; sanitizers and fuzzing make code some
 * four times slower, and a machine that is shared counts as well, so CPU time is what is looked at.
 */
#ifndef TESTS_FUZZ_BUDGET_H
#define TESTS_FUZZ_BUDGET_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sanitizer/allocator_interface.h>

enum { BUDGET_BYTES = 256 * 1024 * 1024, BUDGET_CPU_MS = 4000 };

struct budget {
	uint64_t began_ms;
	size_t began_bytes;
};

static inline uint64_t budget_cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Before the input is looked at. */
static inline struct budget budget_start(void)
{
	return (struct budget){budget_cpu_ms(), __sanitizer_get_current_allocated_bytes()};
}

/* While what it took is still held: ends the run when it was too much. */
static inline void budget_check(const struct budget *budget)
{
	const uint64_t ms = budget_cpu_ms() - budget->began_ms;
	const size_t now = __sanitizer_get_current_allocated_bytes();

	if (ms > BUDGET_CPU_MS ||
	    (now > budget->began_bytes && now - budget->began_bytes > (size_t)BUDGET_BYTES)) {
		(void)fprintf(stderr, "budget: %llu ms, %zu bytes\n", (unsigned long long)ms,
			      now - budget->began_bytes);
		abort();
	}
}

#endif
