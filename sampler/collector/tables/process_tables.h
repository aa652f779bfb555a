/*
 * process_tables.h - the tables of include/wick.h in one process: found by notes, switched on by a
 * lease, and read from outside
 *
 * While the collector moves tables_state.until on, the program counts.  When the collector has
 * died, it stops by itself within LEASE_S.
 *
 * Context: collector thread.
 */
#ifndef TABLES_PROCESS_TABLES_H
#define TABLES_PROCESS_TABLES_H

#include "sampler/collector/tables/table_view.h"
#include "sampler/collector/tables/ticks.h"

#include "base/buf.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	LEASE_S = 10,
	LEASE_RENEW_MS = 1000,
	TABLES_READ_MS = 200,           /* between two readings: each pass of the drain thread, */
	TABLES_READ_MOST_MS = 60000,    /* or longer, for tables that take long to read */
	TABLES_STALL_MS = 100,          /* runs of tasks that are longer are stalls */
	TABLES_ROUND_BYTES = 256 << 20, /* in a second; when no more than the next is left of it, */
	TABLES_ALWAYS_BYTES = 2 << 20,  /* what takes more is not read: its last reading stands */
	TABLES_STATES = 16,             /* of one process, ever; further ones are not switched on */
};

/* What all processes of a recording share. */
struct tables_shared {
	struct ticks ticks;
	struct table_scratch *scratch; /* NULL: not needed yet */
	uint32_t session;              /* of the newest lease */
	uint64_t allowed_ns;           /* when bytes_left was all of TABLES_ROUND_BYTES */
	size_t bytes_left;
};

struct process_tables;

/**
 * process_tables_new - of a process whose modules have not been searched yet
 * @clock_offset_ns: its CLOCK_MONOTONIC minus ours
 *
 * Return:  NULL: no memory.
 * Owns:    the caller, to process_tables_free(); it keeps SHARED.
 */
struct process_tables *process_tables_new(struct tables_shared *shared, pid_t pid,
					  int64_t clock_offset_ns);

/** process_tables_free - forget them; NULL is fine, here and below */
void process_tables_free(struct process_tables *tables);

/**
 * process_tables_search - find tables in the modules, and have the program count
 * @maps: its maps file
 *
 * What they have counted before is subtracted from now on.  Some 3 us a module.
 */
void process_tables_search(struct process_tables *tables, const struct buf *maps);

/**
 * process_tables_search_on - search again for some seconds, until there are tables
 *
 * For a process without an agent, which may not even have begun to run its program.
 */
void process_tables_search_on(struct process_tables *tables);

/** process_tables_search_soon - modules have come or gone: search in the next turn */
void process_tables_search_soon(struct process_tables *tables);

/** process_tables_count - whether the program counts, for what is known */
bool process_tables_count(const struct process_tables *tables);

/** process_tables_found - whether it had tables at any time */
bool process_tables_found(const struct process_tables *tables);

/** process_tables_turn - what is due: search again, renew the lease, read */
void process_tables_turn(struct process_tables *tables, uint64_t now_ns);

/** process_tables_read - read now; what cannot be read stays as it was last */
void process_tables_read(struct process_tables *tables);

/**
 * process_tables_leave - read now, because the process says that its memory is about to go
 *
 * One that says so again and again is read for a tenth of the time, and 100 ms more.
 */
void process_tables_leave(struct process_tables *tables, uint64_t now_ns);

/** process_tables_end - read once more, and have the program count no more */
void process_tables_end(struct process_tables *tables);

/**
 * process_tables_add - add what was counted since the beginning, or the last reset
 * @lives: the process does
 *
 * Return:  0; -ENOMEM.
 */
int process_tables_add(const struct process_tables *tables, struct totals_builder *builder,
		       bool lives);

/**
 * process_tables_reset - subtract from now on what the last reading has
 *
 * Return:  0; -ENOMEM, and nothing has changed.
 */
int process_tables_reset(struct process_tables *tables);

#endif
