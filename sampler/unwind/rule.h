/*
 * rule.h - one step of a walk packed into 64 bits, and the lock-free cache of these
 *
 * Context: handler, unless a function says otherwise.
 */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include "sampler/unwind/cfi.h"
#include "sampler/unwind/unwind.h"

#include <stdatomic.h>

#pragma GCC visibility push(hidden)

/*
 * kind 4 | offset 24, signed | bp slot 16 | bx slot 16 | free 4, from the low end.
 * A slot is a distance in words from the CFA (from bp in RULE_DRAP), biased so that 0 means
 * that the register is as it was.  No rule is 0.
 */
enum rule_kind {
	RULE_NONE = 0,
	RULE_SP = 1, /* CFA = sp + offset; from here to RULE_BX the return address is at */
	RULE_BP = 2, /* CFA - 8 */
	RULE_BX = 3,
	RULE_PLT = 4,    /* CFA = sp + 8, and 8 more from the entry's offset-th byte on */
	RULE_SIGNAL = 5, /* a trampoline: everything is in the ucontext at sp */
	RULE_DRAP = 6,   /* CFA = the word at bp + offset */
	RULE_END = 7,    /* return address undefined: the root */
	RULE_NO_CFI = 8, /* no FDE covers the pc */
	RULE_BAD = 9,    /* CFI that cannot be decoded */
	RULE_ROW = 10,   /* does not fit here: run the CFI each time */
};

enum {
	RULE_KIND_BITS = 4,
	RULE_OFFSET_BITS = 24,
	RULE_SLOT_BITS = 16,
	RULE_BP_SHIFT = RULE_KIND_BITS + RULE_OFFSET_BITS,
	RULE_BX_SHIFT = RULE_BP_SHIFT + RULE_SLOT_BITS,
	RULE_SLOT_BIAS = 1 << (RULE_SLOT_BITS - 1),
	PLT_ENTRY = 16,
};

/** rule_kind - the kind of a rule */
static inline enum rule_kind rule_kind(uint64_t rule)
{
	return (enum rule_kind)(rule & ((1U << RULE_KIND_BITS) - 1));
}

/** rule_offset - the constant of a rule, in bytes */
static inline int64_t rule_offset(uint64_t rule)
{
	return (int64_t)(rule << (64 - RULE_BP_SHIFT)) >> (64 - RULE_OFFSET_BITS);
}

/** rule_bp_slot - where bp was saved, biased; 0: it is as it was */
static inline uint32_t rule_bp_slot(uint64_t rule)
{
	return (uint32_t)(rule >> RULE_BP_SHIFT) & 0xffff;
}

/** rule_bx_slot - where bx was saved, biased; 0: it is as it was */
static inline uint32_t rule_bx_slot(uint64_t rule)
{
	return (uint32_t)(rule >> RULE_BX_SHIFT) & 0xffff;
}

/** rule_slot_address - the address of a slot that is not 0 */
static inline uint64_t rule_slot_address(uint64_t base, uint32_t slot)
{
	return base + (uint64_t)(((int64_t)slot - RULE_SLOT_BIAS) * ARCH_WORD);
}

/**
 * rule_from_row - the 64-bit form of a row
 * @module: the row's module: expressions are read from it
 * @signal: the CIE says 'S'
 *
 * Return:  the rule; RULE_ROW when the row does not fit one.
 */
uint64_t rule_from_row(struct unwind_reader *reader, const struct unwind_module *module,
		       const struct cfi_row *row, bool signal);

/**
 * rule_tag - pc, rule and generation in one word
 *
 * The factors make the words of different triples differ.
 */
static inline uint64_t rule_tag(uint64_t pc, uint64_t rule, uint32_t generation)
{
	return pc ^ (rule * UINT64_C(0x9e3779b97f4a7c15)) ^
	       ((uint64_t)generation * UINT64_C(0xd6e8feb86659fd93));
}

/** rule_slot - the one entry that may hold the rule for a pc */
static inline struct unwind_cache_entry *rule_slot(struct unwind_cache *cache, uint64_t pc)
{
	return &cache->entries[(pc ^ (pc >> 16)) & (cache->n - 1)];
}

/**
 * rule_cache_get - the cached rule for a pc
 *
 * Relaxed loads: the tag proves that both words belong together, so no order is needed.
 *
 * Return:  the rule; RULE_NONE when there is none (or no cache).
 * Context: handler.  Any number of threads.
 */
static inline uint64_t rule_cache_get(struct unwind_cache *cache, uint64_t pc)
{
	struct unwind_cache_entry *entry;
	uint32_t generation;
	uint64_t rule;

	if (!cache)
		return RULE_NONE;
	entry = rule_slot(cache, pc);
	generation = atomic_load_explicit(&cache->generation, memory_order_relaxed);
	rule = atomic_load_explicit(&entry->rule, memory_order_relaxed);
	if (atomic_load_explicit(&entry->tag, memory_order_relaxed) !=
	    rule_tag(pc, rule, generation))
		return RULE_NONE;
	return rule;
}

/**
 * rule_cache_put - store a rule for a pc, replacing the entry
 * @generation: the cache's, read before the rule was made: a rule of a module that
 *              went away meanwhile is stale at once
 *
 * Context: handler.  Any number of threads.
 */
static inline void rule_cache_put(struct unwind_cache *cache, uint32_t generation, uint64_t pc,
				  uint64_t rule)
{
	struct unwind_cache_entry *entry = rule_slot(cache, pc);

	atomic_store_explicit(&entry->rule, rule, memory_order_relaxed);
	atomic_store_explicit(&entry->tag, rule_tag(pc, rule, generation), memory_order_relaxed);
}

#pragma GCC visibility pop

#endif
