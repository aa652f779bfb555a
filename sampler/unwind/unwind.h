/* unwind.h - walks call stacks by CFI; freestanding, reads memory through a reader */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include "sampler/unwind/arch_x86_64.h"
#include "sampler/unwind/module.h"
#include "sampler/unwind/scratch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A pc with this bit was interrupted there; without it, it is a return address (PC_EXACT of the
 * wire is the same bit: the handler asserts it). User addresses end below 2^56. */
#define UNWIND_EXACT (UINT64_C(1) << 63)

/* Why a walk ended. The numbers are on the wire (record_sample.stop): only append. */
enum unwind_stop {
	UNWIND_END = 0,     /* the root: return address undefined by its CFI, or 0 */
	UNWIND_NO_CFI = 1,  /* code that no FDE covers, and no heuristic found its caller */
	UNWIND_BAD_CFA = 2, /* the rule gave a CFA that is not above the last one, or misaligned */
	UNWIND_BOUNDS = 3,  /* the stack could not be read there */
	UNWIND_DEPTH = 4,   /* MAX pcs were written and there are more */
	UNWIND_BAD_CFI = 5, /* CFI that cannot be decoded or an expression not supported */
	UNWIND_N_STOPS = 6,
};

/*
 * The source of memory. [lo, hi) is a window that can be read directly, at BYTES + (address - lo):
 * a stack. Everything else goes through read(), which must not fault. find() returns the module of
 * a pc. Embed the struct to add fields. Both may move the window (a walk that leaves a signal
 * stack); it is read again for every word.
 *
 * A walk works in SCRATCH. It is part of the reader so that a handler can have it outside its
 * stack. One walk at a time.
 */
struct unwind_reader {
	uint64_t lo;
	uint64_t hi;
	const unsigned char *bytes;
	bool (*read)(struct unwind_reader *reader, uint64_t address, void *to, size_t len);
	bool (*find)(struct unwind_reader *reader, uint64_t pc, struct unwind_module *ret_module);
	struct unwind_scratch scratch;
};

/*
 * A direct-mapped cache from pc to rule that any number of threads and signal handlers share
 * without a lock: an entry is two words, tag = pc ^ rule and rule, so a torn entry never
 * matches.  Zeroed memory is an empty cache.  N is a power of two.
 */
struct unwind_cache_entry {
	_Atomic uint64_t tag;
	_Atomic uint64_t rule;
};

struct unwind_cache {
	struct unwind_cache_entry *entries;
	uint32_t n;
	_Atomic uint32_t generation; /* part of the tag: raise it and every entry is stale */
};

struct unwind_result {
	size_t n_pcs;
	enum unwind_stop stop;
	uint64_t cfa; /* of the outermost frame that a rule was applied to; 0 when none was */
	bool guessed; /* a frame had no CFI: frames outside it may be missing */
};

/**
 * unwind_walk - walk the stack of a thread, innermost frame first
 * @regs: pc, sp, bp and bx where it was interrupted
 * @pcs: space for MAX; entries have UNWIND_EXACT set where the code was interrupted (the leaf, and
 *       the frame below a signal trampoline)
 *
 * Return addresses are looked up at pc - 1, exact pcs at pc.
 *
 * Return:  how many pcs (at least 1), why it ended, and the last CFA.
 * Context: handler.  The cache may be shared; everything else is the caller's.
 */
struct unwind_result unwind_walk(struct unwind_reader *reader, struct unwind_cache *cache,
				 const struct unwind_regs *regs, uint64_t *pcs, size_t max);

/**
 * unwind_stopped_at - the registers of the last frame of a reader's last walk
 *
 * They belong to the last pc of the walk.
 *
 * Return:  whether that pc was interrupted there; false for a return address.
 * Context: handler.
 */
bool unwind_stopped_at(const struct unwind_reader *reader, struct unwind_regs *ret_regs);

/**
 * unwind_cache_flush - discard every rule, because a module was unloaded
 *
 * Context: handler. Running walks may still use rules that they have read.
 */
void unwind_cache_flush(struct unwind_cache *cache);

#pragma GCC visibility pop

#endif
