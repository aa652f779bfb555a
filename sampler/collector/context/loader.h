/*
 * loader.h - the modules of a process, as its loader has them, and where their thread-local blocks
 * are
 *
 * Context: collector thread.
 */
#ifndef CONTEXT_LOADER_H
#define CONTEXT_LOADER_H

#include "base/elf_dynamic.h"
#include "sampler/wire/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	LOADER_MODULES = 4096,
	LOADER_NAME_BYTES = 256,
};

struct loader_module {
	uint64_t map;  /* address of the loader's struct link_map */
	uint64_t bias; /* what to add to the module's addresses */
	uint64_t name;
	uint64_t dynamic;
};

/* In link order: the program is the first. */
struct loader {
	int mem_fd;
	struct loader_module *at;
	size_t n;
	uint64_t program; /* the program's own headers, from the auxiliary vector, */
	uint64_t n_headers;
	uint64_t tls_modid; /* glibc: offsets in struct link_map; 0: not glibc */
	uint64_t tls_offset;
};

/* Where each thread has the block of a module. */
struct loader_tls {
	enum context_place place;
	uint32_t module;
	int64_t offset; /* to add to an offset in the block */
};

/**
 * loader_read - the list of the loader
 * @mem_fd: /proc/PID/mem; kept by the caller
 *
 * Return:  0; -ENOENT: there is none (a static program, or one that ends); -ENOMEM.
 * Owns:    the caller, to loader_release().
 */
int loader_read(struct loader *ret_loader, pid_t pid, int mem_fd);

/** loader_release - forget them */
void loader_release(struct loader *loader);

/**
 * loader_has_more - whether a module was added since the list was read
 *
 * One read: new modules are added at the end.
 */
bool loader_has_more(const struct loader *loader);

/** loader_same - whether two lists have the same modules */
bool loader_same(const struct loader *a, const struct loader *b);

/** loader_name - the file name of a module, without its folder, and cut; "" is the program */
void loader_name(const struct loader *loader, const struct loader_module *module,
		 char ret_name[LOADER_NAME_BYTES]);

/**
 * loader_dynamic - what a module's dynamic section says
 *
 * Return:  whether it has symbols that can be searched.
 */
bool loader_dynamic(const struct loader *loader, const struct loader_module *module,
		    struct elf_dynamic *ret_dynamic);

/**
 * loader_symbol - a symbol that a module defines
 * @type:      STT_TLS, STT_OBJECT
 * @ret_value: its st_value, without the bias
 *
 * Return:  false: it defines none of that name and type.
 */
bool loader_symbol(const struct loader *loader, const struct elf_dynamic *dynamic, const char *name,
		   unsigned type, uint64_t *ret_value);

/**
 * loader_tls - where a module's thread-local variables are
 *
 * Return:  false: it has none, or it is not known.
 */
bool loader_tls(const struct loader *loader, const struct loader_module *module,
		struct loader_tls *ret_tls);

/**
 * loader_note - copy what a note of a module says
 * @ret_at: where it stands in the process
 *
 * Return:  false: the module has none of wick's of that type and size.
 */
bool loader_note(const struct loader *loader, const struct loader_module *module, uint32_t type,
		 void *to, size_t len, uint64_t *ret_at);

#endif
