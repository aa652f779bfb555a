/* budget.h - the memory that a load may take, shared by its threads */
#ifndef LOAD_BUDGET_H
#define LOAD_BUDGET_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct budget {
	uint64_t limit;
	_Atomic uint64_t used; /* only ever added up: relaxed will do */
	_Atomic int failed;    /* errno of the first that was refused */
};

/**
 * budget_fail - remember why it cannot go on
 *
 * Context: any thread.
 */
static inline void budget_fail(struct budget *budget, int code)
{
	int none = 0;

	(void)atomic_compare_exchange_strong_explicit(&budget->failed, &none, code,
						      memory_order_relaxed, memory_order_relaxed);
}

/**
 * budget_grow - realloc() of an array that counts
 *
 * Return:  the array, with room for N elements; NULL, and the failure is remembered (the old
 *          array is as it was).
 * Owns:    the caller.
 * Context: any thread.
 */
static inline void *budget_grow(struct budget *budget, void *array, size_t old, size_t n,
				size_t size)
{
	uint64_t more = (uint64_t)(n - old) * size;
	void *grown;

	if (atomic_fetch_add_explicit(&budget->used, more, memory_order_relaxed) + more >
	    budget->limit) {
		budget_fail(budget, E2BIG);
		return NULL;
	}
	grown = reallocarray(array, n, size);
	if (!grown)
		budget_fail(budget, ENOMEM);
	return grown;
}

/**
 * budget_failed - whether something was refused
 *
 * Context: any thread.
 */
static inline bool budget_failed(struct budget *budget)
{
	return atomic_load_explicit(&budget->failed, memory_order_relaxed) != 0;
}

#endif
