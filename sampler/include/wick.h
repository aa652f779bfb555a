/*
 * wick.h - what your program tells wick: numbers, requests, tiers, functions and tasks
 *
 * Numbers beside the samples that wick takes:
 *
 *	static int64_t queue_len;
 *
 *	wick_gauge("queue_len", &queue_len);       once; wick reads the variable from then on
 *	wick_counter("cache_hits", &hits);         the same, of a number that only grows
 *	wick_gauge_set("batch_bytes", n_bytes);    sets one that has no variable
 *
 *	wick record --metrics auto,queue_len,cache_hits:counter,batch_bytes -- ./program
 *
 * Names are [a-z0-9_]+, at most 23 bytes, and 64 of them fit in a program and in each of its
 * libraries.  A registered variable must live as long as the module.
 *
 * Whose time it was, counted exactly and told with each sample:
 *
 *	wick_request_begin(&r, "GET /users");      this thread serves a request of that kind
 *	c = wick_context_get();                    to be handed to a queue, thread or callback
 *	old = wick_context_set(c);                 ... which works for the same request
 *	WICK_TIER("db") { ... }                    a part of it
 *	wick_request_end(&r);                      in any thread
 *
 *	void f(void) { WICK_PROFILE_FN; ... }      calls and time of a function
 *
 *	wick_task_create(&task, "name");           of this place in the source; then, in turn:
 *	wick_task_run(&task);                      it runs in this thread, inside of what runs there
 *	wick_task_suspend(&task);                  it is paused
 *	wick_task_finish(&task, WICK_COMPLETED);   it has ended; or WICK_CANCELLED, WICK_FAILED
 *
 * Time is charged to the innermost task, function or tier of a thread.  wick_uv.h and wick_event.h
 * do it for the callbacks of libuv and libevent; wick.hpp has C++ classes.
 *
 * There is nothing to link: what is counted stands in tables of the program's own, which wick finds
 * by a note in the ELF file and reads from outside.  Wrong use is counted, and does no harm.
 *
 * Unless wick records, a call costs less than a nanosecond.  When it does, a request or a tier
 * costs some 33 ns and a switch of tasks 17, of which each reading of the clock is 11.
 *
 * A library that is loaded by dlopen() has tables of its own, unless the program exports its
 * symbols (-rdynamic); they stay when it is unloaded.
 *
 * C99, C11 and C++11, gcc and clang, ELF and x86-64 Linux; elsewhere the calls do nothing.
 *
 * Context: any thread.
 */
#ifndef WICK_H
#define WICK_H

#include <stdint.h>

/* Which request a thread works for, by value: hand it to a queue, a thread or a callback. */
struct wick_context {
	uint8_t trace_id[16]; /* zero: for none */
	uint8_t span_id[8];
	uint32_t identity;
	uint32_t flags; /* of W3C */
};

/* How a task ends. */
enum wick_end { WICK_COMPLETED = 0, WICK_CANCELLED = 1, WICK_FAILED = 2 };

#if defined(__ELF__) && defined(__GNUC__) && defined(__x86_64__) && defined(__LP64__) &&           \
	defined(__linux__)

