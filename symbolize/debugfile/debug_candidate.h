/* debug_candidate.h - one file that may hold a module's debugging information: does it belong? */
#ifndef DEBUGFILE_DEBUG_CANDIDATE_H
#define DEBUGFILE_DEBUG_CANDIDATE_H

#include "symbolize/debugfile/debug_search.h"
#include "symbolize/elf/elf_head.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What is looked for, and the best found so far. */
struct debug_match {
	pid_t pid; /* whose root comes before ours; 0: only ours */
	uint64_t dev;
	uint64_t inode; /* the module's own file, which is never its debug file; 0: any will do */
	const struct elf_head *code; /* what the file's segments have to be like; NULL: anything */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_len; /* 0: the CRC decides */
	uint32_t crc;
	bool has_crc;
	char hex[2 * BUILD_ID_MAX + 1];
	struct debug_file file;
};

/**
 * debug_open - open a regular file, never a device, as a process or we ourselves see it
 * @pid: 0: as we do.  Otherwise links are followed within the process's root.
 * @ret_path: where it can be opened from here; NULL is fine
 *
 * Return:  a descriptor; -ENOENT; -errno.
 * Owns:    the caller, to close() and free().
 * Context: any thread.
 */
int debug_open(pid_t pid, const char *path, char **ret_path);

/**
 * debug_match_try - consider a file: keep it when it belongs and brings more than the last
 *
 * Return:  true: it has DWARF, the match is over.
 * Owns:    the match: debug_match.file.
 * Context: any thread, one at a time for one match.
 */
bool debug_match_try(struct debug_match *match, pid_t pid, const char *path,
		     enum debug_found found);

/**
 * debug_match_take - the same for a file that is open
 * @fd: taken
 * @path: taken
 *
 * Context: any thread, one at a time for one match.
 */
bool debug_match_take(struct debug_match *match, int fd, char *path, enum debug_found found);

/**
 * debug_match_release - give back the file unless it was taken
 *
 * Context: any thread.
 */
void debug_match_release(struct debug_match *match);

/**
 * debug_build_id - the build-id of an ELF file, wherever its notes are
 *
 * Return:  its length; 0: none.
 * Context: any thread.
 */
size_t debug_build_id(int fd, uint8_t id[BUILD_ID_MAX]);

#endif
