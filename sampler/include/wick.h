/*
 * wick.h - numbers of your program beside the samples that wick takes of it
 *
 *	#include <wick.h>
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
 * libraries.  There is nothing to link: names and addresses stand in a table of the program's own,
 * which wick finds by a note in the ELF file and reads from outside, up to 40 times a second.
 * Without wick nothing reads it.  A registered variable must live as long as the module.
 *
 * C99, C11 and C++11, gcc and clang, ELF; elsewhere the calls do nothing.
 */
#ifndef WICK_H
#define WICK_H

#include <stdint.h>

#if defined(__ELF__) && defined(__GNUC__) && defined(__LP64__)

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

#ifdef __cplusplus
}
#endif

#else

#define wick_gauge(name, value)     ((void)(name), (void)(value))
#define wick_counter(name, value)   ((void)(name), (void)(value))
#define wick_gauge_set(name, value) ((void)(name), (void)(value))

#endif

#endif
