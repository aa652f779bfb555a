/* tables.h - exact counts of tasks, requests and tiers, as include/wick.h keeps them in a program
 * and the collector reads them from outside */
#ifndef WIRE_TABLES_H
#define WIRE_TABLES_H

#include "sampler/wire/context.h"

#include <stdint.h>

/*
 * Each module that uses wick.h has a note (PT_NOTE; name "wick", type TABLES_NOTE) whose 24 bytes
 * are a struct tables_note.  It leads to the module's struct tables_anchor, which points to the
 * struct tables_state of the program: one for all modules that the linker lets share a symbol.
 *
 * The collector writes until, mult, clock, session and stall of the state, until last; the program
 * writes the rest. Nothing is counted unless the clock is before `until`, which the collector moves
 * on while it records.
 *
 * Tables are made by mmap when something is counted for the first time.  Each thread has a block
 * that only it writes, with plain stores, and that fork wipes (MADV_WIPEONFORK).  The block of a
 * thread that has ended goes to a later thread, with all that was counted in it: counts only grow.
 * Times are in ticks of the clock, unless they are called ns.
 */
enum {
	TABLES_NOTE = 0x74, /* 't'; another layout has another type */
	TABLES_ABI = 1,
	TABLES_NAMES = 4096,
	TABLES_IDENTITIES = 1024, /* of the names; further ones count as TABLES_OTHER */
	TABLES_NODES = 4096,
	TABLES_CELLS = 4096,
	TABLES_THREADS = 1024,
	TABLES_INDEX = 8192, /* entries of a hash index: numbers, 0 is free */
	TABLES_NAME_BYTES = 108,
	TABLES_DEPTH = 64, /* tasks that run inside each other in a thread */
	TABLES_OCTAVES = 36,
	TABLES_STEPS = 64, /* buckets of an octave */
	TABLES_CHUNKS = 4096,
	TABLES_OTHER = 1, /* name and node 1: for what there was no room for */
	TABLES_MISUSES = 8,
	TABLES_RECENT = 64,
	TABLES_ATTR_BYTES = 128,
};

struct tables_note {
	int64_t anchor; /* address of the anchor minus the address of this field */
	/* Offset of wick_thread_1 in the module's TLS block; below 0, as lld writes it into
	 * executables, from the thread pointer. */
	int64_t thread;
	int64_t otel; /* the same of otel_thread_ctx_v1 */
};

struct tables_anchor {
	uint64_t abi;   /* TABLES_ABI */
	uint64_t state; /* address of the struct tables_state that the module uses */
};

enum tables_clock {
	TABLES_TSC = 1,       /* rdtsc */
	TABLES_MONOTONIC = 2, /* clock_gettime(CLOCK_MONOTONIC), ns */
};

enum tables_misuse {
	MISUSE_REQUEST_END = 0,  /* end of a request that was not begun, or was ended before */
	MISUSE_TASK_RUN = 1,     /* run of a task that runs, has finished or was not created */
	MISUSE_TASK_SUSPEND = 2, /* suspend of a task that does not run in this thread */
	MISUSE_TASK_FINISH = 3,  /* finish of a task that has finished or was not created */
	MISUSE_ORDER = 4,        /* a task was suspended while another ran inside it */
	MISUSE_DEPTH = 5,        /* more than TABLES_DEPTH tasks inside each other */
};

struct tables_state {
	uint32_t abi;
	uint32_t bytes; /* of this struct */
	uint64_t until; /* collector: ticks; 0: nobody records */
	uint64_t mult;  /* collector: ns of a tick, times 2^32 */
	uint64_t stall; /* collector: a task that runs longer without a pause is a stall; 0: none */
	uint32_t clock; /* collector: enum tables_clock */
	uint32_t session; /* collector: another one, not 0, for each recording and after each gap
			     between leases: what ran before it is taken for ended */
	uint64_t tables;  /* address of the struct tables; 0: nothing was counted yet */
	uint64_t lost_threads; /* threads that got no block: nothing of them is counted */
	uint64_t misuse[TABLES_MISUSES];
};

enum table_name_kind {
	NAME_IDENTITY = 1,
	NAME_TIER = 2,
	NAME_FUNCTION = 3, /* WICK_PROFILE_FN */
	NAME_TASK = 4,
};

struct table_name {
	uint32_t kind; /* enum table_name_kind; written last (release); 0: none */
	uint32_t hash;
	uint32_t line;                /* of a task or function */
	uint16_t bytes;               /* of the first text */
	uint16_t file_bytes;          /* of the second */
	char text[TABLES_NAME_BYTES]; /* name, NUL, file, NUL */
	uint32_t pad;
};

