/*
 * uniques.h - one number for each string, function, stack and thread, within a budget of memory
 *
 * Context: any thread, unless a function says another.
 */
#ifndef BUILD_UNIQUES_H
#define BUILD_UNIQUES_H

#include "flamescope/profile.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* budget: the memory that a load may take, shared by its threads */

struct budget {
	uint64_t limit;
	_Atomic uint64_t used; /* only ever added up: relaxed will do */
	_Atomic int failed;    /* errno of the first that was refused */
};

/** budget_fail - remember why it cannot go on */
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

/** budget_failed - whether something was refused */
static inline bool budget_failed(struct budget *budget)
{
	return atomic_load_explicit(&budget->failed, memory_order_relaxed) != 0;
}

/*
 * text_hash: a hash of text that a file's author cannot make collide
 *
 * 96 bits, with a secret of this process: equal hashes are taken for equal text, and nothing is
 * compared.  The halves take turns with the words, so that two texts which differ in the words of
 * one half meet with a chance of 2^-64: of a million texts, one pair in 2^25 loads.
 */

struct text_hash {
	uint64_t low;
	uint32_t high;
};

/* Filled once, by text_hash_seed(). */
extern uint64_t text_hash_secret[4];

/**
 * text_hash_seed - make the secret, at the first call
 *
 * Context: any thread; before the first text_hash().
 */
void text_hash_seed(void);

/** text_hash_mix - two words to one, by all the bits of their product */
static inline uint64_t text_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** text_hash - the hash of LEN bytes */
static inline struct text_hash text_hash(const char *text, size_t len)
{
	const uint64_t *secret = text_hash_secret;
	uint64_t words[4];
	uint64_t low = secret[0] ^ len;
	uint64_t high = secret[1];

	for (; len >= sizeof(words); text += sizeof(words), len -= sizeof(words)) {
		memcpy(words, text, sizeof(words));
		low = text_hash_mix(words[0] ^ secret[2], words[1] ^ low);
		high = text_hash_mix(words[2] ^ secret[3], words[3] ^ high);
	}
	memset(words, 0, sizeof(words));
	memcpy(words, text, len);
	low = text_hash_mix(words[0] ^ secret[2], words[1] ^ low);
	high = text_hash_mix(words[2] ^ secret[3], words[3] ^ high);
	return (struct text_hash){text_hash_mix(low ^ secret[1], high ^ secret[0]),
				  (uint32_t)text_hash_mix(low ^ secret[3], high ^ secret[2] ^ low)};
}

/** text_hash_pair - a key of two numbers, which needs no secret: it is all there */
static inline struct text_hash text_hash_pair(uint64_t a, uint64_t b)
{
	return text_hash((const char *)(const uint64_t[]){a, b}, 2 * sizeof(uint64_t));
}

/* number_table: numbers by the hash of what they stand for */

enum { NUMBER_NONE = UINT32_MAX };

/* Of 16 bytes: most of the time of a load is spent waiting for them. */
struct number_slot {
	uint64_t low; /* of the key, both */
	uint32_t high;
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
 */
int number_table_put(struct number_table *table, struct budget *budget, struct text_hash key,
		     uint32_t number);

/** number_table_release - free all */
void number_table_release(struct number_table *table);

struct unique_frame {
	struct profile_frame frame;
	uint64_t at; /* where in the text it was first seen: whose address it has */
};

struct unique_thread {
	uint32_t comm;
	uint32_t file; /* whose host is the thread's */
	int32_t pid;
	int32_t tid;
};

/*
 * What is refused (see budget_failed()) has number 0, so that callers need no check each time: a
 * load that failed makes no profile.
 */
struct uniques {
	struct budget *budget;
	bool by_offset; /* frames of a function differ by their place in it */
	char *bytes;    /* strings with their NULs */
	size_t n_bytes, max_bytes;
	size_t *starts; /* of the strings in BYTES; 0 is "" */
	size_t n_strings, max_strings;
	struct unique_frame *frames;
	size_t n_frames, max_frames;
	struct profile_node *nodes; /* 0 is the root */
	size_t n_nodes, max_nodes;
	struct unique_thread *threads;
	size_t n_threads, max_threads;
	struct number_table string_table, frame_table, node_table, thread_table;
};

/**
 * uniques_init - with "" and the root in it
 *
 * Context: any thread; one user at a time, as for all of these.
 */
void uniques_init(struct uniques *uniques, struct budget *budget);

/** uniques_release - free all */
void uniques_release(struct uniques *uniques);

/** uniques_string - the number of LEN bytes, which hold no NUL */
uint32_t uniques_string(struct uniques *uniques, const char *text, size_t len);

/**
 * uniques_text - a string by its number
 *
 * Owns:    the table; good until the next string comes.
 */
const char *uniques_text(const struct uniques *uniques, uint32_t string);

/**
 * uniques_frame - the number of a function
 * @at: where in the text it stands; the address that was seen first stays
 */
uint32_t uniques_frame(struct uniques *uniques, const struct profile_frame *frame, uint64_t at);

/** uniques_node - the number of a stack: FRAME, called from PARENT */
uint32_t uniques_node(struct uniques *uniques, uint32_t parent, uint32_t frame);

/** uniques_thread - the number of a thread */
uint32_t uniques_thread(struct uniques *uniques, const struct unique_thread *thread);

#endif
