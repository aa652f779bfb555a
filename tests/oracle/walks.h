/* walks.h - the same stopped thread walked twice: by our unwinder and by libunwind */
#ifndef ORACLE_WALKS_H
#define ORACLE_WALKS_H

#include "tests/oracle/target.h"

enum {
	WALK_MAX = 4096,
};

/* An address space for libunwind; caching is off: it is the oracle, not a rival. */
struct theirs;

/**
 * walk_ours - by unwind_walk()
 *
 * Context: main thread.
 */
struct unwind_result walk_ours(struct target *target, struct unwind_cache *cache, uint64_t *pcs);

/**
 * walk_ours_has_fde - whether our reading of the tables finds an FDE that covers an address
 *
 * Context: main thread.
 */
bool walk_ours_has_fde(struct target *target, uint64_t at);

/**
 * theirs_new - libunwind's remote address space
 *
 * Return:  NULL when it cannot be made.
 * Owns:    the caller; theirs_free().
 * Context: main thread.  One at a time.
 */
struct theirs *theirs_new(void);

/**
 * theirs_free - give it back
 *
 * Context: main thread.
 */
void theirs_free(struct theirs *theirs);

/**
 * walk_theirs - by unw_step() until it ends, on the same registers and memory
 *
 * Where no FDE covers a frame's pc libunwind guesses, as everyone must.  So the addresses up to
 * that frame's own are vouched for by CFI, those behind it are not.
 *
 * Return:  how many addresses; RET_N_VOUCHED is how many of them CFI vouches for, SIZE_MAX
 *          when it does for the end of the stack too.
 * Context: main thread.
 */
size_t walk_theirs(struct theirs *theirs, struct target *target, uint64_t *pcs,
		   size_t *ret_n_vouched);

#endif
