/*
 * intern.h - one copy of each string, at an address that never changes
 *
 * Context: any thread.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern_slot;
struct intern_chunk;

/* Zero is an empty table.  Not safe for two threads at once. */
struct intern {
	struct intern_slot *slots;
	size_t n_slots;  /* a power of two, or none */
	size_t n;        /* strings */
	uint64_t secret; /* part of each hash */
	struct intern_chunk *chunks;
	char *free_at; /* in the newest chunk of many strings */
	size_t n_free;
};

/**
 * intern_string - the table's copy of a string
 *
 * Equal strings give equal pointers.
 *
 * Return:  the copy; NULL when memory ran out.
 * Owns:    the table; good until intern_release().
 */
const char *intern_string(struct intern *table, const char *text);

/**
 * intern_bytes - the same for LEN bytes without a NUL
 *
 * Return:  the NUL-terminated copy; NULL when memory ran out.
 * Owns:    the table; good until intern_release().
 */
const char *intern_bytes(struct intern *table, const char *text, size_t len);

/** intern_release - forget all strings and give back the memory */
void intern_release(struct intern *table);

#endif
