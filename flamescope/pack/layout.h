/* layout.h - the bytes of pack.h as C has them; only for little-endian machines */
#ifndef PACK_LAYOUT_H
#define PACK_LAYOUT_H

#include "flamescope/profile.h"

#include <stdint.h>
#include <stdio.h>

static const char pack_magic[8] = {'w', 'i', 'c', 'k', 'p', 'a', 'c', 'k'};

enum {
	PACK_NAME_BYTES = 16,
	PACK_FIXED_SECTIONS = 19,
	PACK_MAX_SECTIONS = PACK_FIXED_SECTIONS + PROFILE_MAX_TAGS + 2 * PROFILE_MAX_METRICS,
};

struct pack_head {
	char magic[8];
	uint32_t version;
	uint32_t n_sections;
	uint64_t bytes;
};

struct pack_section {
	char name[PACK_NAME_BYTES];
	uint64_t offset;
	uint64_t count;
	uint32_t size; /* of an element */
	uint32_t crc;  /* CRC-32, as in zlib */
};

/**
 * pack_name - the name of a numbered section: "value", 3, "_step": value3_step
 * @number: less than 256, as there are of each
 *
 * Context: any thread.
 */
static inline void pack_name(char name[PACK_NAME_BYTES], const char *what, size_t number,
			     const char *end)
{
	(void)snprintf(name, PACK_NAME_BYTES, "%.5s%u%.5s", what, (uint8_t)number, end);
}

_Static_assert(sizeof(struct pack_head) == 24, "pack.h says so");
_Static_assert(sizeof(struct pack_section) == 40, "pack.h says so");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are written as they are");

#endif
