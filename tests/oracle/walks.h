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
 * Return:  how many addresses; RET_LAST is what the last unw_step() returned.
 * Context: main thread.
 */
size_t walk_theirs(struct theirs *theirs, struct target *target, uint64_t *pcs, int *ret_last);

#endif
