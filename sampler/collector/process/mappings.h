/*
 * mappings.h - what is known of the code in one process, and since when
 *
 * Context: collector thread.
 */
#ifndef PROCESS_MAPPINGS_H
#define PROCESS_MAPPINGS_H

#include "base/buf.h"
#include "base/sample.h"
#include "sampler/remote/ranges.h"
#include "sampler/wire/record.h"

enum {
	MAPS_REREAD_MS =
		100,        /* between two reads of one process for an address without a mapping */
	MAPS_REREADS = 10,  /* of these in a row, after as long a rest */
	MAX_CHANGES = 1024, /* module records of one process in one pass */
	UNPROVEN_PATHS = 4096, /* paths known only from records that maps do not show */
	MAX_MISSES = 64,
	HOPELESS = 64, /* pages without a mapping that are remembered */
	HOPELESS_MS = 1000,
};

/* A module record (start < end) or an unmap record (start == end). */
struct module_changes {
	uint64_t time_ns;
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	const char *path;
};

/*
 * Invariant: `known` is what the events given so far add up to.  Events are made by
 * mappings_update() only, from the changes that the agent reports and a maps file that was read
 * after it.
 */
struct mappings {
	struct ranges known;
	struct intern paths;
	struct intern changed_paths; /* until the changes are applied */
	uint64_t unproven_ns;        /* the second of n_unproven */
	uint32_t n_unproven;         /* modules that only a record tells of */
	uint32_t n_unproven_paths;
	uint64_t n_refused; /* such modules that are not believed: the target made them up */
	uint64_t read_ns;   /* when the maps file was last read; 0: never */
	uint64_t unmap_ns;  /* the latest unmap record's time */
	uint64_t
		reread_ns; /* each read for an address moves it MAPS_REREAD_MS on: see wants_read */
	struct module_changes *changes;
	size_t n_changed;
	uint64_t misses[MAX_MISSES]; /* addresses that nothing known covers */
	size_t n_misses;
	uint64_t hopeless[HOPELESS]; /* pages that a read did not explain, and when */
	uint64_t hopeless_ns[HOPELESS];
};

/* Where mapping events go. */
struct mapping_sink {
	void (*emit)(void *context, const struct mapping *mapping);
	void *context;
};

/** mappings_module - take in a module record; mappings_update() makes events of it */
void mappings_module(struct mappings *mappings, const struct record_module *record,
		     uint64_t time_ns);

/** mappings_unmap - take in an unmap record */
void mappings_unmap(struct mappings *mappings, uint64_t time_ns);

/** mappings_check - remember the pcs of a sample that nothing known covers */
void mappings_check(struct mappings *mappings, const uint64_t *pcs, size_t n, uint64_t now_ns);

/**
 * mappings_wants_read - whether the maps file has to be read now
 *
 * Always for changes; for addresses outside all mappings at most every MAPS_REREAD_MS on average,
 * and MAPS_REREADS of them at once: samples are not held back until the next read is due.
 */
bool mappings_wants_read(const struct mappings *mappings, uint64_t now_ns);

/**
 * mappings_update - make events of the changes and of the maps file
 * @text:   the maps file, read after the changes were added; NULL: it cannot be read
 * @now_ns: before it was read
 *
 * Without a maps file the segments of a new module are taken from its file.
 *
 * Return:  0; -ENOMEM, some events may be missing.
 */
int mappings_update(struct mappings *mappings, const struct buf *text, uint64_t now_ns,
		    const struct mapping_sink *sink);

/** mappings_release - forget all */
void mappings_release(struct mappings *mappings);

#endif
