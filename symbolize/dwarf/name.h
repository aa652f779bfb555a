/*
 * name.h - what a function is called
 *
 * Its linkage name, where the compiler gave it one.  Else its name, qualified by what it is in:
 * namespaces, classes and functions.  Either may stand in the entry that it is an instance of
 * (DW_AT_abstract_origin) or completes (DW_AT_specification), in another unit or file.
 *
 * Context: any thread, one at a time.
 */
#ifndef DWARF_NAME_H
#define DWARF_NAME_H

#include "base/intern.h"
#include "symbolize/dwarf/unit_cache.h"

#include <stddef.h>
#include <stdint.h>

enum {
	NAME_MAX_CHAIN = 16,         /* entries that refer to each other */
	NAME_MAX_SCOPES = 64,        /* in each other */
	NAME_MAX_BYTES = 16 * 1024,  /* the rest is cut off */
	NAME_MEMO_MAX = 1024 * 1024, /* names kept */
	NAME_MEMO_MAX_BYTES = 32 * 1024 * 1024,
};

/* The name of an entry, and what its reader knows of it. */
struct name_entry {
	const struct dwarf_source *source; /* NULL: free */
	uint64_t key;                      /* offset * 2 + kind */
	const char *name;
	uint32_t round;  /* of the function that NUMBER belongs to; 0: none */
	uint32_t number; /* in a function's table */
};

/* The names of entries that were requested.  Zero is empty. */
struct name_memo {
	struct name_entry *entries;
	size_t n_entries;
	size_t size; /* a power of two, or 0 */
	struct intern strings;
	size_t n_bytes; /* of strings */
};

/**
 * name_of_function - the name of the function whose entry is at OFFSET
 * @near: a unit that is tried first
 *
 * Return:  the entry, whose name is "" when it has none, or none can be read; NULL: memory ran out.
 * Owns:    the memo until the next question; the name is its, or the source's, until
 *          name_memo_release().
 */
struct name_entry *name_of_function(struct name_memo *memo, struct unit_cache *cache,
				    struct loaded_unit *near, const struct dwarf_source *source,
				    uint64_t offset);

/** name_memo_full - is there more in it than should be kept? */
bool name_memo_full(const struct name_memo *memo);

/** name_memo_release - forget everything; it is empty and usable */
void name_memo_release(struct name_memo *memo);

#endif
