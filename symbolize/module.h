/* module.h - one file of code, shared by all processes that map it */
#ifndef SYMBOLIZE_MODULE_H
#define SYMBOLIZE_MODULE_H

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
#include <stdint.h>
#include <sys/types.h>

enum module_kind {
	MODULE_ELF,  /* a file, or an image read from memory */
	MODULE_JIT,  /* the code that /tmp/perf-PID.map names */
	MODULE_BARE, /* nothing that could give names: [anon], [stack] */
};

/* Moves one way.  The loader's release store of MODULE_LOADED publishes what it made. */
enum module_state {
	MODULE_NEW,
	MODULE_LOADING,
	MODULE_LOADED,
};

enum { MODULE_WHY_SIZE = 160 };

/* Symbols of a module, and bounds for code that has none.  The loader makes it once. */
struct module_names {
	_Atomic(int) state; /* enum module_state: what names there are is known */
	_Atomic bool read;  /* the tables below: with DWARF only when the cache does not do */
	struct symbol_table symbols;
	struct fde_table fdes;
};

struct batch;
struct cache_module;

/*
 * What a module's batches need, opened by the first that does.  Threads take turns: whoever works
 * at the module's batch, else the main thread.
 */
struct module_dwarf {
	struct dwarf_file *file;
	struct dwarf_reader *readers[LOADER_THREADS];
	struct cache_module *cached;
	struct dwarf_options options;
	struct dwarf_finder finder;
	bool failed;       /* there is nothing to read after all */
	_Atomic bool idle; /* batch_let_go() has ended */
};

struct module {
	enum module_kind kind;
	const char *path;
	struct elf_head head;
	char build_id[2 * BUILD_ID_MAX + 1];

	/* For the loader: the file, or its bytes; where to look for its debug file. */
	int fd;        /* -1: none */
	bool close_fd; /* once it is read */
	bool unread;   /* nobody asked for names */
	bool not_elf;  /* a file of something else: code in it is named by a map */
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
	_Atomic bool cut; /* names were given up: the recording ended, or memory for them did */

	struct demangle_budget demangling; /* any thread's */

	/* Main thread only. */
	struct file_id id;
	uint64_t map_dev; /* the file as /proc/PID/maps names it */
	uint64_t map_inode;
	uint64_t lookups;
	uint64_t unnamed;
	struct answers answers;
	struct batch *batch;   /* under way */
	unsigned n_batches;    /* taken in */
	uint64_t batch_ns;     /* when the last one was taken in */
	uint64_t next_ns;      /* the next one not before */
	unsigned idle_shift;   /* of how long what it has open is kept */
	bool letting_go;       /* what batches have opened is being closed */
	bool open;             /* something is */
	struct module *asking; /* the next that has an address on its list, or a batch */
	bool asks;             /* is among them */
	struct jit *jit;       /* MODULE_JIT */
	struct module *next;
};

/**
 * module_new - a module with nothing in it
 *
 * Return:  NULL when memory ran out.
 * Owns:    the caller, to module_free().  PATH has to outlive it.
 * Context: main thread.
 */
struct module *module_new(enum module_kind kind, const char *path);

/**
 * module_free - close and forget; NULL is fine
 *
 * Context: main thread.  No job of the loader is on it.
 */
void module_free(struct module *module);

/**
 * module_set_head - take the headers, and spell the build-id
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
 * module_fail - it has no names, for this reason (the first one is kept)
 *
 * Context: main thread before it is loaded; its loader.
 */
void module_fail(struct module *module, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * module_cut - its names are given up, or a part of them
 * @error: -ECANCELED: the recording has ended; -EFBIG: memory for names is used up
 *
 * Context: any thread.  One at a time for one module.
 */
void module_cut(struct module *module, int error);

/**
 * module_is_jit_place - is code in it named by a map?
 *
 * Context: any thread.
 */
bool module_is_jit_place(const struct module *module);

/**
 * module_load - find out where a module's names are; without DWARF, read its symbol tables
 *
 * A loader's job: CONTEXT is the struct module.  Ends with elf.state MODULE_LOADED, whatever
 * the file holds.
 *
 * Context: any thread.  One at a time for one module.
 */
void module_load(void *context);

/**
 * module_read_names - read the symbol tables of a module, and of its debug file, if nobody did yet
 *
 * What cannot be read has no names.
 *
 * Context: any thread.  One at a time for one module, which is loaded.
 */
void module_read_names(struct module *module);

/**
 * module_has_names - have they been read?
 *
 * Context: any thread.
 */
bool module_has_names(const struct module *module);

/**
 * module_close_dwarf - close what batches have opened
 *
 * Context: any thread.  No batch of it is under way.
 */
void module_close_dwarf(struct module *module);

#endif