#ifdef __cplusplus
extern "C" {
#endif

enum { WICK_SLOTS = 64, WICK_NAME_BYTES = 24 };

/* Private, and known to wick's collector: docs/wire.md. */
struct wick_slot {
	uint32_t state; /* 0 free, 1 its name is being written, 2 ready */
	uint32_t pad;
	char name[WICK_NAME_BYTES];
	const volatile int64_t *address;
	int64_t value;
};

struct wick_table {
	struct wick_slot slots[WICK_SLOTS];
};

/* One a module, whatever the number of its files that include this. */
extern struct wick_table wick_table_1 __attribute__((weak, visibility("hidden")));
__attribute__((used)) struct wick_table wick_table_1 = {{{0, 0, {0}, 0, 0}}};

/* How far from the note the table is: no relocation, and nothing of the program runs for it. */
#define WICK_NOTE                                                                                  \
	__asm__(".pushsection .note.wick, \"a\", %note\n"                                          \
		"	.balign 4\n"                                                                     \
		"	.long 5, 8, 0x67\n"                                                              \
		"	.asciz \"wick\"\n"                                                               \
		"	.balign 4\n"                                                                     \
		"	.8byte wick_table_1 - .\n"                                                       \
		"	.popsection\n")

WICK_NOTE;

/**
 * wick_name - NAME with zeros after it
 *
 * Private, as the next.
 *
 * Return:  1; 0 when it can be none.
 * Context: any thread.
 */
static inline int wick_name(const char *name, char ret_name[WICK_NAME_BYTES])
{
	unsigned n = 0;

	for (; *name; name++) {
		if (n == WICK_NAME_BYTES - 1 || !((*name >= 'a' && *name <= 'z') ||
						  (*name >= '0' && *name <= '9') || *name == '_'))
			return 0;
		ret_name[n++] = *name;
	}
	__builtin_memset(ret_name + n, 0, WICK_NAME_BYTES - n);
	return n > 0;
}

/**
 * wick_slot_of - the slot of NAME, claimed when it is new
 *
 * Two threads that claim the same name at once may have a slot each; the first is the name's.
 *
 * Return:  the slot; 0 when there is no room, or NAME is none.
 * Context: any thread.
 */
static inline struct wick_slot *wick_slot_of(const char *name)
{
	char padded[WICK_NAME_BYTES];
	int i;

	if (!wick_name(name, padded))
		return 0;
	for (i = 0; i < WICK_SLOTS; i++) {
		struct wick_slot *slot = &wick_table_1.slots[i];
		uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);

		if (state == 2 && __builtin_memcmp(slot->name, padded, sizeof(padded)) == 0)
			return slot;
		if (state != 0 || !__atomic_compare_exchange_n(&slot->state, &state, 1, 0,
							       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		__builtin_memcpy(slot->name, padded, sizeof(padded));
		slot->address = &slot->value;
		__atomic_store_n(&slot->state, 2, __ATOMIC_RELEASE);
		return slot;
	}
	return 0;
}

/**
 * wick_gauge - have wick read a variable that goes up and down
 * @value: reads and writes of it are the program's affair; wick reads 8 aligned bytes at once
 *
 * A name that is registered again names the new variable.  What does not fit is left out.
 *
 * Context: any thread.  Async-signal-safe.
 */
static inline void wick_gauge(const char *name, const volatile int64_t *value)
{
	struct wick_slot *slot = wick_slot_of(name);

	if (slot)
		__atomic_store_n(&slot->address, value, __ATOMIC_RELEASE);
}

/**
 * wick_counter - have wick read a variable that only grows
 *
 * Context: any thread.  Async-signal-safe.
 */
static inline void wick_counter(const char *name, const volatile int64_t *value)
{
	wick_gauge(name, value);
}

/**
 * wick_gauge_set - set a gauge that has no variable of the program's
 *
 * It searches for the name each time, some 20 ns and 1 for each name before it: a variable of its
 * own is cheaper.
 *
 * Context: any thread.  Async-signal-safe.
 */
static inline void wick_gauge_set(const char *name, int64_t value)
{
	struct wick_slot *slot = wick_slot_of(name);

	if (!slot)
		return;
	__atomic_store_n(&slot->value, value, __ATOMIC_RELAXED);
	if (__atomic_load_n(&slot->address, __ATOMIC_RELAXED) != &slot->value)
		__atomic_store_n(&slot->address, (const volatile int64_t *)&slot->value,
				 __ATOMIC_RELEASE);
}

/*
 * The rest is for requests, tiers, functions and tasks.  What follows is private up to "Requests",
 * and known to wick's collector: docs/wire.md.
 */
enum {
	WICK_TABLES_ABI = 1,
	WICK_NAMES = 4096,
	WICK_IDENTITIES = 1024,
	WICK_NODES = 4096,
	WICK_CELLS = 4096,
	WICK_CELLS_OTHER = 512, /* of the cells: kept for identities that there is no room for */
	WICK_THREADS = 1024,
	WICK_INDEX = 8192,
	WICK_INDEX_BITS = 13,
	WICK_PROBES = 256, /* of an index, before a key counts as lost */
	WICK_TEXT_BYTES = 108,
	WICK_MOST_NAME = 63,
	WICK_MOST_FILE = 40,
	WICK_DEPTH = 64,
	WICK_OCTAVES = 36,
	WICK_STEPS = 64,
	WICK_CHUNKS = 4096,
	WICK_OTHER = 1,
	WICK_MISUSES = 8,
	WICK_RECENT = 64,
	WICK_ATTR_BYTES = 128,
	WICK_MAX_ATTRS = 612,
	WICK_FOLDS = 256 /* nodes around a new one that are looked at */
};

enum { WICK_IDENTITY_KEY = 0, WICK_TASK_KEY = 1, WICK_TIER_KEY = 2, WICK_FUNCTION_KEY = 3 };

enum { WICK_IDENTITY = 1, WICK_TIER_NAME = 2, WICK_FUNCTION = 3, WICK_TASK = 4 };

enum {
	WICK_MISUSE_REQUEST_END = 0,
	WICK_MISUSE_TASK_RUN = 1,
	WICK_MISUSE_TASK_SUSPEND = 2,
	WICK_MISUSE_TASK_FINISH = 3,
	WICK_MISUSE_ORDER = 4,
	WICK_MISUSE_DEPTH = 5
};

struct wick_record {
	uint8_t trace_id[16];
	uint8_t span_id[8];
	uint8_t valid;
	uint8_t trace_flags;
	uint16_t attrs_bytes;
	uint8_t attrs[WICK_MAX_ATTRS];
};

struct wick_thread {
	uint64_t block;
	struct wick_context value;
	uint64_t lost; /* the session, plus 2^32, in which there was no block for this thread */
	uint64_t pad[2];
};

struct wick_anchor {
	uint64_t abi;
	struct wick_state *state;
};

struct wick_state {
	uint32_t abi;
	uint32_t bytes;
	uint64_t until;
	uint64_t mult;
	uint64_t stall;
	uint32_t clock;
	uint32_t session;
	uint64_t tables;
	uint64_t lost_threads;
	uint64_t misuse[WICK_MISUSES];
};

struct wick_text {
	uint32_t kind;
	uint32_t hash;
	uint32_t line;
	uint16_t bytes;
	uint16_t file_bytes;
	char text[WICK_TEXT_BYTES];
	uint32_t pad;
};

struct wick_tables {
	uint32_t n_names;
	uint32_t n_nodes;
	uint32_t n_cells;
	uint32_t n_threads;
	uint32_t n_identities;
	uint32_t pad;
	uint64_t lost_names;
	uint64_t lost_nodes;
	uint64_t lost_cells;
	uint64_t threads[WICK_THREADS];
	uint64_t nodes[WICK_NODES];
	uint64_t cells[WICK_CELLS];
	uint16_t name_index[WICK_INDEX];
	uint16_t node_index[WICK_INDEX];
	uint16_t cell_index[WICK_INDEX];
	struct wick_text names[WICK_NAMES];
	uint8_t attrs[WICK_NAMES][WICK_ATTR_BYTES];
	uint8_t inside_itself[WICK_NODES];
};

struct wick_node_row {
	uint64_t begun;
	uint64_t ended;
	uint64_t self;
	uint64_t wall;
	uint64_t max;
	uint64_t run_max;
	uint32_t stillborn;
	uint32_t cancelled;
	uint32_t failed;
	uint32_t stalls;
	uint32_t identity;
	uint32_t cell;
};

struct wick_cell_row {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t self_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t exemplar_ns;
	uint64_t exemplar_ticks;
	uint8_t exemplar_trace[16];
	uint16_t chunks[WICK_OCTAVES];
};

struct wick_run {
	uint64_t task;
	uint64_t ticks;
	uint64_t began;
	uint64_t outer_nested;
	struct wick_context outer_value;
	uint32_t node;
	uint32_t outer_node;
	uint32_t outer_attrs; /* bytes behind the identity */
	uint32_t pad;
};

struct wick_block {
	uint32_t tid;
	uint32_t node;
	uint64_t last;
	uint64_t nested;
	uint32_t depth;
	uint32_t n_chunks;
	uint64_t lost_chunks;
	uint64_t random;
	uint32_t session;
	uint32_t number;
	uint16_t identity_bytes;
	uint16_t base;
	uint16_t profile;
	uint16_t recent[WICK_RECENT];
	uint16_t pad;
	struct wick_record record;
	struct wick_run runs[WICK_DEPTH];
	struct wick_node_row nodes[WICK_NODES];
	struct wick_cell_row cells[WICK_CELLS];
	uint32_t chunks[WICK_CHUNKS][WICK_STEPS];
};

/* Of a place in the source: a tier, function or task. */
struct wick_site {
	uint64_t place;  /* the first one that it was in */
	uint32_t number; /* of its name, once that is known */
	uint32_t line;
	const char *name; /* 0: not known to the compiler */
	const char *function;
	const char *file;
};

/* The first two are one a program where the linker lets modules share them. */
extern struct wick_state wick_state_1 __attribute__((weak, visibility("default")));
extern __thread struct wick_thread wick_thread_1 __attribute__((weak, visibility("default")));
extern __thread void *otel_thread_ctx_v1 __attribute__((weak, visibility("default")));
extern struct wick_anchor wick_anchor_1 __attribute__((weak, visibility("hidden")));
__attribute__((used)) struct wick_state wick_state_1 = {
	WICK_TABLES_ABI, sizeof(struct wick_state), 0, 0, 0, 0, 0, 0, 0, {0}};
__attribute__((used)) __thread struct wick_thread wick_thread_1 = {0, {{0}, {0}, 0, 0}, 0, {0}};
__attribute__((used)) __thread void *otel_thread_ctx_v1 = 0;
__attribute__((used)) struct wick_anchor wick_anchor_1 = {WICK_TABLES_ABI, &wick_state_1};

#define WICK_TABLES_NOTE                                                                           \
	__asm__(".pushsection .note.wick, \"a\", %note\n"                                          \
		"	.balign 4\n"                                                                     \
		"	.long 5, 24, 0x74\n"                                                             \
		"	.asciz \"wick\"\n"                                                               \
		"	.balign 4\n"                                                                     \
		"	.8byte wick_anchor_1 - .\n"                                                      \
		"	.8byte wick_thread_1@dtpoff\n"                                                   \
		"	.8byte otel_thread_ctx_v1@dtpoff\n"                                              \
		"	.popsection\n")

WICK_TABLES_NOTE;

#define WICK_ALWAYS __attribute__((always_inline))
/* Called out of line; and left out where nothing calls it, with or without optimisation. */
#ifdef __OPTIMIZE__
#define WICK_COUNTED static __attribute__((noinline, unused))
#else
#define WICK_COUNTED static inline __attribute__((unused))
#endif
#define WICK_COLD        WICK_COUNTED __attribute__((cold))
#define WICK_LIKELY(x)   (__builtin_expect(!!(x), 1) != 0)
#define WICK_UNLIKELY(x) (__builtin_expect(!!(x), 0) != 0)
/* What another thread published is seen whole: x86 orders all loads and all stores. */
#define WICK_LOAD(from)       __atomic_load_n(from, __ATOMIC_ACQUIRE)
#define WICK_STORE(to, value) __atomic_store_n(to, value, __ATOMIC_RELEASE)
/* What a handler of this thread may read of its record is written in this order. */
#define WICK_FENCE(record) __asm__ volatile("" : "+m"(*(record)))

struct wick_timespec {
	long sec;
	long nsec;
};

/**
 * wick_clock_gettime - clock_gettime() of the C library, whose header leaves it out in strict C99
 */
extern int wick_clock_gettime(int clock, struct wick_timespec *ret_now) __asm__("clock_gettime");

/**
 * wick_syscall - a system call that leaves errno alone
 *
 * Return:  what the kernel returns: -errno on failure.
 */
WICK_COLD long wick_syscall(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = -1;
	register long r9 __asm__("r9") = 0;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

enum { WICK_MMAP = 9, WICK_MUNMAP = 11, WICK_MADVISE = 28, WICK_GETPID = 39 };
enum { WICK_GETTID = 186, WICK_TGKILL = 234, WICK_GETRANDOM = 318 };

/**
 * wick_map - BYTES of zeros that take memory when they are written
 *
 * Return:  the bytes; 0 on failure.
 */
WICK_COLD void *wick_map(unsigned long bytes)
{
	/* PROT_READ | PROT_WRITE; MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE */
	long at = wick_syscall(WICK_MMAP, 0, (long)bytes, 3, 0x2 | 0x20 | 0x4000);

	return at < 0 && at > -4096 ? 0 : (void *)at;
}

/** wick_monotonic - ns of CLOCK_MONOTONIC */
WICK_COLD uint64_t wick_monotonic(void)
{
	struct wick_timespec now = {0, 0};

	(void)wick_clock_gettime(1, &now);
	return (uint64_t)now.sec * 1000000000U + (uint64_t)now.nsec;
}

/** wick_ticks - the time, by the clock that the collector chose */
static inline uint64_t wick_ticks(void)
{
#ifdef WICK_TICKS
	return WICK_TICKS();
#else
	if (WICK_LIKELY(WICK_LOAD(&wick_state_1.clock) == 1))
		return __builtin_ia32_rdtsc();
	return wick_monotonic();
#endif
}

/**
 * wick_since - how long after THEN is NOW
 *
 * Return:  ticks; 0 when it is before.
 */
static inline uint64_t wick_since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/** wick_misuse - count a call that made no sense */
WICK_COLD void wick_misuse(int which)
{
	(void)__atomic_fetch_add(&wick_state_1.misuse[which], 1, __ATOMIC_RELAXED);
}

/**
 * wick_tables_new - the tables of the program, made when they are not there yet
 *
 * Return:  the tables; 0 when there is no memory.
 */
WICK_COLD struct wick_tables *wick_tables_new(void)
{
	uint64_t is = __atomic_load_n(&wick_state_1.tables, __ATOMIC_ACQUIRE);
	struct wick_tables *tables;

	if (is)
		return (struct wick_tables *)is;
	tables = (struct wick_tables *)wick_map(sizeof(*tables));
	if (!tables)
		return 0;
	tables->n_names = tables->n_nodes = WICK_OTHER + 1;
	tables->n_cells = tables->n_identities = 1;
	tables->nodes[WICK_OTHER] = WICK_OTHER;
	__builtin_memcpy(tables->names[WICK_OTHER].text, "other", 5);
	tables->names[WICK_OTHER].bytes = 5;
	tables->names[WICK_OTHER].kind = WICK_IDENTITY;
	__builtin_memcpy(tables->attrs[WICK_OTHER], "\0\5other", 7);
	if (__atomic_compare_exchange_n(&wick_state_1.tables, &is, (uint64_t)tables, 0,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return tables;
	(void)wick_syscall(WICK_MUNMAP, (long)tables, sizeof(*tables), 0, 0);
	return (struct wick_tables *)is;
}

/** wick_tables_now - the tables, which the thread's block came after */
static inline struct wick_tables *wick_tables_now(void)
{
	return (struct wick_tables *)__atomic_load_n(&wick_state_1.tables, __ATOMIC_RELAXED);
}

/**
 * wick_block_take - make BLOCK this thread's if its owner is OWNER
 *
 * Return:  1; 0 when another thread was quicker.
 */
WICK_COLD int wick_block_take(struct wick_block *block, uint32_t number, uint32_t owner)
{
	uint32_t tid = (uint32_t)wick_syscall(WICK_GETTID, 0, 0, 0, 0);

	if (!__atomic_compare_exchange_n(&block->tid, &owner, tid, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return 0;
	block->number = number;
	block->session = 0;
	return 1;
}

/**
 * wick_block_reuse - a block that no thread has: it was wiped by fork, or its thread has ended
 *
 * Return:  the block; 0 when all are in use.
 */
WICK_COLD struct wick_block *wick_block_reuse(struct wick_tables *tables)
{
	uint32_t n = __atomic_load_n(&tables->n_threads, __ATOMIC_ACQUIRE);
	long tid = wick_syscall(WICK_GETTID, 0, 0, 0, 0);
	long pid = wick_syscall(WICK_GETPID, 0, 0, 0, 0);
	uint32_t i;
	int dead;

	for (dead = 0; dead < 2; dead++)
		for (i = 0; i < n && i < WICK_THREADS; i++) {
			struct wick_block *block = (struct wick_block *)__atomic_load_n(
				&tables->threads[i], __ATOMIC_ACQUIRE);
			uint32_t owner = block ? WICK_LOAD(&block->tid) : 0;

			if (!block || (!dead && owner != 0 && owner != (uint32_t)tid))
				continue;
			if (dead && wick_syscall(WICK_TGKILL, pid, (long)owner, 0, 0) != -3)
				continue; /* -ESRCH: there is no such thread */
			if (wick_block_take(block, i, owner))
				return block;
		}
	return 0;
}

/**
 * wick_block_new - a block more
 *
 * Return:  the block; 0 when there is no room or memory.
 */
WICK_COLD struct wick_block *wick_block_new(struct wick_tables *tables)
{
	struct wick_block *block;
	uint32_t number;

	if (WICK_LOAD(&tables->n_threads) >= WICK_THREADS)
		return 0;
	block = (struct wick_block *)wick_map(sizeof(*block));
	if (!block)
		return 0;
	/* MADV_WIPEONFORK */
	(void)wick_syscall(WICK_MADVISE, (long)block, sizeof(*block), 18, 0);
	number = __atomic_fetch_add(&tables->n_threads, 1, __ATOMIC_RELAXED);
	if (number >= WICK_THREADS) {
		(void)wick_syscall(WICK_MUNMAP, (long)block, sizeof(*block), 0, 0);
		return 0;
	}
	(void)wick_block_take(block, number, 0);
	__atomic_store_n(&tables->threads[number], (uint64_t)block, __ATOMIC_RELEASE);
	return block;
}

/**
 * wick_attr_of - the attribute of a name, ready to be copied
 *
 * Return:  WICK_ATTR_BYTES bytes, of which the first 2 + the second count.
 */
static inline const uint8_t *wick_attr_of(const struct wick_tables *tables, uint32_t name)
{
	return tables->attrs[name & (WICK_NAMES - 1)];
}

/** wick_attr_add - put an attribute behind the others of the record, if there is room */
static inline WICK_ALWAYS void wick_attr_add(struct wick_block *block, const uint8_t *attr)
{
	uint32_t at = block->record.attrs_bytes;
	uint32_t bytes = 2U + attr[1];

	if (WICK_UNLIKELY(at > WICK_MAX_ATTRS - WICK_ATTR_BYTES))
		return;
	__builtin_memcpy(block->record.attrs + at, attr, 32);
	if (WICK_UNLIKELY(bytes > 32))
		__builtin_memcpy(block->record.attrs + at + 32, attr + 32, WICK_ATTR_BYTES - 32);
	WICK_FENCE(&block->record);
	block->record.attrs_bytes = (uint16_t)(at + bytes);
	WICK_FENCE(&block->record);
}

/** wick_attr_cut - take away the attributes behind the first BYTES */
static inline void wick_attr_cut(struct wick_block *block, uint32_t bytes)
{
	if (WICK_LIKELY(bytes <= block->record.attrs_bytes))
		block->record.attrs_bytes = (uint16_t)bytes;
	WICK_FENCE(&block->record);
}

/**
 * wick_identity_move - put another identity before the attributes that are there
 *
 * The record is not valid meanwhile.
 */
WICK_COLD void wick_identity_move(struct wick_block *block, const uint8_t *attr, uint32_t bytes)
{
	struct wick_record *record = &block->record;
	uint32_t tail = record->attrs_bytes - (uint32_t)block->identity_bytes;
	uint32_t base = block->base - (uint32_t)block->identity_bytes;

	if (bytes + tail > WICK_MAX_ATTRS)
		tail = WICK_MAX_ATTRS - bytes;
	__builtin_memmove(record->attrs + bytes, record->attrs + block->identity_bytes, tail);
	__builtin_memcpy(record->attrs, attr, bytes);
	block->identity_bytes = (uint16_t)bytes;
	block->base = (uint16_t)(bytes + base);
	record->attrs_bytes = (uint16_t)(bytes + tail);
}

/**
 * wick_identity_write - make an identity the first attribute
 *
 * The record is not valid meanwhile.
 */
static inline WICK_ALWAYS void wick_identity_write(struct wick_block *block, uint32_t identity)
{
	const uint8_t *attr = wick_attr_of(wick_tables_now(), identity);
	uint32_t bytes = identity ? 2U + attr[1] : 0;

	if (WICK_UNLIKELY(block->record.attrs_bytes != block->identity_bytes ||
			  block->base != block->identity_bytes || bytes > 64)) {
		wick_identity_move(block, attr, bytes);
		return;
	}
	__builtin_memcpy(block->record.attrs, attr, 32);
	if (WICK_UNLIKELY(bytes > 32))
		__builtin_memcpy(block->record.attrs + 32, attr + 32, 32);
	block->identity_bytes = block->base = (uint16_t)bytes;
	block->record.attrs_bytes = (uint16_t)bytes;
}

/* A context in registers.  It is always written in these halves: the processor is slow to read as a
 * whole what was just written in parts. */
typedef uint64_t wick_half __attribute__((vector_size(16)));
struct wick_halves {
	wick_half trace;
	wick_half rest; /* the span; flags << 32 | identity */
};

static const struct wick_context wick_nobody = {{0}, {0}, 0, 0};

/** wick_halves_of - read a context */
static inline struct wick_halves wick_halves_of(const struct wick_context *value)
{
	struct wick_halves halves;

	__builtin_memcpy(&halves.trace, value->trace_id, 16);
	__builtin_memcpy(&halves.rest, value->span_id, 16);
	__asm__("" : "+x"(halves.trace), "+x"(halves.rest));
	return halves;
}

/** wick_halves_put - write a context */
static inline void wick_halves_put(struct wick_context *ret_value, struct wick_halves halves)
{
	__asm__("" : "+x"(halves.trace), "+x"(halves.rest));
	__builtin_memcpy(ret_value->trace_id, &halves.trace, 16);
	__builtin_memcpy(ret_value->span_id, &halves.rest, 16);
}

/** wick_value_set - which request this thread works for from now on */
static inline WICK_ALWAYS void wick_value_set(struct wick_block *block, struct wick_halves halves)
{
	struct wick_record *record = &block->record;
	uint32_t before = wick_thread_1.value.identity;
	uint32_t identity = (uint32_t)halves.rest[1];
	uint64_t span = halves.rest[0];

	record->valid = 0;
	WICK_FENCE(record);
	wick_halves_put(&wick_thread_1.value, halves);
	__builtin_memcpy(record->trace_id, &halves.trace, 16);
	__builtin_memcpy(record->span_id, &span, 8);
	record->trace_flags = (uint8_t)(halves.rest[1] >> 32);
	if (WICK_UNLIKELY(identity != before))
		wick_identity_write(block, identity);
	WICK_FENCE(record);
	record->valid = 1;
}

/** wick_block_reset - begin anew: nothing runs in this thread */
WICK_COLD void wick_block_reset(struct wick_block *block, uint64_t now)
{
	struct wick_halves halves = wick_halves_of(&wick_thread_1.value);

	block->record.valid = 0;
	WICK_FENCE(&block->record);
	block->depth = 0;
	block->node = 0;
	block->nested = 0;
	block->last = now;
	block->identity_bytes = block->base = block->profile = 0;
	block->record.attrs_bytes = 0;
	wick_thread_1.value.identity = 0;
	block->session = WICK_LOAD(&wick_state_1.session);
	wick_value_set(block, halves);
	if (block->random == 0) {
		(void)wick_syscall(WICK_GETRANDOM, (long)&block->random, 8, 1, 0);
		block->random ^= (uint64_t)block->tid << 32 ^ now ^ (uint64_t)&wick_thread_1;
	}
}

/**
 * wick_prepare - this thread's block, for the session that is
 *
 * Return:  the block; 0 when there is none to be had.
 */
WICK_COLD struct wick_block *wick_prepare(uint64_t now)
{
	struct wick_block *old = (struct wick_block *)wick_thread_1.block;
	uint64_t session = UINT64_C(1) << 32 | WICK_LOAD(&wick_state_1.session);
	struct wick_block *block = old && WICK_LOAD(&old->tid) ? old : 0;
	struct wick_tables *tables;

	if (wick_thread_1.lost == session)
		return 0;
	tables = block ? 0 : wick_tables_new();
	if (tables) {
		block = wick_block_reuse(tables);
		if (!block)
			block = wick_block_new(tables);
	}
	if (!block) {
		wick_thread_1.lost = session;
		(void)__atomic_fetch_add(&wick_state_1.lost_threads, 1, __ATOMIC_RELAXED);
		return 0;
	}
	wick_thread_1.block = (uint64_t)block;
	wick_block_reset(block, now);
	if (!otel_thread_ctx_v1 || (old && otel_thread_ctx_v1 == &old->record))
		otel_thread_ctx_v1 = &block->record;
	return block;
}

/**
 * wick_recording - this thread's block and the time, when somebody records
 *
 * Return:  the block; 0 when nothing is to be counted.
 */
static inline WICK_ALWAYS struct wick_block *wick_recording(uint64_t *ret_now)
{
	struct wick_block *block = (struct wick_block *)wick_thread_1.block;
	uint64_t now = wick_ticks();

	*ret_now = now;
	if (WICK_UNLIKELY(now >= WICK_LOAD(&wick_state_1.until)))
		return 0;
	if (WICK_LIKELY(block && block->session == WICK_LOAD(&wick_state_1.session)))
		return block;
	return wick_prepare(now);
}

/** wick_on - whether somebody seems to record */
static inline int wick_on(void)
{
	return WICK_UNLIKELY(WICK_LOAD(&wick_state_1.until) != 0);
}

/**
 * wick_hash - where in an index a key is to be looked for first
 *
 * Return:  below WICK_INDEX.
 */
static inline uint32_t wick_hash(uint64_t key)
{
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - WICK_INDEX_BITS));
}

/**
 * wick_number - the next free number of a table
 *
 * Return:  the number; 0 when all of the first MOST are in use.
 */
WICK_COLD uint32_t wick_number(uint32_t *next, uint32_t most)
{
	uint32_t number = WICK_LOAD(next);

	if (number >= most)
		return 0;
	number = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
	return number < most ? number : 0;
}

/**
 * wick_key_find - the number of a key among those that an index leads to
 *
 * Return:  the number; 0 when it is not there: then *ret_at is a free entry of the index, or
 *          WICK_INDEX.
 */
WICK_COLD uint32_t wick_key_find(const uint16_t *index, const uint64_t *keys, uint64_t key,
				 uint32_t *ret_at)
{
	uint32_t at = wick_hash(key);
	uint32_t i;

	for (i = 0; i < WICK_PROBES; i++, at = (at + 1) & (WICK_INDEX - 1)) {
		uint32_t number = __atomic_load_n(&index[at], __ATOMIC_ACQUIRE);

		*ret_at = at;
		if (!number)
			return 0;
		if (WICK_LOAD(&keys[number & (WICK_NODES - 1)]) == key)
			return number & (WICK_NODES - 1);
	}
	*ret_at = WICK_INDEX;
	return 0;
}

/**
 * wick_key_add - write a new key and lead to it
 *
 * Return:  NUMBER, or that of another thread that was quicker with the same key.
 */
WICK_COLD uint32_t wick_key_add(uint16_t *index, uint64_t *keys, uint64_t key, uint32_t number)
{
	uint32_t at;

	WICK_STORE(&keys[number], key);
	for (;;) {
		uint32_t is = wick_key_find(index, keys, key, &at);
		uint16_t free_entry = 0;

		if (is || at == WICK_INDEX)
			return is ? is : number;
		if (__atomic_compare_exchange_n(&index[at], &free_entry, (uint16_t)number, 0,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return number;
	}
}

/**
 * wick_around - the nearest node of the same name around a new one
 *
 * Tasks may have been created by one of the same name; tiers and functions are inside of what the
 * same task entered.
 *
 * Return:  the node; 0 when there is none.
 */
WICK_COLD uint32_t wick_around(const struct wick_tables *tables, uint32_t parent, uint32_t name)
{
	int of_task = tables->names[name & (WICK_NAMES - 1)].kind == WICK_TASK;
	int i;

	for (i = 0; i < WICK_FOLDS && parent > WICK_OTHER; i++) {
		uint64_t key = WICK_LOAD(&tables->nodes[parent & (WICK_NODES - 1)]);

		if ((uint32_t)key == name)
			return parent;
		if (!of_task && tables->names[key & (WICK_NAMES - 1)].kind == WICK_TASK)
			return 0;
		parent = (uint32_t)(key >> 32);
	}
	return 0;
}

/**
 * wick_node_new - the node of NAME in PARENT, made when it is not there yet
 *
 * In recursion the second level is a node of its own, and stands for all that are deeper.
 *
 * Return:  the node; WICK_OTHER when there is no room.
 */
WICK_COLD uint32_t wick_node_new(struct wick_tables *tables, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;
	uint32_t at;
	uint32_t around;
	uint32_t node = wick_key_find(tables->node_index, tables->nodes, key, &at);

	if (node)
		return node;
	around = wick_around(tables, parent, name);
	if (around && WICK_LOAD(&tables->inside_itself[around]))
		return around;
	node = at == WICK_INDEX || parent == WICK_OTHER ? 0
							: wick_number(&tables->n_nodes, WICK_NODES);
	if (!node) {
		(void)__atomic_fetch_add(&tables->lost_nodes, 1, __ATOMIC_RELAXED);
		return WICK_OTHER;
	}
	WICK_STORE(&tables->inside_itself[node], (uint8_t)(around != 0));
	return wick_key_add(tables->node_index, tables->nodes, key, node);
}

/** wick_node_of - the node of NAME in PARENT */
static inline uint32_t wick_node_of(struct wick_tables *tables, uint32_t parent, uint32_t name)
{
	uint64_t key = (uint64_t)parent << 32 | name;
	uint32_t node = WICK_LOAD(&tables->node_index[wick_hash(key)]);

	if (WICK_LIKELY(node && WICK_LOAD(&tables->nodes[node]) == key))
		return node;
	return wick_node_new(tables, parent, name);
}

/**
 * wick_cell_new - the cell of a tier and an identity, made when it is not there yet
 *
 * Return:  the cell; that of the tier and other identities when there is no room; 0: nor for that.
 */
WICK_COLD uint32_t wick_cell_new(struct wick_tables *tables, uint32_t tier, uint32_t identity)
{
	for (;;) {
		uint64_t key = (uint64_t)tier << 32 | identity;
		uint32_t kept = identity == WICK_OTHER ? 0 : WICK_CELLS_OTHER;
		uint32_t at;
		uint32_t cell = wick_key_find(tables->cell_index, tables->cells, key, &at);

		if (cell)
			return cell;
		if (at != WICK_INDEX && key != 0)
			cell = wick_number(&tables->n_cells, WICK_CELLS - kept);
		if (cell)
			return wick_key_add(tables->cell_index, tables->cells, key, cell);
		(void)__atomic_fetch_add(&tables->lost_cells, 1, __ATOMIC_RELAXED);
		if (identity == WICK_OTHER)
			return 0;
		identity = WICK_OTHER;
	}
}

/**
 * wick_cell_of - the cell of a tier and an identity
 *
 * Return:  the cell; 0: there is none.
 */
static inline uint32_t wick_cell_of(struct wick_tables *tables, uint32_t tier, uint32_t identity)
{
	uint64_t key = (uint64_t)tier << 32 | identity;
	uint32_t cell = WICK_LOAD(&tables->cell_index[wick_hash(key)]);

	if (WICK_LIKELY(cell && WICK_LOAD(&tables->cells[cell]) == key))
		return cell;
	return wick_cell_new(tables, tier, identity);
}

/* What a name is looked for by. */
struct wick_wanted {
	uint32_t kind;
	uint32_t line;
	uint32_t hash;
	uint16_t bytes;
	uint16_t file_bytes;
	const char *text;
	const char *file;
};

/**
 * wick_wanted_of - what a name is looked for by: at most 63 bytes of it, and of the file its name
 * @file: or 0
 */
WICK_COLD struct wick_wanted wick_wanted_of(uint32_t kind, const char *text, const char *file,
					    uint32_t line)
{
	struct wick_wanted want = {kind, line, 2166136261U ^ kind ^ line << 3, 0, 0, text, file};
	const char *slash;

	while (want.bytes < WICK_MOST_NAME && text[want.bytes])
		want.hash = (want.hash ^ (uint8_t)text[want.bytes++]) * 16777619U;
	for (slash = file; slash && *slash; slash++)
		if (*slash == '/')
			want.file = slash + 1;
	while (want.file && want.file_bytes < WICK_MOST_FILE && want.file[want.file_bytes])
		want.hash = (want.hash ^ (uint8_t)want.file[want.file_bytes++]) * 16777619U;
	return want;
}

/** wick_text_is - whether a name of the tables is the one that is looked for */
WICK_COLD int wick_text_is(const struct wick_text *name, const struct wick_wanted *want)
{
	return name->hash == want->hash &&
	       __atomic_load_n(&name->kind, __ATOMIC_ACQUIRE) == want->kind &&
	       name->line == want->line && name->bytes == want->bytes &&
	       name->file_bytes == want->file_bytes &&
	       __builtin_memcmp(name->text, want->text, want->bytes) == 0 &&
	       (!want->file_bytes ||
		__builtin_memcmp(name->text + want->bytes + 1, want->file, want->file_bytes) == 0);
}

/**
 * wick_attr_write - the attribute of a name: TEXT, or TEXT@FILE:LINE
 * @ret_attr: zeros before
 */
WICK_COLD void wick_attr_write(uint8_t *ret_attr, const struct wick_wanted *want)
{
	char digits[10];
	uint32_t line = want->line;
	uint32_t n = 2;
	int i = 0;

	__builtin_memcpy(ret_attr + n, want->text, want->bytes);
	n += want->bytes;
	if (want->file) {
		ret_attr[n++] = '@';
		__builtin_memcpy(ret_attr + n, want->file, want->file_bytes);
		n += want->file_bytes;
		ret_attr[n++] = ':';
		do
			digits[i++] = (char)('0' + line % 10);
		while ((line /= 10) != 0);
		while (i > 0)
			ret_attr[n++] = (uint8_t)digits[--i];
	}
	ret_attr[0] = (uint8_t)(want->kind == WICK_IDENTITY    ? WICK_IDENTITY_KEY
				: want->kind == WICK_TASK      ? WICK_TASK_KEY
				: want->kind == WICK_TIER_NAME ? WICK_TIER_KEY
							       : WICK_FUNCTION_KEY);
	ret_attr[1] = (uint8_t)(n - 2);
}

/**
 * wick_text_new - write a name
 *
 * Return:  its number; 0 when there is no room.
 */
WICK_COLD uint32_t wick_text_new(struct wick_tables *tables, const struct wick_wanted *want)
{
	struct wick_text *name;
	uint32_t number;

	if (want->kind == WICK_IDENTITY && !wick_number(&tables->n_identities, WICK_IDENTITIES))
		return 0;
	number = wick_number(&tables->n_names, WICK_NAMES);
	if (!number)
		return 0;
	name = &tables->names[number];
	__builtin_memcpy(name->text, want->text, want->bytes);
	if (want->file_bytes)
		__builtin_memcpy(name->text + want->bytes + 1, want->file, want->file_bytes);
	name->bytes = want->bytes;
	name->file_bytes = want->file_bytes;
	name->line = want->line;
	name->hash = want->hash;
	wick_attr_write(tables->attrs[number], want);
	__atomic_store_n(&name->kind, want->kind, __ATOMIC_RELEASE);
	return number;
}

/**
 * wick_intern - the number of a name, the same for the same text, file and line
 * @file: or 0
 *
 * Return:  the number; WICK_OTHER when there is no room.
 */
WICK_COLD uint32_t wick_intern(uint32_t kind, const char *text, const char *file, uint32_t line)
{
	struct wick_tables *tables = wick_tables_now();
	struct wick_wanted want = wick_wanted_of(kind, text, file, line);
	uint32_t at = wick_hash(want.hash);
	uint32_t number = 0;
	int i;

	for (i = 0; i < WICK_PROBES; at = (at + 1) & (WICK_INDEX - 1), i++) {
		uint16_t is = __atomic_load_n(&tables->name_index[at], __ATOMIC_ACQUIRE);

		if (!is && !number)
			number = wick_text_new(tables, &want);
		if (!is && !number)
			break;
		if (!is &&
		    __atomic_compare_exchange_n(&tables->name_index[at], &is, (uint16_t)number, 0,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return number;
		if (wick_text_is(&tables->names[is & (WICK_NAMES - 1)], &want))
			return is;
	}
	(void)__atomic_fetch_add(&tables->lost_names, 1, __ATOMIC_RELAXED);
	return WICK_OTHER;
}

/**
 * wick_site_number - the number of a site's name
 * @name: 0: that of the function
 * @file: 0: it does not matter where the name stands
 */
WICK_COLD uint32_t wick_site_number(struct wick_site *site, uint32_t kind, const char *name,
				    const char *file)
{
	uint32_t number =
		wick_intern(kind, name ? name : site->function, file, file ? site->line : 0);

	if (name == site->name && number != WICK_OTHER)
		WICK_STORE(&site->number, number);
	return number;
}

/** wick_ns - ticks in ns */
static inline uint64_t wick_ns(uint64_t ticks)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)ticks * WICK_LOAD(&wick_state_1.mult) >> 32);
}

/**
 * wick_octave_new - make room for an octave of a cell
 *
 * Return:  its chunk plus 1; 0 when there is no room.
 */
WICK_COLD uint32_t wick_octave_new(struct wick_block *block, struct wick_cell_row *row,
				   uint32_t octave)
{
	if (block->n_chunks >= WICK_CHUNKS) {
		block->lost_chunks++;
		return 0;
	}
	row->chunks[octave] = (uint16_t)++block->n_chunks;
	return block->n_chunks;
}

/**
 * wick_bucket - the bucket of a duration
 *
 * The exponent of a double is the octave, and the first 6 bits of its fraction are the step.
 *
 * Return:  below WICK_OCTAVES * WICK_STEPS.
 */
static inline WICK_ALWAYS uint32_t wick_bucket(uint64_t ns)
{
	uint64_t most = (UINT64_C(1) << (WICK_OCTAVES + 6)) - 1;
	double as_double = (double)(int64_t)(ns < most ? ns : most);
	uint64_t bits;

	__builtin_memcpy(&bits, &as_double, 8);
	return (uint32_t)(ns < 128 ? ns >> 1 : (bits >> 46) - ((1023 + 6) << 6));
}

/** wick_bucket_count - count a duration in its bucket */
static inline WICK_ALWAYS void wick_bucket_count(struct wick_block *block,
						 struct wick_cell_row *row, uint64_t ns)
{
	uint32_t bucket = wick_bucket(ns);
	uint32_t chunk = row->chunks[bucket / WICK_STEPS];

	if (WICK_UNLIKELY(!chunk))
		chunk = wick_octave_new(block, row, bucket / WICK_STEPS);
	if (WICK_LIKELY(chunk))
		block->chunks[chunk - 1][bucket % WICK_STEPS]++;
}

/** wick_exemplar - keep one of a cell's durations with its trace, and how long the shortest was */
WICK_COLD void wick_exemplar(struct wick_cell_row *row, uint64_t ns, uint64_t now,
			     const struct wick_context *of)
{
	if (row->count == 0)
		row->min_ns = ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	if (!of->identity)
		return;
	row->exemplar_ns = ns;
	row->exemplar_ticks = now;
	__builtin_memcpy(row->exemplar_trace, of->trace_id, 16);
}

/**
 * wick_cell_count - count a duration of a tier, or of a whole request
 * @inside: of it, how long tiers inside of it took
 * @of: the request
 */
static inline WICK_ALWAYS void wick_cell_count(struct wick_block *block, uint32_t cell,
					       uint64_t ticks, uint64_t inside, uint64_t now,
					       const struct wick_context *of)
{
	struct wick_cell_row *row = &block->cells[cell];
	uint64_t ns = wick_ns(ticks);
	uint64_t count = row->count;

	__asm__("" : "+r"(ns), "+r"(count)); /* no vectors of what is added up */
	if (WICK_UNLIKELY(ns > row->max_ns || (count & 63) == 0))
		wick_exemplar(row, ns, now, of);
	if (WICK_UNLIKELY(ns < row->min_ns))
		row->min_ns = ns;
	row->count = count + 1;
	row->sum_ns += ns;
	if (WICK_UNLIKELY(inside != 0))
		row->self_ns -= wick_ns(inside < ticks ? inside : ticks);
	row->self_ns += ns;
	wick_bucket_count(block, row, ns);
}

/** wick_charge - the time until NOW to the node that ran, and the time from now on to NODE */
static inline void wick_charge(struct wick_block *block, uint64_t now, uint32_t node)
{
	block->nodes[block->node].self +=
		now - block->last; /* right as a sum, whatever the order */
	block->last = now;
	block->node = node;
}

/* Requests */

struct wick_request {
	uint64_t word; /* its address and state */
	uint64_t began;
	uint64_t nested;
	uint64_t block;
	struct wick_context own;
	struct wick_context outer;
};

#define WICK_BEGUN     UINT64_C(0x9bd1e14f3a5c0001)
#define WICK_UNCOUNTED UINT64_C(0x9bd1e14f3a5c0002)

/**
 * wick_random - a number for a trace or span, never 0
 *
 * Return:  the number (splitmix64, Vigna).
 */
static inline uint64_t wick_random(struct wick_block *block)
{
	uint64_t z = block->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) | 1;
}

/**
 * wick_identity_of - the number of an identity
 * @site: 0, or where it is always the same
 *
 * What was at the same address before is looked at first, and compared: the caller may have changed
 * it.
 */
static inline uint32_t wick_identity_of(struct wick_block *block, struct wick_site *site,
					const char *identity)
{
	uint16_t *recent;
	const struct wick_text *name;

	if (WICK_LIKELY(site && site->name)) {
		if (WICK_UNLIKELY(!WICK_LOAD(&site->number)))
			(void)wick_site_number(site, WICK_IDENTITY, identity, 0);
		return site->number ? site->number : (uint32_t)WICK_OTHER;
	}
	identity = identity ? identity : "";
	recent = &block->recent[wick_hash((uint64_t)identity) & (WICK_RECENT - 1)];
	name = &wick_tables_now()->names[*recent & (WICK_NAMES - 1)];
	if (WICK_UNLIKELY(!*recent || __builtin_strncmp(name->text, identity, WICK_MOST_NAME) != 0))
		*recent = (uint16_t)wick_intern(WICK_IDENTITY, identity, 0, 0);
	return *recent;
}

/** wick_context_zero - whether a context is that of no request */
static inline int wick_context_zero(const struct wick_context *c)
{
	uint64_t half[2];

	__builtin_memcpy(half, c->trace_id, 16);
	return (half[0] | half[1]) == 0;
}

/** wick_request_count_begin - wick_request_begin() when somebody records */
WICK_COUNTED void wick_request_count_begin(struct wick_request *r, struct wick_site *site,
					   const char *identity)
{
	struct wick_block *block = wick_recording(&r->began);
	struct wick_halves halves;

	r->word = (uint64_t)r ^ WICK_UNCOUNTED;
	if (WICK_UNLIKELY(!block))
		return;
	r->word = (uint64_t)r ^ WICK_BEGUN;
	r->block = (uint64_t)block;
	r->nested = block->nested;
	halves = wick_halves_of(&wick_thread_1.value);
	wick_halves_put(&r->outer, halves);
	if ((halves.trace[0] | halves.trace[1]) == 0) {
		halves.trace[0] = wick_random(block);
		halves.trace[1] = wick_random(block);
		halves.rest[1] = UINT64_C(1) << 32;
	}
	halves.rest[0] = wick_random(block);
	halves.rest[1] =
		(halves.rest[1] & ~UINT64_C(0xffffffff)) | wick_identity_of(block, site, identity);
	wick_halves_put(&r->own, halves);
	wick_value_set(block, halves);
	if (WICK_UNLIKELY(!otel_thread_ctx_v1))
		otel_thread_ctx_v1 = &block->record;
}

/** wick_request_begin_at - wick_request_begin() at a site */
static inline void wick_request_begin_at(struct wick_request *r, struct wick_site *site,
					 const char *identity)
{
	if (wick_on())
		wick_request_count_begin(r, site, identity);
	else
		r->word = (uint64_t)r ^ WICK_UNCOUNTED;
}

/** wick_request_begin_as - wick_request_begin() whose identity is no literal */
static inline void wick_request_begin_as(struct wick_request *r, const char *identity)
{
	wick_request_begin_at(r, 0, identity);
}

/**
 * wick_block_here - this thread's block, whether anybody records or not
 *
 * Return:  the block; 0 when there is none that anything was counted in.
 */
static inline struct wick_block *wick_block_here(void)
{
	struct wick_block *block = (struct wick_block *)wick_thread_1.block;

	return block && block->session ? block : 0;
}

/**
 * wick_context_set - have this thread work for another request
 *
 * Return:  what it worked for before.
 */
static inline struct wick_context wick_context_set(struct wick_context c)
{
	struct wick_context before = wick_thread_1.value;
	struct wick_block *block = wick_block_here();

	if (WICK_UNLIKELY(block != 0))
		wick_value_set(block, wick_halves_of(&c));
	else
		wick_thread_1.value = c;
	return before;
}

/**
 * wick_context_get - which request this thread works for
 *
 * Return:  its context, to be handed on; zero: none.
 */
static inline struct wick_context wick_context_get(void)
{
	return wick_thread_1.value;
}

/** wick_request_count_end - wick_request_end() of a request whose begin was counted */
WICK_COUNTED void wick_request_count_end(struct wick_request *r)
{
	uint64_t now;
	struct wick_block *block = wick_recording(&now);
	struct wick_block *here = block ? block : wick_block_here();
	/* Its begin wrote it. NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	uint32_t identity = r->own.identity & (WICK_NAMES - 1);
	uint32_t cell = block ? wick_cell_of(wick_tables_now(), 0, identity) : 0;

	if (WICK_LIKELY(cell))
		wick_cell_count(block, cell, wick_since(now, r->began),
				(uint64_t)block == r->block ? wick_since(block->nested, r->nested)
							    : 0,
				now, &r->own);
	r->word = 0;
	if (__builtin_memcmp(wick_thread_1.value.span_id, r->own.span_id, 8) != 0)
		return;
	if (here)
		wick_value_set(here, wick_halves_of(&r->outer));
	else
		wick_thread_1.value = r->outer;
}

/**
 * wick_request_end - end a request, in any thread
 *
 * If the thread works for it, it works from now on for what the other did before the begin.
 */
static inline void wick_request_end(struct wick_request *r)
{
	if (WICK_UNLIKELY(r->word == ((uint64_t)r ^ WICK_BEGUN)))
		wick_request_count_end(r);
	else if (wick_on() && r->word != ((uint64_t)r ^ WICK_UNCOUNTED))
		wick_misuse(WICK_MISUSE_REQUEST_END);
}

/**
 * wick_hex - what N pairs of hexadecimal digits say
 *
 * Return:  1; 0 when they are none.  A capital letter is none (W3C Trace Context 3.2.2).
 */
WICK_COLD int wick_hex(uint8_t *ret_bytes, const char *text, int n)
{
	int i;

	for (i = 0; i < 2 * n; i++) {
		char c = text[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0)
			return 0;
		ret_bytes[i / 2] = (uint8_t)(i % 2 ? ret_bytes[i / 2] << 4 | digit : digit);
	}
	return 1;
}

/**
 * wick_traceparent_parse - the context that a header "traceparent" hands over
 * @ret: zero on failure
 * @text: "00-TRACE-SPAN-FLAGS", or a later version's; blanks, or the line's end, may follow
 *
 * Return:  0; -1 when it is none.
 */
WICK_COUNTED int wick_traceparent_parse(struct wick_context *ret, const char *text)
{
	struct wick_context got;
	uint8_t version;
	uint8_t flags;
	uint64_t span;
	int i;

	__builtin_memset(ret, 0, sizeof(*ret));
	__builtin_memset(&got, 0, sizeof(got));
	while (*text == ' ' || *text == '\t')
		text++;
	for (i = 0; i < 55; i++)
		if (!text[i])
			return -1;
	if (!wick_hex(&version, text, 1) || text[2] != '-' ||
	    !wick_hex(got.trace_id, text + 3, 16) || text[35] != '-' ||
	    !wick_hex(got.span_id, text + 36, 8) || text[52] != '-' ||
	    !wick_hex(&flags, text + 53, 1) || version == 255)
		return -1;
	if (text[55] && text[55] != ' ' && text[55] != '\t' && text[55] != '\r' &&
	    text[55] != '\n' && (version == 0 || text[55] != '-'))
		return -1;
	__builtin_memcpy(&span, got.span_id, 8);
	if (wick_context_zero(&got) || span == 0)
		return -1;
	got.flags = flags;
	*ret = got;
	return 0;
}

/**
 * wick_traceparent_write - the value of a header "traceparent" for a context
 * @text: 55 bytes and a NUL; all zero digits for no context
 */
WICK_COUNTED void wick_traceparent_write(const struct wick_context *c, char text[56])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t bytes[26];
	int n = 0;
	int i;

	bytes[0] = 0;
	__builtin_memcpy(bytes + 1, c->trace_id, 16);
	__builtin_memcpy(bytes + 17, c->span_id, 8);
	bytes[25] = (uint8_t)c->flags;
	for (i = 0; i < 26; i++) {
		if (i == 1 || i == 17 || i == 25)
			text[n++] = '-';
		text[n++] = digits[bytes[i] >> 4];
		text[n++] = digits[bytes[i] & 15];
	}
	text[n] = 0;
}

/* Tiers and functions */

struct wick_scope {
	uint64_t began; /* 0: not counted */
	uint64_t nested;
	uint64_t place;
	uint32_t identity;
	uint32_t attrs;
};

/*
 * A place in the tree: node around << 48 | node << 32 | its name << 16 | whether its time from
 * enter to leave counts, as it is not inside itself.
 */
enum { WICK_PARENT = 48, WICK_NODE = 32, WICK_NAME = 16, WICK_WHOLE = 1 };

/** wick_place - the place of a tier or function in a node */
WICK_COLD uint64_t wick_place(struct wick_site *site, uint32_t kind, const char *name,
			      uint32_t parent)
{
	struct wick_tables *tables = wick_tables_now();
	uint32_t number = name == site->name ? WICK_LOAD(&site->number) : 0;
	uint32_t node;
	uint64_t place;

	if (!number)
		number = wick_site_number(site, kind, name, kind == WICK_FUNCTION ? site->file : 0);
	node = wick_node_of(tables, parent, number);
	place = (uint64_t)parent << WICK_PARENT | (uint64_t)node << WICK_NODE |
		(uint64_t)number << WICK_NAME | !WICK_LOAD(&tables->inside_itself[node]);
	if (name == site->name && WICK_LOAD(&site->place) == 0)
		WICK_STORE(&site->place, place);
	return place;
}

/** wick_scope_enter - enter a tier or function */
static inline WICK_ALWAYS void wick_scope_enter(struct wick_scope *ret, struct wick_site *site,
						uint32_t kind, const char *name)
{
	uint64_t now;
	struct wick_block *block = wick_recording(&now);
	uint64_t place = WICK_LOAD(&site->place);
	uint32_t node;

	if (WICK_UNLIKELY(!block))
		return;
	if (WICK_UNLIKELY(place >> WICK_PARENT != block->node || name != site->name || !place))
		place = wick_place(site, kind, name, block->node);
	node = (uint32_t)(place >> WICK_NODE) & (WICK_NODES - 1);
	ret->began = now;
	ret->nested = block->nested;
	ret->place = place;
	ret->identity = wick_thread_1.value.identity;
	ret->attrs = (uint32_t)(block->record.attrs_bytes - block->base);
	wick_charge(block, now, node);
	block->nodes[node].begun++;
	block->nested = 0;
	wick_attr_add(block, wick_attr_of(wick_tables_now(), (uint32_t)(place >> WICK_NAME)));
}

/** wick_scope_cell - the cell of a tier that is left */
static inline WICK_ALWAYS uint32_t wick_scope_cell(struct wick_node_row *row, uint64_t place,
						   uint32_t identity)
{
	if (WICK_UNLIKELY(row->identity != identity || !row->cell)) {
		row->cell = wick_cell_of(wick_tables_now(), place >> WICK_NAME & (WICK_NAMES - 1),
					 identity & (WICK_NAMES - 1));
		row->identity = identity;
	}
	return row->cell;
}

/** wick_scope_count - the counts of what is left */
static inline WICK_ALWAYS void wick_scope_count(struct wick_block *block, struct wick_scope scope,
						int of_tier, uint64_t now, uint64_t inside)
{
	uint64_t ticks = wick_since(now, scope.began);
	struct wick_node_row *row = &block->nodes[scope.place >> WICK_NODE & (WICK_NODES - 1)];
	uint32_t cell;

	row->ended++;
	if (WICK_UNLIKELY(!(scope.place & WICK_WHOLE)))
		return;
	row->wall += ticks;
	if (WICK_UNLIKELY(ticks > row->max))
		row->max = ticks;
	cell = of_tier ? wick_scope_cell(row, scope.place, scope.identity) : 0;
	if (of_tier && WICK_LIKELY(cell))
		wick_cell_count(block, cell, ticks, inside, now,
				scope.identity == wick_thread_1.value.identity
					? &wick_thread_1.value
					: &wick_nobody);
}

/**
 * wick_scope_stray - leave a scope elsewhere than in the thread and task that entered it, or when
 * nobody records any more
 * @block: 0: nobody records
 */
WICK_COLD void wick_scope_stray(struct wick_block *block, struct wick_scope *scope, int of_tier,
				uint64_t now)
{
	struct wick_block *here = block ? block : wick_block_here();

	if (here && here->node == (scope->place >> WICK_NODE & (WICK_NODES - 1))) {
		wick_attr_cut(here, here->base + scope->attrs);
		here->node = (uint32_t)(scope->place >> WICK_PARENT) & (WICK_NODES - 1);
		here->nested = scope->nested;
	}
	if (block)
		wick_scope_count(block, *scope, of_tier, now, 0);
	scope->began = 0;
}

/** wick_scope_end - leave a tier or function */
static inline WICK_ALWAYS void wick_scope_end(struct wick_scope *scope, int of_tier)
{
	uint64_t now;
	struct wick_block *block = wick_recording(&now);
	struct wick_scope was = *scope;
	uint64_t inside;

	if (WICK_UNLIKELY(!block || block->node != (was.place >> WICK_NODE & (WICK_NODES - 1)))) {
		wick_scope_stray(block, scope, of_tier, now);
		return;
	}
	scope->began = 0;
	inside = block->nested;
	block->nested = was.nested +
			(of_tier && (was.place & WICK_WHOLE) ? wick_since(now, was.began) : inside);
	wick_charge(block, now, (uint32_t)(was.place >> WICK_PARENT) & (WICK_NODES - 1));
	wick_attr_cut(block, block->base + was.attrs);
	wick_scope_count(block, was, of_tier, now, inside);
}

/** wick_tier_count_leave - wick_scope_leave() of what was counted at enter */
WICK_COUNTED void wick_tier_count_leave(struct wick_scope *scope)
{
	wick_scope_end(scope, 1);
}

/** wick_function_count_leave - the same for a function */
WICK_COUNTED void wick_function_count_leave(struct wick_scope *scope)
{
	wick_scope_end(scope, 0);
}

/** wick_scope_leave - leave a tier */
static inline void wick_scope_leave(struct wick_scope *scope)
{
	if (WICK_UNLIKELY(scope->began != 0))
		wick_tier_count_leave(scope);
}

/** wick_function_leave - leave a function */
static inline void wick_function_leave(struct wick_scope *scope)
{
	if (WICK_UNLIKELY(scope->began != 0))
		wick_function_count_leave(scope);
}

/** wick_tier_count_enter - wick_tier_enter() when somebody records */
WICK_COUNTED void wick_tier_count_enter(struct wick_scope *ret, struct wick_site *site,
					const char *name)
{
	wick_scope_enter(ret, site, WICK_TIER_NAME, name);
}

/** wick_function_count_enter - the same for a function */
WICK_COUNTED void wick_function_count_enter(struct wick_scope *ret, struct wick_site *site)
{
	wick_scope_enter(ret, site, WICK_FUNCTION, site->name);
}

/* A tier that no thread is in, as the wait in a queue. */
struct wick_span {
	uint64_t began; /* 0: not counted */
	uint32_t tier;
	uint32_t pad;
	struct wick_context context;
};

/** wick_span_count_begin - wick_span_begin() when somebody records */
WICK_COUNTED void wick_span_count_begin(struct wick_span *ret, struct wick_site *site,
					const char *name)
{
	struct wick_block *block = wick_recording(&ret->began);

	if (!block) {
		ret->began = 0;
		return;
	}
	ret->tier = WICK_LOAD(&site->number);
	if (!ret->tier || name != site->name)
		ret->tier = wick_site_number(site, WICK_TIER_NAME, name, 0);
}

/** wick_span_begin_at - wick_span_begin() at a site */
static inline struct wick_span wick_span_begin_at(struct wick_site *site, const char *name,
						  struct wick_context context)
{
	struct wick_span span;

	span.began = 0;
	span.context = context;
	if (wick_on())
		wick_span_count_begin(&span, site, name);
	return span;
}

/** wick_span_end - end a span, in any thread */
WICK_COUNTED void wick_span_end(struct wick_span *span)
{
	uint64_t now = 0;
	struct wick_block *block = span->began ? wick_recording(&now) : 0;
	uint32_t identity = span->context.identity & (WICK_NAMES - 1);
	uint32_t cell =
		block ? wick_cell_of(wick_tables_now(), span->tier & (WICK_NAMES - 1), identity)
		      : 0;

	if (cell)
		wick_cell_count(block, cell, wick_since(now, span->began), 0, now, &span->context);
	span->began = 0;
}

/** wick_profile_start_at - wick_profile_start() at a site */
WICK_COUNTED void wick_profile_start_at(struct wick_site *site)
{
	uint64_t now;
	struct wick_block *block = wick_on() ? wick_recording(&now) : 0;
	uint32_t number;

	if (!block)
		return;
	number = WICK_LOAD(&site->number);
	if (!number)
		number = wick_site_number(site, WICK_FUNCTION, site->name, site->file);
	if (!block->profile)
		block->profile = (uint16_t)(block->record.attrs_bytes - block->base + 1);
	wick_attr_add(block, wick_attr_of(wick_tables_now(), number));
}

/** wick_profile_stop - samples from now on are no longer of what wick_profile_start() began */
WICK_COUNTED void wick_profile_stop(void)
{
	struct wick_block *block = wick_block_here();

	if (!block || !block->profile)
		return;
	wick_attr_cut(block, block->base + block->profile - 1U);
	block->profile = 0;
}

/**
 * wick_tier_begin - wick_tier_enter() where the scope stands
 *
 * Return:  the scope.
 */
static inline struct wick_scope *wick_tier_begin(struct wick_scope *scope, struct wick_site *site,
						 const char *name)
{
	scope->began = 0;
	if (wick_on())
		wick_tier_count_enter(scope, site, name);
	return scope;
}

/** wick_function_begin - the same for a function */
static inline void wick_function_begin(struct wick_scope *scope, struct wick_site *site)
{
	scope->began = 0;
	if (wick_on())
		wick_function_count_enter(scope, site);
}

/** wick_tier_enter_at - wick_tier_enter() at a site */
static inline struct wick_scope wick_tier_enter_at(struct wick_site *site, const char *name)
{
	struct wick_scope scope;

	return *wick_tier_begin(&scope, site, name);
}

#define WICK_JOIN2(a, b) a##b
#define WICK_JOIN(a, b)  WICK_JOIN2(a, b)
#define WICK_SITE(name)                                                                            \
	{                                                                                          \
		0, 0, __LINE__, __builtin_constant_p(name) ? (const char *)(name) : 0, __func__,   \
			__FILE__                                                                   \
	}
#define WICK_AT_SITE(name, call)                                                                   \
	__extension__({                                                                            \
		static struct wick_site wick_site = WICK_SITE(name);                               \
		call;                                                                              \
	})
#define WICK_SITE_NAME(text) (wick_site.name ? wick_site.name : (const char *)(text))

/* wick_request_begin(&r, "GET /users"): begin to serve a request, in this thread's context: a child
 * of it, or a new trace.  r is the caller's, to be left alone until the end.  The identity says
 * what kind of request it is; 63 bytes of it count.  A program has some 1,000 of them; further ones
 * are counted together. */
#define wick_request_begin(r, identity)                                                            \
	WICK_AT_SITE(identity, wick_request_begin_at(r, &wick_site, WICK_SITE_NAME(identity)))

/* struct wick_scope s = wick_tier_enter("db"); ... wick_scope_leave(&s); */
#define wick_tier_enter(name)                                                                      \
	WICK_AT_SITE(name, wick_tier_enter_at(&wick_site, WICK_SITE_NAME(name)))

/* struct wick_span s = wick_span_begin("queue", context); ... wick_span_end(&s); in any thread */
#define wick_span_begin(name, context)                                                             \
	WICK_AT_SITE(name, wick_span_begin_at(&wick_site, WICK_SITE_NAME(name), context))

/* NOLINTBEGIN(bugprone-macro-parentheses): names of what is declared */
#define WICK_TIER_NAMED(name, scope, once)                                                         \
	for (struct wick_scope scope __attribute__((cleanup(wick_scope_leave))),                   \
	     *once = WICK_AT_SITE(name,                                                            \
				  wick_tier_begin(&scope, &wick_site, WICK_SITE_NAME(name)));      \
	     once; once = 0)

/* WICK_TIER("db") { ... }: it may be left by break, return, goto and exceptions */
#define WICK_TIER(name)                                                                            \
	WICK_TIER_NAMED(name, WICK_JOIN(wick_scope_, __LINE__), WICK_JOIN(wick_once_, __LINE__))

#define WICK_FUNCTION_NAMED(site, scope)                                                           \
	static struct wick_site site = {0, 0, __LINE__, __func__, __func__, __FILE__};             \
	struct wick_scope scope __attribute__((cleanup(wick_function_leave)));                     \
	wick_function_begin(&scope, &site)
/* NOLINTEND(bugprone-macro-parentheses) */

/* void f(void) { WICK_PROFILE_FN; ... } */
#define WICK_PROFILE_FN                                                                            \
	WICK_FUNCTION_NAMED(WICK_JOIN(wick_site_, __LINE__), WICK_JOIN(wick_scope_, __LINE__))

/* Samples of this thread are of this function until wick_profile_stop(), or until what is around
 * it ends. */
#define wick_profile_start()                                                                       \
	__extension__({                                                                            \
		static struct wick_site wick_site = {                                              \
			0, 0, __LINE__, __func__, __func__, __FILE__};                             \
		wick_profile_start_at(&wick_site);                                                 \
	})

/* Tasks */

enum wick_task_state {
	WICK_TASK_UNCOUNTED = 1, /* created when nobody recorded */
	WICK_TASK_CREATED = 2,
	WICK_TASK_PAUSED = 3,
	WICK_TASK_RUNNING = 4
};

/* The caller's: nothing else points to it, and so it may go away at any time. */
struct wick_task {
	uint64_t word;    /* made of its address: it was created, and has not finished */
	uint64_t created; /* ticks */
	uint64_t ran;
	uint64_t nested;
	struct wick_site *site;
	uint32_t state;
	uint32_t session; /* in which it was last used, plus 1 */
	uint32_t node;
	uint32_t inner;  /* the node that it was in when it was suspended */
	uint32_t number; /* of the block that it runs in */
	uint32_t name;
	struct wick_context value;
};

#define WICK_TASK_WORD UINT64_C(0x5a7e31c49d0b6f83)

/** wick_task_is - whether TASK was created and has not finished */
static inline int wick_task_is(const struct wick_task *task)
{
	return task->word == ((uint64_t)task ^ WICK_TASK_WORD);
}

/** wick_task_begin - have BLOCK count a task that begins to be */
WICK_COUNTED void wick_task_begin(struct wick_block *block, struct wick_task *task,
				  const char *name, uint64_t now)
{
	struct wick_site *site = task->site;
	uint32_t number = WICK_LOAD(&site->number);

	if (WICK_UNLIKELY(!number || name != site->name))
		number = wick_site_number(site, WICK_TASK, name, site->file);
	task->created = now;
	task->ran = task->nested = 0;
	task->session = block->session;
	task->name = number;
	task->node = task->inner = wick_node_of(wick_tables_now(), block->node, number);
	task->state = WICK_TASK_CREATED;
	block->nodes[task->node & (WICK_NODES - 1)].begun++;
}

/** wick_task_count_create - wick_task_create() when somebody records */
WICK_COUNTED void wick_task_count_create(struct wick_task *task, const char *name)
{
	uint64_t now;
	struct wick_block *block = wick_recording(&now);

	if (!block)
		return;
	task->value = wick_thread_1.value;
	wick_task_begin(block, task, name, now);
}

/** wick_task_create_at - wick_task_create() at a site */
static inline void wick_task_create_at(struct wick_task *task, struct wick_site *site,
				       const char *name)
{
	task->word = (uint64_t)task ^ WICK_TASK_WORD;
	task->site = site;
	task->state = WICK_TASK_UNCOUNTED;
	if (wick_on())
		wick_task_count_create(task, name);
}

/* wick_task_create(&task, "name"): a task of this place in the source; 0: it is called as the
 * function.  The task that runs is its parent, and it works for the request of this thread. */
#define wick_task_create(task, name)                                                               \
	WICK_AT_SITE(name, wick_task_create_at(task, &wick_site, WICK_SITE_NAME(name)))

/**
 * wick_task_place - where in a thread's order a task runs
 *
 * Return:  below the block's depth; -1: it does not run there.
 *
 * What another thread does meanwhile may be missed.
 */
WICK_COLD int wick_task_place(const struct wick_block *block, const struct wick_task *task)
{
	int i = (int)WICK_LOAD(&block->depth);

	for (i = i > WICK_DEPTH ? WICK_DEPTH : i; i-- > 0;)
		if (WICK_LOAD(&block->runs[i].task) == (uint64_t)task)
			return i;
	return -1;
}

/**
 * wick_task_ready - whether a task that is not simply paused may run
 *
 * One that was created when nobody recorded is counted from now on.  One that another ended, in the
 * wrong order, may run again.
 *
 * Return:  whether; what is wrong was counted.
 */
WICK_COLD int wick_task_ready(struct wick_block *block, struct wick_task *task, uint64_t now)
{
	struct wick_tables *tables = wick_tables_now();
	struct wick_block *other = 0;

	if (wick_task_is(task) && task->state == WICK_TASK_UNCOUNTED) {
		task->value = wick_thread_1.value;
		wick_task_begin(block, task, task->site->name, now);
		return 1;
	}
	if (wick_task_is(task) && task->state == WICK_TASK_RUNNING && task->number < WICK_THREADS) {
		other = (struct wick_block *)WICK_LOAD(&tables->threads[task->number]);
		if (other && (WICK_LOAD(&other->session) != block->session ||
			      wick_task_place(other, task) < 0))
			return 1;
	}
	wick_misuse(WICK_MISUSE_TASK_RUN);
	return 0;
}

/** wick_inner_attrs - put the attributes of the tiers and functions between two nodes back */
WICK_COLD void wick_inner_attrs(struct wick_block *block, uint32_t task, uint32_t inner)
{
	const struct wick_tables *tables = wick_tables_now();
	uint32_t names[8];
	int n = 0;

	for (; inner != task && inner > WICK_OTHER && n < 8; n++) {
		uint64_t key = WICK_LOAD(&tables->nodes[inner & (WICK_NODES - 1)]);

		names[n] = (uint32_t)key;
		inner = (uint32_t)(key >> 32);
	}
	while (n-- > 0)
		wick_attr_add(block, wick_attr_of(tables, names[n]));
}

/** wick_attr_hide - hide the tiers and functions that are there: an empty value is none */
WICK_COLD void wick_attr_hide(struct wick_block *block)
{
	static const uint8_t hidden[2][WICK_ATTR_BYTES] = {{WICK_TIER_KEY}, {WICK_FUNCTION_KEY}};

	wick_attr_add(block, hidden[0]);
	wick_attr_add(block, hidden[1]);
}

/**
 * wick_task_attrs - the attributes of a task that begins to run
 *
 * What is there of others stays, hidden: the last of a key counts.
 */
static inline WICK_ALWAYS void wick_task_attrs(struct wick_block *block,
					       const struct wick_task *task)
{
	uint32_t at = block->record.attrs_bytes;

	block->base = (uint16_t)at;
	if (WICK_UNLIKELY(at != block->identity_bytes))
		wick_attr_hide(block);
	wick_attr_add(block, wick_attr_of(wick_tables_now(), task->name));
	if (WICK_UNLIKELY(task->inner != task->node))
		wick_inner_attrs(block, task->node, task->inner);
}

/** wick_run_begin - have a task run at a place of BLOCK's order from NOW on */
static inline WICK_ALWAYS void wick_run_begin(struct wick_block *block, struct wick_run *run,
					      struct wick_task *task, uint64_t now)
{
	WICK_STORE(&run->task, (uint64_t)task);
	run->ticks = 0;
	run->began = now;
	run->node = task->node;
	wick_value_set(block, wick_halves_of(&task->value));
	run->outer_attrs = (uint32_t)(block->record.attrs_bytes - block->identity_bytes);
	wick_task_attrs(block, task);
	wick_charge(block, now, task->inner);
	block->nested = task->nested;
	task->state = WICK_TASK_RUNNING;
	task->session = block->session;
	task->number = block->number;
}

/** wick_task_push - have a task run in BLOCK from NOW on, inside of what runs there */
static inline WICK_ALWAYS void wick_task_push(struct wick_block *block, struct wick_task *task,
					      uint64_t now)
{
	uint32_t depth = block->depth;
	struct wick_run *run = &block->runs[depth];

	if (WICK_UNLIKELY(depth > 0))
		run[-1].ticks += wick_since(now, run[-1].began);
	run->outer_node = block->node;
	run->outer_nested = block->nested;
	wick_halves_put(&run->outer_value, wick_halves_of(&wick_thread_1.value));
	wick_run_begin(block, run, task, now);
	WICK_STORE(&block->depth, depth + 1);
}

/** wick_task_may_run - whether a task is simply one that does not run now */
static inline int wick_task_may_run(const struct wick_task *task)
{
	return wick_task_is(task) &&
	       (task->state == WICK_TASK_PAUSED || task->state == WICK_TASK_CREATED);
}

/** wick_task_run_at - have a task run in BLOCK, if it may */
static inline WICK_ALWAYS void wick_task_run_at(struct wick_block *block, struct wick_task *task,
						uint64_t now)
{
	if (WICK_UNLIKELY(!wick_task_may_run(task)) && !wick_task_ready(block, task, now))
		return;
	if (WICK_LIKELY(block->depth < WICK_DEPTH))
		wick_task_push(block, task, now);
	else
		wick_misuse(WICK_MISUSE_DEPTH);
}

/** wick_attrs_restore - take away the attributes of what ran at PLACE of the thread's order */
static inline WICK_ALWAYS void wick_attrs_restore(struct wick_block *block, uint32_t place)
{
	struct wick_run *run = &block->runs[place];

	wick_attr_cut(block, block->identity_bytes + run->outer_attrs);
	block->base = (uint16_t)(block->identity_bytes + (place > 0 ? run[-1].outer_attrs : 0));
}

/** wick_task_pop - what ran at PLACE of the thread's order, and inside it, runs no more */
static inline WICK_ALWAYS void wick_task_pop(struct wick_block *block, uint32_t place)
{
	struct wick_run *run = &block->runs[place];

	block->node = run->outer_node;
	block->nested = run->outer_nested;
	WICK_STORE(&block->depth, place);
	wick_attrs_restore(block, place);
	wick_value_set(block, wick_halves_of(&run->outer_value));
}

/** wick_run_end - count the run of a task that ran at PLACE of the thread's order */
static inline WICK_ALWAYS void wick_run_end(struct wick_block *block, struct wick_task *task,
					    uint32_t place, uint64_t now)
{
	struct wick_run *run = &block->runs[place];
	struct wick_node_row *row = &block->nodes[run->node & (WICK_NODES - 1)];
	uint64_t stall = WICK_LOAD(&wick_state_1.stall);

	if (WICK_LIKELY(place + 1 == block->depth)) {
		run->ticks += wick_since(now, run->began);
		task->inner = block->node;
		task->nested = block->nested;
		wick_halves_put(&task->value, wick_halves_of(&wick_thread_1.value));
	} else {
		task->inner = run[1].outer_node;
		task->nested = run[1].outer_nested;
		task->value = run[1].outer_value;
	}
	task->ran += run->ticks;
	task->state = WICK_TASK_PAUSED;
	task->session = block->session;
	if (WICK_UNLIKELY(run->ticks > row->run_max))
		row->run_max = run->ticks;
	if (WICK_UNLIKELY(stall && run->ticks > stall))
		row->stalls++;
}

/**
 * wick_task_stray - a task is suspended that does not run last in this thread
 *
 * Return:  its place in the thread's order; -1: it does not run there.
 */
WICK_COLD int wick_task_stray(const struct wick_block *block, struct wick_task *task)
{
	int place = wick_task_place(block, task);

	if (place >= 0) {
		wick_misuse(WICK_MISUSE_ORDER);
		return place;
	}
	/* Its run may have been before anybody recorded. */
	if (!wick_task_is(task) ||
	    (task->state != WICK_TASK_UNCOUNTED && task->session == block->session))
		wick_misuse(WICK_MISUSE_TASK_SUSPEND);
	if (wick_task_is(task) && task->state == WICK_TASK_RUNNING)
		task->state = WICK_TASK_PAUSED;
	return -1;
}

/** wick_task_suspend_at - a task that runs in BLOCK is paused */
static inline WICK_ALWAYS void wick_task_suspend_at(struct wick_block *block,
						    struct wick_task *task, uint64_t now)
{
	int place = (int)block->depth - 1;

	if (WICK_UNLIKELY(place < 0 || block->runs[place].task != (uint64_t)task))
		place = wick_task_stray(block, task);
	if (WICK_UNLIKELY(place < 0))
		return;
	wick_run_end(block, task, (uint32_t)place, now);
	wick_charge(block, now, block->node);
	wick_task_pop(block, (uint32_t)place);
	if (WICK_UNLIKELY(place > 0))
		block->runs[place - 1].began = now;
}

/** wick_task_lapse - a task is suspended that ran when somebody still recorded */
WICK_COLD void wick_task_lapse(struct wick_task *task)
{
	struct wick_block *block = wick_block_here();
	int place = block ? wick_task_place(block, task) : -1;

	if (place >= 0)
		wick_task_pop(block, (uint32_t)place);
	if (wick_task_is(task) && task->state == WICK_TASK_RUNNING)
		task->state = WICK_TASK_PAUSED;
}

/** wick_task_count_run - wick_task_run() when somebody records */
WICK_COUNTED void wick_task_count_run(struct wick_task *task)
{
	uint64_t now;
	struct wick_block *block = wick_recording(&now);

	if (WICK_LIKELY(block != 0))
		wick_task_run_at(block, task, now);
}

/** wick_task_count_suspend - wick_task_suspend() when somebody records, or did */
WICK_COUNTED void wick_task_count_suspend(struct wick_task *task)
{
	uint64_t now;
	struct wick_block *block = wick_recording(&now);

	if (WICK_LIKELY(block != 0))
		wick_task_suspend_at(block, task, now);
	else
		wick_task_lapse(task);
}

/** wick_task_count_finish - wick_task_finish() when somebody records, or did */
WICK_COUNTED void wick_task_count_finish(struct wick_task *task, enum wick_end how)
{
	uint64_t now;
	struct wick_block *block = wick_recording(&now);
	struct wick_node_row *row;

	if (!wick_task_is(task)) {
		if (block)
			wick_misuse(WICK_MISUSE_TASK_FINISH);
		return;
	}
	if (task->state == WICK_TASK_RUNNING) {
		if (block)
			wick_task_suspend_at(block, task, now);
		else
			wick_task_lapse(task);
	}
	task->word = 0;
	if (!block || task->state == WICK_TASK_UNCOUNTED)
		return;
	row = &block->nodes[task->node & (WICK_NODES - 1)];
	row->wall += wick_since(now, task->created);
	row->max = task->ran > row->max ? task->ran : row->max;
	row->cancelled += how == WICK_CANCELLED;
	row->failed += how == WICK_FAILED;
	if (task->state == WICK_TASK_CREATED)
		row->stillborn++;
	else
		row->ended++;
}

/** wick_task_count_switch - wick_task_switch() when somebody records, or did */
WICK_COUNTED void wick_task_count_switch(struct wick_task *from, struct wick_task *to)
{
	uint64_t now;
	struct wick_block *block = wick_recording(&now);
	uint32_t place = block ? block->depth - 1 : 0;

	if (WICK_UNLIKELY(!block)) {
		wick_task_lapse(from);
	} else if (WICK_UNLIKELY(place >= WICK_DEPTH || !wick_task_may_run(to) ||
				 block->runs[place].task != (uint64_t)from)) {
		wick_task_suspend_at(block, from, now);
		wick_task_run_at(block, to, now);
	} else { /* in its place */
		wick_run_end(block, from, place, now);
		wick_attrs_restore(block, place);
		wick_run_begin(block, &block->runs[place], to, now);
	}
}

/** wick_task_run - a task runs in this thread from now on, inside of what runs there */
static inline void wick_task_run(struct wick_task *task)
{
	if (wick_on())
		wick_task_count_run(task);
}

/**
 * wick_task_suspend - a task that runs in this thread is paused
 *
 * The context that the thread has is kept for when it runs again; that of before is put back.
 */
static inline void wick_task_suspend(struct wick_task *task)
{
	if (wick_on() || WICK_UNLIKELY(task->state == WICK_TASK_RUNNING))
		wick_task_count_suspend(task);
}

/** wick_task_switch - a task is paused and another runs: both with one reading of the clock */
static inline void wick_task_switch(struct wick_task *from, struct wick_task *to)
{
	if (wick_on() || WICK_UNLIKELY(from->state == WICK_TASK_RUNNING))
		wick_task_count_switch(from, to);
}

/** wick_task_finish - a task has ended, whether it runs, is paused or has never run */
static inline void wick_task_finish(struct wick_task *task, enum wick_end how)
{
	if (wick_on() || WICK_UNLIKELY(task->state == WICK_TASK_RUNNING))
		wick_task_count_finish(task, how);
	else
		task->word = 0;
}

/**
 * wick_task_runs - whether what is at this address runs last in this thread
 *
 * Return:  whether; 0 when nobody records.
 *
 * The task may be gone.
 */
static inline int wick_task_runs(const struct wick_task *task)
{
	const struct wick_block *block = wick_block_here();

	return block && block->depth > 0 &&
	       block->runs[(block->depth - 1) % WICK_DEPTH].task == (uint64_t)task;
}

#ifdef __cplusplus
}
#endif

#else /* the calls do nothing */

struct wick_request {
	char unused;
};

struct wick_scope {
	char unused;
};

struct wick_span {
	char unused;
};

struct wick_task {
	char unused;
};

/** wick_context_set - nothing is kept */
static inline struct wick_context wick_context_set(struct wick_context c)
{
	return c;
}

/** wick_context_get - the context of no request */
static inline struct wick_context wick_context_get(void)
{
	static const struct wick_context none = {{0}, {0}, 0, 0};

	return none;
}

/** wick_traceparent_parse - no context */
static inline int wick_traceparent_parse(struct wick_context *ret, const char *text)
{
	(void)text;
	*ret = wick_context_get();
	return -1;
}

/** wick_traceparent_write - all zero digits */
static inline void wick_traceparent_write(const struct wick_context *c, char text[56])
{
	static const char none[] = "00-00000000000000000000000000000000-0000000000000000-00";
	int i;

	(void)c;
	for (i = 0; i < 56; i++)
		text[i] = none[i];
}

/** wick_tier_enter - nothing */
static inline struct wick_scope wick_tier_enter(const char *name)
{
	static const struct wick_scope none = {0};

	(void)name;
	return none;
}

/** wick_span_begin - nothing */
static inline struct wick_span wick_span_begin(const char *name, struct wick_context context)
{
	static const struct wick_span none = {0};

	(void)name;
	(void)context;
	return none;
}

#define wick_request_begin(r, identity) ((void)(r), (void)(identity))
#define wick_request_end(r)             ((void)(r))
#define wick_scope_leave(scope)         ((void)(scope))
#define wick_span_end(span)             ((void)(span))
#define wick_profile_start()            ((void)0)
#define wick_profile_stop()             ((void)0)
#define wick_task_create(task, name)    ((void)(task), (void)(name))
#define wick_task_run(task)             ((void)(task))
#define wick_task_suspend(task)         ((void)(task))
#define wick_task_switch(from, to)      ((void)(from), (void)(to))
#define wick_task_finish(task, how)     ((void)(task), (void)(how))
#define wick_task_runs(task)            ((void)(task), 0)
#define wick_task_is(task)              ((void)(task), 0)
#define WICK_TIER(name)
#define WICK_PROFILE_FN ((void)0)

#define wick_gauge(name, value)     ((void)(name), (void)(value))
#define wick_counter(name, value)   ((void)(name), (void)(value))
#define wick_gauge_set(name, value) ((void)(name), (void)(value))

#endif

#endif
