/* number_table.h - numbers by the hash of what they stand for */
#ifndef BUILD_NUMBER_TABLE_H
#define BUILD_NUMBER_TABLE_H

#include "flamescope/load/budget.h"
#include "flamescope/load/build/text_hash.h"

#include <stdint.h>

enum { NUMBER_NONE = UINT32_MAX };

struct number_slot {
	struct text_hash key;
	uint32_t number; /* NUMBER_NONE: free */
};

/* Zero is an empty table. */
struct number_table {
	struct number_slot *slots;
	size_t size; /* a power of two, at least twice as many as are used */
	size_t used;
};

/**
 * number_table_get - the number of a key
 *
 * Return:  the number, NUMBER_NONE if there is none.
 * Context: any thread; one user of a table, as for all of these.
 */
uint32_t number_table_get(const struct number_table *table, struct text_hash key);

/**
 * number_table_put - set the number of a key that has none
 *
 * Return:  0; -errno: the budget refused, and the key has none.
 * Context: any thread.
 */
int number_table_put(struct number_table *table, struct budget *budget, struct text_hash key,
		     uint32_t number);

/**
 * number_table_release - forget all
 *
 * Context: any thread.
 */
void number_table_release(struct number_table *table);

#endif
