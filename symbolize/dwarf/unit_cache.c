/* unit_cache.c - loading units once, by where their header is */
#include "symbolize/dwarf/unit_cache.h"

#include <errno.h>
#include <stdlib.h>

static struct loaded_unit **bucket_of(struct unit_cache *cache, uint64_t offset)
{
	return &cache->buckets[(offset * 0x9e3779b97f4a7c15ULL) >> 56];
}

int unit_cache_get(struct unit_cache *cache, const struct dwarf_source *source, uint64_t offset,
		   const struct dwarf_unit *skeleton, struct loaded_unit **ret_unit)
{
	struct loaded_unit **bucket = bucket_of(cache, offset);
	struct loaded_unit *unit;
	int r;

	for (unit = *bucket; unit; unit = unit->next) {
		if (unit->die.unit.source == source && unit->die.unit.offset == offset) {
			*ret_unit = unit;
			return 0;
		}
	}
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	r = unit_read(source, offset, &unit->die.unit);
	if (r == 0 && skeleton)
		unit_take_skeleton(&unit->die.unit, skeleton);
	if (r == 0)
		r = abbrevs_get(&cache->abbrevs, &unit->die.unit, &unit->die.abbrevs);
	if (r < 0) {
		free(unit);
		return r;
	}
	unit->next = *bucket;
	*bucket = unit;
	cache->n_units++;
	*ret_unit = unit;
	return 0;
}

bool unit_cache_target(const struct loaded_unit *from, const struct form_value *value,
		       const struct dwarf_source **ret_source, uint64_t *ret_offset)
{
	const struct dwarf_unit *unit = &from->die.unit;

	switch (value->class) {
	case FORM_REF_UNIT:
		*ret_source = unit->source;
		return !__builtin_add_overflow(unit->offset, value->number, ret_offset) &&
		       *ret_offset < unit->end;
	case FORM_REF_INFO:
		*ret_source = unit->source;
		*ret_offset = value->number;
		return true;
	case FORM_REF_ALT:
		*ret_source = unit->source->alt;
		*ret_offset = value->number;
		return *ret_source;
	default:
		return false;
	}
}

int unit_cache_around(struct unit_cache *cache, struct loaded_unit *near,
		      const struct dwarf_source *source, uint64_t offset,
		      struct loaded_unit **ret_unit)
{
	const struct dwarf_unit *unit = &near->die.unit;
	uint64_t header;
	int r;

	if (unit->source == source && offset >= unit->offset && offset < unit->end) {
		*ret_unit = near;
		return 0;
	}
	r = dwarf_file_unit_around(cache->file, source, offset, &header);
	return r < 0 ? r : unit_cache_get(cache, source, header, NULL, ret_unit);
}

static size_t index_bytes(const struct function_index *index)
{
	return index->size_ranges * sizeof(*index->ranges) +
	       index->scopes.size * sizeof(*index->scopes.scopes);
}

int unit_cache_index(struct unit_cache *cache, struct loaded_unit *unit, bool everything)
{
	struct function_index index;
	int r;

	if (unit->refused)
		return -EBADMSG;
	if (unit->indexed && (unit->index.complete || !everything))
		return 0;
	r = function_index_read(&unit->die, cache->file->head, everything, &index);
	if (r < 0) {
		unit->refused = r != -ENOMEM;
		return r == -ENOMEM ? r : -EBADMSG;
	}
	cache->n_bytes += index_bytes(&index);
	cache->n_bytes -= index_bytes(&unit->index);
	function_index_release(&unit->index);
	unit->index = index;
	unit->indexed = true;
	return 0;
}

bool unit_cache_full(const struct unit_cache *cache)
{
	return cache->n_units > UNIT_CACHE_MAX_UNITS || cache->n_bytes > UNIT_CACHE_MAX_BYTES ||
	       abbrevs_full(&cache->abbrevs);
}

void unit_cache_release(struct unit_cache *cache)
{
	for (size_t i = 0; i < UNIT_CACHE_BUCKETS; i++) {
		while (cache->buckets[i]) {
			struct loaded_unit *unit = cache->buckets[i];

			cache->buckets[i] = unit->next;
			function_index_release(&unit->index);
			free(unit);
		}
	}
	abbrevs_release(&cache->abbrevs);
	cache->n_units = 0;
	cache->n_bytes = 0;
}
