/* intern.h - one copy of each string, at an address that stays */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>

struct intern_entry;

/* Zero is an empty table.  Not safe for two threads at once. */
struct intern {
	struct intern_entry *entries;
};

/**
 * intern_string - the table's copy of a string
 *
 * Equal strings give equal pointers.
 *
 * Return:  the copy; NULL when memory ran out.
 * Owns:    the table; good until intern_release().
 * Context: any thread.
 */
const char *intern_string(struct intern *table, const char *text);

/**
 * intern_bytes - the same for LEN bytes without a NUL
 *
 * Return:  the NUL-terminated copy; NULL when memory ran out.
 * Owns:    the table; good until intern_release().
 * Context: any thread.
 */
const char *intern_bytes(struct intern *table, const char *text, size_t len);

/**
 * intern_release - forget all strings and give back the memory
 *
 * Context: any thread.
 */
void intern_release(struct intern *table);

#endif
