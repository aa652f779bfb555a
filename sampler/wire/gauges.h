/* gauges.h - the table of gauges that include/wick.h keeps in a program, as the collector reads it
 */
#ifndef WIRE_GAUGES_H
#define WIRE_GAUGES_H

#include <stdint.h>

/*
 * Each module that uses wick.h has one table in its data and a note (PT_NOTE) that gives its place:
 * name "wick", type GAUGES_NOTE, 8 bytes: the table's address minus that of these bytes. The
 * collector reads both from outside; the program does not notice.
 */
enum {
	GAUGES_NOTE = 0x67, /* 'g'; another layout has another type */
	GAUGES_SLOTS = 64,
	GAUGES_NAME_BYTES = 24,
};

enum gauge_state {
	GAUGE_FREE = 0,
	GAUGE_TAKEN = 1, /* its name is being written */
	GAUGE_READY = 2,
};

struct gauge_slot {
	uint32_t state; /* enum gauge_state; written last */
	uint32_t pad;
	char name[GAUGES_NAME_BYTES]; /* [a-z0-9_]+, NUL-terminated */
	uint64_t address;             /* address of the int64_t in the program that is read */
	int64_t value;                /* the value of wick_gauge_set(); address then points here */
};

struct gauge_table {
	struct gauge_slot slots[GAUGES_SLOTS];
};

_Static_assert(sizeof(struct gauge_slot) == 48, "docs/wire.md");
_Static_assert(sizeof(struct gauge_table) == 3072, "docs/wire.md");

#endif
