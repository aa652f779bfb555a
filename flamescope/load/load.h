/* load.h - files of perf-script text or folded stacks to one profile */
#ifndef LOAD_LOAD_H
#define LOAD_LOAD_H

#include "flamescope/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load_options {
	const char *const *paths; /* "-": standard input; .gz and .zst by their first bytes */
	size_t n_paths;
	unsigned n_threads;    /* 0: as many as there are CPUs */
	uint64_t memory_bytes; /* no more than this for samples and stacks; 0: 4 GiB */
	bool by_offset; /* frames of a function differ by their place in it; wants no_index */
	bool no_index;  /* neither read nor write what makes the next opening quick */
	const char *index_dir; /* NULL: $XDG_CACHE_HOME/wick/index or ~/.cache/wick/index */
	uint64_t file_ns; /* a file that takes longer is read no further; 0: as long as it takes */
	/* Called after every part; false: give up, -ECANCELED.  May be NULL. */
	bool (*progress)(void *context, uint64_t done_bytes, uint64_t of_bytes);
	void *context;
};

/**
 * load_profile - read files into one profile
 *
 * A file that cannot be read, or not to its end (in time), is said in the profile's files, and what
 * came before counts; so is one that was given before, by whatever name: it counts once.  Files of
 * several hosts are laid side by side by time since 1970 if all of them say it, else by their own
 * clocks.
 *
 * Return:  0, also without a sample; -ENOMEM, -E2BIG past memory_bytes, -ECANCELED.
 * Owns:    the caller, to profile_free().
 * Context: any thread; makes threads of its own and joins them.
 */
int load_profile(const struct load_options *options, struct profile **ret_profile, struct err *err);

/**
 * load_mark_again - mark the paths whose file or pipe another path before them leads to
 * @ret_again: one a path
 *
 * Return:  0; -ENOMEM.
 * Context: any thread.
 */
int load_mark_again(const char *const *paths, size_t n, bool *ret_again);

#endif
