/*
 * module.h - files of code, each shared by all processes that map it
 *
 * Context: main thread, unless a function says otherwise.
 */
#ifndef SYMBOLIZE_MODULE_H
#define SYMBOLIZE_MODULE_H

#include "base/intern.h"
#include "base/map.h"
#include "base/sample.h"
#include "symbolize/address_cache.h"
#include "symbolize/bounds/loader.h"
#include "symbolize/debugfile/debug_search.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/elf/elf_head.h"
#include "symbolize/elf/fde.h"
#include "symbolize/elf/mapped_file.h"
#include "symbolize/elf/symbol_table.h"
#include "symbolize/names/demangle.h"
#include "symbolize/symbolize.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum module_kind {
	MODULE_ELF,  /* a file, or an image read from memory */
	MODULE_JIT,  /* the code that /tmp/perf-PID.map names */
	MODULE_BARE, /* nothing that could give names: [anon], [stack] */
};

/* Only goes forward.  The loader's release store of MODULE_LOADED publishes what it read. */
enum module_state {
	MODULE_NEW,
	MODULE_LOADING,
	MODULE_LOADED,
};

enum { MODULE_WHY_SIZE = 160 };

/* Symbols of a module, and bounds for code without symbols.  The loader fills it once. */
struct module_names {
	_Atomic(int) state; /* enum module_state */
	_Atomic bool
		read; /* the tables below were; with DWARF only when the cache lacks a function */
	struct symbol_table symbols;
	struct fde_table fdes;
};

struct batch;
struct cache_module;

/*
 * Files and readers that a module's batches use; the first batch opens them.  While a batch runs
 * only its threads may use them, otherwise only the main thread.
 */
struct module_dwarf {
	struct dwarf_file *file;
	struct dwarf_reader *readers[LOADER_THREADS];
	struct cache_module *cached;
	struct dwarf_options options;
	struct dwarf_finder finder;
	bool failed;         /* there is no DWARF to read after all */
	_Atomic bool closed; /* batch_close_files() has ended */
};

struct module {
	enum module_kind kind;
	const char *path;
	struct elf_head head;
	char build_id[2 * BUILD_ID_MAX + 1];

	/* For the loader: the file, or its bytes, and the search for its debug file. */
	int fd;        /* -1: none */
	bool close_fd; /* once it is read */
	bool unread;   /* names are not wanted */
	bool not_elf;  /* another kind of file: a map names the code in it */
	pid_t pid;
	char *image; /* an ELF file's bytes, owned; NULL: fd */
	size_t image_bytes;
	const char *debug_root;
	struct debug_search *search;

	struct module_names elf; /* symbol tables */
	bool has_dwarf;          /* the module or its debug file; set with elf.state */
	bool has_symtab;         /* likewise */
	enum debug_found debug_found;
	char *debug_path;    /* the debug file, owned; NULL: none or not needed */
	uint64_t debug_size; /* of the file with the DWARF */
	int64_t debug_mtime_ns;
	struct module_dwarf dwarf;
	enum symbol_quality quality;
	char why[MODULE_WHY_SIZE];
	_Atomic bool partial; /* names are missing: the recording ended, or memory ran out */

	struct demangle_budget demangling; /* of all threads */

	/* Main thread only. */
	struct file_id id;
	uint64_t map_dev; /* the file as /proc/PID/maps names it */
	uint64_t map_inode;
	uint64_t lookups;
	uint64_t unnamed;
	struct address_cache addresses;
	struct batch *batch;         /* under way */
	unsigned n_batches;          /* that have ended */
	uint64_t batch_ns;           /* when the last one ended */
	uint64_t next_ns;            /* the next one starts no earlier */
	unsigned idle_shift;         /* files stay open for IDLE_NS << idle_shift */
	bool open;                   /* batches have opened files */
	bool closing;                /* the loader is closing them */
	struct module *next_request; /* the next of symbolizer.requests */
	bool in_requests;
	struct jit *jit; /* MODULE_JIT */
	struct module *next;
};

/**
 * module_new - a module with nothing in it
 *
 * Return:  NULL when memory ran out.
 * Owns:    the caller, to module_free().  PATH has to outlive it.
 */
struct module *module_new(enum module_kind kind, const char *path);

/**
 * module_free - close and forget; NULL is fine
 *
 * Context: main thread.  No job of the loader uses it.
 */
void module_free(struct module *module);

/**
 * module_set_head - set the headers, and the build-id in hexadecimal
 *
 * Context: main thread, before it is loaded.
 */
void module_set_head(struct module *module, const struct elf_head *head);

/**
 * module_find_debug - the separate debug file of a module
 * @elf: the module's file, for its link; NULL: it is not here
 *
 * Return:  0; -ENOENT: there is none (RET_FILE->fd is -1).
 * Owns:    the caller: RET_FILE's descriptor and path.
 * Context: any thread.  One at a time for one module.
 */
int module_find_debug(const struct module *module, Elf *elf, struct debug_file *ret_file);

/**
 * module_fail - set the reason why the module has no names; the first reason stays
 *
 * Context: main thread before the module is loaded; its loader.
 */
void module_fail(struct module *module, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * module_set_partial - some or all of its names will not be read
 * @error: -ECANCELED: the recording has ended; -EFBIG: memory for names is used up
 *
 * Context: any thread.  One at a time for one module.
 */
void module_set_partial(struct module *module, int error);

/**
 * module_is_jit_place - does a map name the code in it?
 *
 * Context: any thread.
 */
bool module_is_jit_place(const struct module *module);

/**
 * module_load - find out where a module's names are; without DWARF, read its symbol tables
 *
 * A job of the loader: CONTEXT is the struct module.  Always ends with elf.state MODULE_LOADED.
 *
 * Context: any thread.  One at a time for one module.
 */
void module_load(void *context);

/**
 * module_read_names - read the symbol tables of a module and of its debug file, unless they were
 *
 * A table that cannot be read gives no names.
 *
 * Context: any thread.  One at a time for one module, which is loaded.
 */
void module_read_names(struct module *module);

/**
 * module_has_names - have the symbol tables been read?
 *
 * Context: any thread.
 */
bool module_has_names(const struct module *module);

/**
 * module_close_dwarf - close the files that batches have opened
 *
 * Context: any thread.  No batch of it is under way.
 */
void module_close_dwarf(struct module *module);

/* All modules of a recording, one for each file. */
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

/** modules_init - none yet */
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
 */
struct module *modules_add(struct modules *modules, enum module_kind kind, const char *path);

/**
 * modules_get - the module of a mapping, opened now if it is new
 *
 * Return:  NULL when memory ran out.
 * Owns:    the modules.
 */
struct module *modules_get(struct modules *modules, const struct mapping *mapping);

/**
 * modules_bare - the module of that name that never has symbols
 *
 * Return:  NULL when memory ran out.
 * Owns:    the modules.
 */
struct module *modules_bare(struct modules *modules, const char *name);

/**
 * modules_jit - a module for the code that a process made
 *
 * Return:  NULL when memory ran out.
 * Owns:    the modules.
 */
struct module *modules_jit(struct modules *modules, pid_t pid);

#endif
