/*
 * address_cache.h - what is at an address of a module: the function, its line, its inlined calls
 *
 * An entry never changes, and each address is looked up once.  An address without an entry goes
 * into a list of requests, from which a batch (batch.h) is made.
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef SYMBOLIZE_ADDRESS_CACHE_H
#define SYMBOLIZE_ADDRESS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ADDRESS_CACHE_MAX = 512 * 1024 }; /* entries of a module; later ones are not stored */

/* A function at an address.  The entry does not own the strings. */
struct address_function {
	const char *symbol; /* as it is shown; NULL: unknown */
	const char *file;   /* NULL: unknown */
	uint32_t line;      /* 0: unknown */
};

struct address_entry {
	struct address_function function; /* the function that contains the code */
	uint64_t start;                   /* of the symbol shown, an ELF virtual address */
	bool named;                       /* not only by the address where its function begins */
	uint32_t n_inlined;
	struct address_function inlined[]; /* innermost first */
};

struct address_slot {
	uint64_t vaddr;
	struct address_entry *entry; /* NULL: free */
};

/*
 * Zero is empty.
 *
 * Every frame of every sample is looked up here: a table that is at most half full, with linear
 * probing, costs one cache miss.
 */
struct address_cache {
	struct address_slot *slots;
	unsigned bits; /* 2^bits slots */
	size_t n;
	uint64_t *requests;
	size_t n_requests;
	size_t room;
};

/**
 * address_cache_find - the entry of an address
 * @ret_requested: there is no entry yet: the address was requested, or is being looked up
 *
 * Return:  NULL when there is none.
 * Owns:    the cache.
 * Context: main thread, as for all functions of this header.
 */
const struct address_entry *address_cache_find(const struct address_cache *cache, uint64_t vaddr,
					       bool *ret_requested);

/**
 * address_cache_request - add an address to the list of requests
 *
 * Return:  0; -E2BIG: the cache is full and the address gets no entry; -ENOMEM.
 */
int address_cache_request(struct address_cache *cache, uint64_t vaddr);

/**
 * address_cache_take_requests - take the list of requests; it is empty afterwards
 *
 * Return:  their number; *RET_ADDRS is an array of them.
 * Owns:    the caller, to free() the array.
 */
size_t address_cache_take_requests(struct address_cache *cache, uint64_t **ret_addrs);

/**
 * address_entry_new - memory for an entry with so many inlined calls
 *
 * Return:  NULL when memory ran out.
 * Owns:    the caller, to free() or to give to address_cache_add().
 */
struct address_entry *address_entry_new(size_t n_inlined);

/**
 * address_cache_add - store the entry of an address
 *
 * Return:  0; -ENOMEM or -E2BIG: it was not stored and stays the caller's.
 */
int address_cache_add(struct address_cache *cache, uint64_t vaddr, struct address_entry *entry);

/** address_cache_release - free all entries */
void address_cache_release(struct address_cache *cache);

#endif
