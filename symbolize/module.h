/* module.h - one file of code, shared by all processes that map it */
#ifndef SYMBOLIZE_MODULE_H
#define SYMBOLIZE_MODULE_H

#include "symbolize/elf_head.h"
#include "symbolize/symbol_table.h"
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

/* What tells one file from another. */
struct file_id {
	uint64_t dev;
	uint64_t inode;
	uint64_t size;
	int64_t mtime_ns;
};

enum { MODULE_WHY_SIZE = 160 };

/* The functions of a module, and how they were found.  The loader makes it once. */
struct module_names {
	_Atomic(int) state; /* enum module_state */
	struct symbol_table symbols;
	const char **readable; /* main thread: the names shown, by symbol; NULL: none yet */
};

struct module {
	enum module_kind kind;
	const char *path;
	struct elf_head head;
	char build_id[2 * BUILD_ID_MAX + 1];

	/* For the loader: the file, or its bytes; where to look for its debug file. */
	int fd;        /* -1: none */
	bool close_fd; /* once it is read */
	bool not_elf;  /* a file of something else: code in it is named by a map */
	pid_t pid;
	char *image; /* an ELF file's bytes, owned; NULL: fd */
	size_t image_bytes;
	const char *debug_root;

	struct module_names elf;   /* symbol tables */
	struct module_names dwarf; /* loaded when an address is in no symbol */
	bool has_dwarf;            /* of the module or its debug file; set with elf.state */
	char *debug_path;          /* the debug file, owned; NULL: none or not needed */
	enum symbol_quality quality;
	char why[MODULE_WHY_SIZE];

	/* Main thread only. */
	struct file_id id;
	uint64_t map_dev; /* the file as /proc/PID/maps names it */
	uint64_t map_inode;
	uint64_t lookups;
	uint64_t unnamed;
	struct jit *jit; /* MODULE_JIT */
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
 * module_fail - it has no names, for this reason (the first one is kept)
 *
 * Context: main thread before it is loaded; its loader.
 */
void module_fail(struct module *module, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * module_load - read the symbol tables of a module, or of its debug file
 *
 * A loader's job: CONTEXT is the struct module.  Ends with elf.state MODULE_LOADED, whatever
 * the file holds.
 *
 * Context: any thread.  One at a time for one module.
 */
void module_load(void *context);

/**
 * module_load_dwarf - read the function names of its debugging information
 *
 * A loader's job, after module_load(): ends with dwarf.state MODULE_LOADED.
 *
 * Context: any thread.  One at a time for one module.
 */
void module_load_dwarf(void *context);

#endif
