/*
 * address_cache.h - what is at an address of a module: the function, its line, the calls inlined
 * there
 *
 * An answer never changes and is made once for an address.  An address without one is put on a
 * list, from which a batch (batch.h) is made.
 */
#ifndef SYMBOLIZE_ADDRESS_CACHE_H
#define SYMBOLIZE_ADDRESS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ANSWERS_MAX = 512 * 1024 }; /* of a module; what comes later is not kept */

/* A function at an address, with strings that somebody else keeps. */
struct answer_level {
	const char *symbol; /* as it is shown; NULL: unknown */
	const char *file;   /* NULL: unknown */
	uint32_t line;      /* 0: unknown */
};

struct answer {
	struct answer_level function; /* the one that has the code */
	uint64_t start;               /* of the symbol shown, an ELF virtual address */
	bool named;                   /* not only by where its function begins */
	uint32_t n_inlined;
	struct answer_level inlined[]; /* innermost first */
};

struct answer_slot {
	uint64_t vaddr;
	struct answer *answer; /* NULL: free */
};

/*
 * Zero has none.  Main thread only, as for all of these.
 *
 * Every frame of every sample looks here: a table that is at most half full and is searched from
 * slot to slot costs one miss of the cache.
 */
struct answers {
	struct answer_slot *slots;
	unsigned bits; /* 2^bits slots */
	size_t n;
	uint64_t *wanted;
	size_t n_wanted;
	size_t room;
};

/**
 * answers_find - the answer for an address
 * @ret_wanted: it is known to have none yet: it is on the list, or being looked up
 *
 * Return:  NULL when there is none.
 * Owns:    the answers.
 * Context: main thread.
 */
const struct answer *answers_find(const struct answers *answers, uint64_t vaddr, bool *ret_wanted);

/**
 * answers_want - put an address on the list
 *
 * Return:  0; -E2BIG: there are too many, this one will have to do without; -ENOMEM.
 * Context: main thread.
 */
int answers_want(struct answers *answers, uint64_t vaddr);

/**
 * answers_take - the list, which is empty then
 *
 * Return:  how many; *RET_WANTED is an array of them.
 * Owns:    the caller, to free() the array.
 * Context: main thread.
 */
size_t answers_take(struct answers *answers, uint64_t **ret_wanted);

/**
 * answers_new - memory for an answer with so many calls inlined
 *
 * Return:  NULL when memory ran out.
 * Owns:    the caller, to free() or to hand to answers_put().
 * Context: main thread.
 */
struct answer *answers_new(size_t n_inlined);

/**
 * answers_put - keep the answer for an address
 *
 * Return:  0; -ENOMEM or -E2BIG: the answer was not kept, and is the caller's.
 * Context: main thread.
 */
int answers_put(struct answers *answers, uint64_t vaddr, struct answer *answer);

/**
 * answers_release - forget them all
 *
 * Context: main thread.
 */
void answers_release(struct answers *answers);

#endif
