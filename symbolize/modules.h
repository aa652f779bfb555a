/* modules.h - all modules of a recording, one for each file */
#ifndef SYMBOLIZE_MODULES_H
#define SYMBOLIZE_MODULES_H

#include "base/intern.h"
#include "base/map.h"
#include "base/sample.h"
#include "symbolize/module.h"

#include <stddef.h>
#include <stdint.h>

struct modules {
	struct module *first;
	size_t n_modules;
	size_t n_fds;          /* files that are kept open */
	struct map by_inode;   /* as maps names the file: the newest module */
	struct map by_file;    /* file_id.inode: the newest module */
	struct map by_path;    /* interned path: the module without a file of that name */
	struct map by_build;   /* interned build-id: the newest module */
	struct intern strings; /* paths and build-ids */
	const char *debug_root;
	struct debug_search *search;
	uint64_t started_ns; /* mappings of time 0 began later, if the process is gone */
	struct module *vdso;
	struct module *others; /* of all files that there is no memory for */
	struct memory_claim claim;
};

/**
 * modules_init - none yet
 *
 * Context: main thread.
 */
void modules_init(struct modules *modules, const char *debug_root);

/**
 * modules_release - free all modules
 *
 * Context: main thread.  The loader has ended.
 */
void modules_release(struct modules *modules);

/**
 * modules_add - a new module with nothing in it
 *
 * Return:  NULL when memory ran out.
 * Owns:    the modules.
 * Context: main thread.
 */
struct module *modules_add(struct modules *modules, enum module_kind kind, const char *path);

/**
 * modules_get - the module of a mapping, opened now if it is new
 *
 * Return:  NULL when memory ran out.
 * Owns:    the modules.
 * Context: main thread.
 */
struct module *modules_get(struct modules *modules, const struct mapping *mapping);

/**
 * modules_bare - the module of that name that never has symbols
 *
 * Return:  NULL when memory ran out.
 * Owns:    the modules.
 * Context: main thread.
 */
struct module *modules_bare(struct modules *modules, const char *name);

/**
 * modules_jit - a module for the code that a process made
 *
 * Return:  NULL when memory ran out.
 * Owns:    the modules.
 * Context: main thread.
 */
struct module *modules_jit(struct modules *modules, pid_t pid);

#endif
