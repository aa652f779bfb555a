/* view_input.h - the recordings that a command looks at: found, loaded, and what is wrong said */
#ifndef VIEW_VIEW_INPUT_H
#define VIEW_VIEW_INPUT_H

#include "flamescope/profile.h"
#include "flamescope/query/query.h"

#include <stdbool.h>
#include <stddef.h>

enum { VIEW_INPUT_MAX_FILES = 100000 };

/* Zero it. */
struct view_input {
	char **paths; /* of files; directories have been replaced by what is in them */
	size_t n_paths;
	size_t room;
	const char *prefix; /* of names in directories; NULL: any recording */
	bool no_index;
};

/**
 * view_input_add - a file or a directory, as the command line has it
 *
 * Of a directory all recordings are taken (*.perf, *.folded, and those compressed with .gz or
 * .zst), or with a prefix all files whose names begin with it, sorted by name.
 *
 * Return:  0; -ENOENT when a directory has none; -E2BIG; -ENOMEM; -errno, with the reason.
 * Context: main thread.
 */
int view_input_add(struct view_input *input, const char *path, struct err *err);

/**
 * view_input_add_newest - without a file given: the newest recording of this folder, which is said
 * @verb:  of the command, for what to do where there is none
 * @pipes: it can read what is piped in
 *
 * Where something is piped in nothing is taken: it may be meant.
 *
 * Return:  0; -EINVAL and what to do; -ENOMEM.
 * Context: main thread.
 */
int view_input_add_newest(struct view_input *input, const char *verb, bool pipes, struct err *err);

/**
 * view_input_load - all of them as one profile
 *
 * Shows progress on a terminal.  What could not be read, lines that were passed over and what the
 * recorder lost is said on stderr; the rest still counts.
 *
 * Return:  0; -ENODATA and what to do when there is no sample at all; -EACCES: no file may be
 *          read; as load_profile().
 * Owns:    the caller, to profile_free().
 * Context: main thread.
 */
int view_input_load(const struct view_input *input, struct profile **ret_profile, struct err *err);

/**
 * view_input_select - what a query leaves of a profile
 *
 * What has no value of the metric, and that names are missing, is said on stderr.
 *
 * Return:  0; -ENODATA and what to do when nothing is left; as selection_make().
 * Owns:    the caller, to selection_free().
 * Context: main thread.
 */
int view_input_select(const struct profile *profile, const struct query *query,
		      struct selection **ret_selection, struct err *err);

/**
 * view_input_holds - whether a path is one of the files, by whatever name
 *
 * Context: any thread.
 */
bool view_input_holds(const struct view_input *input, const char *path);

/**
 * view_input_title - what a picture of it is called: the command, or the file's name
 *
 * Owns:    the caller: free(); NULL when memory is short.
 * Context: any thread.
 */
char *view_input_title(const struct view_input *input, const struct profile *profile);

/**
 * view_input_release - forget the names
 *
 * Context: any thread.
 */
void view_input_release(struct view_input *input);

#endif
