/* compress.h - a closed file to one gzip member or zstd frame, never over another file */
#ifndef FILES_COMPRESS_H
#define FILES_COMPRESS_H

#include "base/err.h"
#include "output/files/recording.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

/**
 * compress_ending - what a compressed file's name has behind it
 *
 * Return:  ".gz", ".zst"; "" for COMPRESS_NONE.
 * Owns:    static.
 * Context: any thread.
 */
const char *compress_ending(enum recording_compress how);

/**
 * compress_file - replace PATH by PATH.gz or PATH.zst
 * @stop:    when it turns true the work is given up
 * @ret_st:  what the new file is
 * @ret_path: its name
 *
 * Written under a hidden temporary name in the same directory, then renamed; PATH is removed
 * last, and only if it still is the file that was read.
 *
 * Return:  0; -EEXIST when the name is taken; -ECANCELED; -errno.  Then PATH is as it was.
 * Owns:    the caller, to free() *RET_PATH.
 * Context: any thread.
 */
int compress_file(const char *path, enum recording_compress how, const atomic_bool *stop,
		  char **ret_path, struct stat *ret_st, struct err *err);

#endif
