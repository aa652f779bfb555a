/*
 * target_elf.h - reads memory and symbols of another process
 *
 * Context: any thread.
 */
#ifndef ATTACH_TARGET_ELF_H
#define ATTACH_TARGET_ELF_H

#include "base/elf_dynamic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * target_read - read memory of another process
 *
 * Return:  whether all LEN bytes were read.
 */
bool target_read(pid_t pid, uint64_t address, void *to, size_t len);

/* The dynamic symbol table of a loaded module. It comes from the process and is not trusted. */
struct target_symbols {
	pid_t pid;
	struct elf_dynamic dynamic;
};

/**
 * target_symbols_open - find the symbol table of the module whose ELF header is at BASE
 *
 * Return:  whether there is one that can be searched.
 */
bool target_symbols_open(struct target_symbols *ret_symbols, pid_t pid, uint64_t base);

/**
 * target_symbols_find - the address of a function that the module defines
 *
 * Return:  0 when there is none of that name.
 */
uint64_t target_symbols_find(const struct target_symbols *symbols, const char *name);

/** target_symbols_sized - the address of a function, and its size in bytes */
uint64_t target_symbols_sized(const struct target_symbols *symbols, const char *name,
			      uint64_t *ret_bytes);

/**
 * target_attach_note - the address of the agent's attach function, from its ELF note
 * @base: the agent's ELF header
 * @ret_version: its wire version
 * @ret_signal: its sampling signal; 0: none
 *
 * Return:  the address of its attach function; 0 when it has no such note.
 */
uint64_t target_attach_note(pid_t pid, uint64_t base, uint32_t *ret_version, uint32_t *ret_signal);

#endif
