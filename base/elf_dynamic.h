/*
 * elf_dynamic.h - dynamic symbols of a module in another process's memory: every size in it is
 * bounded
 *
 * Context: any thread.
 */
#ifndef BASE_ELF_DYNAMIC_H
#define BASE_ELF_DYNAMIC_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory that a module is in. */
struct elf_memory {
	/* Copies LEN bytes that stand at an address, whole or not at all. */
	bool (*read)(void *context, uint64_t address, void *to, size_t len);
	void *context;
};

/* Addresses of what the dynamic section of a module says; 0: it does not. */
struct elf_dynamic {
	uint64_t bias; /* what to add to the module's addresses */
	uint64_t symbols;
	uint64_t strings;
	uint64_t strings_bytes;
	uint64_t gnu_hash;
	uint64_t hash;
	uint64_t debug; /* DT_DEBUG: the loader's struct r_debug */
};

enum { ELF_DYNAMIC_BYTES = 4096 }; /* of a section; the rest is not read */

/**
 * elf_dynamic_read - read a module's dynamic section
 * @bias:    what to add to the module's addresses
 * @section: BYTES, up to the first DT_NULL
 *
 * Return:  whether it has symbols that can be searched; *ret_dynamic is set in any case.
 */
bool elf_dynamic_read(struct elf_dynamic *ret_dynamic, const struct elf_memory *memory,
		      uint64_t bias, uint64_t section, size_t bytes);

/**
 * elf_dynamic_find - a symbol that the module defines
 * @type: STT_FUNC, STT_OBJECT, STT_TLS
 *
 * Return:  false: it defines none of that name and type.
 */
bool elf_dynamic_find(const struct elf_dynamic *dynamic, const struct elf_memory *memory,
		      const char *name, unsigned type, Elf64_Sym *ret_symbol);

#endif
