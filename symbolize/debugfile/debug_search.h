/*
 * debug_search.h - where the debugging information of a module is
 *
 * In order: build-id folders (of the process's root, of the host, --symbol-dir, perf's ~/.debug),
 * .gnu_debuglink beside the module and below the debug root, the debuginfod client's cache, and,
 * only if requested, debuginfod servers.  A file counts only when its build-id is the module's, or,
 * without one, its CRC is the link's.
 *
 * Context: any thread, unless a function says otherwise.
 */
#ifndef DEBUGFILE_DEBUG_SEARCH_H
#define DEBUGFILE_DEBUG_SEARCH_H

#include "symbolize/elf/elf_head.h"

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct debug_search;

struct debug_search_options {
	const char *debug_root;         /* NULL: /usr/lib/debug */
	const char *const *symbol_dirs; /* --symbol-dir, in order */
	size_t n_symbol_dirs;
	bool debuginfod;      /* ask the servers of $DEBUGINFOD_URLS */
	uint64_t deadline_ns; /* for all modules together; 0: 5 s */
	/* Called about once a second while a server is queried, in the thread that searches, one at
	 * a time; NULL: no calls.  MODULE is a path, LEFT_NS what is left of the deadline. */
	void (*progress)(const char *module, uint64_t bytes, uint64_t left_ns);
};

/* Results of queries to servers. */
struct debug_servers {
	uint64_t n_asked;
	uint64_t n_found;
	uint64_t n_failed; /* neither found nor known to be missing */
	uint64_t n_late;   /* not queried, or stopped, at the deadline */
	uint64_t spent_ns;
	char why[160]; /* the first failure, or why none is queried; "" none */
};

/* The module whose files are searched. */
struct debug_module {
	const char *path;
	const struct elf_head *head; /* of no segments: its file is not here */
	pid_t pid;                   /* whose root comes before ours; 0: only ours */
	uint64_t dev;
	uint64_t inode; /* of its file, which is never its debug file; 0: not known */
};

/* How a file was found, for the report. */
enum debug_found {
	DEBUG_NONE,
	DEBUG_BUILD_ID,
	DEBUG_LINK,
	DEBUG_SYMBOL_DIR,
	DEBUG_PERF_CACHE,
	DEBUG_DEBUGINFOD,
};

struct debug_file {
	int fd;     /* -1: none */
	char *path; /* as it can be opened here; owned by the caller */
	enum debug_found found;
};

/**
 * debug_search_new - options outlive the search
 *
 * Return:  0; -ENOMEM.
 * Owns:    the caller; debug_search_free().
 * Context: main thread.
 */
int debug_search_new(const struct debug_search_options *options, struct debug_search **ret_search);

/**
 * debug_search_free - NULL is fine
 *
 * Context: main thread.  No search is under way.
 */
void debug_search_free(struct debug_search *search);

/**
 * debug_search_module - the debug file of a module without DWARF
 * @elf: the module's file, for its link
 *
 * The first one with DWARF; without any, the first one with a .symtab.
 *
 * Return:  0; -ENOENT: there is none (RET_FILE->fd is -1).
 * Owns:    the caller: RET_FILE's descriptor and path.
 */
int debug_search_module(struct debug_search *search, const struct debug_module *module, Elf *elf,
			struct debug_file *ret_file);

/**
 * debug_search_alt - the alternate file of dwz -m, by build-id and name
 * @beside: path of the file that names it, as in debug_file.path or module.path
 *
 * A file counts only when its build-id is the one requested.
 *
 * Return:  a descriptor; -ENOENT.
 */
int debug_search_alt(struct debug_search *search, const struct debug_module *module,
		     const char *beside, const char *name, const uint8_t *build_id, size_t len);

/**
 * debug_search_dwo - a split unit's file, or the .dwp of a file
 * @name: DW_AT_dwo_name; NULL: BESIDE.dwp
 * @nth: of those that exist: the caller compares the unit's id, and gets the next one if it differs
 *
 * Return:  a descriptor; -ENOENT: there are no more.
 */
int debug_search_dwo(struct debug_search *search, const struct debug_module *module,
		     const char *beside, const char *comp_dir, const char *name, size_t nth);

/** debug_search_servers - results of the queries so far */
void debug_search_servers(struct debug_search *search, struct debug_servers *ret_servers);

#endif