/* Numbers in keys and rows are those of names[], nodes[] and cells[]; 0 of each is none. */
struct tables {
	uint32_t n_names; /* next free number of each; may be more than there is room for */
	uint32_t n_nodes;
	uint32_t n_cells;
	uint32_t n_threads;
	uint32_t n_identities;
	uint32_t pad;
	uint64_t lost_names; /* times that TABLES_OTHER was used instead */
	uint64_t lost_nodes;
	uint64_t lost_cells;
	uint64_t threads[TABLES_THREADS]; /* addresses of struct table_thread */
	/* What runs inside what: (parent node) << 32 | name of a task, function or tier.  A key may
	 * stand in two places: then the rows are added up. */
	uint64_t nodes[TABLES_NODES];
	/* name of the tier << 32 | name of the identity; tier 0 is the request as a whole */
	uint64_t cells[TABLES_CELLS];
	uint16_t name_index[TABLES_INDEX];
	uint16_t node_index[TABLES_INDEX];
	uint16_t cell_index[TABLES_INDEX];
	struct table_name names[TABLES_NAMES];
	/* For the program alone: the attribute of each name, ready to be copied, and which nodes
	 * have one of the same name around them, so that their time from enter to leave counts
	 * there. */
	uint8_t attrs[TABLES_NAMES][TABLES_ATTR_BYTES];
	uint8_t inside_itself[TABLES_NODES];
};

/* Of a node. */
struct table_node_row {
	uint64_t begun; /* tasks created; functions and tiers entered */
	uint64_t ended; /* tasks finished, but for stillborn ones; functions and tiers left */
	uint64_t self;  /* time in it, and in nothing inside it */
	uint64_t
		wall; /* tasks: from creation to finish; functions and tiers: from enter to leave */
	uint64_t max; /* tasks: the most that one ran until it finished, with functions and tiers,
			 without tasks inside it; functions and tiers: the longest from enter to
			 leave */
	uint64_t run_max;   /* tasks: the longest run without a pause */
	uint32_t stillborn; /* tasks: finished without ever having run */
	uint32_t cancelled;
	uint32_t failed;
	uint32_t stalls;   /* runs of longer than tables_state.stall without a pause */
	uint32_t identity; /* for the program alone: of which a tier counted last, and its cell */
	uint32_t cell;
};

/*
 * Of a cell.  Bucket of a duration: in octave 0, ns / 2 (below 128 ns); in octave k > 0,
 * (ns >> k) - 64 for 2^(k+6) <= ns < 2^(k+7).  So a bucket's middle is within 0.8 % of what is in
 * it.
 */
struct table_cell_row {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t self_ns; /* without tiers inside it */
	uint64_t min_ns;  /* 0 with count 0 */
	uint64_t max_ns;
	uint64_t exemplar_ns; /* one of them: with its trace, and when it ended */
	uint64_t exemplar_ticks;
	uint8_t exemplar_trace[16];
	uint16_t chunks[TABLES_OCTAVES]; /* of table_thread.chunks, plus 1; 0: nothing is in the
					    octave */
};

/* A task that runs, in this thread's order: the last runs now. */
struct table_run {
	uint64_t task;  /* its address, to compare */
	uint64_t ticks; /* that it ran since it began to */
	uint64_t began;
	uint64_t outer_nested;
	struct context_value outer_value;
	uint32_t node;
	uint32_t outer_node;
	uint32_t outer_attrs;
	uint32_t pad;
};

struct table_thread {
	uint32_t tid;  /* 0: free, or wiped by fork */
	uint32_t node; /* that time is charged to since `last` */
	uint64_t last;
	uint64_t nested;   /* time in tiers inside the innermost one */
	uint32_t depth;    /* of runs[] */
	uint32_t n_chunks; /* used */
	uint64_t
		lost_chunks; /* durations that are in no bucket: in count, sum, min and max alone */
	uint64_t random;
	uint32_t session; /* of the state: what the fields above are of; 0: wiped */
	uint32_t number;  /* in tables.threads[] */
	/* Bytes of the record's attributes: of the identity, which comes first; of what was there
	 * when the innermost task began to run; of what was there at wick_profile_start(), plus 1.
	 */
	uint16_t identity_bytes;
	uint16_t base;
	uint16_t profile;
	uint16_t recent[TABLES_RECENT]; /* names of the identities that were used last */
	uint16_t pad;
	struct otel_record record; /* otel_thread_ctx_v1 points here */
	struct table_run runs[TABLES_DEPTH];
	struct table_node_row nodes[TABLES_NODES];
	struct table_cell_row cells[TABLES_CELLS];
	uint32_t chunks[TABLES_CHUNKS][TABLES_STEPS];
};

_Static_assert(sizeof(struct tables_note) == 24, "docs/wire.md");
_Static_assert(sizeof(struct tables_state) == 120, "docs/wire.md");
_Static_assert(sizeof(struct table_name) == 128, "docs/wire.md");
_Static_assert(sizeof(struct table_node_row) == 72, "docs/wire.md");
_Static_assert(sizeof(struct table_cell_row) == 144, "docs/wire.md");
_Static_assert(sizeof(struct table_run) == 80, "docs/wire.md");

#endif
