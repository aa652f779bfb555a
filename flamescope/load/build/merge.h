/* merge.h - builders to a profile that does not depend on which thread read what */
#ifndef BUILD_MERGE_H
#define BUILD_MERGE_H

#include "flamescope/load/build/builder.h"

/* What is known of a file when it has been read; the profile's own files are made of them. */
struct merge_file {
	struct profile_file file;
	struct builder_facts facts; /* of all builders; texts are strings of the first one */
	uint64_t end_at;            /* of its text */
	bool folded;
};

/**
 * merge_facts - put together what all builders read of a file's header
 *
 * Context: any thread; no other may use the builders, as for all of these.
 */
void merge_facts(struct builder *const *builders, size_t n, struct builder_facts *ret_facts);

/**
 * merge_profile - make the profile
 * @builders: are used up; free them
 * @files:    whose paths and problems become the profile's
 *
 * Return:  0; -ENOMEM, -E2BIG.
 * Owns:    the caller, to profile_free().
 * Context: any thread.
 */
int merge_profile(struct builder *const *builders, size_t n, struct merge_file *files,
		  size_t n_files, struct profile **ret_profile);

#endif
