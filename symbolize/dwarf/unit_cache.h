/*
 * unit_cache.h - the units that a reader has loaded, with their abbreviations and function indexes
 *
 * An index says which functions of a unit have code where, and what qualifies their names. A first
 * walk sees the top level and namespaces, and jumps over the bodies of classes and functions where
 * DW_AT_sibling tells how. What is in them (functions of local classes) it only sees when
 * everything is walked, which an address without a function causes.
 *
 * The scopes are the entries with children that qualify names: namespaces, classes, functions. One
 * that was jumped over is opened when a name from within is requested.
 *
 * Context: any thread, one at a time, unless a function says otherwise.
 */
#ifndef DWARF_UNIT_CACHE_H
#define DWARF_UNIT_CACHE_H

#include "symbolize/dwarf/die.h"
#include "symbolize/dwarf/file.h"
#include "symbolize/elf/elf_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INDEX_MAX_RANGES = 1024 * 1024, /* of functions in a unit */
	INDEX_MAX_OVERLAP = 64,         /* ranges read for an address */
};

#define SCOPE_NONE UINT32_MAX

struct index_range {
	uint64_t lo;
	uint64_t hi;
	uint64_t max_hi; /* of this one and those before it */
	uint64_t die;    /* of the function, in .debug_info */
};

/* Offsets are from the unit's header. */
struct scope {
	uint32_t die;
	uint32_t end;
	uint32_t parent;  /* an earlier one of the same list; SCOPE_NONE: the unit */
	uint32_t opened;  /* of what was jumped over, where it is in `opened`, from 1 on */
	uint32_t ordinal; /* of a class without a name: among those of its parent, from 1 on */
	bool closed;      /* was jumped over */
};

struct scope_list {
	struct scope *scopes; /* in order of offsets, parents first */
	size_t n_scopes;
	size_t size;
};

/* Zero is empty. */
struct function_index {
	struct index_range *ranges; /* by lo; of the same lo the narrower later */
	size_t n_ranges;
	size_t size_ranges;
	bool complete; /* everything was walked */
	struct scope_list scopes;
	struct scope_list *opened; /* what is in scopes that were jumped over */
	size_t n_opened;
	size_t size_opened;
};

enum {
	UNIT_CACHE_BUCKETS = 256,
	UNIT_CACHE_MAX_UNITS = 512,
	UNIT_CACHE_MAX_BYTES = 24 * 1024 * 1024, /* of indexes */
};

struct loaded_unit {
	struct die_unit die;
	struct function_index index;
	bool indexed;
	bool refused; /* it cannot be walked */
	struct loaded_unit *next;
};

struct unit_cache {
	struct dwarf_file *file;
	struct abbrev_cache abbrevs;
	struct loaded_unit *buckets[UNIT_CACHE_BUCKETS];
	size_t n_units;
	size_t n_bytes;
};

/**
 * unit_cache_get - the unit whose header is at OFFSET
 * @skeleton: of a split unit; NULL: it is none
 *
 * Return:  0; -EBADMSG; -ENOMEM.
 * Owns:    the cache, until unit_cache_release().
 */
int unit_cache_get(struct unit_cache *cache, const struct dwarf_source *source, uint64_t offset,
		   const struct dwarf_unit *skeleton, struct loaded_unit **ret_unit);

/**
 * unit_cache_target - where a reference leads, without looking there
 *
 * Return:  false: it is no reference to an entry, or to a file that is not there.
 */
bool unit_cache_target(const struct loaded_unit *from, const struct form_value *value,
		       const struct dwarf_source **ret_source, uint64_t *ret_offset);

/**
 * unit_cache_around - the unit that an entry is in
 * @near: is tried first
 *
 * Return:  0; -ENOENT; -EBADMSG; -ENOMEM.
 * Owns:    the cache.
 */
int unit_cache_around(struct unit_cache *cache, struct loaded_unit *near,
		      const struct dwarf_source *source, uint64_t offset,
		      struct loaded_unit **ret_unit);

/**
 * unit_cache_index - walk a unit, or walk it again to see everything
 * @everything: also what could be jumped over
 *
 * Return:  0; -EBADMSG: it is refused; -ENOMEM.
 */
int unit_cache_index(struct unit_cache *cache, struct loaded_unit *unit, bool everything);

/** unit_cache_full - is there more in it than should be kept? */
bool unit_cache_full(const struct unit_cache *cache);

/** unit_cache_release - forget everything; it is empty and usable */
void unit_cache_release(struct unit_cache *cache);

/**
 * function_index_read - walk a unit
 * @head: ranges outside its executable segments are dropped; NULL: only scopes are wanted
 * @everything: also bodies and classes that could be jumped over
 *
 * Return:  0; -EBADMSG; -E2BIG; -ENOMEM.
 * Owns:    the caller; function_index_release().
 * Context: any thread, one at a time for one index, as for all of these.
 */
int function_index_read(const struct die_unit *unit, const struct elf_head *head, bool everything,
			struct function_index *ret_index);

/**
 * function_index_release - give back the memory; an empty one is fine
 *
 * Context: any thread.
 */
void function_index_release(struct function_index *index);

/**
 * function_index_find - the function with code at an address; of several the narrowest range's
 *
 * Return:  the offset of its entry in .debug_info; 0: there is none.
 * Context: any thread.
 */
uint64_t function_index_find(const struct function_index *index, uint64_t addr);

/**
 * function_index_gap - the addresses around ADDR, within [*LO, *HI), that no function has
 *
 * Context: any thread.
 */
void function_index_gap(const struct function_index *index, uint64_t addr, uint64_t *lo,
			uint64_t *hi);

/**
 * function_index_scope - the innermost scope that an entry is in
 * @die: its offset in .debug_info
 *
 * Return:  the scope's offset in .debug_info; 0: the unit itself, or it cannot be read.
 * Context: any thread.
 */
uint64_t function_index_scope(struct function_index *index, const struct die_unit *unit,
			      uint64_t die);

/**
 * function_index_ordinal - which of the nameless classes in its scope a class is
 * @die: its offset in .debug_info
 *
 * Return:  1 or more.
 * Context: any thread.
 */
unsigned function_index_ordinal(struct function_index *index, const struct die_unit *unit,
				uint64_t die);

#endif
