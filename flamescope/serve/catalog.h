/*
 * catalog.h - the recordings under a folder, as they come, grow and go
 *
 * Context: any thread, unless a function says another.
 */
#ifndef SERVE_CATALOG_H
#define SERVE_CATALOG_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* recording_facts: whose recording it is and of when, without reading all of it */

enum { RECORDING_HOST = 256 };

/* ns since 1970; 0: not known. */
struct recording_facts {
	char host[RECORDING_HOST]; /* "": the file does not say */
	int64_t from_ns;
	int64_t to_ns;
};

/**
 * recording_facts_read - read the head of a file, and its tail where it is not compressed
 * @mtime_ns: taken for the end of a recording that does not say it
 *
 * Whatever cannot be read or understood is left unknown.
 */
void recording_facts_read(int fd, uint64_t bytes, int64_t mtime_ns,
			  struct recording_facts *ret_facts);

enum {
	CATALOG_MAX_FILES = 10000, /* more are counted, and left out */
	CATALOG_MAX_SEEN = 200000, /* entries of folders that are read */
	CATALOG_MAX_DEPTH = 8,
};

/* What a file was when it was read: where one of these differs, so does the content. */
struct catalog_stamp {
	dev_t dev;
	ino_t ino;
	uint64_t bytes;
	int64_t mtime_ns;
};

struct catalog_file {
	char *name; /* relative to the folder */
	struct catalog_stamp stamp;
	struct recording_facts facts;
	bool has_facts; /* they are of this content; else of the one before, or none */
};

struct catalog;

/**
 * catalog_new - the recordings of a folder, scanned from now on
 *
 * Return:  0; -errno of open, with the reason.
 * Owns:    the caller, to catalog_free().
 */
int catalog_new(const char *folder, struct catalog **ret_catalog, struct err *err);

/**
 * catalog_scan - see what there is now
 * @facts_ns: begin to read no more files after this time; UINT64_MAX: read all that have to be
 *
 * Recordings are regular files named *.perf, *.txt, *.folded or *.stacks, and those with .gz or
 * .zst after it; hidden files and folders, symbolic links and names that are no UTF-8 are none.
 * Only files that are new or have changed are opened.  Those that there is no time for are listed
 * without a host and a time, or with those that they had.
 *
 * Return:  0; 1: there are such files, for the next scan to read; -errno when the folder itself
 *          cannot be read.
 * Context: any thread, one at a time; others may read meanwhile.
 */
int catalog_scan(struct catalog *catalog, uint64_t facts_ns);

/** catalog_version - a number that is another one once anything has changed */
uint64_t catalog_version(struct catalog *catalog);

/** catalog_list - what was seen last, as JSON: the recordings that end last come first */
void catalog_list(struct catalog *catalog, struct buf *buf);

/* Which recordings: those of a host (NULL: any) that end in the last NS (0: all), newest NS. */
struct catalog_choice {
	const char *host;
	uint64_t last_ns;
};

/**
 * catalog_choose - the names that a choice comes to, in the order of time
 * @ret_from_ns, @ret_to_ns: the time since 1970 that was requested
 *
 * The end is the newest recording's, not this machine's clock: what was copied here counts too.
 *
 * Return:  how many; -ENOENT: none; -ENOMEM.
 * Owns:    the caller: catalog_names_free().
 */
int catalog_choose(struct catalog *catalog, const struct catalog_choice *choice, char ***ret_names,
		   int64_t *ret_from_ns, int64_t *ret_to_ns);

/**
 * catalog_names_free - free N names and their array
 *
 * Context: any thread.  NULL is fine.
 */
void catalog_names_free(char **names, size_t n);

/**
 * catalog_open - open a recording, as it is now
 *
 * Return:  a descriptor, and its stamp; -EACCES: a name that leaves the folder, is hidden, goes
 *          through a link, or is no recording's; -errno of open.
 * Owns:    the caller.
 */
int catalog_open(struct catalog *catalog, const char *name, struct catalog_stamp *ret_stamp);

/**
 * catalog_free - free it
 *
 * Context: any thread; no other may be using it.  NULL is fine.
 */
void catalog_free(struct catalog *catalog);

/* catalog_walk: the recordings in a tree of folders, by name */

struct catalog_found {
	struct catalog_file *files; /* sorted by name; without facts */
	size_t n;
	size_t capacity;
	size_t n_seen;
	size_t n_left_out;
};

/** catalog_stamp_of - what stat(2) says of a file; its time lies between 1970 and 2043 */
struct catalog_stamp catalog_stamp_of(const struct stat *st);

/**
 * catalog_walk - find them
 *
 * Return:  0; -errno when FOLDER itself cannot be read; -ENOMEM.  Folders below that cannot be
 *          read are passed over.
 * Owns:    the caller: free() of each name and of the files, also on failure.
 */
int catalog_walk(int folder, struct catalog_found *found);

/* beneath: opens files under a folder, and nothing else, whatever their names say */

/**
 * beneath_open - open NAME, a path relative to FOLDER, for reading
 * @folder: a descriptor of the directory
 * @flags: of open(2), O_RDONLY or O_PATH among them
 *
 * No component may be "", ".", ".." or a symbolic link, nor begin with a dot.  It never waits for
 * the other side of a FIFO.
 *
 * Return:  a descriptor; -EACCES: such a name or link (with O_PATH a link itself where the
 *          kernel has no openat2); -errno of open.
 * Owns:    the caller.
 */
int beneath_open(int folder, const char *name, int flags);

#endif
