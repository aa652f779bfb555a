/*
 * internal.h - what the files of this folder share; other folders include debug_search.h only
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef DEBUGFILE_INTERNAL_H
#define DEBUGFILE_INTERNAL_H

#include "symbolize/debugfile/debug_search.h"
#include "symbolize/elf/elf_head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- debug_candidate: one file that may hold a module's debugging information: does it belong? */

/* What a debug file has to match, and the best file so far. */
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
 */
int debug_open(pid_t pid, const char *path, char **ret_path);

/**
 * debug_match_try - check a file: take it when it belongs and has more than the last one
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

/** debug_match_release - close the file unless it was taken */
void debug_match_release(struct debug_match *match);

/**
 * debug_build_id - the build-id of an ELF file, wherever its notes are
 *
 * Return:  its length; 0: none.
 */
size_t debug_build_id(int fd, uint8_t id[BUILD_ID_MAX]);

/*
 * ---- debug_server: debuginfod: its client's cache, and, only if requested, its servers
 *
 * The client library is loaded when servers are requested and not before: without it wick needs
 * no HTTP of its own.
 */

struct debug_server;

/**
 * debug_server_cached - open the client's cached file of a build-id, without any network
 * @what: "debuginfo" or "executable"
 *
 * Searches where the client does: $DEBUGINFOD_CACHE_PATH, $HOME/.debuginfod_client_cache where that
 * is there, $XDG_CACHE_HOME/debuginfod_client, $HOME/.cache/debuginfod_client.  An entry that
 * only says that servers did not have it is no file.
 *
 * Return:  a descriptor; -ENOENT.
 * Owns:    the caller, to close() and free().
 */
int debug_server_cached(const char *hex, const char *what, char **ret_path);

/**
 * debug_server_new - no server is queried yet
 * @options: outlive it
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; debug_server_free().
 * Context: main thread.
 */
int debug_server_new(const struct debug_search_options *options, struct debug_server **ret_server);

/**
 * debug_server_free - NULL is fine
 *
 * Context: main thread.  No query is under way.
 */
void debug_server_free(struct debug_server *server);

/**
 * debug_server_fetch - ask the servers for a build-id's debugging information
 * @module: a path, for progress
 *
 * All calls together spend the deadline and no more; after that no server is queried.
 *
 * Return:  a descriptor, and the path of the file in the client's cache; -ENOENT: they have none;
 *          -ETIMEDOUT: the deadline; -ENOSYS: no client library, or no servers named; -errno.
 * Owns:    the caller, to close() and free().
 * Context: any thread; one waits for another.
 */
int debug_server_fetch(struct debug_server *server, const char *module, const uint8_t *build_id,
		       size_t len, char **ret_path);

/** debug_server_stats - results of the queries so far */
void debug_server_stats(struct debug_server *server, struct debug_servers *ret_servers);

/* ---- debug_walk: every ELF file below a folder, by build-id: --symbol-dir of any layout */

/* How far a walk goes: a folder such as "/" must not delay the names. */
enum {
	DEBUG_WALK_DEPTH = 12,
	DEBUG_WALK_ENTRIES = 200 * 1000,
	DEBUG_WALK_FILES = 20 * 1000, /* that are opened for their build-id */
};

struct debug_walk;

/**
 * debug_walk_new - walk once; links to folders are not followed
 *
 * Return:  0; -ENOMEM; -errno of the folder.
 * Owns:    the caller; debug_walk_free().
 */
int debug_walk_new(const char *folder, struct debug_walk **ret_walk);

/** debug_walk_free - NULL is fine */
void debug_walk_free(struct debug_walk *walk);

/**
 * debug_walk_find - the nth file with that build-id
 *
 * Return:  its path; NULL: no more.
 * Owns:    the walk.
 */
const char *debug_walk_find(const struct debug_walk *walk, const uint8_t *build_id, size_t len,
			    size_t nth);

#endif
