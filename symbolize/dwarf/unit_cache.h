/*
 * unit_cache.h - the units that a reader has loaded, with their abbreviations and walks
 */
#ifndef DWARF_UNIT_CACHE_H
#define DWARF_UNIT_CACHE_H

#include "symbolize/dwarf/abbrev.h"
#include "symbolize/dwarf/die.h"
#include "symbolize/dwarf/file.h"
#include "symbolize/dwarf/function_index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * Context: any thread, one at a time, as for all of these.
 */
int unit_cache_get(struct unit_cache *cache, const struct dwarf_source *source, uint64_t offset,
		   const struct dwarf_unit *skeleton, struct loaded_unit **ret_unit);

/**
 * unit_cache_target - where a reference leads, without looking there
 *
 * Return:  false: it is no reference to an entry, or to a file that is not there.
 * Context: any thread, one at a time.
 */
bool unit_cache_target(const struct loaded_unit *from, const struct form_value *value,
		       const struct dwarf_source **ret_source, uint64_t *ret_offset);

/**
 * unit_cache_around - the unit that an entry is in
 * @near: is tried first
 *
 * Return:  0; -ENOENT; -EBADMSG; -ENOMEM.
 * Owns:    the cache.
 * Context: any thread, one at a time.
 */
int unit_cache_around(struct unit_cache *cache, struct loaded_unit *near,
		      const struct dwarf_source *source, uint64_t offset,
		      struct loaded_unit **ret_unit);

/**
 * unit_cache_index - walk a unit, or walk it again to see everything
 * @everything: also what could be jumped over
 *
 * Return:  0; -EBADMSG: it is refused; -ENOMEM.
 * Context: any thread, one at a time.
 */
int unit_cache_index(struct unit_cache *cache, struct loaded_unit *unit, bool everything);

/**
 * unit_cache_full - is there more in it than should be kept?
 *
 * Context: any thread, one at a time.
 */
bool unit_cache_full(const struct unit_cache *cache);

/**
 * unit_cache_release - forget everything; it is empty and usable
 *
 * Context: any thread, one at a time.
 */
void unit_cache_release(struct unit_cache *cache);

#endif
